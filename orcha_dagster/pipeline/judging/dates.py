"""Are the dates possible, and in the right order."""

from collections.abc import Iterator
from datetime import date, timedelta

from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.pipeline.judging.case import Case, Finding

EARLIEST_DATE = date(1990, 1, 1)
LATEST_AHEAD = timedelta(days=366)
_NAMES = {"issue_date": "issue date", "due_date": "due date"}


def check_dates(case: Case) -> Iterator[Finding]:
    yield _check_plausible(case)
    yield _check_order(case.extraction)


def _check_plausible(case: Case) -> Finding:
    name, latest = "dates_plausible", case.today + LATEST_AHEAD
    present = [each for each in _NAMES if each in case.extraction.fields]
    if not present:
        return Finding(name, True, "no date to judge")
    for each in present:
        day = find_day(case.extraction, each)
        if day is None:
            return Finding(name, False, f"the {_NAMES[each]} is not an ISO date", fields=(each,))
        if not EARLIEST_DATE <= day <= latest:
            reason = f"{_NAMES[each]} {day}, expected from {EARLIEST_DATE} to {latest}"
            return Finding(name, False, reason, fields=(each,))
    days = ", ".join(f"{_NAMES[each]} {case.extraction.find_value(each)}" for each in present)
    return Finding(name, True, f"{days}: from {EARLIEST_DATE} to {latest}")


def _check_order(extraction: Extraction) -> Finding:
    issued, due = find_day(extraction, "issue_date"), find_day(extraction, "due_date")
    if issued is None or due is None:
        return Finding("dates_ordered", True, "no two dates to compare")
    return Finding("dates_ordered", issued <= due, f"issued {issued}, due {due}", fields=("issue_date", "due_date"))


def find_day(extraction: Extraction, name: str) -> date | None:
    try:
        return date.fromisoformat(extraction.find_value(name) or "")
    except ValueError:
        return None
