"""Answers that are kept, and given again."""

import asyncio
from pathlib import Path

import pytest

from orcha_dagster.adapters.recorded_transcriber import RecordedTranscriber, RecordingTranscriber
from orcha_dagster.domain.errors import ConfigurationError, PermanentError, ProviderUnavailable
from orcha_dagster.domain.transcriptions import Box, Line, TranscribedPage
from orcha_dagster.interfaces.transcriber import Bundle, BundleLimits, Transcriber


class CountingTranscriber(Transcriber):
    """Says on each page how many calls there were; the failures come first."""

    name = "counting"
    version = "7"
    limits = BundleLimits(pages=4, bytes=1000, takes_pdf=True)

    def __init__(self, *failures: Exception) -> None:
        self.calls = 0
        self._failures = list(failures)

    async def transcribe(self, bundle: Bundle) -> tuple[TranscribedPage, ...]:
        self.calls += 1
        if self._failures:
            raise self._failures.pop(0)
        box = Box(left=0.1, top=0.2, right=0.3, bottom=0.4)
        line = Line(text=f"Call {self.calls}", box=box, confidence=0.9)
        return tuple(
            TranscribedPage(page=page, lines=(line,), source=self.name, quality_score=0.9, times_billed=1)
            for page in bundle.pages
        )


def bundle_of(content: bytes, *pages: int) -> Bundle:
    return Bundle(content, "application/pdf", pages)


def record(folder: Path, *bundles: Bundle) -> list[tuple[TranscribedPage, ...]]:
    async def record_all() -> list[tuple[TranscribedPage, ...]]:
        recording = RecordingTranscriber(CountingTranscriber(), folder)
        return [await recording.transcribe(bundle) for bundle in bundles]

    return asyncio.run(record_all())


def play(folder: Path, bundle: Bundle) -> tuple[TranscribedPage, ...]:
    return asyncio.run(RecordedTranscriber(folder).transcribe(bundle))


def test_what_was_recorded_is_answered_again_under_the_numbers_asked_for(tmp_path: Path) -> None:
    answers = record(tmp_path, bundle_of(b"one", 1, 2), bundle_of(b"two", 3))
    again = play(tmp_path, bundle_of(b"one", 5, 6))
    assert [page.page for page in again] == [5, 6]
    assert [page.lines for page in again] == [page.lines for page in answers[0]]
    assert play(tmp_path, bundle_of(b"two", 3))[0].lines[0].text == "Call 2"


def test_what_is_answered_from_a_recording_is_not_billed(tmp_path: Path) -> None:
    record(tmp_path, bundle_of(b"one", 1))
    (page,) = play(tmp_path, bundle_of(b"one", 1))
    assert (page.source, page.times_billed) == ("recorded", 0)


def test_a_recording_takes_what_its_provider_took_and_says_who_that_was(tmp_path: Path) -> None:
    record(tmp_path, bundle_of(b"one", 1))
    recorded = RecordedTranscriber(tmp_path)
    assert (recorded.name, recorded.version) == ("recorded", "counting 7")
    assert recorded.limits == CountingTranscriber.limits


@pytest.mark.parametrize("bundle", [bundle_of(b"other", 1), bundle_of(b"one", 1, 2, 3), bundle_of(b"", 1)])
def test_what_was_never_recorded_is_for_a_person(tmp_path: Path, bundle: Bundle) -> None:
    record(tmp_path, bundle_of(b"one", 1, 2))
    with pytest.raises(PermanentError, match="never recorded"):
        play(tmp_path, bundle)


def test_a_folder_without_a_recording_is_a_wrong_setting(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        RecordedTranscriber(tmp_path / "nothing")


def test_recording_changes_nothing_for_the_caller(tmp_path: Path) -> None:
    inner = CountingTranscriber()
    recording = RecordingTranscriber(inner, tmp_path)
    assert (recording.name, recording.version, recording.limits) == (inner.name, inner.version, inner.limits)
    (page,) = asyncio.run(recording.transcribe(bundle_of(b"one", 9)))
    assert (page.page, page.source, page.times_billed, inner.calls) == (9, "counting", 1, 1)


def test_a_failure_is_passed_on_and_not_recorded(tmp_path: Path) -> None:
    recording = RecordingTranscriber(CountingTranscriber(ProviderUnavailable("away")), tmp_path)
    with pytest.raises(ProviderUnavailable):
        asyncio.run(recording.transcribe(bundle_of(b"one", 1)))
    assert list(tmp_path.iterdir()) == []


def test_the_same_bundle_recorded_many_times_at_once_is_whole(tmp_path: Path) -> None:
    async def record_at_once() -> None:
        recording = RecordingTranscriber(CountingTranscriber(), tmp_path)
        await asyncio.gather(*(recording.transcribe(bundle_of(b"one", 1, 2)) for _ in range(20)))

    asyncio.run(record_at_once())
    assert len(play(tmp_path, bundle_of(b"one", 1, 2))) == 2
    assert len(list(tmp_path.iterdir())) == 3
