"""How far a field can be trusted: what raises it, what lowers it, and that nothing works the other way."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orcha_dagster.domain.extractions import ExtractedField, Extraction, Row, Witness
from orcha_dagster.domain.transcriptions import Line, TranscribedPage, Transcription, Word
from orcha_dagster.pipeline.confidence import Evidence, field_confidence, with_confidences
from orcha_dagster.pipeline.grounding import ground
from tests.fake_providers import transcription_of

SHARES = st.floats(0, 1)
COUNTS = st.integers(0, 4)
EVIDENCE = st.builds(
    Evidence, match=SHARES, reading=SHARES, prior=SHARES, confirmations=COUNTS, is_proven=st.booleans(),
    agreeing=COUNTS, contradictions=COUNTS, is_exact=st.booleans(),
)  # fmt: skip


@given(EVIDENCE)
def test_a_confidence_is_a_share(evidence: Evidence) -> None:
    assert 0 <= field_confidence(evidence) <= 1


@given(EVIDENCE, SHARES)
def test_a_better_match_or_reading_never_lowers_it(evidence: Evidence, other: float) -> None:
    for name in ("match", "reading", "prior"):
        low, high = sorted((getattr(evidence, name), other))
        lower, higher = evidence._replace(**{name: low}), evidence._replace(**{name: high})
        assert field_confidence(lower) <= field_confidence(higher), name


@given(EVIDENCE)
def test_more_support_never_lowers_it_and_a_contradiction_never_raises_it(evidence: Evidence) -> None:
    confidence = field_confidence(evidence)
    assert field_confidence(evidence._replace(agreeing=evidence.agreeing + 1)) >= confidence
    assert field_confidence(evidence._replace(confirmations=evidence.confirmations + 1)) >= confidence
    assert field_confidence(evidence._replace(is_proven=True)) >= confidence
    assert field_confidence(evidence._replace(contradictions=evidence.contradictions + 1)) <= confidence


def weighed(
    fields: Mapping[str, str],
    transcription: Transcription,
    *,
    witness: Mapping[str, str] | None = None,
    rows: tuple[Row, ...] = (),
    extractor: str = "test",
) -> Extraction:
    extraction = Extraction(
        schema_name="invoice",
        fields={name: ExtractedField(value=value) for name, value in fields.items()},
        tables={"line_items": rows} if rows else {},
        extractor=extractor,
        extractor_version="1",
        witnesses=(Witness(extractor="other", extractor_version="1", values=dict(witness)),) if witness else (),
    )
    return with_confidences(ground(extraction, transcription), transcription)


def confidence_of(
    name: str,
    value: str,
    *printed: str,
    witness: Mapping[str, str] | None = None,
    also: Mapping[str, str] | None = None,
    extractor: str = "test",
) -> float:
    fields = {name: value} | dict(also or {})
    found = weighed(fields, transcription_of(*printed), witness=witness, extractor=extractor).fields[name].confidence
    assert found is not None
    return found


def test_a_value_that_stands_nowhere_is_worth_little() -> None:
    assert confidence_of("number", "A-17", "Invoice No | A-17") > 0.85
    assert confidence_of("number", "A-17", "Invoice No | B-99") == 0.0


def test_an_unsure_reader_lowers_the_confidence_of_what_he_read() -> None:
    line = transcription_of("Invoice No A-17").pages[0].lines[0]
    confidences = []
    for sure in (0.99, 0.6):
        page = TranscribedPage(
            page=1, lines=(Line(text=line.text, box=line.box, confidence=sure),), source="test", quality_score=sure
        )
        transcription = Transcription(pages=(page,), provider="test", provider_version="1", quality_score=sure)
        confidences.append(weighed({"number": "A-17"}, transcription).fields["number"].confidence or 0)
    assert confidences[0] > confidences[1] + 0.05


def test_a_witness_that_agrees_raises_one_that_contradicts_lowers_and_one_that_is_silent_does_nothing() -> None:
    printed = "Invoice No | A-17"
    alone = confidence_of("number", "A-17", printed)
    assert confidence_of("number", "A-17", printed, witness={"number": "a 17"}) > alone
    assert confidence_of("number", "A-17", printed, witness={"number": "B-99"}) < alone
    assert confidence_of("number", "A-17", printed, witness={"gross": "5.00"}) == alone


@pytest.mark.parametrize(
    ("name", "value", "other"),
    [
        ("gross", "5.00", "5"),
        ("issue_date", "2026-11-03", "2026-11-03"),
        ("seller", "ACME TRADING", "Acme Trading Ltd"),
    ],
)
def test_witnesses_agree_in_normal_form(name: str, value: str, other: str) -> None:
    printed = ("Acme Trading", "Date 2026-11-03", "Total | 5.00")
    assert confidence_of(name, value, *printed, witness={name: other}) > confidence_of(name, value, *printed)


def test_totals_that_add_up_confirm_each_other() -> None:
    printed = ("Subtotal | 100.00", "VAT | 19.00", "Total | 119.00")
    alone = confidence_of("gross", "119.00", *printed)
    assert confidence_of("gross", "119.00", *printed, also={"net": "100.00", "tax": "19.00"}) > max(alone, 0.98)
    assert confidence_of("gross", "119.00", *printed, also={"net": "100.00", "tax": "0.00"}) == alone


def test_money_given_less_change_confirms_or_contradicts_a_total() -> None:
    paid = ("Cash | 20.00", "Change | 5.00")
    alone = confidence_of("gross", "15.00", "Total | 15.00")
    assert confidence_of("gross", "15.00", "Total | 15.00", *paid) > alone
    assert confidence_of("gross", "20.00", "Total | 15.00", *paid) < 0.6


def test_a_name_needs_more_than_standing_on_the_page() -> None:
    address = ("12 Mill Lane", "Date 2026-11-03")
    bare = confidence_of("seller", "Tan Woon", "Tan Woon", *address)
    trade = confidence_of("seller", "Corner Bakery", "Corner Bakery", *address)
    company = confidence_of("seller", "Corner Bakery Ltd", "Corner Bakery Ltd", *address)
    outranked = confidence_of("seller", "Tan Woon", "Tan Woon", "12 Mill Lane", "Corner Bakery Ltd")
    glued = confidence_of("seller", "Bakery Ltd (169609-A)", "Bakery Ltd (169609-A)", *address)
    assert outranked < bare <= 0.5 < trade < company
    assert glued < 0.5


def test_of_two_companies_the_lower_one_is_doubtful_unless_it_is_labelled() -> None:
    below = ("12 Mill Lane", "Borealis Ltd", "Date 2026-11-03")
    assert confidence_of("seller", "Acme Ltd", "Acme Ltd", *below) > 0.8
    lower = confidence_of("seller", "Borealis Ltd", "Acme Ltd", *below)
    assert lower < 0.5
    labelled = confidence_of("seller", "Borealis Ltd", "Acme Ltd", "Seller: | Borealis Ltd")
    assert labelled > lower
    assert confidence_of("seller", "Acme Ltd", "Customer | Acme Ltd") < 0.5


@pytest.mark.parametrize("misread", ["Menta[ Trading Ltd", "B00KS Trading Ltd", "Acme Mart 5/8", "Tel: Acme Ltd",
                                     "MARK1 Trading Ltd"])  # fmt: skip
def test_a_name_with_characters_that_names_do_not_have_is_doubtful(misread: str) -> None:
    assert confidence_of("seller", misread, misread) < 0.5


def test_a_name_in_which_a_bracket_was_taken_for_a_letter_is_doubtful() -> None:
    assert confidence_of("seller", "HARBOUR MARINE LTD", "HARBOUR MAR[NE LTD") < 0.5
    assert confidence_of("seller", "HARBOUR MARINE LTD", "HARBOUR MARINE LTD") > 0.8


@pytest.mark.parametrize(
    ("printed", "hesitated_at", "is_doubtful"),
    [
        ("99 SPEED NART S/B", "NART", True),
        ("99 SPEED MART S/B", "S/B", False),  # a legal form, which rules put right
        ("LIM SENG HARDWARE", "HARDWARE", False),  # a word of a trade, which is known
        ("LIM SENG HARDWARE", "SENG", True),
        ("MR. D.I. (M) SDN BHD", "(M)", False),  # too short to tell
    ],
)
def test_a_name_whose_reader_hesitated_about_a_letter_of_it_is_doubtful(
    printed: str, hesitated_at: str, is_doubtful: bool
) -> None:
    def confidence(sure: float) -> float:
        line = transcription_of(printed).pages[0].lines[0]
        words = tuple(
            Word(text=text, box=line.box, confidence=sure if text == hesitated_at else 1.0) for text in printed.split()
        )
        read = line.model_copy(update={"words": words})
        page = TranscribedPage(page=1, lines=(read,), source="test", quality_score=1.0)
        transcription = Transcription(pages=(page,), provider="test", provider_version="1", quality_score=1.0)
        return weighed({"seller": printed}, transcription).fields["seller"].confidence or 0.0

    assert (confidence(0.95) < confidence(1.0) - 0.2) is is_doubtful


def test_a_name_that_goes_on_in_the_next_line_is_not_outranked_by_it() -> None:
    printed = ("GREEN VALLEY FOODS", "SDN BHD", "RECEIPT")
    assert confidence_of("seller", "GREEN VALLEY FOODS SDN BHD", *printed) > 0.8


def test_a_name_in_the_address_of_the_web_site_is_surer() -> None:
    printed = ("Brightwater", "1 Harbour Road")
    assert confidence_of("seller", "Brightwater", *printed, "www.brightwater.com") > confidence_of(
        "seller", "Brightwater", *printed
    )


def test_the_words_beside_a_value_count() -> None:
    labelled = confidence_of("gross", "9.00", "Total | 9.00")
    bare = confidence_of("gross", "9.00", "9.00")
    other = confidence_of("gross", "9.00", "Subtotal net | 9.00")
    assert labelled > bare > other


@pytest.mark.parametrize(
    ("value", "label"), [("A-17", "Paper"), ("Desk lamp 160", "Invoice No"), ("Paper", "Invoice No")]
)
def test_a_number_without_its_label_or_of_words_is_doubtful(value: str, label: str) -> None:
    assert confidence_of("number", value, f"{label} | {value}") < 0.7


@pytest.mark.parametrize("label", ["Total HT", "Montant HT", "Subtotal", "Summe netto", "Total excl. VAT"])
def test_a_total_without_tax_is_not_the_gross_total(label: str) -> None:
    assert confidence_of("gross", "9.00", f"{label} | 9.00") < 0.5
    assert confidence_of("gross", "9.00", "Total TTC | 9.00") > 0.9


def test_parsed_data_is_sure_even_where_the_page_does_not_show_it() -> None:
    assert confidence_of("seller", "Hidden", "Total | 9.00", extractor="e-invoice") > 0.95
    contradicted = confidence_of("gross", "8.00", "Total | 9.00", extractor="e-invoice", witness={"gross": "9.00"})
    assert contradicted < 0.5


def test_a_row_that_multiplies_is_surer_than_one_that_does_not() -> None:
    rows: tuple[Row, ...] = tuple(
        {n: ExtractedField(value=v) for n, v in zip(("quantity", "unit_price", "net"), values, strict=True)}
        for values in (("2", "5.00", "10.00"), ("3", "4.00", "11.00"))
    )
    transcription = transcription_of("Paper | 2 | 5.00 | 10.00", "Glue | 3 | 4.00 | 11.00")
    first, second = weighed({}, transcription, rows=rows).rows("line_items")
    assert (first["net"].confidence or 0) > 0.95 > (second["net"].confidence or 1)
