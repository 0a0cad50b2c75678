"""How pages are read: bundled within limits, paid for once, and the better of two readings kept."""

import asyncio
from contextlib import AbstractAsyncContextManager
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.errors import (
    LeaseLost,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
    RecoverableError,
)
from orcha_dagster.domain.transcriptions import PictureRead, TranscribedPage, Transcription
from orcha_dagster.interfaces.transcriber import Bundle
from orcha_dagster.pipeline.artifacts import ingestion_folder, second_picture_path
from orcha_dagster.pipeline.byte_budget import ByteBudget
from orcha_dagster.pipeline.paid_pages import forget_paid_pages
from orcha_dagster.pipeline.preprocessing import load_pictures, preprocess_pages
from orcha_dagster.pipeline.transcribing import Reading, transcribe_pages
from tests.fake_providers import FakePagePreparer, FakeTranscriber, fake_document
from tests.fake_storage import FakeObjectStore

ID = UUID(int=5)


class Desk:
    """A document and everything that reading it takes."""

    def __init__(self, folder: Path, *kinds: str, transcriber: FakeTranscriber) -> None:
        self.transcriber = transcriber
        self.objects = FakeObjectStore()
        self.pages = FakePagePreparer()
        self.budget = ByteBudget()
        self.moves = 0
        self._folder = folder
        self._document = folder / "document"
        self._document.write_bytes(fake_document(*kinds))
        self._raw = RawDocument(
            document_id=ID, file_path="a.pdf", media_type="application/pdf", byte_size=1, sha256="0" * 64
        )

    def read(self) -> Transcription:
        return asyncio.run(self._read())

    async def _read(self) -> Transcription:
        preprocessed = await preprocess_pages(
            ID,
            self._raw,
            self._document,
            folder=self._folder,
            pages=self.pages,
            objects=self.objects,
            on_page=lambda: None,
        )
        pictures = await load_pictures(preprocessed, folder=self._folder, pages=self.pages, objects=self.objects)
        reading = Reading(
            ingestion_id=ID,
            raw=self._raw,
            document=self._document,
            folder=self._folder,
            pictures=pictures,
            drawn=preprocessed.pages_with_false_text,
            pages=self.pages,
            transcriber=self.transcriber,
            objects=self.objects,
            quality_threshold=0.7,
            budget=self.budget,
            on_page=self._move,
        )
        return await transcribe_pages(preprocessed, reading)

    def _move(self) -> None:
        self.moves += 1


def test_a_long_document_is_read_in_calls_of_as_many_pages_as_are_allowed(tmp_path: Path) -> None:
    desk = Desk(tmp_path, *["scan"] * 40, transcriber=FakeTranscriber(pages_per_call=15, times_billed=1))
    transcription = desk.read()
    assert sorted(len(call) for call in desk.transcriber.calls) == [10, 15, 15]
    assert [page.page for page in transcription.pages] == list(range(1, 41))
    assert transcription.pages_billed == 40
    assert desk.moves == 3


def test_only_pages_without_text_are_sent(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "text", "scan", "text", "scan", transcriber=FakeTranscriber(pages_per_call=15))
    transcription = desk.read()
    assert desk.transcriber.calls == [(2, 4)]
    assert [page.source for page in transcription.pages] == ["text_layer", "fake", "text_layer", "fake"]
    assert [page.picture for page in transcription.pages][:2] == [PictureRead.NONE, PictureRead.ORIGINAL]


def test_a_page_whose_own_text_is_not_believed_goes_as_a_picture(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "garbled", "scan", transcriber=FakeTranscriber(pages_per_call=15))
    desk.read()
    assert desk.transcriber.pictures == ["picture of page 1, garbled, drawn", "picture of page 2, scan"]


def test_after_a_failure_only_the_missing_pages_are_paid_for(tmp_path: Path) -> None:
    failing = FakeTranscriber(pages_per_call=2, failures=[None, ProviderUnavailable("away"), None], times_billed=1)
    desk = Desk(tmp_path, *["scan"] * 6, transcriber=failing)
    with pytest.raises(ProviderUnavailable):
        desk.read()
    desk.transcriber = FakeTranscriber(pages_per_call=2, times_billed=1)
    transcription = desk.read()
    assert desk.transcriber.calls == [failing.calls[1]]
    assert [page.page for page in transcription.pages] == [1, 2, 3, 4, 5, 6]
    assert transcription.pages_billed == 6


@pytest.mark.parametrize(
    ("kinds", "bytes_per_call", "calls"),
    [
        (["scan"] * 6, 60, [(1, 2), (3, 4), (5, 6)]),
        (["scan", "garbled", "scan", "crooked"], 1_000, [(1,), (2,), (3,), (4,)]),
    ],
    ids=["too many bytes", "pages that do not go together"],
)
def test_pages_that_fit_into_one_call_by_number_and_take_several_are_paid_for_once(
    tmp_path: Path, kinds: list[str], bytes_per_call: int, calls: list[tuple[int, ...]]
) -> None:
    failing = FakeTranscriber(
        pages_per_call=15,
        bytes_per_call=bytes_per_call,
        failures=[None, ProviderUnavailable("away")],
        times_billed=1,
    )
    desk = Desk(tmp_path, *kinds, transcriber=failing)
    with pytest.raises(ProviderUnavailable):
        desk.read()
    desk.transcriber = FakeTranscriber(pages_per_call=15, bytes_per_call=bytes_per_call, times_billed=1)
    transcription = desk.read()
    assert [*failing.calls[:1], *desk.transcriber.calls] == calls
    assert transcription.pages_billed == len(kinds)


def test_what_was_billed_is_added_up_at_the_price_of_a_page(tmp_path: Path) -> None:
    transcriber = FakeTranscriber(pages_per_call=2, confidences={"treated": 0.9, "scan": 0.6}, times_billed=1)
    transcriber.usd_per_page = Decimal("0.0015")
    transcription = Desk(tmp_path, "text", "scan", "scan", transcriber=transcriber).read()
    assert (transcription.pages_billed, transcription.cost_usd) == (4, Decimal("0.0060"))
    assert Desk(tmp_path, "text", transcriber=transcriber).read().cost_usd == 0


@pytest.mark.parametrize(("name", "version"), [("other", "1"), ("fake", "0 (beta)/x")])
def test_what_another_reader_or_version_left_behind_is_not_used(tmp_path: Path, name: str, version: str) -> None:
    failing = FakeTranscriber(pages_per_call=2, failures=[None, ProviderUnavailable("away")])
    failing.name, failing.version = name, version
    desk = Desk(tmp_path, *["scan"] * 4, transcriber=failing)
    with pytest.raises(ProviderUnavailable):
        desk.read()
    desk.transcriber = FakeTranscriber(pages_per_call=2)
    assert {page.source for page in desk.read().pages} == {"fake"}
    assert sorted(desk.transcriber.calls) == [(1, 2), (3, 4)]
    forget_paid_pages(desk.objects, ID)
    assert desk.objects.list_paths(ingestion_folder(ID)) == []


def test_pages_that_were_kept_can_be_forgotten(tmp_path: Path) -> None:
    desk = Desk(tmp_path, *["scan"] * 4, transcriber=FakeTranscriber(pages_per_call=2))
    desk.read()
    forget_paid_pages(desk.objects, ID)
    desk.read()
    assert sorted(desk.transcriber.calls) == [(1, 2), (1, 2), (3, 4), (3, 4)]


def test_a_document_of_one_call_leaves_no_pages_behind(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "scan", transcriber=FakeTranscriber())
    desk.read()
    assert desk.objects.list_paths("ingestions") == []


def test_a_page_read_badly_is_treated_and_read_again_and_the_better_reading_kept(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "scan", transcriber=FakeTranscriber(confidences={"treated": 0.95, "scan": 0.6}))
    (page,) = desk.read().pages
    assert desk.transcriber.pictures == ["picture of page 1, scan", "picture of page 1, treated"]
    assert (page.picture, page.quality_score, page.rejected_quality_score) == (PictureRead.TREATED, 0.95, 0.6)
    path = second_picture_path(ID, 1)
    assert page.picture_path == path
    assert desk.objects.find(path) == b"picture of page 1, treated"


def test_a_treatment_that_made_it_worse_is_not_used(tmp_path: Path) -> None:
    transcriber = FakeTranscriber(confidences={"treated": 0.55, "scan": 0.6}, times_billed=1)
    transcription = Desk(tmp_path, "scan", transcriber=transcriber).read()
    (page,) = transcription.pages
    assert (page.picture, page.quality_score, page.rejected_quality_score) == (PictureRead.ORIGINAL, 0.6, 0.55)
    assert page.picture_path is None
    assert transcription.pages_billed == 2


def test_a_page_that_was_treated_and_read_badly_is_read_as_it_came(tmp_path: Path) -> None:
    transcriber = FakeTranscriber(confidences={"treated": 0.55, "crooked": 0.9})
    (page,) = Desk(tmp_path, "crooked", transcriber=transcriber).read().pages
    assert (page.picture, page.quality_score, page.rejected_quality_score) == (PictureRead.ORIGINAL, 0.9, 0.55)


@pytest.mark.parametrize(("kind", "confidence"), [("scan", 0.7), ("hopeless", 0.1)])
def test_a_page_that_is_good_or_cannot_be_helped_is_read_once(tmp_path: Path, kind: str, confidence: float) -> None:
    desk = Desk(tmp_path, kind, transcriber=FakeTranscriber(confidence=confidence))
    (page,) = desk.read().pages
    assert desk.transcriber.calls == [(1,)]
    assert (page.quality_score, page.rejected_quality_score) == (confidence, None)


@pytest.mark.parametrize(
    "error",
    [RateLimited("slowly"), ProviderTimeout("late"), ProviderRefused("no")],
    ids=lambda error: type(error).__name__,
)
def test_a_second_look_that_fails_leaves_the_first_reading_and_says_so(tmp_path: Path, error: Exception) -> None:
    transcriber = FakeTranscriber(pages_per_call=2, confidence=0.6, failures=[None, error], times_billed=1)
    desk = Desk(tmp_path, "scan", "scan", transcriber=transcriber)
    transcription = desk.read()
    first, other = sorted(transcription.pages, key=lambda page: page.rejected_quality_score is not None)
    assert first.second_look is not None
    assert (first.second_look.failure, first.second_look.steps) == (error.code, ("deskewed",))  # type: ignore[attr-defined]
    assert (first.picture, first.quality_score, first.rejected_quality_score) == (PictureRead.ORIGINAL, 0.6, None)
    assert other.rejected_quality_score == 0.6
    assert transcription.pages_billed == 3
    assert desk.moves == 3  # the call, then each page that was looked at again


def test_whoever_lost_the_lease_during_a_second_look_stops(tmp_path: Path) -> None:
    with pytest.raises(LeaseLost):
        Desk(tmp_path, "scan", transcriber=FakeTranscriber(confidence=0.6, failures=[None, LeaseLost("gone")])).read()


def test_what_was_read_first_is_not_paid_for_again_when_a_second_look_is_cut_short(tmp_path: Path) -> None:
    unforeseen = [None, ValueError("nobody foresaw this"), ValueError("nobody foresaw this")]
    crashing = FakeTranscriber(pages_per_call=2, confidence=0.6, failures=unforeseen, times_billed=1)
    desk = Desk(tmp_path, "scan", "scan", transcriber=crashing)
    with pytest.raises(ValueError, match="nobody"):
        desk.read()
    desk.transcriber = FakeTranscriber(pages_per_call=2, confidences={"treated": 0.9}, times_billed=1)
    transcription = desk.read()
    assert sorted(desk.transcriber.calls) == [(1,), (2,)]
    assert [page.quality_score for page in transcription.pages] == [0.9, 0.9]
    assert transcription.pages_billed == 4


def test_a_page_in_another_form_is_no_treated_page_and_gets_the_thorough_treatment(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "webp", transcriber=FakeTranscriber(confidences={"treated": 0.95, "webp": 0.6}))
    (page,) = desk.read().pages
    assert desk.transcriber.pictures == ["picture of page 1, webp", "picture of page 1, treated"]
    assert (page.picture, page.rejected_quality_score) == (PictureRead.TREATED, 0.6)


def test_a_blank_page_is_read_once_and_says_nothing_about_the_others(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "scan", "blank", transcriber=FakeTranscriber(confidence=0.8))
    transcription = desk.read()
    assert sorted(desk.transcriber.calls) == [(1,), (2,)]
    assert [page.is_blank for page in transcription.pages] == [False, True]
    assert transcription.quality_score == 0.8


def test_a_document_of_blank_pages_has_no_quality(tmp_path: Path) -> None:
    assert Desk(tmp_path, "blank", "blank", transcriber=FakeTranscriber()).read().quality_score == 0


def test_a_page_with_letters_on_which_nothing_was_read_counts_and_is_read_again(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "scan", transcriber=FakeTranscriber(words=()))
    transcription = desk.read()
    assert desk.transcriber.calls == [(1,), (1,)]
    assert (transcription.quality_score, transcription.pages[0].is_blank) == (0, False)


def test_as_many_bytes_are_held_as_a_bundle_has_and_no_file_is_left(tmp_path: Path) -> None:
    sizes: list[int] = []

    class WatchedBudget(ByteBudget):
        def hold(self, size: int) -> AbstractAsyncContextManager[None]:
            sizes.append(size)
            return super().hold(size)

    desk = Desk(tmp_path, "scan", "scan", transcriber=FakeTranscriber(pages_per_call=2))
    desk.budget = WatchedBudget()
    desk.read()
    assert sizes == [len(b"picture of page 1, scan\npicture of page 2, scan")]
    assert list(tmp_path.glob("bundle-*")) == []


def test_an_answer_with_other_pages_than_asked_for_is_tried_again(tmp_path: Path) -> None:
    class Forgetful(FakeTranscriber):
        async def transcribe(self, bundle: Bundle) -> tuple[TranscribedPage, ...]:
            return (await super().transcribe(bundle))[:-1]

    with pytest.raises(RecoverableError, match="other pages"):
        Desk(tmp_path, "scan", "scan", transcriber=Forgetful(pages_per_call=15)).read()


def test_treated_pictures_are_taken_from_the_store_when_they_are_not_on_this_machine(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "crooked", "crooked", transcriber=FakeTranscriber())

    async def load_elsewhere() -> dict[int, Path]:
        preprocessed = await preprocess_pages(
            ID, desk._raw, desk._document, folder=tmp_path, pages=desk.pages, objects=desk.objects,
            on_page=lambda: None,
        )  # fmt: skip
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        return await load_pictures(preprocessed, folder=elsewhere, pages=desk.pages, objects=desk.objects)

    pictures = asyncio.run(load_elsewhere())
    assert {page: picture.read_bytes() for page, picture in pictures.items()} == {
        1: b"picture of page 1, treated",
        2: b"picture of page 2, treated",
    }
    assert desk.pages.calls.count("unpack") == 1
