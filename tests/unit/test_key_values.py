"""Documents of any kind: labels with their values, and the fields of a user's own schema."""

from typing import Any

from orcha_dagster.domain.schemas import DocumentSchema
from orcha_dagster.rules.rules_extractor import find_values
from orcha_dagster.schemas import generic
from tests.fake_providers import transcription_of


def schema_of(**properties: dict[str, Any]) -> DocumentSchema:
    return DocumentSchema(
        name="delivery", title="Delivery", json_schema={"type": "object", "properties": properties}, critical_fields=()
    )


def values(schema: DocumentSchema, *rows: str) -> dict[str, str]:
    fields, _ = find_values(transcription_of(*rows), schema)
    return {name: field.value for name, field in fields.items()}


def test_a_generic_document_gives_its_labels_as_printed() -> None:
    rows = ("Patient: Ida Winter", "Ward: | 12 B", "Arrived at 12:30", "see http://example.org", "Doctor: | Room:")
    assert values(generic.SCHEMA, *rows) == {"Patient": "Ida Winter", "Ward": "12 B"}


def test_fields_of_a_users_schema_are_found_under_their_names() -> None:
    schema = schema_of(
        consignment_number={"type": "string"},
        weight={"type": "number"},
        pickup_day={"type": "string", "format": "date"},
    )
    rows = ("Consignment number: C-99", "Weight | 12,5 kg", "Pickup day | 3 November 2026")
    assert values(schema, *rows) == {"consignment_number": "C-99", "weight": "12.5", "pickup_day": "2026-11-03"}


def test_a_title_is_a_label_too() -> None:
    assert values(schema_of(ref={"type": "string", "title": "Frachtbrief"}), "Frachtbrief | 471") == {"ref": "471"}


def test_a_word_in_running_text_is_no_label() -> None:
    assert values(schema_of(weight={"type": "number"}), "The total weight 12 of it") == {}


def test_fields_that_the_rules_know_keep_their_rules() -> None:
    assert values(schema_of(gross={"type": "string"}), "Grand total | 12.50 EUR") == {"gross": "12.50"}
