"""How an event looks outside, and how entries that a service refuses are sent again."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone

import pytest

from orcha_dagster.adapters.sinks.grouping import group_by_size
from orcha_dagster.adapters.sinks.refused_entries import Entry, RefusedEntry, send_until_taken
from orcha_dagster.domain.errors import SinkUnavailable
from orcha_dagster.domain.logged_events import to_json_object, to_json_text
from orcha_dagster.domain.status_log import COLUMNS
from orcha_dagster.settings import PROJECT_FOLDER
from tests.fake_sinks import logged_event

PAGE = PROJECT_FOLDER / "docs" / "event-sinks.md"


def test_an_event_outside_has_the_columns_of_the_log_and_those_of_its_folders() -> None:
    names = [*(column.name for column in COLUMNS), "caseId", "batchId"]
    assert list(to_json_object(logged_event())) == names


def test_the_documentation_shows_an_event_with_all_its_fields() -> None:
    (example,) = re.findall(r'^\{"eventId".*?\}$', PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert list(json.loads(example)) == list(to_json_object(logged_event()))


def test_ids_are_text_and_moments_are_utc_with_microseconds() -> None:
    moment = datetime(2026, 5, 4, 14, 0, tzinfo=timezone(timedelta(hours=2)))
    event = to_json_object(logged_event(event_id=2**62, occurred_at=moment, recorded_at=moment.astimezone(UTC)))
    assert event["eventId"] == "4611686018427387904"
    assert event["timestamp"] == event["recordedAt"] == "2026-05-04T12:00:00.000000Z"


def test_what_has_no_case_is_in_case_0_as_in_the_log() -> None:
    event = to_json_object(logged_event())
    assert (event["caseId"], event["batchId"], event["jobId"]) == (0, 0, None)


def test_the_text_is_one_line_of_ascii_whatever_is_in_it() -> None:
    text = to_json_text(logged_event(detail={"reason": "Straße\n\u2028\u0085\ufffe𝄞"}))
    assert text.isascii()
    assert len(text.splitlines()) == 1
    assert json.loads(json.loads(text)["eventDetail"]) == {"reason": "Straße\n\u2028\u0085\ufffe𝄞"}


def test_an_event_that_is_too_large_goes_without_its_detail_and_says_so() -> None:
    event = logged_event(detail={"text": "x" * 1000})
    size = len(to_json_text(event))
    assert to_json_text(event, most_bytes=size) == to_json_text(event)
    shortened = json.loads(to_json_text(event, most_bytes=size - 1))
    assert json.loads(shortened["eventDetail"]) == {"omitted": "too large for this sink", "bytes": size}
    assert shortened["eventId"] == str(event.event_id)


@pytest.mark.parametrize(
    ("sizes", "groups"),
    [
        ([], []),
        ([1, 1, 1, 1], [[1, 1, 1], [1]]),
        ([4, 6, 1], [[4, 6], [1]]),
        ([6, 5, 5], [[6], [5, 5]]),
        ([99, 1], [[99], [1]]),
    ],
)
def test_calls_hold_as_much_as_count_and_size_allow(sizes: list[int], groups: list[list[int]]) -> None:
    assert group_by_size(sizes, most=3, most_bytes=10, size=int) == groups


class PickyService:
    """Refuses, at each call, what the next set names."""

    def __init__(self, *refused: set[str]) -> None:
        self.calls: list[list[str]] = []
        self._refused = list(refused)

    def send(self, entries: Sequence[Entry]) -> list[RefusedEntry]:
        self.calls.append([entry["Id"] for entry in entries])
        refused = self._refused.pop(0) if self._refused else set()
        return [RefusedEntry(entry, "Throttled") for entry in entries if entry["Id"] in refused]


ENTRIES = [{"Id": name} for name in "abc"]


def test_only_what_was_refused_is_sent_again() -> None:
    service = PickyService({"a", "c"}, {"c"})
    send_until_taken("SNS", ENTRIES, service.send, pauses_seconds=(0, 0))
    assert service.calls == [["a", "b", "c"], ["a", "c"], ["c"]]


def test_what_is_refused_to_the_end_is_an_error_that_says_why() -> None:
    service = PickyService({"a"}, {"a"}, {"a"}, {"a"})
    with pytest.raises(SinkUnavailable, match=r"SNS refused 1 of 3 events \(Throttled\)"):
        send_until_taken("SNS", ENTRIES, service.send, pauses_seconds=(0, 0))
    assert len(service.calls) == 3
