"""What the history tells of a finished stage."""

from decimal import Decimal
from uuid import uuid4

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.extractions import ExtractedField, Extraction
from orcha_dagster.domain.pages import PageMeasurement, PageTreatment, PreprocessedImage
from orcha_dagster.domain.transcriptions import Transcription
from orcha_dagster.domain.verdicts import Outcome, Verdict
from orcha_dagster.pipeline.stage_facts import tell_facts

PAID = Transcription(
    pages=(),
    provider="document-ai",
    provider_version="v2",
    quality_score=0.87654,
    pages_billed=3,
    cost_usd=Decimal("0.0045"),
)


def test_a_document_is_told_by_its_type_and_size() -> None:
    raw = RawDocument(document_id=uuid4(), file_path="a", media_type="image/png", byte_size=12, sha256="0" * 64)
    assert tell_facts(raw, is_reused=False) == {"media_type": "image/png", "bytes": 12}


def test_pictures_are_told_by_their_number_and_those_that_were_treated() -> None:
    untouched = PageTreatment(measurement=PageMeasurement(page=1, has_text_layer=True), steps=(), reason="")
    treated = PageTreatment(measurement=PageMeasurement(page=2, has_text_layer=False), steps=("deskewed",), reason="")
    assert tell_facts(PreprocessedImage(pages=(untouched,), picture_path=None), is_reused=False) == {"pages": 1}
    both = PreprocessedImage(pages=(untouched, treated), picture_path="p")
    assert tell_facts(both, is_reused=False) == {"pages": 2, "treated_pages": 1}


def test_a_reading_is_told_with_who_read_how_well_and_at_which_price() -> None:
    assert tell_facts(PAID, is_reused=False) == {
        "pages": 0,
        "provider": "document-ai",
        "version": "v2",
        "quality": 0.877,
        "pages_billed": 3,
        "cost_usd": 0.0045,
    }


def test_what_an_earlier_attempt_paid_is_not_told_twice() -> None:
    assert tell_facts(PAID, is_reused=True) == {
        "pages": 0,
        "provider": "document-ai",
        "version": "v2",
        "quality": 0.877,
        "reused": True,
    }


def test_an_extraction_is_told_without_anything_the_document_says() -> None:
    extraction = Extraction(
        schema_name="invoice",
        fields={"number": ExtractedField(value="SECRET-7")},
        extractor="claude",
        extractor_version="1",
        model="claude-sonnet",
        input_tokens=1200,
        output_tokens=80,
        cost_usd=Decimal("0.0048"),
    )
    facts = tell_facts(extraction, is_reused=False)
    assert facts == {
        "schema": "invoice",
        "provider": "claude",
        "version": "1",
        "model": "claude-sonnet",
        "input_tokens": 1200,
        "output_tokens": 80,
        "cost_usd": 0.0048,
    }
    assert "SECRET" not in str(facts)


def test_a_verdict_is_told_by_its_outcome_and_how_sure_it_is() -> None:
    verdict = Verdict(outcome=Outcome.NEEDS_REVIEW, checks=(), confidence=0.51234)
    assert tell_facts(verdict, is_reused=False) == {"outcome": "needs_review", "confidence": 0.512}
