"""Evaluating extraction with fakes: what is read, kept, scored, left out and written as HTML."""

import asyncio
import json
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from orcha_dagster.domain.errors import ConfigurationError, ProviderTimeout
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.evaluation.dataset import load_dataset
from orcha_dagster.evaluation.evaluating_extraction import ExtractionPlan, ExtractionReport, evaluate_extraction
from orcha_dagster.evaluation.extraction_scores import End
from orcha_dagster.evaluation.field_matching import Match
from orcha_dagster.evaluation.html.page import write_html
from orcha_dagster.evaluation.html.plots import plot_coverage, plot_histogram
from orcha_dagster.evaluation.page_views import pages_to_view, view_worst_cases
from orcha_dagster.evaluation.ranking import coverage_curve, reliability
from orcha_dagster.evaluation.reading_cache import ReadingCache
from orcha_dagster.html.drawing import round_step
from orcha_dagster.html.elements import element
from orcha_dagster.interfaces.extractor import ExtractionRequest, Extractor
from orcha_dagster.pipeline.ingesting import Tools
from orcha_dagster.schemas.loading import BUILT_IN
from tests.fake_providers import FakeExtractor, FakePagePreparer, FakeTranscriber, fake_document
from tests.fake_storage import FakeObjectStore

RECEIPT = ("Corner Shop", "Cash", "Change", "19/10/2018", "Total 60.30")
TRUTH = {"seller": "Corner Shop", "issue_date": "2018-10-19", "gross": "60.30"}


class HangingExtractor(Extractor):
    name = "hanging"
    version = "1"

    async def extract(self, request: ExtractionRequest) -> Extraction | None:
        await asyncio.Event().wait()
        return None


class Bench:
    """A folder of fake documents, and the tools to evaluate it with."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.transcriber = FakeTranscriber(RECEIPT)
        self._files: list[dict[str, Any]] = []

    def add(self, path: str, fields: dict[str, Any] | None, *, kind: str = "receipt", content: bytes = b"") -> None:
        (self.folder / path).write_bytes(content or fake_document("scan"))
        labels = None if fields is None else {"fields": fields}
        self._files.append({"path": path, "kind": kind, "ground_truth": labels})

    def evaluate(
        self,
        *extractors: Extractor,
        witnesses: Sequence[Extractor] = (),
        cache: Path | None = None,
        limit_seconds: float = 30,
        only_visible: bool = False,
    ) -> ExtractionReport:
        (self.folder / "manifest.json").write_text(json.dumps({"files": self._files}), encoding="utf-8")
        self.tools = Tools(
            objects=FakeObjectStore(),
            scratch=self.folder,
            pages=FakePagePreparer(),
            transcriber=self.transcriber,
            extractors=extractors,
            schemas=BUILT_IN,
            witnesses=tuple(witnesses),
            max_document_bytes=10_000,
            quality_threshold=0.5,
        )
        self.dataset = load_dataset(self.folder)
        plan = ExtractionPlan("auto", only_visible=only_visible, at_once=2, limit_seconds=limit_seconds)
        kept = ReadingCache(cache, self.transcriber, quality_threshold=0.5) if cache else None
        self.told: list[str] = []
        return asyncio.run(
            evaluate_extraction(
                self.dataset, self.tools, plan, cache=kept, on_document=lambda one: self.told.append(one.path)
            )
        )


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def receipts(**changed: str) -> FakeExtractor:
    return FakeExtractor({**TRUTH, **changed}, schema_name="receipt")


def test_a_document_goes_from_its_file_to_its_verdict(bench: Bench) -> None:
    bench.add("one.pdf", TRUTH)
    report = bench.evaluate(receipts(), witnesses=[receipts(gross="9.99")])
    (one,) = report.documents
    assert {field.name: field.match for field in one.fields} == dict.fromkeys(TRUTH, Match.EXACT)
    assert all(field.page == 1 and field.confidence for field in one.fields)
    assert (one.schema_name, one.extractor, one.tier, one.pages) == ("receipt", "fake", "clean", 1)
    assert one.is_right
    assert one.confidence is not None
    assert report.schema_right == report.schema_labelled == 1
    assert bench.told == ["one.pdf"]
    assert report.speed is not None
    assert report.speed.mean > 0


def test_one_wrong_critical_field_makes_a_document_wrong_and_an_uncritical_one_does_not(bench: Bench) -> None:
    bench.add("one.pdf", {**TRUTH, "currency": "MYR"})
    assert bench.evaluate(receipts(currency="EUR")).documents[0].is_right is True
    assert bench.evaluate(receipts(gross="6.30", currency="MYR")).documents[0].is_right is False


def test_a_document_taken_for_something_else_is_judged_as_what_it_is(bench: Bench) -> None:
    """An invoice without its number would be wrong; a receipt needs none."""
    bench.add("one.pdf", {**TRUTH, "number": "17"})
    report = bench.evaluate(FakeExtractor(TRUTH, schema_name="invoice"))
    assert (report.documents[0].schema_name, report.documents[0].is_right) == ("invoice", True)
    assert (report.schema_right, report.schema_labelled) == (0, 1)


def test_of_a_document_that_cannot_be_read_every_field_is_missing(bench: Bench) -> None:
    bench.add("one.pdf", TRUTH, content=b"%PDF-half")
    report = bench.evaluate(receipts())
    (one,) = report.documents
    assert (one.end, one.error_code) == (End.FAILED, "DOCUMENT_DAMAGED")
    assert {field.match for field in one.fields} == {Match.MISSING}
    assert report.fields["gross"].recall == 0.0
    assert not report.has_defects


def test_an_extractor_that_fails_or_hangs_ends_only_its_document(bench: Bench) -> None:
    bench.add("one.pdf", TRUTH)
    failed = bench.evaluate(FakeExtractor(TRUTH, failures=[ProviderTimeout("Too slow.")])).documents[0]
    assert failed.error_code == ProviderTimeout.code
    report = bench.evaluate(HangingExtractor(), limit_seconds=0.2)
    assert report.documents[0].error_code == "TIMED_OUT"
    assert report.has_defects


def test_an_error_that_nobody_foresaw_is_a_defect(bench: Bench) -> None:
    bench.add("one.pdf", TRUTH)
    report = bench.evaluate(FakeExtractor(TRUTH, failures=[ZeroDivisionError("by us")]))
    assert report.documents[0].error_code == "UNEXPECTED"
    assert report.has_defects


def test_what_was_read_is_kept_and_not_read_again(bench: Bench, tmp_path: Path) -> None:
    bench.add("one.pdf", TRUTH)
    first = bench.evaluate(receipts(), cache=tmp_path / "kept")
    again = bench.evaluate(receipts(), cache=tmp_path / "kept")
    assert len(bench.transcriber.calls) == 1
    assert (first.documents[0].reading_seconds > 0, again.documents[0].reading_seconds) == (True, 0.0)
    assert again.documents[0].fields == first.documents[0].fields


def test_another_reader_does_not_get_what_was_kept(bench: Bench, tmp_path: Path) -> None:
    bench.add("one.pdf", TRUTH)
    bench.evaluate(receipts(), cache=tmp_path / "kept")
    bench.transcriber = FakeTranscriber(RECEIPT)
    bench.transcriber.version = "2"
    bench.evaluate(receipts(), cache=tmp_path / "kept")
    assert len(bench.transcriber.calls) == 1


def test_a_kept_reading_that_cannot_be_understood_is_made_again(bench: Bench, tmp_path: Path) -> None:
    bench.add("one.pdf", TRUTH)
    bench.evaluate(receipts(), cache=tmp_path / "kept")
    (file,) = (tmp_path / "kept").iterdir()
    file.write_text("{}", encoding="utf-8")
    bench.evaluate(receipts(), cache=tmp_path / "kept")
    assert len(bench.transcriber.calls) == 2


def test_documents_without_true_fields_are_left_out_and_counted(bench: Bench) -> None:
    bench.add("one.pdf", TRUTH)
    bench.add("two.eml", None, kind="email")
    bench.add("three.eml", {"subject": "Hello"}, kind="email")
    report = bench.evaluate(receipts())
    assert [one.path for one in report.documents] == ["one.pdf"]
    assert report.left_out == {"email": 2}


def test_a_folder_without_any_true_field_cannot_be_evaluated(bench: Bench) -> None:
    bench.add("two.eml", None, kind="email")
    with pytest.raises(ConfigurationError, match="true fields"):
        bench.evaluate(receipts())


def test_a_report_comes_back_from_its_json(bench: Bench) -> None:
    bench.add("one.pdf", {**TRUTH, "line_items": [{"description": "Milk", "net": "60.30"}]})
    report = bench.evaluate(receipts())
    assert ExtractionReport.from_json_bytes(report.to_json_bytes()) == report


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.addresses: list[str] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "action")]
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_words_of_a_document_stay_words_in_the_page(bench: Bench) -> None:
    bench.add("one.pdf", {**TRUTH, "seller": '<script>alert("x")</script>'})
    report = bench.evaluate(receipts(seller='"><img src=http://example.com/x onerror=alert(1)>'))
    page = write_html(report, {"one.pdf": {1: b"no real picture"}})
    tags = Tags(page)
    assert "script" not in tags.names
    assert all(address.startswith("data:") for address in tags.addresses)
    assert "&lt;script&gt;" in page
    assert tags.open == []


def test_a_page_without_anything_wrong_says_so(bench: Bench) -> None:
    bench.add("one.pdf", TRUTH)
    assert "Every field of every document is right." in write_html(bench.evaluate(receipts()), {})


def test_a_page_that_cannot_be_drawn_is_left_out(bench: Bench) -> None:
    """The pictures of the fake preparer are none."""
    bench.add("one.pdf", TRUTH)
    report = bench.evaluate(receipts(gross="1.00"))
    assert asyncio.run(view_worst_cases(report.documents, bench.dataset, bench.tools)) == {"one.pdf": {}}


def test_pages_with_a_wrong_critical_field_are_viewed_before_others(bench: Bench) -> None:
    bench.add("one.pdf", {"currency": "MYR", **TRUTH})
    (one,) = bench.evaluate(receipts(gross="1.00", issue_date="2001-01-01", currency="EUR")).documents
    places = {"currency": 2, "issue_date": 4, "gross": 5, "seller": 3}
    fields = [field.model_copy(update={"page": places[field.name]}) for field in one.fields]
    assert pages_to_view(one.model_copy(update={"fields": tuple(fields), "pages": 6})) == [4, 5]
    assert pages_to_view(one) == [1]


def test_quotes_cannot_end_an_attribute() -> None:
    assert element("p", "a & b", title='"><b>', data_x=None) == '<p title="&quot;&gt;&lt;b&gt;">a &amp; b</p>'


@pytest.mark.parametrize(
    ("highest", "step"), [(1.0, 0.5), (27, 10), (332, 100), (0.08, 0.02), (4, 1), (21, 10), (80, 20)]
)
def test_axes_have_round_steps(highest: float, step: float) -> None:
    assert round_step(highest) == pytest.approx(step)


def test_plots_can_be_drawn_of_nothing_and_of_a_single_document() -> None:
    for judged in ([], [(1.0, True)], [(0.0, False)]):
        assert plot_histogram(reliability(judged)).count("<rect") == len(judged)
        Tags(plot_coverage(coverage_curve(judged), now=None, wanted=0.02))
