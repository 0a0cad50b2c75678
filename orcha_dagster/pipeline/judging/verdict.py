"""The verdict: every check's answer, how sure all of it is, and whether a person must look.

    confidence = product of the critical fields' confidences · FAILED ^ (weights of the failed checks)

A product, because one wrong critical field makes the document wrong.
"""

from collections.abc import Iterator, Sequence
from datetime import date
from math import prod

from orcha_dagster.domain.earlier_documents import EarlierDocument
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.schemas import DocumentSchema
from orcha_dagster.domain.transcriptions import Transcription
from orcha_dagster.domain.verdicts import Check, Outcome, Verdict
from orcha_dagster.pipeline.judging.agreement import check_agreement
from orcha_dagster.pipeline.judging.arithmetic import check_arithmetic
from orcha_dagster.pipeline.judging.case import Case, Finding
from orcha_dagster.pipeline.judging.checksums import check_checksums
from orcha_dagster.pipeline.judging.completeness import check_completeness
from orcha_dagster.pipeline.judging.dates import check_dates
from orcha_dagster.pipeline.judging.duplicates import check_duplicates
from orcha_dagster.pipeline.judging.presence import check_presence

FAILED = 0.5  # of the confidence remains after a failed check of weight 1
MISSING = 0.1  # the confidence of a critical field that was not found
_FAMILIES = (
    check_presence, check_arithmetic, check_dates, check_checksums, check_completeness, check_agreement,
    check_duplicates,
)  # fmt: skip
_INCOMPLETE = frozenset({"critical_fields_present", "extraction_complete", "list_complete"})
# Only checks whose reasons hold names of ours and numbers: what a model is told must not be words of the document.
_TOLD = _INCOMPLETE | {"grounded", "totals_add_up", "lines_add_up", "taxes_add_up", "amount_due", "dates_ordered"}


def judge(
    extraction: Extraction,
    transcription: Transcription,
    *,
    schema: DocumentSchema,
    today: date,
    quality_threshold: float,
    earlier: Sequence[EarlierDocument] = (),
) -> Verdict:
    """Put every question to an extraction that was grounded and weighed before."""
    case = Case(extraction, transcription, schema, today, quality_threshold, earlier)
    findings = [finding for family in _FAMILIES for finding in family(case)]
    confidence = _confidence(case, findings)
    findings.append(_check_confidence(case, confidence))
    checks = tuple(_to_check(case, finding) for finding in findings)
    accepted = all(check.passed or not check.decides for check in checks)
    return Verdict(outcome=Outcome.ACCEPTED if accepted else Outcome.NEEDS_REVIEW, checks=checks, confidence=confidence)


def needs_retry(verdict: Verdict) -> tuple[str, ...]:
    """What to tell a model that left something out; nothing when nothing is missing that a person would have to add."""
    failed = [check for check in verdict.checks if not check.passed]
    if not any(check.name in _INCOMPLETE and check.decides for check in failed):
        return ()
    return tuple(f"{check.name}: {check.reason}" for check in failed if check.name in _TOLD)


def _confidence(case: Case, findings: Sequence[Finding]) -> float:
    failed = sum(case.settings_of(finding.name).weight for finding in findings if not finding.passed)
    return round(_trust_in_fields(case) * FAILED**failed, 4)


def _trust_in_fields(case: Case) -> float:
    if case.schema.critical_fields:
        return prod(_trust_in(case.extraction, name) for name in case.schema.critical_fields)
    trusts = [_trust_in(case.extraction, name) for name in case.extraction.fields]
    return sum(trusts) / len(trusts) if trusts else 0.0


def _trust_in(extraction: Extraction, name: str) -> float:
    field = extraction.fields.get(name)
    return MISSING if field is None or field.confidence is None else max(MISSING, field.confidence)


def _check_confidence(case: Case, confidence: float) -> Finding:
    wanted, name = case.schema.accept_confidence, "confident_enough"
    reason = f"confidence {confidence:.2f}, {wanted:.2f} is wanted"
    if confidence >= wanted:
        return Finding(name, True, reason, confidence)
    weakest = min(_least_sure(case), default=None)
    if weakest is None:
        return Finding(name, False, reason, confidence)
    return Finding(name, False, f"{reason}; least sure: {weakest[1]} {weakest[0]:.2f}", confidence, (weakest[1],))


def _least_sure(case: Case) -> Iterator[tuple[float, str]]:
    for name in case.schema.critical_fields or tuple(case.extraction.fields):
        yield _trust_in(case.extraction, name), name


def _to_check(case: Case, finding: Finding) -> Check:
    return Check(
        name=finding.name,
        passed=finding.passed,
        reason=finding.reason,
        value=finding.value,
        decides=finding.name == "confident_enough" or case.settings_of(finding.name).decides,
        fields=() if finding.passed else finding.fields,
    )
