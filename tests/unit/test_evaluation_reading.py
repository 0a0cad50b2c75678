"""Evaluating with fakes: what is read, compared, counted and left out."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from orcha_dagster.domain.errors import DocumentTooLarge, ProviderTimeout
from orcha_dagster.domain.transcriptions import Line, PictureRead, TranscribedPage
from orcha_dagster.evaluation.dataset import load_dataset
from orcha_dagster.evaluation.evaluating import Plan, Report, choose_scans, evaluate_reading
from orcha_dagster.evaluation.scores import DocumentScore, Effect
from orcha_dagster.evaluation.some_at_once import some_at_once
from orcha_dagster.interfaces.transcriber import Bundle, BundleLimits, Transcriber
from orcha_dagster.pipeline.ingesting import Tools
from orcha_dagster.schemas.loading import BUILT_IN
from tests.fake_providers import FakePagePreparer, fake_document, place
from tests.fake_storage import FakeObjectStore


class PictureTranscriber(Transcriber):
    """Reads what it was told to read on pictures of pages that were treated, and on those that were not."""

    name = "pictures"
    version = "1"
    limits = BundleLimits(pages=1, bytes=1_000_000, takes_pdf=False)

    def __init__(
        self,
        original: str,
        treated: str = "",
        *,
        confidences: tuple[float, float] = (0.9, 0.9),
        failures: Sequence[Exception] = (),
        hangs: bool = False,
    ) -> None:
        self.calls: list[str] = []
        self.is_closed = False
        self._texts = original, treated
        self._confidences = confidences
        self._failures = list(failures)
        self._hangs = hangs

    async def transcribe(self, bundle: Bundle) -> tuple[TranscribedPage, ...]:
        is_treated = b"treated" in bundle.content
        self.calls.append("treated" if is_treated else "original")
        if self._hangs:
            await asyncio.Event().wait()
        if self._failures:
            raise self._failures.pop(0)
        confidence = self._confidences[is_treated]
        lines = [
            Line(text=text, box=place(0.1, 0.1 + 0.05 * row), confidence=confidence)
            for row, text in enumerate(self._texts[is_treated].splitlines())
        ]
        page = TranscribedPage(
            page=bundle.pages[0], lines=tuple(lines), source=self.name, quality_score=confidence if lines else 0.0
        )
        return (page,)

    async def close(self) -> None:
        self.is_closed = True


def evaluate(
    folder: Path, transcriber: Transcriber, *entries: dict[str, Any], limit_seconds: float = 30, max_bytes: int = 1000
) -> Report:
    """Each entry has the content of its document as well."""
    for entry in entries:
        (folder / entry["path"]).write_bytes(entry.pop("content"))
    (folder / "manifest.json").write_text(json.dumps({"files": entries}), encoding="utf-8")
    scratch = folder / "scratch"
    scratch.mkdir()
    tools = Tools(
        objects=FakeObjectStore(),
        scratch=scratch,
        pages=FakePagePreparer(),
        transcriber=transcriber,
        extractors=(),
        schemas=BUILT_IN,
        witnesses=(),
        max_document_bytes=max_bytes,
        quality_threshold=0.7,
    )
    told: list[DocumentScore] = []
    report = asyncio.run(
        evaluate_reading(
            load_dataset(folder), tools, Plan(workers=2, limit_seconds=limit_seconds), on_document=told.append
        )
    )
    assert len(told) == len(entries)
    assert list(scratch.iterdir()) == []
    return report


def a_document(kind: str, *pages: str, text: str | None = None, path: str = "a.pdf", **more: Any) -> dict[str, Any]:
    labels = None if text is None else {"text": text, "fields": {"total": "9.00"}}
    return {"path": path, "kind": kind, "content": fake_document(*pages), "ground_truth": labels, **more}


def test_a_page_that_needs_nothing_is_read_once_and_compared_with_the_truth(tmp_path: Path) -> None:
    transcriber = PictureTranscriber("total 9.00\nthank")
    report = evaluate(tmp_path, transcriber, a_document("receipt", "scan", text="Total 9.00 Thank you"))
    (one,) = report.documents
    assert transcriber.calls == ["original"]
    assert one.score == one.score_without_preprocessing
    assert one.score is not None
    assert (one.score.word_recall, one.score.word_precision) == (0.75, 1)
    assert (one.effect, one.changed_pages, one.printed_fields) == (None, (), {"total": True})
    assert (one.tier, report.all.word_recall, report.all.fields) == ("clean", 0.75, {"total": 1})


def test_a_treated_page_is_read_once_more_as_it_was(tmp_path: Path) -> None:
    transcriber = PictureTranscriber("t0tal 9", "total 9.00")
    report = evaluate(tmp_path, transcriber, a_document("degraded_receipt", "crooked", text="total 9.00"))
    (one,) = report.documents
    (page,) = one.changed_pages
    assert sorted(transcriber.calls) == ["original", "treated"]
    assert (page.page, page.steps, page.picture) == (1, ("deskewed",), PictureRead.TREATED)
    assert one.effect is Effect.BETTER
    assert report.all.effects == {Effect.BETTER: 1}
    assert report.all.character_error_rate == 0
    assert report.all.character_error_rate_without_preprocessing == pytest.approx(0.4)
    assert one.printed_fields_without_preprocessing == {"total": False}
    assert one.tier == "degraded"


def test_harm_is_told_as_such(tmp_path: Path) -> None:
    transcriber = PictureTranscriber("total 9.00", "tota! 8.00")
    report = evaluate(tmp_path, transcriber, a_document("receipt", "crooked", text="total 9.00"))
    assert report.all.effects == {Effect.WORSE: 1}
    assert report.all.fields == {"total": 0}


def test_a_change_that_changes_nothing_is_the_same(tmp_path: Path) -> None:
    transcriber = PictureTranscriber("total 9.00", "TOTAL 9.00")
    report = evaluate(tmp_path, transcriber, a_document("receipt", "crooked", text="total 9.00"))
    assert report.all.effects == {Effect.SAME: 1}


def test_a_page_read_badly_is_treated_and_the_better_reading_kept_and_told(tmp_path: Path) -> None:
    transcriber = PictureTranscriber("t0ta1", "total 9.00", confidences=(0.5, 0.95))
    report = evaluate(tmp_path, transcriber, a_document("receipt", "scan", text="total 9.00"))
    (one,) = report.documents
    (page,) = one.changed_pages
    assert (page.steps, page.picture, page.rejected_quality_score) == ((), PictureRead.TREATED, 0.5)
    assert one.effect is Effect.BETTER


def test_a_born_digital_document_is_read_from_its_text(tmp_path: Path) -> None:
    transcriber = PictureTranscriber("")
    report = evaluate(tmp_path, transcriber, a_document("invoice_pdf", "text", "text"))
    (one,) = report.documents
    assert transcriber.calls == []
    assert (one.tier, one.pages, one.text_layer_pages, one.score) == ("born-digital", 2, 2, None)
    assert report.tiers["born-digital"].scored == 0
    assert report.tiers["born-digital"].word_recall is None


def test_the_manifest_has_the_last_word_on_the_tier(tmp_path: Path) -> None:
    report = evaluate(tmp_path, PictureTranscriber("x"), a_document("degraded_image", "scan", tier="fax"))
    assert list(report.tiers) == ["fax"]


def test_a_document_that_cannot_be_read_counts_as_not_read(tmp_path: Path) -> None:
    transcriber = PictureTranscriber("", failures=[ProviderTimeout("It took too long.")])
    report = evaluate(tmp_path, transcriber, a_document("receipt", "scan", text="total 9.00"))
    assert report.all.errors == {"PROVIDER_TIMEOUT": 1}
    assert (report.all.word_recall, report.all.word_precision, report.all.character_error_rate) == (0, 0, 1)
    assert report.all.fields == {"total": 0}
    assert not report.has_defects


def test_broken_documents_end_in_a_code_or_in_text(tmp_path: Path) -> None:
    report = evaluate(
        tmp_path,
        PictureTranscriber("x"),
        {"path": "1", "kind": "broken", "content": b"%PDF-fak"},
        {"path": "2", "kind": "broken", "content": fake_document("locked")},
        {"path": "3", "kind": "broken", "content": b"no document at all"},
        {"path": "4", "kind": "broken", "content": fake_document("text")},
        {"path": "5", "kind": "broken", "content": fake_document(*["scan"] * 60)},
        {"path": "6", "kind": "broken", "content": fake_document("scan") + b" " * 1000},
    )
    assert [one.error_code for one in report.documents] == [
        "DOCUMENT_DAMAGED",
        "DOCUMENT_ENCRYPTED",
        "DOCUMENT_UNSUPPORTED",
        None,
        DocumentTooLarge.code,
        DocumentTooLarge.code,
    ]
    assert report.documents[3].characters == len("text of page 1")
    assert list(report.tiers) == ["broken"]
    assert not report.has_defects


def test_files_that_are_no_documents_are_left_out_and_counted(tmp_path: Path) -> None:
    report = evaluate(
        tmp_path,
        PictureTranscriber("x"),
        a_document("receipt", "scan"),
        {"path": "b", "kind": "email", "content": b"From: somebody"},
    )
    assert (report.left_out, report.all.documents) == ({"email": 1}, 1)


def test_a_document_that_never_ends_is_given_up(tmp_path: Path) -> None:
    transcriber = PictureTranscriber("", hangs=True)
    report = evaluate(tmp_path, transcriber, a_document("broken", "scan"), limit_seconds=0.2)
    assert report.documents[0].error_code == "TIMED_OUT"
    assert report.documents[0].seconds < 20
    assert report.has_defects
    assert transcriber.is_closed


def test_an_error_that_nobody_foresaw_ends_one_document_only(tmp_path: Path) -> None:
    transcriber = PictureTranscriber("total", failures=[ZeroDivisionError("oh")])
    report = evaluate(tmp_path, transcriber, a_document("receipt", "scan"), a_document("receipt", "scan", path="b.pdf"))
    assert sorted(str(one.error_code) for one in report.documents) == ["None", "UNEXPECTED"]
    assert report.has_defects


def test_the_report_is_json_with_everything(tmp_path: Path) -> None:
    report = evaluate(tmp_path, PictureTranscriber("a", "b"), a_document("receipt", "crooked", text="b"))
    assert Report.from_json_bytes(report.to_json_bytes()) == report
    assert json.loads(report.to_json_bytes())["documents"][0]["effect"] == "better"


def scan(path: str, *, pages: int = 1, text_layer_pages: int = 0) -> DocumentScore:
    return DocumentScore(
        path=path, kind="receipt", tier="clean", seconds=1, pages=pages, text_layer_pages=text_layer_pages
    )


def test_scans_to_be_timed_come_evenly_from_the_whole_folder() -> None:
    scans = [scan(str(number)) for number in range(10)]
    assert choose_scans(scans, pages=5) == ["0", "2", "4", "6", "8"]
    assert choose_scans(scans, pages=100) == [one.path for one in scans]
    assert choose_scans([scan("a", pages=3, text_layer_pages=3), scan("b")], pages=9) == ["b"]
    assert choose_scans([], pages=9) == []


def test_the_first_error_ends_what_is_done_at_once_and_comes_out_as_it_is() -> None:
    begun: list[int] = []

    async def work(number: int) -> int:
        begun.append(number)
        await asyncio.sleep(0)
        if number == 1:
            raise DocumentTooLarge("Too large.")
        return number * 2

    assert asyncio.run(some_at_once([2, 3, 4], work, at_once=2)) == [4, 6, 8]
    begun.clear()
    with pytest.raises(DocumentTooLarge):
        asyncio.run(some_at_once([1, 2, 3, 4, 5], work, at_once=2))
    assert len(begun) < 5
