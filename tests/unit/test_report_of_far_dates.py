"""A wrong clock may date an event to the end of all dates; a report is made all the same."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from orcha_dagster.adapters.obstore_objects import ObstoreObjects
from orcha_dagster.analysis.asking import ask
from orcha_dagster.analysis.html.page import write_html
from orcha_dagster.analysis.opening import open_log
from orcha_dagster.analysis.periods import make_periods
from orcha_dagster.analysis.reporting import StatusReport, make_report
from orcha_dagster.cli.report_screen import print_report
from tests.log_of_events import DAY, Event, event
from tests.opened_log import OpenedLog

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
LAST_DAY = datetime(9999, 12, 31, 23, 59, 30, tzinfo=UTC)


def report_of(folder: Path, events: list[Event]) -> StatusReport:
    log = OpenedLog(folder)
    log.write(events)
    with open_log(ObstoreObjects(log.url), url=log.url, cache_folder=log.cache, now=NOW) as connection:
        return make_report(lambda sql: ask(connection, sql), now=NOW)


@pytest.mark.parametrize("first", [DAY, LAST_DAY - timedelta(minutes=5), LAST_DAY])
def test_an_event_of_the_last_day_is_in_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], first: datetime
) -> None:
    report = report_of(
        tmp_path, [event("INGESTION_QUEUED", 1, first), event("INGESTION_COMPLETED", 1, LAST_DAY, accepted=True)]
    )
    print_report(report)
    assert "31 Dec 23:59" in capsys.readouterr().out
    assert "31 Dec 9999" in write_html(report)


def test_the_last_period_ends_with_the_dates_themselves() -> None:
    row = {"queued": 1, "completed": 0, "accepted": 0, "failed": 0}
    starts = [datetime(9999, 12, 1, tzinfo=UTC), datetime(9999, 12, 20, tzinfo=UTC)]
    first, second = make_periods([{"period_start": start, **row} for start in starts], at_most=50)
    assert (first.end, second.start, second.end) == (starts[1], starts[1], datetime.max.replace(tzinfo=UTC))


def test_what_would_end_after_the_last_date_is_expected_then(tmp_path: Path) -> None:
    ends = [event("INGESTION_COMPLETED", job, LAST_DAY - timedelta(minutes=job), accepted=True) for job in (1, 2)]
    waiting = [event("INGESTION_QUEUED", job, LAST_DAY) for job in range(3, 9)]
    report = report_of(tmp_path, [*ends, *waiting])
    assert report.last_expected_at == datetime.max.replace(tzinfo=UTC)
    assert len(report.rows("in_flight")) == 6
    assert write_html(report)


def test_without_a_pace_nothing_is_expected(tmp_path: Path) -> None:
    report = report_of(tmp_path, [event("INGESTION_QUEUED", 1, LAST_DAY)])
    assert report.last_expected_at is None
