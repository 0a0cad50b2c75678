"""VAT numbers go to the party they stand with, or to nobody."""

import pytest

from orcha_dagster.rules.layout import lay_out
from orcha_dagster.rules.party_headings import find_headings
from orcha_dagster.rules.tax_ids import find_tax_ids
from tests.fake_providers import transcription_of


def ids(*rows: str) -> dict[str, str]:
    layout = lay_out(transcription_of(*rows))
    return {name: field.value for name, field in find_tax_ids(layout, find_headings(layout)).items()}


@pytest.mark.parametrize(
    ("row", "value"),
    [
        ("USt-IdNr.: DE 123 456 788", "DE123456788"),
        ("USt.-Id.-Nr. | DE123456788", "DE123456788"),
        ("N° TVA : FR 61 954 506 077", "FR61954506077"),
        ("VAT Reg No: GB 123 4567 89", "GB123456789"),
        ("UID-Nr. ATU12345678", "ATU12345678"),
        ("BTW/VAT NL123456789B01", "NL123456789B01"),
        ("GST ID : 001234567890", "001234567890"),
    ],
)
def test_a_number_behind_its_label_is_the_sellers(row: str, value: str) -> None:
    assert ids("Acme Ltd", row) == {"seller_tax_id": value}


def test_a_number_under_the_buyers_heading_is_the_buyers() -> None:
    rows = ("Acme GmbH | Bill to:", "Kai 3 | Baker & Sons", "VAT no. DE123456788 | VAT no. DE999999999")
    assert ids(*rows) == {"seller_tax_id": "DE123456788", "buyer_tax_id": "DE999999999"}


def test_your_number_is_the_buyers() -> None:
    assert ids("Your VAT no. DE999999999") == {"buyer_tax_id": "DE999999999"}


def test_two_numbers_that_nothing_tells_apart_are_nobodys() -> None:
    assert ids("VAT no. DE123456788", "VAT no. DE999999999") == {}


def test_an_account_below_the_label_is_no_tax_number() -> None:
    assert ids("VAT", "IBAN DE89 3704 0044 0532 0130 00") == {}


def test_a_number_without_a_label_is_not_taken() -> None:
    assert ids("Order DE123456788") == {}
