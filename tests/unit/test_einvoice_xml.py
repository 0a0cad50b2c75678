"""E-invoices in their syntaxes, and XML that means harm."""

import time
from itertools import pairwise
from pathlib import Path

import pytest

from orcha_dagster.adapters.einvoice.cii import MAX_LINE_ITEMS
from orcha_dagster.adapters.einvoice.invoice_data import to_money, to_number
from orcha_dagster.adapters.einvoice.reading import describe_invoice_xml, read_invoice_file, read_invoice_xml
from orcha_dagster.adapters.einvoice.xml_tree import MAX_XML_BYTES
from tests.einvoices import CII, CREDIT_NOTE, FIELDS, LINE_ITEMS, TAXES, UBL, ZUGFERD_1, ZUGFERD_DRAFT

SYNTAXES = {"ubl": UBL, "credit note": CREDIT_NOTE, "cii": CII, "zugferd 1": ZUGFERD_1, "draft": ZUGFERD_DRAFT}


@pytest.mark.parametrize("xml", SYNTAXES.values(), ids=SYNTAXES.keys())
def test_every_syntax_tells_the_same_sale(xml: str) -> None:
    data = read_invoice_xml(xml.encode())
    assert data is not None
    assert data.fields == FIELDS
    assert data.taxes == TAXES
    assert data.line_items == LINE_ITEMS
    assert data.is_complete


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_other_encodings_are_read(encoding: str) -> None:
    data = read_invoice_xml(CII.replace('encoding="UTF-8"', f'encoding="{encoding[:6]}"').encode(encoding))
    assert data is not None
    assert data.fields["buyer"] == "Bäckerei Sommer"


def test_what_is_malformed_is_left_out_and_the_rest_stays() -> None:
    broken = CII.replace("20261103", "2026xx03").replace(">238.00<", ">many<").replace(">EUR<", ">Euro!<")
    data = read_invoice_xml(broken.encode())
    assert data is not None
    assert not {"issue_date", "gross", "currency"} & set(data.fields)
    assert data.fields["number"] == "RE-118"


def test_an_account_number_that_is_no_iban_is_left_out() -> None:
    data = read_invoice_xml(UBL.replace("DE89 3704 0044 0532 0130 00", "1234567").encode())
    assert data is not None
    assert "iban" not in data.fields


@pytest.mark.parametrize(
    "xml",
    [b"", b"<a", b"<a/>", b"<CrossIndustryInvoice/>", b"<Invoice/>", UBL.replace("ubl:schema", "acme:schema").encode(),
     b"\xff\xfe\x00", CII[:900].encode()],
)  # fmt: skip
def test_xml_that_is_no_invoice_gives_nothing(xml: bytes) -> None:
    assert read_invoice_xml(xml) is None


def with_doctype(xml: str, doctype: str) -> bytes:
    head, _, body = xml.partition("?>")
    return f"{head}?>{doctype}{body}".encode()


def test_a_file_named_by_an_entity_is_never_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("do not read me")
    poisoned = CII.replace("RE-118", "&leak;")
    assert read_invoice_xml(with_doctype(poisoned, f'<!DOCTYPE x [<!ENTITY leak SYSTEM "{secret.as_uri()}">]>')) is None


def test_entities_that_multiply_are_refused_at_once() -> None:
    steps = (f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in pairwise("abcdefghi"))
    entities = '<!ENTITY a "ha">' + "".join(steps)
    began = time.perf_counter()
    assert read_invoice_xml(with_doctype(CII.replace("RE-118", "&i;"), f"<!DOCTYPE x [{entities}]>")) is None
    assert time.perf_counter() - began < 1


def test_elements_nested_without_end_are_refused() -> None:
    deep = "<ram:X>" * 5_000 + "</ram:X>" * 5_000
    assert read_invoice_xml(CII.replace("<rsm:ExchangedDocument>", f"<rsm:ExchangedDocument>{deep}").encode()) is None


def test_a_file_too_large_is_not_parsed() -> None:
    assert read_invoice_xml(CII.encode() + b" " * MAX_XML_BYTES) is None


def test_more_rows_than_anybody_bills_make_it_incomplete() -> None:
    row = "<ram:IncludedSupplyChainTradeLineItem/>"
    crowded = CII.replace(
        "<ram:ApplicableHeaderTradeAgreement>", row * MAX_LINE_ITEMS + "<ram:ApplicableHeaderTradeAgreement>"
    )
    data = read_invoice_xml(crowded.encode())
    assert data is not None
    assert not data.is_complete
    assert data.line_items == LINE_ITEMS


@pytest.mark.parametrize(
    ("text", "money", "number"),
    [("9.9000", "9.90", "9.9"), ("3.3333", "3.3333", "3.3333"), ("100", "100.00", "100"), ("-5.00", "-5.00", "-5"),
     ("0.00", "0.00", "0"), ("1e3", "1000.00", "1000"), ("NaN", None, None), ("1e999999", None, None),
     ("", None, None)],
)  # fmt: skip
def test_numbers_have_one_form(text: str, money: str | None, number: str | None) -> None:
    assert (to_money(text), to_number(text)) == (money, number)


def test_an_xml_file_by_itself_reads_like_text(tmp_path: Path) -> None:
    document = tmp_path / "invoice.xml"
    document.write_text(UBL, encoding="utf-8")
    data = read_invoice_file(document)
    assert data is not None
    assert data.fields == FIELDS
    lines = describe_invoice_xml(document)
    assert "Invoice number: RE-118" in lines
    assert "Grand total: 238.00" in lines
    assert "Line 1: description Bohrer; quantity 8; unit price 25.00; net 200.00; tax rate 19" in lines


def test_a_file_that_is_no_invoice_has_no_lines(tmp_path: Path) -> None:
    document = tmp_path / "other.xml"
    document.write_text("<order/>")
    assert describe_invoice_xml(document) == []
