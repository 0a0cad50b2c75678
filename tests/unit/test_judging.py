"""The verdict on an extraction."""

from datetime import date, timedelta

import pytest

from orcha_dagster.domain.extractions import ExtractedField, Extraction
from orcha_dagster.domain.verdicts import Check, Outcome, Verdict
from orcha_dagster.pipeline.judging import judge
from tests.fake_providers import transcription_of

TODAY = date(2026, 11, 3)
INVOICE = {
    "number": "R-1", "issue_date": "2026-11-01", "seller": "Acme Ltd", "currency": "EUR",
    "net": "100.00", "tax": "19.00", "gross": "119.00",
}  # fmt: skip


def judged(fields: dict[str, str], *, schema: str = "invoice", quality: float = 1.0) -> Verdict:
    extraction = Extraction(
        schema_name=schema,
        fields={name: ExtractedField(value=value) for name, value in fields.items()},
        extractor="test",
        extractor_version="1",
    )
    transcription = transcription_of("text", quality_score=quality)
    return judge(extraction, transcription, today=TODAY, quality_threshold=0.8)


def failed(verdict: Verdict) -> list[str]:
    return [check.name for check in verdict.checks if not check.passed]


def test_a_complete_invoice_is_accepted() -> None:
    verdict = judged(INVOICE)
    assert verdict.outcome is Outcome.ACCEPTED
    assert [check.name for check in verdict.checks] == [
        "critical_fields_present", "amounts_add_up", "date_plausible", "reading_quality",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["number", "issue_date", "seller", "currency", "gross"])
def test_an_invoice_without_a_critical_field_needs_review(name: str) -> None:
    verdict = judged({field: value for field, value in INVOICE.items() if field != name})
    assert verdict.outcome is Outcome.NEEDS_REVIEW
    assert failed(verdict) == ["critical_fields_present"]
    assert name in verdict.reasons[0]


def test_a_blank_value_is_as_good_as_none() -> None:
    assert failed(judged(INVOICE | {"seller": "  "})) == ["critical_fields_present"]


def test_a_receipt_needs_neither_number_nor_currency() -> None:
    assert judged({"seller": "Bakery", "issue_date": "2026-11-01", "gross": "5.00"}, schema="receipt").is_accepted


def test_another_document_needs_one_field_whatever_it_is() -> None:
    assert judged({"buyer": "Somebody"}, schema="generic").is_accepted
    assert failed(judged({}, schema="generic")) == ["critical_fields_present"]


@pytest.mark.parametrize(("gross", "adds_up"), [("119.02", True), ("118.98", True), ("119.03", False), ("19", False)])
def test_net_and_tax_must_give_gross_within_two_cents(gross: str, adds_up: bool) -> None:
    verdict = judged(INVOICE | {"gross": gross})
    assert failed(verdict) == ([] if adds_up else ["amounts_add_up"])


def test_amounts_that_are_not_all_there_pass_and_say_so() -> None:
    verdict = judged({name: value for name, value in INVOICE.items() if name != "net"})
    assert find_check(verdict, "amounts_add_up") == Check(
        name="amounts_add_up", passed=True, reason="nothing to add up without net"
    )


@pytest.mark.parametrize("value", ["a lot", "NaN", "Infinity"])
def test_an_amount_that_is_no_number_needs_review(value: str) -> None:
    assert failed(judged(INVOICE | {"tax": value})) == ["amounts_add_up"]


@pytest.mark.parametrize(
    ("issued", "plausible"),
    [
        (date(1989, 12, 31), False),
        (date(1990, 1, 1), True),
        (TODAY + timedelta(days=366), True),
        (TODAY + timedelta(days=367), False),
    ],
)
def test_a_date_from_before_1990_or_more_than_a_year_ahead_is_not_plausible(issued: date, plausible: bool) -> None:
    verdict = judged(INVOICE | {"issue_date": issued.isoformat()})
    assert failed(verdict) == ([] if plausible else ["date_plausible"])


def test_a_date_in_no_normal_form_needs_review() -> None:
    assert failed(judged(INVOICE | {"issue_date": "yesterday"})) == ["date_plausible"]


def test_a_badly_read_page_needs_review_even_when_all_fields_fit() -> None:
    assert failed(judged(INVOICE, quality=0.79)) == ["reading_quality"]
    assert judged(INVOICE, quality=0.8).is_accepted


def find_check(verdict: Verdict, name: str) -> Check:
    return next(check for check in verdict.checks if check.name == name)
