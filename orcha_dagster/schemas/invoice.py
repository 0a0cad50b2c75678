"""Invoices and credit notes."""

from pydantic import Field

from orcha_dagster.domain.schemas import CheckSettings, DocumentSchema
from orcha_dagster.schemas.values import Amount, Currency, Day, Rate, SchemaModel


class LineItem(SchemaModel):
    description: str | None = None
    quantity: Amount | None = None
    unit_price: Amount | None = None
    net: Amount | None = Field(None, description="The amount of the row before tax.")
    tax_rate: Rate | None = None


class TaxRow(SchemaModel):
    """One rate of the tax summary."""

    rate: Rate | None = None
    net: Amount | None = None
    tax: Amount | None = None


class Invoice(SchemaModel):
    number: str | None = Field(None, description="The invoice's own number, as printed.")
    issue_date: Day | None = None
    due_date: Day | None = None
    seller: str | None = Field(None, description="Who is paid.")
    seller_tax_id: str | None = Field(None, description="VAT number of the seller, without spaces.")
    buyer: str | None = Field(None, description="Who pays.")
    buyer_tax_id: str | None = None
    iban: str | None = Field(None, description="The account to pay to, without spaces.")
    currency: Currency | None = None
    net: Amount | None = Field(None, description="The total before tax.")
    tax: Amount | None = Field(None, description="The total tax.")
    gross: Amount | None = Field(None, description="The total with tax.")
    prepaid: Amount | None = None
    amount_due: Amount | None = Field(None, description="What is left to pay.")
    taxes: list[TaxRow] = Field(default_factory=list)
    line_items: list[LineItem] = Field(default_factory=list)


SCHEMA = DocumentSchema(
    name="invoice",
    title="Invoice",
    json_schema=Invoice.model_json_schema(),
    critical_fields=("number", "issue_date", "seller", "currency", "gross"),
    tables=("taxes", "line_items"),
    keywords=("invoice", "rechnung", "facture", "credit note", "gutschrift", "avoir"),
    checks={"list_complete": CheckSettings(weight=0.5)},
)
