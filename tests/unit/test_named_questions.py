"""Every named question on a log of a few events, with figures that can be counted on the fingers."""

from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orcha_dagster.analysis.named_questions import NAMES, get_question, list_questions
from orcha_dagster.domain.errors import ConfigurationError
from tests.log_of_events import DAY, Event, event
from tests.opened_log import OpenedLog

UNFINISHED = ("queued", "in progress", "waiting for another attempt")


@pytest.fixture
def log(tmp_path: Path) -> OpenedLog:
    return OpenedLog(tmp_path)


def stage(name: str, job: int, at: float, seconds: float, **facts: Any) -> Event:
    return event("STAGE_FINISHED", job, at, attempt=facts.pop("attempt", 1), stage=name, seconds=seconds, **facts)


def job_id(number: int) -> str:
    return str(UUID(int=number))


def test_the_states_follow_from_the_last_turn(log: OpenedLog) -> None:
    log.write(
        [
            event("INGESTION_QUEUED", 1),
            event("INGESTION_QUEUED", 2),
            event("INGESTION_STARTED", 2, 1, attempt=1),
            event("INGESTION_QUEUED", 3),
            stage("raw_document", 3, 2, 0.1),
            event("INGESTION_QUEUED", 4),
            event("RETRY_SCHEDULED", 4, 3, attempt=1, code="RATE_LIMITED"),
            event("INGESTION_STARTED", 5, attempt=1),
            event("LEASE_LOST", 5, 4, attempt=1),
            event("INGESTION_COMPLETED", 6, 5, attempt=1, accepted=True),
            event("INGESTION_COMPLETED", 7, 6, attempt=1, accepted=False),
            event("INGESTION_FAILED", 8, 7, attempt=3, code="ATTEMPTS_EXHAUSTED"),
            event("INGESTION_CANCELLED", 9, 8),
            event("MESSAGE_REJECTED", None, 9, reason="names no ingestion"),
        ]
    )
    states = {row["state"]: row["ingestions"] for row in log.answer("states")}
    assert states == {
        "queued": 1,
        "in progress": 2,
        "waiting for another attempt": 2,
        "accepted": 1,
        "to review": 1,
        "failed": 1,
        "cancelled": 1,
    }


def test_a_notification_after_the_end_does_not_reopen_an_ingestion(log: OpenedLog) -> None:
    log.write(
        [
            event("INGESTION_QUEUED", 1),
            event("INGESTION_COMPLETED", 1, 5, attempt=1, accepted=True),
            event("WARNING", 1, 6),
            event("NOTIFICATION", 1, 7),
        ]
    )
    (row,) = log.answer("current_state")
    assert (row["state"], row["eventType"]) == ("accepted", "INGESTION_COMPLETED")
    assert log.answer("in_flight") == []


def test_what_was_given_back_stands_again_as_it_stood(log: OpenedLog) -> None:
    """A person had one stage of each done again, or a run was stopped."""
    endings = [("completed", True), ("completed", False), ("failed", None), ("cancelled", None), ("in-progress", None)]
    events = []
    for job, (status, accepted) in enumerate(endings, start=1):
        detail: dict[str, Any] = {"what": "released", "status": status} | (
            {} if accepted is None else {"accepted": accepted}
        )
        events += [
            event("INGESTION_QUEUED", job),
            event("INGESTION_STARTED", job, 1, attempt=1, by_hand=True),
            stage("transcription", job, 2, 0.5),
            event("NOTIFICATION", job, 3, attempt=1, **detail),
        ]
    log.write(events)
    states = {row["jobId"]: row["state"] for row in log.answer("current_state")}
    expected = ["accepted", "to review", "failed", "cancelled", "waiting for another attempt"]
    assert states == {job_id(number): state for number, state in enumerate(expected, start=1)}
    assert [row["jobId"] for row in log.answer("in_flight")] == [job_id(5)]


def test_the_current_state_is_the_latest_recorded_whichever_partition_and_clock(log: OpenedLog) -> None:
    """The clock of the second event runs behind, and its case was changed in between."""
    log.write([event("INGESTION_QUEUED", 1, 100, case=1), event("INGESTION_STARTED", 1, 50, case=2, attempt=1)])
    (row,) = log.answer("current_state")
    assert (row["jobId"], row["state"], row["caseid"], row["attempt"]) == (job_id(1), "in progress", 2, 1)
    assert row["documentId"] is not None


def test_throughput_counts_what_came_and_what_ended_by_minute(log: OpenedLog) -> None:
    log.write(
        [
            event("INGESTION_QUEUED", 1, 0),
            event("INGESTION_QUEUED", 2, 59),
            event("INGESTION_QUEUED", 3, 60),
            event("INGESTION_COMPLETED", 1, 61, accepted=True),
            event("INGESTION_COMPLETED", 2, 62, accepted=False),
            event("INGESTION_FAILED", 3, 180),
            event("INGESTION_CANCELLED", 4, 181),
        ]
    )
    columns = ("queued", "completed", "accepted", "failed", "cancelled")
    assert [(row["period_start"] - DAY, *(row[name] for name in columns)) for row in log.answer("throughput")] == [
        (timedelta(0), 2, 0, 0, 0, 0),
        (timedelta(minutes=1), 1, 2, 1, 0, 0),
        (timedelta(minutes=3), 0, 0, 0, 1, 1),
    ]


@pytest.mark.parametrize(
    ("days", "second_period"), [(0.1, timedelta(minutes=144)), (10, timedelta(days=10)), (30, timedelta(days=30))]
)
def test_the_longer_the_log_the_longer_its_periods(log: OpenedLog, days: float, second_period: timedelta) -> None:
    log.write([event("INGESTION_QUEUED", 1, 1800), event("INGESTION_QUEUED", 2, 1800 + days * 86_400)])
    first, second = (row["period_start"] for row in log.answer("throughput"))
    assert second - first == second_period
    unit = {0.1: timedelta(minutes=30), 10: timedelta(0), 30: timedelta(hours=-9)}
    assert first - DAY == unit[days]


def test_time_per_stage_has_its_percentiles(log: OpenedLog) -> None:
    log.write(
        [
            *(stage("transcription", job, job, seconds=float(job)) for job in range(1, 101)),
            stage("extraction", 1, 200, seconds=2.0),
            event("INGESTION_COMPLETED", 1, 201, accepted=True, seconds=99.0),
        ]
    )
    reading, finding = log.answer("stage_latency")
    assert (reading["stage"], reading["finished"], reading["max_seconds"]) == ("transcription", 100, 100.0)
    assert reading["total_seconds"] == pytest.approx(5050)
    assert reading["p50_seconds"] == pytest.approx(50, abs=1.5)
    assert reading["p95_seconds"] == pytest.approx(95, abs=1.5)
    assert reading["p99_seconds"] == pytest.approx(99, abs=1.5)
    assert [finding[name] for name in ("stage", "p50_seconds", "p99_seconds")] == ["extraction", 2.0, 2.0]


def test_an_artifact_that_was_there_already_took_no_time_of_its_stage(log: OpenedLog) -> None:
    log.write(
        [
            *(stage("transcription", job, job, seconds=2.0) for job in range(1, 4)),
            *(stage("transcription", job, job + 9, seconds=0.01, attempt=2, reused=True) for job in range(1, 40)),
            stage("extraction", 1, 60, seconds=0.01, attempt=2, reused=True),
        ]
    )
    (reading,) = log.answer("stage_latency")
    assert [reading[name] for name in ("stage", "finished", "p50_seconds", "total_seconds")] == [
        "transcription", 3, 2.0, 6.0,
    ]  # fmt: skip


def test_failures_stand_by_code_and_stage_those_for_good_first(log: OpenedLog) -> None:
    log.write(
        [
            event("RETRY_SCHEDULED", 1, 1, attempt=1, code="RATE_LIMITED", stage="extraction"),
            event("RETRY_SCHEDULED", 1, 2, attempt=2, code="RATE_LIMITED", stage="extraction"),
            event("RETRY_SCHEDULED", 2, 3, attempt=1, code="RATE_LIMITED", stage="transcription"),
            event("INGESTION_FAILED", 3, 4, attempt=1, code="DOCUMENT_DAMAGED", stage="raw_document"),
            event("LEASE_LOST", 4, 5, attempt=1),
            event("INGESTION_COMPLETED", 5, 6, accepted=True),
        ]
    )
    rows = log.answer("failures")
    figures = ("code", "stage", "failed", "retried", "events", "ingestions")
    assert [tuple(row[name] for name in figures) for row in rows] == [
        ("DOCUMENT_DAMAGED", "raw_document", 1, 0, 1, 1),
        ("RATE_LIMITED", "extraction", 0, 2, 2, 1),
        ("LEASE_LOST", None, 0, 0, 1, 1),
        ("RATE_LIMITED", "transcription", 0, 1, 1, 1),
    ]
    assert rows[1]["last_at"] == DAY + timedelta(seconds=2)


def test_retries_tell_what_became_of_each_attempt(log: OpenedLog) -> None:
    log.write(
        [
            event("INGESTION_QUEUED", 1),
            event("INGESTION_STARTED", 1, 1, attempt=1),
            event("RETRY_SCHEDULED", 1, 2, attempt=1),
            event("INGESTION_STARTED", 1, 3, attempt=2),
            event("LEASE_LOST", 1, 4, attempt=2),
            event("INGESTION_STARTED", 1, 5, attempt=3),
            event("INGESTION_FAILED", 1, 6, attempt=3),
            event("INGESTION_STARTED", 2, 7, attempt=1),
            event("INGESTION_COMPLETED", 2, 8, attempt=1, accepted=True),
        ]
    )
    assert [tuple(row.values()) for row in log.answer("retries")] == [
        (1, 2, 1, 1, 0, 0),
        (2, 1, 0, 0, 1, 0),
        (3, 1, 0, 0, 0, 1),
    ]


def test_the_review_rate_is_a_share_by_day(log: OpenedLog) -> None:
    log.write(
        [
            *(event("INGESTION_COMPLETED", job, job, accepted=job != 4) for job in range(1, 5)),
            event("INGESTION_COMPLETED", 5, 86_400, accepted=False),
            event("INGESTION_FAILED", 6, 86_400),
        ]
    )
    first, second = log.answer("review_rate")
    assert (first["completed"], first["accepted"], first["to_review"], first["review_share"]) == (4, 3, 1, 0.25)
    assert (second["completed"], second["review_share"]) == (1, 1.0)
    assert second["day"] - first["day"] == timedelta(days=1)


def test_what_was_done_again_is_reviewed_once_a_day_as_it_ended_last(log: OpenedLog) -> None:
    log.write(
        [
            event("INGESTION_COMPLETED", 1, 0, attempt=1, accepted=False),
            event("INGESTION_COMPLETED", 2, 1, attempt=1, accepted=True),
            event("INGESTION_COMPLETED", 1, 2, attempt=1, accepted=True),
            event("INGESTION_COMPLETED", 2, 86_400, attempt=1, accepted=False),
        ]
    )
    figures = ("completed", "accepted", "to_review", "review_share")
    assert [tuple(row[name] for name in figures) for row in log.answer("review_rate")] == [
        (2, 2, 0, 0.0),
        (1, 0, 1, 1.0),
    ]


def test_cost_counts_what_was_paid_also_for_what_failed_later(log: OpenedLog) -> None:
    reading = {"provider": "document-ai", "pages": 3, "cost_usd": 0.0045}
    finding = {"provider": "claude", "input_tokens": 1000, "output_tokens": 50, "cost_usd": 0.25}
    log.write(
        [
            stage("preprocessed_image", 1, 1, 0.1, pages=3, case=1),
            stage("transcription", 1, 2, 1.0, case=1, **reading),
            stage("extraction", 1, 3, 1.0, case=1, **finding),
            event("INGESTION_COMPLETED", 1, 4, accepted=True, input_tokens=1000, case=1),
            stage("transcription", 2, 5, 1.0, case=1, **reading),
            event("INGESTION_FAILED", 2, 6, case=1),
            stage("transcription", 3, 7, 0.0, case=1, provider="document-ai", pages=3, reused=True),
            event("INGESTION_COMPLETED", 3, 8, accepted=True, case=1),
            stage("transcription", 4, 9, 1.0, case=2, provider="rapidocr", pages=7),
            event("INGESTION_QUEUED", 5, 10, case=3),
        ]
    )
    dear, free = log.answer("cost_per_case")
    assert dear["cost_usd"] == pytest.approx(0.259)
    assert dear["usd_per_completed"] == pytest.approx(0.1295)
    assert [dear[name] for name in ("caseid", "completed", "pages", "input_tokens", "output_tokens")] == [
        1, 2, 6, 1000, 50,
    ]  # fmt: skip
    assert [free[name] for name in ("caseid", "completed", "pages", "cost_usd", "usd_per_completed")] == [
        2, 0, 7, 0.0, None,
    ]  # fmt: skip


def test_a_document_that_was_done_again_costs_what_was_paid_in_all(log: OpenedLog) -> None:
    log.write(
        [
            stage("extraction", 1, 1, 1.0, provider="claude", input_tokens=10, output_tokens=5, cost_usd=0.25),
            event("INGESTION_COMPLETED", 1, 2, attempt=1, accepted=False),
            stage("extraction", 1, 3, 1.0, provider="claude", input_tokens=10, output_tokens=5, cost_usd=0.5),
            event("INGESTION_COMPLETED", 1, 4, attempt=1, accepted=True),
            event("INGESTION_COMPLETED", 2, 5, attempt=1, accepted=True),
        ]
    )
    (row,) = log.answer("cost_per_case")
    assert (row["completed"], row["cost_usd"], row["usd_per_completed"]) == (2, 0.75, 0.375)


def test_what_is_in_flight_ends_at_the_pace_of_the_last_hour(log: OpenedLog) -> None:
    """Before the last hour it went much faster; in it, two more have ended, 20 seconds apart from each other."""
    fast = [event("INGESTION_COMPLETED", 100 + n, n, accepted=True) for n in range(50)]
    log.write(
        [
            *fast,
            event("INGESTION_QUEUED", 3, 5000, case=3),
            event("INGESTION_QUEUED", 2, 4000, case=2),
            event("INGESTION_STARTED", 2, 9000, attempt=1, case=2),
            stage("raw_document", 2, 9001, 0.1, case=2),
            stage("transcription", 2, 9002, 0.1, case=2),
            *(event("INGESTION_FAILED", 200 + n, 9980 + 20 * n) for n in range(3)),
        ]
    )
    first, second = log.answer("in_flight")
    assert [first[name] for name in ("place", "jobId", "caseid", "last_event", "last_stage", "attempt")] == [
        1, job_id(2), 2, "STAGE_FINISHED", "transcription", 1,
    ]  # fmt: skip
    assert [second[name] for name in ("place", "jobId", "last_stage", "attempt")] == [2, job_id(3), None, None]
    assert (first["eta_seconds"], second["eta_seconds"]) == (20.0, 40.0)
    assert second["expected_at"] == DAY + timedelta(seconds=10_020 + 40)
    assert first["queued_at"] == DAY + timedelta(seconds=4000)


def test_without_a_pace_nobody_knows_when_it_ends(log: OpenedLog) -> None:
    log.write([event("INGESTION_QUEUED", 1), event("INGESTION_COMPLETED", 2, 5, accepted=True)])
    (row,) = log.answer("in_flight")
    assert (row["eta_seconds"], row["expected_at"]) == (None, None)


def test_what_was_asked_for_again_is_in_flight_again(log: OpenedLog) -> None:
    log.write(
        [
            event("INGESTION_QUEUED", 1, 0),
            event("INGESTION_STARTED", 1, 1, attempt=3),
            event("INGESTION_FAILED", 1, 2, attempt=3),
            event("INGESTION_QUEUED", 1, 3, again=True),
            event("INGESTION_STARTED", 1, 4, attempt=1),
        ]
    )
    (row,) = log.answer("in_flight")
    assert (row["attempt"], row["queued_at"]) == (1, DAY + timedelta(seconds=3))


def test_a_timeline_is_one_ingestion_in_the_order_of_recording(log: OpenedLog) -> None:
    log.write(
        [
            event("INGESTION_QUEUED", 1, 0, case=1),
            event("INGESTION_QUEUED", 2, 0, case=1),
            event("INGESTION_STARTED", 1, 1.5, attempt=1, case=2),
            stage("raw_document", 1, 2.0, 0.5, case=2),
            event("INGESTION_FAILED", 1, 3.25, attempt=1, code="DOCUMENT_DAMAGED", stage="raw_document", case=2),
        ]
    )
    rows = log.answer("timeline", ingestion=1)
    figures = ("after_seconds", "eventType", "stage", "seconds", "status", "code")
    assert [tuple(row[name] for name in figures) for row in rows] == [
        (0.0, "INGESTION_QUEUED", None, None, "SUCCESS", None),
        (1.5, "INGESTION_STARTED", None, None, "SUCCESS", None),
        (2.0, "STAGE_FINISHED", "raw_document", 0.5, "SUCCESS", None),
        (3.25, "INGESTION_FAILED", "raw_document", None, "ERROR", "DOCUMENT_DAMAGED"),
    ]


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_log_answers_every_question_with_its_columns_and_no_rows(log: OpenedLog, name: str) -> None:
    assert log.answer(name, ingestion=1) == []


def test_many_partitions_are_one_log(log: OpenedLog) -> None:
    log.write(
        event("INGESTION_QUEUED", case * 100 + batch, case=case, batch=batch)
        for case in range(20)
        for batch in range(10)
    )
    assert log.ask("SELECT count(*) AS n, count(DISTINCT caseid) AS c, max(batchid) AS b FROM events") == [
        {"n": 200, "c": 20, "b": 9}
    ]
    assert log.ask("SELECT jobId FROM events WHERE caseid = 7 AND batchid = 3") == [{"jobId": job_id(703)}]


def test_a_question_about_one_ingestion_wants_its_id() -> None:
    with pytest.raises(ConfigurationError, match="about one ingestion"):
        get_question("timeline").about(None)
    assert [one.name for one in list_questions() if one.is_about_one_ingestion] == ["timeline"]


def test_a_question_that_is_not_there_names_those_that_are() -> None:
    with pytest.raises(ConfigurationError, match="no question 'nope'") as caught:
        get_question("nope")
    assert "throughput" in caught.value.remedy


@pytest.mark.parametrize("question", list_questions(), ids=lambda one: one.name)
def test_every_question_has_a_title_and_says_what_it_answers(question: Any) -> None:
    assert question.title
    assert question.meaning.endswith(".")


_TURNS = ("INGESTION_STARTED", "STAGE_FINISHED", "RETRY_SCHEDULED", "LEASE_LOST", "WARNING")
_ENDS = ("INGESTION_COMPLETED", "INGESTION_FAILED", "INGESTION_CANCELLED")
_histories = st.lists(
    st.tuples(st.lists(st.sampled_from(_TURNS), max_size=4), st.sampled_from((*_ENDS, None))), max_size=8
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(histories=_histories, accepted=st.booleans())
def test_whatever_came_in_has_ended_or_is_in_flight(
    histories: list[tuple[list[str], str | None]], accepted: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    log = OpenedLog(tmp_path_factory.mktemp("log"))
    events: list[Event] = []
    for job, (turns, end) in enumerate(histories, start=1):
        kinds = ["INGESTION_QUEUED", *turns, *([end] if end else [])]
        events += [event(kind, job, n, case=job % 3, attempt=1, accepted=accepted) for n, kind in enumerate(kinds)]
    log.write(events)

    periods = log.answer("throughput")
    total = Counter(
        {name: sum(row[name] for row in periods) for name in ("queued", "completed", "failed", "cancelled")}
    )
    states = Counter({row["state"]: row["ingestions"] for row in log.answer("states")})
    in_flight = len(log.answer("in_flight"))
    assert total["queued"] == len(histories) == states.total()
    assert total["queued"] == total["completed"] + total["failed"] + total["cancelled"] + in_flight
    assert in_flight == sum(states[name] for name in UNFINISHED)
    assert total["completed"] == states["accepted"] + states["to review"]
    assert total["completed"] == sum(row["completed"] for row in log.answer("review_rate"))
    assert total["completed"] == sum(row["completed"] for row in log.answer("cost_per_case"))
    assert total["failed"] == sum(row["failed"] for row in log.answer("failures"))
