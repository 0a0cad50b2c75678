"""Where the values of an extraction stand on the page, in every form they are printed in."""

from collections.abc import Mapping

import pytest

from orcha_dagster.domain.extractions import ExtractedField, Extraction, Row
from orcha_dagster.domain.transcriptions import Box, Line, TranscribedPage, Transcription, Word
from orcha_dagster.pipeline.grounding import ground
from tests.fake_providers import place, transcription_of


def grounded(
    fields: Mapping[str, str | ExtractedField], transcription: Transcription, *, rows: tuple[Row, ...] = ()
) -> Extraction:
    extraction = Extraction(
        schema_name="invoice",
        fields={n: v if isinstance(v, ExtractedField) else ExtractedField(value=v) for n, v in fields.items()},
        tables={"line_items": rows} if rows else {},
        extractor="test",
        extractor_version="1",
    )
    return ground(extraction, transcription)


def found(name: str, value: str, *printed: str) -> ExtractedField:
    return grounded({name: value}, transcription_of(*printed)).fields[name]


def pages_of(*pages: Transcription) -> Transcription:
    numbered = tuple(
        transcription.pages[0].model_copy(update={"page": number}) for number, transcription in enumerate(pages, 1)
    )
    return pages[0].model_copy(update={"pages": numbered})


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        ("1234.56", "1.234,56"),
        ("1234.56", "1,234.56"),
        ("1234.56", "1 234,56"),
        ("1234.56", "1\u202f234,56 €"),
        ("1234.56", "1'234.56"),
        ("1234.56", "€1234.56"),
        ("1234.56", "RM1,234.56"),
        ("1234.50", "1234,5"),
        ("1234", "1,234.00"),
        ("1000.00", "1.000"),
        ("12.50", "12. 50"),
        ("-5.00", "-5,00"),
        ("-5.00", "5.00-"),
        ("-5.00", "(5.00)"),
        ("2000000.00", "2.000.000,00"),
    ],
)
def test_an_amount_is_found_in_every_notation(value: str, printed: str) -> None:
    field = found("gross", value, "Acme Ltd", f"Total | {printed}")
    assert field.match is not None
    assert field.match >= 0.95
    assert field.text is not None
    assert field.text in printed
    assert field.page == 1


@pytest.mark.parametrize(
    ("printed", "match"),
    [("1,234,56", 0.9), ("1O.5O", 0.8), ("1250", 0.6), ("l2.50", 0.8), ("-12.50", 0.9), ("12.50 %", 0.7)],
)
def test_an_amount_that_was_read_badly_matches_less(printed: str, match: float) -> None:
    value = {"1,234,56": "1234.56", "1O.5O": "10.50"}.get(printed, "12.50")
    assert found("gross", value, f"Total | {printed}").match == match


@pytest.mark.parametrize("printed", ["12.51", "112.50", "12.505", "1.25", "125.0"])
def test_another_amount_is_not_the_amount(printed: str) -> None:
    field = found("gross", "12.50", f"Total | {printed}")
    assert (field.page, field.box, field.text, field.match) == (None, None, None, 0.0)


@pytest.mark.parametrize(
    "printed",
    ["2026-11-03", "03.11.2026", "3.11.26", "3 November 2026", "November 3rd, 2026", "3. November 2026",
     "3 novembre 2026", "03-NOV-2026", "Nov 3, 2026", "Nov 3, 202612:16", "2026/11/03", "03 / 11 / 2026"],
)  # fmt: skip
def test_a_date_is_found_in_every_form(printed: str) -> None:
    field = found("issue_date", "2026-11-03", "Acme Ltd", f"Date: {printed}")
    assert field.match is not None
    assert field.match >= 0.95
    assert field.text is not None
    assert field.text in printed


@pytest.mark.parametrize(
    ("value", "printed"),
    [("2026-03-12", "12 März 2026"), ("2026-02-01", "1er février 2026"), ("2026-08-15", "15 août 2026"),
     ("2026-07-02", "2 juil. 2026"), ("2026-05-09", "9. Mai 2026"), ("2026-12-24", "24. Dez. 2026")],
)  # fmt: skip
def test_months_have_names_in_three_languages(value: str, printed: str) -> None:
    assert found("issue_date", value, f"vom {printed}").match == 1.0


def test_a_date_of_two_meanings_matches_both_and_is_less_sure() -> None:
    assert found("issue_date", "2026-11-03", "03/11/2026").match == 0.95
    assert found("issue_date", "2026-03-11", "03/11/2026").match == 0.95
    assert found("issue_date", "2026-11-13", "13/11/2026").match == 1.0
    assert found("issue_date", "2026-11-04", "03/11/2026").match == 0.0


def test_a_date_with_confused_digits_or_without_marks_matches_less() -> None:
    assert found("issue_date", "2026-11-13", "Date I3.1l.2O26").match == 0.8
    assert found("issue_date", "2026-11-03", "Date/Time | 20261103/191204").match == 0.8


@pytest.mark.parametrize(
    ("value", "printed", "match"),
    [
        ("DE02120300000000202051", "IBAN: DE02 1203 0000 0000 2020 51", 1.0),
        ("Bäckerei Sommer", "BACKEREI  SOMMER", 1.0),
        ("INV-2026/04", "Invoice No:INV-2026/04", 1.0),
        ("99 SPEED MART S/B", "99 SPEED MART 5/8 (519537-X)", 0.9),
        ("BOOKSTORE 101", "B00KST0RE lOl", 0.9),
        ("Burn Modern", "Bum Modem", 0.9),
    ],
)
def test_text_is_found_in_spite_of_spacing_case_and_confusions(value: str, printed: str, match: float) -> None:
    assert found("seller", value, "Date 2026-01-01", printed).match == match


def test_a_short_number_is_not_found_inside_a_longer_one() -> None:
    assert found("number", "4711", "Ref 94711", "Tel 47112").match == 0.0
    assert found("number", "4711", "Ref 94711", "No 4711").match == 1.0


def test_a_value_over_several_lines_is_one_place() -> None:
    field = found("seller", "Les Ateliers du Port SARL", "Facture", "Les Ateliers", "du Port SARL", "12 rue des Quais")
    assert field.match == 1.0
    assert field.text == "Les Ateliers du Port SARL"
    first, second = place(0.05, 0.03 + 0.025), place(0.05, 0.03 + 0.025 * 2)
    assert field.box == Box(left=0.05, top=first.top, right=first.right, bottom=second.bottom)


def test_a_word_hyphenated_over_a_line_end_is_found() -> None:
    assert found("seller", "Papierflieger Vertriebs GmbH", "Papierflieger Ver-", "triebs GmbH").match == 1.0


def test_words_that_do_not_follow_each_other_are_found_together() -> None:
    field = found("seller", "Green Valley Foods", "Green Valley | Invoice | 17", "Foods | Date | 2026-01-01")
    assert field.match == 0.95
    assert field.text == "Green Valley Foods"


def test_a_misread_name_matches_by_what_is_left_of_it() -> None:
    match = found("seller", "Maxincone Resources", "Haxincone Resources", "Street 5").match
    assert match is not None
    assert 0.8 <= match < 0.9
    assert found("seller", "Maxincone Resources", "Nothing like it", "Street 5").match == 0.0


@pytest.mark.parametrize(
    ("code", "printed"), [("EUR", "12,00 €"), ("EUR", "12 Euro"), ("MYR", "RM 5"), ("CHF", "CHF 1")]
)
def test_a_currency_is_found_by_its_sign(code: str, printed: str) -> None:
    assert found("currency", code, printed).match == 1.0
    assert found("currency", code, "twelve").match == 0.0


def test_letters_inside_a_word_are_no_currency() -> None:
    assert found("currency", "MYR", "FORM 12").match == 0.0


def test_a_claimed_place_is_kept_when_the_value_is_there() -> None:
    transcription = transcription_of("Total | 5.00", "Cash | 5.00")
    claimed = ExtractedField(value="5.00", page=1, box=transcription.pages[0].lines[3].box, text="5.00")
    field = grounded({"gross": claimed}, transcription).fields["gross"]
    assert field == claimed.model_copy(update={"match": 1.0})


def test_a_claim_that_is_not_there_is_searched_on_its_page_before_the_others() -> None:
    transcription = pages_of(transcription_of("Total | 5.00"), transcription_of("Cash", "Paid | 5.00"))
    claimed = ExtractedField(value="5.00", page=2, box=place(0.05, 0.03))
    field = grounded({"gross": claimed}, transcription).fields["gross"]
    assert (field.page, field.text) == (2, "5.00")
    nowhere_there = ExtractedField(value="5.00", page=3, box=place(0.05, 0.03))
    assert grounded({"gross": nowhere_there}, transcription).fields["gross"].page == 1


def test_a_quote_says_which_of_several_places_is_meant() -> None:
    transcription = transcription_of("Total 5.00", "Deposit 5.00")
    claimed = ExtractedField(value="5.00", page=1, text="Deposit 5.00")
    field = grounded({"gross": claimed}, transcription).fields["gross"]
    assert field.box is not None
    assert field.box.top == transcription.pages[0].lines[1].box.top


def test_an_amount_printed_thrice_is_taken_beside_its_label() -> None:
    transcription = transcription_of("Subtotal | 9.00", "Total | 9.00", "Cash | 9.00")
    fields = grounded({"gross": "9.00", "net": "9.00"}, transcription).fields
    tops = {name: field.box.top for name, field in fields.items() if field.box}
    rows = {row: transcription.pages[0].lines[2 * row].box.top for row in range(3)}
    assert tops == {"gross": rows[1], "net": rows[0]}


def test_a_field_of_a_users_schema_is_taken_beside_its_own_name() -> None:
    transcription = transcription_of("Order | 77001", "Contract | 77001", "Page | 77001")
    box = grounded({"contract_number": "77001"}, transcription).fields["contract_number"].box
    assert box is not None
    assert box.top == transcription.pages[0].lines[2].box.top


def test_the_values_of_a_row_stand_in_one_row_and_equal_rows_in_two() -> None:
    transcription = transcription_of(
        "Paper | 1 | 5.00 | 5.00", "Glue | 1 | 5.00 | 5.00", "Paper | 1 | 5.00 | 5.00", "Total | 15.00"
    )
    names = ("description", "quantity", "unit_price", "net")
    rows = tuple(
        {name: ExtractedField(value=value) for name, value in zip(names, (goods, "1", "5.00", "5.00"), strict=True)}
        for goods in ("Paper", "Glue", "Paper")
    )
    extraction = grounded({}, transcription, rows=rows)
    for number, row in enumerate(extraction.rows("line_items")):
        boxes = [row[name].box for name in names]
        expected = [line.box for line in transcription.pages[0].lines[4 * number : 4 * number + 4]]
        assert boxes == expected, number


def test_the_box_is_that_of_the_words_where_the_reader_tells_them() -> None:
    words = tuple(
        Word(text=text, box=place(left, 0.1, width=0.08), confidence=0.9)
        for text, left in (("Total", 0.1), ("due", 0.2), ("9.00", 0.7))
    )
    line = Line(text="Total due 9.00", box=place(0.1, 0.1, width=0.7), confidence=0.9, words=words)
    page = TranscribedPage(page=1, lines=(line,), source="test", quality_score=0.9)
    transcription = Transcription(pages=(page,), provider="test", provider_version="1", quality_score=0.9)
    assert grounded({"gross": "9.00"}, transcription).fields["gross"].box == words[2].box
    without = transcription.model_copy(
        update={"pages": (page.model_copy(update={"lines": (line.model_copy(update={"words": ()}),)}),)}
    )
    box = grounded({"gross": "9.00"}, without).fields["gross"].box
    assert box is not None
    assert box.left == pytest.approx(0.1 + 0.7 * 10 / 14)


def test_grounding_changes_neither_values_nor_what_else_is_known() -> None:
    transcription = transcription_of("Total | 5.00")
    extraction = grounded({"gross": "5.00", "number": "X1"}, transcription)
    assert {name: field.value for name, field in extraction.fields.items()} == {"gross": "5.00", "number": "X1"}
    assert ground(extraction, transcription) == extraction
    assert Extraction.model_validate_json(extraction.model_dump_json()) == extraction


def test_a_document_without_pages_grounds_nothing() -> None:
    empty = Transcription(pages=(), provider="test", provider_version="1", quality_score=0.0)
    assert grounded({"gross": "5.00"}, empty).fields["gross"].match == 0.0
