"""Check digits of accounts and tax numbers, and the form of every value."""

from typing import Any

import pytest

from orcha_dagster.pipeline.judging.checksums import is_iban_right
from orcha_dagster.pipeline.judging.json_schema import find_violations
from orcha_dagster.pipeline.judging.tax_ids import is_tax_id_right
from orcha_dagster.schemas import generic, invoice, receipt
from tests.unit.judged import INVOICE, failed, judged

# Their check digits are right.
IBANS = ("DE89 3704 0044 0532 0130 00", "GB29NWBK60161331926819", "FR1420041010050500013M02606",
         "CH9300762011623852957", "NL91ABNA0417164300", "BE68539007547034", "AT611904300234573201")  # fmt: skip
TAX_IDS = ("DE136695976", "DE 811 569 869", "FR40303265045", "ATU13585627", "NL004495445B01", "BE0428759497",
           "IT00743110157", "ESA28015865", "ES54362315K", "ESX2482300W", "GB980780684", "LU15027442",
           "CHE-107.787.577 MWST")  # fmt: skip


@pytest.mark.parametrize("iban", IBANS)
def test_an_iban_is_right_and_wrong_with_any_digit_changed(iban: str) -> None:
    assert is_iban_right(iban)
    changed = [iban[:at] + str((int(iban[at]) + 1) % 10) + iban[at + 1 :] for at in digit_positions(iban)]
    assert not any(map(is_iban_right, changed))


@pytest.mark.parametrize("iban", ["", "DE89", "DE8937040044053201300", "FRDEBIT", "12345678901234567890"])
def test_what_has_not_the_form_of_an_iban_is_none(iban: str) -> None:
    assert not is_iban_right(iban)


@pytest.mark.parametrize("tax_id", TAX_IDS)
def test_a_tax_number_is_right_and_wrong_with_its_last_digit_changed(tax_id: str) -> None:
    assert is_tax_id_right(tax_id) is True
    # Behind the digits of the Netherlands stands a count that is not part of the check.
    at = tax_id.index("B01") - 1 if tax_id.startswith("NL") else digit_positions(tax_id)[-1]
    changed = tax_id[:at] + str((int(tax_id[at]) + 1) % 10) + tax_id[at + 1 :]
    assert is_tax_id_right(changed) is False


@pytest.mark.parametrize("tax_id", ["201/113/40209", "001147416576", "PL5260001246", "none"])
def test_a_number_of_unknown_form_is_neither_right_nor_wrong(tax_id: str) -> None:
    assert is_tax_id_right(tax_id) is None


@pytest.mark.parametrize("tax_id", ["DE12345678", "ATU1234567", "LU123456789"])
def test_a_number_of_a_known_country_that_is_too_short_or_long_is_wrong(tax_id: str) -> None:
    assert is_tax_id_right(tax_id) is False


def test_wrong_check_digits_are_named_by_field() -> None:
    assert failed(judged(INVOICE | {"iban": "DE89370400440532013000", "seller_tax_id": "DE136695976"})) == []
    wrong = judged(INVOICE | {"iban": "DE89370400440532013001", "buyer_tax_id": "DE136695977"})
    assert failed(wrong) == ["iban_checksum", "tax_id_checksum"]
    assert [check.fields for check in wrong.checks if check.fields][:2] == [("iban",), ("buyer_tax_id",)]


def test_a_currency_must_exist() -> None:
    assert failed(judged(INVOICE | {"currency": "TRY"})) == []
    assert failed(judged(INVOICE | {"currency": "EUX"})) == ["currency_known"]


@pytest.mark.parametrize("schema", [invoice.SCHEMA, receipt.SCHEMA, generic.SCHEMA])
def test_an_empty_document_has_the_form_of_every_schema(schema: Any) -> None:
    assert find_violations({}, schema.json_schema) == ()


def test_values_must_be_in_their_normal_form() -> None:
    schema = invoice.SCHEMA.json_schema
    assert find_violations({**INVOICE, "line_items": [{"net": "5.00"}]}, schema) == ()
    assert find_violations({"gross": "1.234,56"}, schema) == ("gross is not in its normal form",)
    assert find_violations({"line_items": [{}, {"net": "five"}]}, schema) == ("net is not in its normal form",)
    assert find_violations({"colour": "red"}, schema) == ("colour is unknown in the document",)
    assert find_violations({"line_items": "five"}, schema) == ("line_items is not of type array",)


@pytest.mark.parametrize(
    ("value", "schema", "problems"),
    [
        ({"a": "5"}, {"type": "object", "properties": {"a": {"type": "integer"}}}, 0),
        ({"a": "5.5"}, {"type": "object", "properties": {"a": {"type": "integer"}}}, 1),
        ({"a": "5.5"}, {"type": "object", "properties": {"a": {"type": ["null", "number"]}}}, 0),
        ({"a": "50"}, {"properties": {"a": {"type": "number", "maximum": 49}}}, 1),
        ({}, {"required": ["a"]}, 1),
        ({"a": "x"}, {"properties": {"a": {"enum": ["x", "y"]}}}, 0),
        ({"a": "z"}, {"properties": {"a": {"enum": ["x", "y"]}}}, 1),
        ({"a": "z"}, {"properties": {"a": {"const": "x"}}}, 1),
        ({"a": "true"}, {"properties": {"a": {"type": "boolean"}}}, 0),
        ({"a": "xyz"}, {"properties": {"a": {"maxLength": 2}}}, 1),
        ({"a": ["1"]}, {"properties": {"a": {"type": "array", "minItems": 2}}}, 1),
        ({"a": "x"}, {"properties": {"a": {"oneOf": [{"type": "null"}, {"$ref": "#/$defs/b"}]}},
                      "$defs": {"b": {"pattern": "^y$"}}}, 1),
        ({"a": "x"}, {"additionalProperties": {"type": "string"}}, 0),
        ({"a": ["x"]}, {"additionalProperties": {"type": "string"}}, 1),
        ({"a": "x"}, {"allOf": [{"required": ["b"]}]}, 1),
    ],
)  # fmt: skip
def test_the_words_of_json_schema_that_users_write(value: Any, schema: Any, problems: int) -> None:
    assert len(find_violations(value, schema)) == problems


def digit_positions(text: str) -> list[int]:
    return [index for index, character in enumerate(text) if character.isdigit()]
