"""The true fields of a labelled document, under the names that Orcha's schemas give them. No document is read here."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic import Field

from orcha_dagster.domain.model import DomainModel
from orcha_dagster.domain.schemas import DocumentSchema
from orcha_dagster.evaluation.dataset import LabelledDocument

# What public collections call a field, and what a schema of ours calls it. Our own names need no entry.
FIELD_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "company": "seller",
        "date_iso": "issue_date",
        "total_amount": "gross",
        "invoice_number": "number",
        "seller_name": "seller",
        "seller_vat_id": "seller_tax_id",
        "buyer_name": "buyer",
        "buyer_vat_id": "buyer_tax_id",
        "net_total": "net",
        "tax_total": "tax",
        "gross_total": "gross",
    }
)
COLUMN_NAMES: Mapping[str, str] = MappingProxyType({"net_amount": "net", "amount": "net"})

TrueRow = dict[str, str]  # one row of a table by column name


class FieldTruth(DomainModel):
    """What a document says. What the truth does not mention is neither right nor wrong when it is found."""

    fields: dict[str, str]
    tables: dict[str, tuple[TrueRow, ...]] = Field(default_factory=dict)
    hidden: tuple[str, ...] = ()  # names of those that no page shows, as far as the manifest tells
    doubtful: tuple[str, ...] = ()  # names of those that are not printed as labelled, by the manifest's own word
    schema_name: str | None = None  # what kind of document it is; None when nobody said

    @property
    def is_empty(self) -> bool:
        return not self.fields and not self.tables


def to_field_truth(
    document: LabelledDocument, schemas: Mapping[str, DocumentSchema], *, only_visible: bool
) -> FieldTruth:
    """`only_visible`: without the fields that the manifest says no page shows, for extractors that read the pages."""
    labels = document.labels
    hidden = _hidden(labels)
    fields: dict[str, str] = {}
    tables: dict[str, tuple[TrueRow, ...]] = {}
    for given, value in _mapping(labels.get("fields")).items():
        name = FIELD_NAMES.get(given, given)
        if only_visible and name in hidden:
            continue
        if isinstance(value, list) and any(name in schema.tables for schema in schemas.values()):
            tables[name] = tuple(_to_row(row) for row in value if isinstance(row, dict))
        elif (text := _to_text(value)) and any(name in schema.field_names for schema in schemas.values()):
            fields[name] = text
    return FieldTruth(
        fields=fields,
        tables=tables,
        hidden=tuple(sorted(hidden)),
        doubtful=_doubtful(labels),
        schema_name=_schema_of(document, schemas),
    )


def _hidden(labels: Mapping[str, Any]) -> set[str]:
    said = _mapping(labels.get("visible_in_pdf_text"))
    return {FIELD_NAMES.get(given, given) for given, is_visible in said.items() if is_visible is False}


def _doubtful(labels: Mapping[str, Any]) -> tuple[str, ...]:
    said = _mapping(labels.get("quality")).get("not_literal_in_transcript")
    return tuple(FIELD_NAMES.get(given, given) for given in said or () if isinstance(given, str))


def _schema_of(document: LabelledDocument, schemas: Mapping[str, DocumentSchema]) -> str | None:
    """What the manifest says, else the schema whose name is part of the kind: `degraded_receipt` is a receipt."""
    said = document.labels.get("schema")
    if isinstance(said, str) and said in schemas:
        return said
    named = [name for name in schemas if name in document.kind]
    return max(named, key=len, default=None)


def _to_row(row: Mapping[str, Any]) -> TrueRow:
    cells = {COLUMN_NAMES.get(given, given): _to_text(value) for given, value in row.items()}
    return {name: text for name, text in cells.items() if text}


def _to_text(value: object) -> str:
    """Empty for what is no single value: nothing is claimed about it."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value).strip()


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
