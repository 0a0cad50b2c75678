"""Schemas: the built-in ones, those of users, and which one a document is read with."""

import json
from pathlib import Path
from typing import Any

import pytest

from orcha_dagster.domain.errors import ConfigurationError, SchemaUnknown
from orcha_dagster.pipeline.schema_choice import choose_schema
from orcha_dagster.schemas.loading import BUILT_IN, load_schemas
from tests.fake_providers import transcription_of

POLICY = {
    "type": "object",
    "title": "Insurance policy",
    "properties": {
        "policy_number": {"type": "string"},
        "premium": {"type": "string"},
        "covers": {"type": "array", "items": {"type": "object", "properties": {"risk": {"type": "string"}}}},
    },
    "x-orcha": {
        "critical_fields": ["policy_number"],
        "keywords": ["insurance policy", "premium"],
        "checks": {"grounded": {"threshold": 0.9, "decides": False}},
        "accept_confidence": 0.6,
    },
}
MODEL = """
from pydantic import BaseModel

from orcha_dagster.domain.schemas import DocumentSchema


class Note(BaseModel):
    subject: str | None = None


SCHEMA = DocumentSchema(
    name="note", title="Note", json_schema=Note.model_json_schema(), critical_fields=("subject",), keywords=("memo",)
)
"""


def write(folder: Path, name: str, content: Any) -> Path:
    file = folder / name
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def test_there_are_invoices_receipts_and_anything_else() -> None:
    assert list(BUILT_IN) == ["invoice", "receipt", "generic"]
    for schema in BUILT_IN.values():
        assert set(schema.critical_fields) <= set(schema.field_names)
        assert set(schema.tables) <= set(schema.json_schema["properties"])


def test_a_json_schema_in_the_folder_is_a_schema_with_what_stands_beside_it(tmp_path: Path) -> None:
    write(tmp_path, "policy.schema.json", POLICY)
    schema = load_schemas(tmp_path)["policy"]
    assert (schema.title, schema.critical_fields, schema.tables) == (
        "Insurance policy",
        ("policy_number",),
        ("covers",),
    )
    assert schema.field_names == ("policy_number", "premium")
    assert (schema.settings_of("grounded").threshold, schema.settings_of("grounded").decides) == (0.9, False)
    assert schema.settings_of("another").decides
    assert "x-orcha" not in schema.json_schema


def test_a_pydantic_model_in_the_folder_is_a_schema_too(tmp_path: Path) -> None:
    write(tmp_path, "note.py", MODEL)
    write(tmp_path, "_helper.py", "raise RuntimeError")
    write(tmp_path, "README.md", "not a schema")
    assert load_schemas(tmp_path)["note"].critical_fields == ("subject",)
    assert len(load_schemas(tmp_path)) == len(BUILT_IN) + 1


def test_a_user_may_replace_a_built_in_schema(tmp_path: Path) -> None:
    write(tmp_path, "receipt.json", POLICY)
    assert load_schemas(tmp_path)["receipt"].critical_fields == ("policy_number",)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.json", "{", "not JSON"),
        ("a.json", [], "JSON Schema of an object"),
        ("a.json", {"type": "object"}, "JSON Schema of an object"),
        ("a.json", {**POLICY, "x-orcha": {"critical_fields": ["nothing"]}}, "does not have: nothing"),
        ("a.json", {**POLICY, "x-orcha": {"kritisch": []}}, "kritisch"),
        ("a.py", "1 / 0", "ZeroDivisionError"),
        ("a.py", "SCHEMA = 7", "no DocumentSchema"),
    ],
)
def test_a_file_that_is_no_schema_is_named_with_what_is_wrong(
    tmp_path: Path, name: str, content: Any, complaint: str
) -> None:
    file = write(tmp_path, name, content)
    with pytest.raises(ConfigurationError, match=complaint) as caught:
        load_schemas(tmp_path)
    assert str(file) in caught.value.message


def test_a_folder_that_is_not_there_is_a_wrong_setting(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="ORCHA_SCHEMAS_FOLDER"):
        load_schemas(tmp_path / "nowhere")


def test_what_was_chosen_at_submit_counts_whatever_the_text_says() -> None:
    schema, reason = choose_schema(transcription_of("Invoice 7"), BUILT_IN, chosen="receipt")
    assert (schema.name, reason) == ("receipt", "chosen at submit")


def test_a_chosen_schema_that_is_gone_is_for_a_person() -> None:
    with pytest.raises(SchemaUnknown, match="policy"):
        choose_schema(transcription_of("Invoice 7"), BUILT_IN, chosen="policy")


@pytest.mark.parametrize(
    ("rows", "kind", "word"),
    [
        (["Rechnung Nr. 7"], "invoice", "rechnung"),
        (["Receipt", "Cash 10.00", "Change 2.00"], "receipt", "cash"),
        (["Dear Sir or Madam"], "generic", "nothing in the text"),
        (["Gutschrift Nr. 7"], "invoice", "gutschrift"),
        (["Stornorechnung 7"], "invoice", "stornorechnung"),
        (["Credit note CN-7"], "invoice", "credit note"),
        (["Acme SARL", "AVOIR", "du 3 mars"], "invoice", "avoir"),
        (["Avoir n° 7"], "invoice", "avoir n°"),
        (["Nous espérons avoir de vos nouvelles"], "generic", "nothing in the text"),
    ],
)
def test_otherwise_the_words_of_the_text_decide_and_are_named(rows: list[str], kind: str, word: str) -> None:
    schema, reason = choose_schema(transcription_of(*rows), BUILT_IN, chosen=None)
    assert schema.name == kind
    assert word in reason


def test_a_users_schema_is_asked_first_and_needs_whole_words(tmp_path: Path) -> None:
    write(tmp_path, "policy.json", POLICY)
    schemas = load_schemas(tmp_path)
    assert choose_schema(transcription_of("Invoice", "Your PREMIUM"), schemas, chosen=None)[0].name == "policy"
    assert choose_schema(transcription_of("Invoice", "premiums"), schemas, chosen=None)[0].name == "invoice"
