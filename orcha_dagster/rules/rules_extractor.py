"""Fields found by rules over the layout: free, quick and the same every time. The rules live beside it."""

import asyncio

from orcha_dagster.domain.extractions import ExtractedField, Extraction
from orcha_dagster.domain.extractions import Row as FieldRow
from orcha_dagster.domain.schemas import DocumentSchema
from orcha_dagster.domain.transcriptions import Transcription
from orcha_dagster.interfaces.extractor import ExtractionRequest, Extractor
from orcha_dagster.rules.bank_details import find_iban
from orcha_dagster.rules.document_currency import find_currency
from orcha_dagster.rules.document_dates import find_due_date, find_issue_date
from orcha_dagster.rules.document_number import find_number
from orcha_dagster.rules.key_values import find_named, find_pairs
from orcha_dagster.rules.layout import Layout, lay_out
from orcha_dagster.rules.line_items import add_up, find_line_items
from orcha_dagster.rules.parties import find_parties
from orcha_dagster.rules.party_headings import find_headings
from orcha_dagster.rules.receipt_items import find_receipt_items
from orcha_dagster.rules.tax_ids import find_tax_ids
from orcha_dagster.rules.tax_table import find_taxes
from orcha_dagster.rules.totals import find_totals, settle

KNOWN_FIELDS = frozenset({
    "number", "issue_date", "due_date", "seller", "seller_tax_id", "buyer", "buyer_tax_id", "iban", "currency", "net",
    "tax", "gross", "prepaid", "amount_due",
})  # fmt: skip


class RulesExtractor(Extractor):
    name = "rules"
    version = "2"

    async def extract(self, request: ExtractionRequest) -> Extraction | None:
        # Milliseconds a page, in a thread: a document of hundreds would keep the event loop from everything else.
        fields, tables = await asyncio.to_thread(find_values, request.transcription, request.schema)
        return Extraction(
            schema_name=request.schema.name,
            fields=fields,
            tables=tables,
            extractor=self.name,
            extractor_version=self.version,
        )


def find_values(
    transcription: Transcription, schema: DocumentSchema
) -> tuple[dict[str, ExtractedField], dict[str, tuple[FieldRow, ...]]]:
    """The fields and the tables of a schema, as far as they are printed and the rules know them.

    Fields that the rules do not know are looked for under their names; a schema without fields gets what is labelled.
    """
    layout = lay_out(transcription)
    if not schema.field_names:
        return find_pairs(layout), {}
    fields, tables = _find_trade(layout, is_receipt=schema.name == "receipt")
    properties = schema.json_schema["properties"]
    unknown = {name: properties[name] for name in schema.field_names if name not in KNOWN_FIELDS}
    return (
        {name: field for name, field in fields.items() if name in schema.field_names} | find_named(layout, unknown),
        {name: rows for name, rows in tables.items() if rows and name in schema.tables},
    )


def _find_trade(
    layout: Layout, *, is_receipt: bool
) -> tuple[dict[str, ExtractedField], dict[str, tuple[FieldRow, ...]]]:
    totals = find_totals(layout)
    taxes = find_taxes(layout, totals)
    totals = settle(totals, taxes)
    currency = find_currency(layout, totals.get("gross"))
    code = currency.value if currency else None
    headings = find_headings(layout)
    found = {
        "number": find_number(layout),
        "issue_date": find_issue_date(layout, code),
        "due_date": find_due_date(layout, code),
        "currency": currency,
        "iban": find_iban(layout),
        **find_parties(layout, headings, has_address_window=not is_receipt),
        **find_tax_ids(layout, headings),
        **totals,
    }
    items = _find_receipt_items(layout, totals) if is_receipt else find_line_items(layout)
    return {name: field for name, field in found.items() if field is not None}, {"taxes": taxes, "line_items": items}


def _find_receipt_items(layout: Layout, totals: dict[str, ExtractedField]) -> tuple[FieldRow, ...]:
    """Receipts print much that looks like goods, so the list must add up."""
    for items in (find_line_items(layout), find_receipt_items(layout, totals.get("gross"))):
        if items and add_up(items, totals):
            return items
    return ()
