"""The rules over layouts written by hand: every row a line of text, columns apart by ` | `."""

import asyncio
from pathlib import Path
from uuid import UUID

import pytest

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.rules.rules_extractor import RulesExtractor
from tests.fake_providers import transcription_of

RAW = RawDocument(document_id=UUID(int=1), file_path="a/b", media_type="application/pdf", byte_size=1, sha256="0" * 64)
ENGLISH = (
    "Brightwater Supplies Ltd",
    "14 Harbour Road",
    "INVOICE",
    "Invoice number: | BW-2291 | Bill to:",
    "Invoice date: | 3 November 2026 | Oakfield School",
    "Due date: | 3 December 2026 | 9 Elm Street",
    "Paper | 4 | £20.00 | £80.00",
    "Subtotal | £80.00",
    "VAT 20% | £16.00",
    "Total due | £96.00",
)
GERMAN = (
    "Nordlicht Werkzeuge GmbH · Am Kai 3 · 20457 Hamburg",
    "Kunde: | Bäckerei Sommer",
    "Rechnungsnummer | 2026-118",
    "Rechnungsdatum | 03.11.2026",
    "Lieferdatum | 01.11.2026",
    "Bohrer | 2 | 500,00 | 1.000,00",
    "Nettobetrag | 1.000,00 €",
    "zzgl. 19% MwSt. | 190,00 €",
    "Gesamtbetrag | 1.190,00 €",
)
FRENCH = (
    "Les Ateliers du Port SARL",
    "12 rue des Quais",
    "Facture n° FA-77 | Client :",
    "Date de facture : 3 novembre 2026 | Mairie de Brest",
    "Échéance : 3 décembre 2026",
    "Total HT | 1 000,00 €",
    "TVA 20 % | 200,00 €",
    "Net à payer | 1 200,00 €",
)
RECEIPT = (
    "CORNER BAKERY",
    "5 Mill Lane",
    "RECEIPT",
    "11/03/2026 09:12",
    "Bread | $4.00",
    "Subtotal | $4.00",
    "Sales tax 5% | $0.20",
    "TOTAL | $4.20",
    "Cash | $10.00",
    "Change | $5.80",
)


def extracted(*rows: str) -> Extraction:
    extraction = asyncio.run(RulesExtractor().extract(RAW, Path(), transcription_of(*rows)))
    assert extraction is not None
    return extraction


def values(*rows: str) -> dict[str, str]:
    return {name: field.value for name, field in extracted(*rows).fields.items()}


def test_an_english_invoice_gives_every_field() -> None:
    assert values(*ENGLISH) == {
        "number": "BW-2291", "issue_date": "2026-11-03", "seller": "Brightwater Supplies Ltd",
        "buyer": "Oakfield School", "currency": "GBP", "net": "80.00", "tax": "16.00", "gross": "96.00",
    }  # fmt: skip


def test_a_german_invoice_gives_every_field() -> None:
    assert values(*GERMAN) == {
        "number": "2026-118", "issue_date": "2026-11-03", "seller": "Nordlicht Werkzeuge GmbH",
        "buyer": "Bäckerei Sommer", "currency": "EUR", "net": "1000.00", "tax": "190.00", "gross": "1190.00",
    }  # fmt: skip


def test_a_french_invoice_gives_every_field() -> None:
    assert values(*FRENCH) == {
        "number": "FA-77", "issue_date": "2026-11-03", "seller": "Les Ateliers du Port SARL",
        "buyer": "Mairie de Brest", "currency": "EUR", "net": "1000.00", "tax": "200.00", "gross": "1200.00",
    }  # fmt: skip


def test_a_receipt_in_dollars_is_read_month_first() -> None:
    found = values(*RECEIPT)
    assert found["issue_date"] == "2026-11-03"
    assert (found["seller"], found["gross"], found["tax"]) == ("CORNER BAKERY", "4.20", "0.20")


@pytest.mark.parametrize(
    ("rows", "schema"),
    [
        (ENGLISH, "invoice"),
        (GERMAN, "invoice"),
        (FRENCH, "invoice"),
        (RECEIPT, "receipt"),
        (("Minutes of the meeting",), "generic"),
    ],
)
def test_the_words_of_a_document_choose_its_schema(rows: tuple[str, ...], schema: str) -> None:
    assert extracted(*rows).schema_name == schema


def test_every_field_says_where_it_was_printed() -> None:
    transcription = transcription_of(*GERMAN)
    lines = {line.box: line.text for line in transcription.pages[0].lines}
    for name, field in extracted(*GERMAN).fields.items():
        assert field.page == 1, name
        assert field.box is not None, name
        assert field.text is not None, name
        assert field.text in lines[field.box], name


@pytest.mark.parametrize(
    "decoy",
    ["Subtotal | 90.00", "Total excl. VAT | 80.00", "Cash | 500.00", "Change | 380.00", "Total VAT | 19.00",
     "Total discount | 5.00", "Total qty | 7.00"],
)  # fmt: skip
def test_other_sums_are_not_the_total(decoy: str) -> None:
    assert values("Acme Ltd", "Total | 99.00", decoy)["gross"] == "99.00"
    assert "gross" not in values("Acme Ltd", decoy)


def test_a_grand_total_outranks_a_plain_one_below_it() -> None:
    assert values("Grand total | 120.00", "Total | 20.00")["gross"] == "120.00"


def test_totals_of_a_tax_summary_are_not_the_total_of_the_receipt() -> None:
    rows = ("Total | 106.00", "GST Summary | Amount | Tax", "Total | 100.00 | 6.00")
    assert values(*rows)["gross"] == "106.00"


def test_a_rounded_total_without_a_label_is_found_by_what_was_rounded() -> None:
    assert values("TOTAL | RM | 60.31", "Rounding adj | -0.01", "RM | 60.30", "CASH | 70.30")["gross"] == "60.30"


def test_a_missing_net_amount_is_not_computed() -> None:
    found = values("VAT 20% | 20.00", "Total | 120.00")
    assert found["tax"] == "20.00"
    assert "net" not in found


def test_a_value_may_stand_below_its_label() -> None:
    found = values("Invoice Date | Reference | Invoice No", "2026-11-03 | X | A-17")
    assert (found["issue_date"], found["number"]) == ("2026-11-03", "A-17")


def test_a_due_date_is_not_the_issue_date() -> None:
    assert "issue_date" not in values("Due date: 3 December 2026")


def test_the_word_invoice_is_nobodys_name() -> None:
    assert values("TAX INVOICE", "Date: 2026-11-03", "Harbour Books")["seller"] == "Harbour Books"


def test_a_company_name_broken_over_two_lines_is_joined() -> None:
    assert values("GREEN VALLEY FOODS", "SDN BHD", "RECEIPT")["seller"] == "GREEN VALLEY FOODS SDN BHD"


def test_an_addressee_in_a_letter_is_the_buyer_without_a_label() -> None:
    rows = ("Nordlicht GmbH · Am Kai 3 · 20457 Hamburg", "Frau", "Ida Winter", "Gartenweg 8", "50667 Köln", "Rechnung")
    found = values(*rows)
    assert (found["seller"], found["buyer"]) == ("Nordlicht GmbH", "Ida Winter")


def test_an_empty_page_gives_no_fields() -> None:
    assert extracted().fields == {}
