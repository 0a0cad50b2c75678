"""Who is asked for the fields, who is heard beside, and when somebody is asked twice."""

import asyncio
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.errors import ConfigurationError, LeaseLost, Parked, ProviderUnavailable
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.schemas import DocumentSchema
from orcha_dagster.domain.tickets import Ticket
from orcha_dagster.domain.verdicts import Check, Outcome, Verdict
from orcha_dagster.interfaces.extractor import ExtractionRequest, Extractor
from orcha_dagster.pipeline.extracting import Judge, extract_fields
from orcha_dagster.pipeline.tickets import StoredTickets
from orcha_dagster.rules.rules_extractor import RulesExtractor
from orcha_dagster.schemas import generic, invoice
from tests.fake_providers import FakeExtractor, transcription_of
from tests.fake_storage import FakeObjectStore

RAW = RawDocument(document_id=UUID(int=1), file_path="a", media_type="x", byte_size=1, sha256="0" * 64)
TEXT = transcription_of("Acme Trading Ltd", "Invoice number | R-7", "Total | 11.90 EUR")


class Listener(FakeExtractor):
    """Finds more when it is told what is missing."""

    name = "listener"
    heeds_remarks = True

    def __init__(self, *answers: dict[str, str] | Exception) -> None:
        super().__init__()
        self.remarks: list[tuple[str, ...]] = []
        self._answers = list(answers)

    async def extract(self, request: ExtractionRequest) -> Extraction | None:
        self.remarks.append(request.remarks)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        self._fields = answer
        found = await super().extract(request)
        assert found is not None
        return found.model_copy(update={"input_tokens": 100, "output_tokens": 10, "cost_usd": Decimal("0.01")})


@pytest.fixture
def document(tmp_path: Path) -> Path:
    file = tmp_path / "document"
    file.write_bytes(b"x")
    return file


def extract(
    document: Path,
    *extractors: Extractor,
    witnesses: Sequence[Extractor] = (),
    judge: Judge | None = None,
    schema: DocumentSchema = invoice.SCHEMA,
) -> Extraction:
    request = ExtractionRequest(RAW, document, TEXT, schema)
    return asyncio.run(extract_fields(request, extractors=extractors, witnesses=witnesses, judge=judge))


def wants_gross(extraction: Extraction, *, decides: bool = True) -> Verdict:
    """A verdict that asks for the total, and is surer the more fields there are."""
    has_gross = extraction.find_value("gross") is not None
    check = Check(name="critical_fields_present", passed=has_gross, reason="gross", decides=decides)
    outcome = Outcome.ACCEPTED if has_gross else Outcome.NEEDS_REVIEW
    return Verdict(outcome=outcome, checks=(check,), confidence=len(extraction.fields) / 10)


def forgives_gross(extraction: Extraction) -> Verdict:
    return wants_gross(extraction, decides=False)


REMARKS = ("critical_fields_present: gross",)


def test_the_first_with_something_to_say_is_taken(document: Path) -> None:
    silent, second, third = FakeExtractor(None), FakeExtractor({"number": "R-7"}), FakeExtractor({"number": "R-8"})
    assert extract(document, silent, second, third).find_value("number") == "R-7"
    assert third.calls == []


def test_what_was_found_is_looked_for_on_the_page_and_weighed(document: Path) -> None:
    found = extract(document, FakeExtractor({"number": "R-7", "gross": "99.99"}))
    number, gross = found.fields["number"], found.fields["gross"]
    assert (number.page, number.match) == (1, 1.0)
    assert (gross.page, gross.match) == (None, 0.0)
    assert number.confidence is not None
    assert gross.confidence is not None
    assert number.confidence > gross.confidence


def test_witnesses_are_heard_beside_and_a_failing_one_is_not_missed(document: Path) -> None:
    agreeing, failing = FakeExtractor({"number": "R-7"}), FakeExtractor(failures=[ProviderUnavailable("away")])
    agreeing.name, failing.name = "agreeing", "failing"
    found = extract(document, FakeExtractor({"number": "R-7"}), witnesses=[agreeing, failing])
    assert [(witness.extractor, witness.values) for witness in found.witnesses] == [("agreeing", {"number": "R-7"})]


def test_nobody_is_a_witness_of_itself(document: Path) -> None:
    itself = FakeExtractor({"number": "R-7"})
    assert extract(document, itself, witnesses=[itself]).witnesses == ()
    assert len(itself.calls) == 1


def test_who_can_be_told_is_asked_once_more_for_what_is_missing_and_both_answers_are_paid(document: Path) -> None:
    listener = Listener({"number": "R-7"}, {"number": "R-7", "gross": "11.90"})
    found = extract(document, listener, judge=wants_gross)
    assert listener.remarks == [(), REMARKS]
    assert found.find_value("gross") == "11.90"
    assert (found.input_tokens, found.output_tokens, found.cost_usd) == (200, 20, Decimal("0.02"))


def test_a_second_answer_that_is_no_better_is_not_taken_but_paid(document: Path) -> None:
    listener = Listener({"number": "R-7"}, {"number": "R-8"})
    found = extract(document, listener, judge=wants_gross)
    assert (found.find_value("number"), found.cost_usd) == ("R-7", Decimal("0.02"))
    assert len(listener.remarks) == 2


def test_of_two_answers_with_as_many_gaps_the_surer_one_is_taken(document: Path) -> None:
    listener = Listener({"number": "R-7"}, {"number": "R-8", "seller": "Acme"})
    assert extract(document, listener, judge=wants_gross).find_value("number") == "R-8"


def test_a_first_answer_that_was_paid_for_survives_an_error_of_the_second_call(document: Path) -> None:
    listener = Listener({"number": "R-7"}, ProviderUnavailable("away"))
    found = extract(document, listener, judge=wants_gross)
    assert (found.find_value("number"), found.cost_usd) == ("R-7", Decimal("0.01"))


@pytest.mark.parametrize("error", [Parked("later"), LeaseLost("gone"), RuntimeError("a defect")])
def test_what_is_no_error_of_the_provider_is_not_hidden(document: Path, error: Exception) -> None:
    with pytest.raises(type(error)):
        extract(document, Listener({"number": "R-7"}, error), judge=wants_gross)


def test_what_would_not_send_the_document_to_a_person_is_not_worth_a_second_price(document: Path) -> None:
    listener = Listener({"number": "R-7"})
    extract(document, listener, judge=forgives_gross)
    assert len(listener.remarks) == 1


def test_witnesses_are_heard_about_the_kind_of_document_that_was_found(document: Path) -> None:
    """An e-invoice whose page does not look like one: its number must still be compared with the page."""
    found = extract(document, FakeExtractor({"number": "R-8"}), witnesses=[RulesExtractor()], schema=generic.SCHEMA)
    (witness,) = found.witnesses
    assert witness.values["number"] == "R-7"


def test_who_always_says_the_same_is_not_asked_twice(document: Path) -> None:
    rules = FakeExtractor({"number": "R-7"})
    extract(document, rules, judge=wants_gross)
    assert len(rules.calls) == 1


def test_nobody_configured_is_a_wrong_setting(document: Path) -> None:
    with pytest.raises(ConfigurationError, match="ORCHA_EXTRACTOR"):
        extract(document)


def test_a_result_that_comes_later_is_no_failure_of_the_extraction(document: Path) -> None:
    with pytest.raises(Parked):
        extract(document, FakeExtractor(failures=[Parked("not yet", check_after_seconds=60)]))


def test_tickets_come_back_as_they_were_and_can_be_forgotten() -> None:
    tickets, document_id = StoredTickets(FakeObjectStore()), UUID(int=3)
    assert tickets.find(document_id) is None
    tickets.save(document_id, Ticket(batches={"q": "batch-1", "r": None}))
    assert tickets.find(document_id) == Ticket(batches={"q": "batch-1", "r": None})
    assert tickets.find(UUID(int=4)) is None
    tickets.forget(document_id)
    tickets.forget(document_id)
    assert tickets.find(document_id) is None
