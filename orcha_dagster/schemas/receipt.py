"""Receipts of shops, restaurants, taxis: paid on the spot, often without a number or a buyer."""

from pydantic import Field

from orcha_dagster.domain.schemas import CheckSettings, DocumentSchema
from orcha_dagster.schemas.invoice import LineItem, TaxRow
from orcha_dagster.schemas.values import Amount, Currency, Day, SchemaModel


class Receipt(SchemaModel):
    number: str | None = Field(None, description="The receipt's own number, as printed.")
    issue_date: Day | None = None
    seller: str | None = Field(None, description="Who was paid.")
    seller_tax_id: str | None = None
    currency: Currency | None = None
    net: Amount | None = None
    tax: Amount | None = None
    gross: Amount | None = Field(None, description="The total that was to be paid, after rounding.")
    taxes: list[TaxRow] = Field(default_factory=list)
    line_items: list[LineItem] = Field(default_factory=list)


SCHEMA = DocumentSchema(
    name="receipt",
    title="Receipt",
    json_schema=Receipt.model_json_schema(),
    critical_fields=("seller", "issue_date", "gross"),
    tables=("taxes", "line_items"),
    keywords=("receipt", "cash", "change", "quittung", "bar", "kassenbon", "ticket", "reçu"),
    # Receipts print their goods in too many ways to be read completely, and are booked by their total.
    checks={
        "list_complete": CheckSettings(weight=0.1, decides=False),
        "lines_add_up": CheckSettings(weight=0.2, decides=False),
    },
)
