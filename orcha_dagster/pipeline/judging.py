"""The questions every extraction must answer before it is accepted without a person looking at it."""

from datetime import date, timedelta
from decimal import Decimal, InvalidOperation

from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.transcriptions import Transcription
from orcha_dagster.domain.verdicts import Check, Outcome, Verdict

CRITICAL_FIELDS = {
    "invoice": ("number", "issue_date", "seller", "currency", "gross"),
    "receipt": ("seller", "issue_date", "gross"),
}
ROUNDING_TOLERANCE = Decimal("0.02")  # tax is rounded per line on some documents and per total on others
EARLIEST_DATE = date(1990, 1, 1)
LATEST_AHEAD = timedelta(days=366)


def judge(extraction: Extraction, transcription: Transcription, *, today: date, quality_threshold: float) -> Verdict:
    """Put every question to an extraction; one failed answer sends it to a person."""
    checks = (
        _check_critical_fields(extraction),
        _check_amounts(extraction),
        _check_date(extraction, today),
        _check_reading_quality(transcription, quality_threshold),
    )
    passed = all(check.passed for check in checks)
    return Verdict(outcome=Outcome.ACCEPTED if passed else Outcome.NEEDS_REVIEW, checks=checks)


def _check_critical_fields(extraction: Extraction) -> Check:
    wanted = CRITICAL_FIELDS.get(extraction.schema_name)
    if wanted is None:
        found = any(field.value.strip() for field in extraction.fields.values())
        return _check("critical_fields_present", found, "at least one field found" if found else "no field was found")
    missing = [name for name in wanted if not (extraction.find_value(name) or "").strip()]
    reason = f"missing: {', '.join(missing)}" if missing else f"{', '.join(wanted)} found"
    return _check("critical_fields_present", not missing, f"{extraction.schema_name}: {reason}")


def _check_amounts(extraction: Extraction) -> Check:
    printed = {name: extraction.find_value(name) for name in ("net", "tax", "gross")}
    amounts = {name: _to_decimal(value) for name, value in printed.items() if value is not None}
    unreadable = [name for name, amount in amounts.items() if amount is None]
    if unreadable:
        return _check("amounts_add_up", False, f"not a number: {', '.join(unreadable)}")
    net, tax, gross = (amounts.get(name) for name in ("net", "tax", "gross"))
    if net is None or tax is None or gross is None:
        absent = [name for name in printed if name not in amounts]
        return _check("amounts_add_up", True, f"nothing to add up without {', '.join(absent)}")
    adds_up = abs(net + tax - gross) <= ROUNDING_TOLERANCE
    return _check("amounts_add_up", adds_up, f"net {net} + tax {tax} = {net + tax}, gross says {gross}")


def _check_date(extraction: Extraction, today: date) -> Check:
    printed = extraction.find_value("issue_date")
    if printed is None:
        return _check("date_plausible", True, "no issue date to judge")
    try:
        issued = date.fromisoformat(printed)
    except ValueError:
        return _check("date_plausible", False, "the issue date is not an ISO date")
    latest = today + LATEST_AHEAD
    plausible = EARLIEST_DATE <= issued <= latest
    return _check("date_plausible", plausible, f"issued {issued}, expected from {EARLIEST_DATE} to {latest}")


def _check_reading_quality(transcription: Transcription, threshold: float) -> Check:
    score = transcription.quality_score
    return _check("reading_quality", score >= threshold, f"quality {score:.2f}, threshold {threshold:.2f}")


def _check(name: str, passed: bool, reason: str) -> Check:
    return Check(name=name, passed=passed, reason=reason)


def _to_decimal(value: str) -> Decimal | None:
    try:
        amount = Decimal(value)
    except InvalidOperation:
        return None
    return amount if amount.is_finite() else None
