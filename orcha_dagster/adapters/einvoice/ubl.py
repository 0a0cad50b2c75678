"""OASIS UBL 2 invoices and credit notes: XRechnung and Peppol in this syntax. Malformed values are left out."""

from decimal import Decimal
from itertools import islice

from lxml import etree

from orcha_dagster.adapters.einvoice.cii import MAX_LINE_ITEMS
from orcha_dagster.adapters.einvoice.invoice_data import (
    InvoiceData,
    rows_of,
    to_currency,
    to_day,
    to_iban,
    to_money,
    to_number,
    to_rate,
    without_gaps,
    without_spaces,
)
from orcha_dagster.adapters.einvoice.xml_tree import find, find_text, find_text_in_currency, local_name, namespace, walk

_RATE_PATHS = (
    "Item/ClassifiedTaxCategory/Percent",
    "TaxTotal/TaxSubtotal/TaxCategory/Percent",
    "TaxTotal/TaxSubtotal/Percent",
)


def is_ubl(root: etree._Element) -> bool:
    return local_name(root) in ("Invoice", "CreditNote") and "names:specification:ubl" in namespace(root)


def read_ubl(root: etree._Element) -> InvoiceData:
    currency = to_currency(find_text(root, "DocumentCurrencyCode"))
    lines = list(islice(walk(root, "InvoiceLine|CreditNoteLine"), MAX_LINE_ITEMS + 1))
    return InvoiceData(
        fields=without_gaps(
            {
                "number": find_text(root, "ID"),
                "issue_date": to_day(find_text(root, "IssueDate")),
                "due_date": to_day(find_text(root, "DueDate") or find_text(root, "PaymentMeans/PaymentDueDate")),
                "currency": currency,
                "iban": to_iban(find_text(root, "PaymentMeans/PayeeFinancialAccount/ID")),
                **_read_party(find(root, "AccountingSupplierParty/Party"), "seller"),
                **_read_party(find(root, "AccountingCustomerParty/Party"), "buyer"),
                **_read_totals(root, currency),
            }
        ),
        taxes=_read_taxes(root, currency),
        line_items=tuple(row for row in rows_of(map(_read_line, lines[:MAX_LINE_ITEMS])) if not _is_remark(row)),
        is_complete=len(lines) <= MAX_LINE_ITEMS,
    )


def _read_party(party: etree._Element | None, role: str) -> dict[str, str | None]:
    """The registered name; the name a company trades under only when it states no other."""
    schemes = [scheme for scheme in walk(party, "PartyTaxScheme") if find_text(scheme, "TaxScheme/ID") == "VAT"]
    numbers = (without_spaces(find_text(scheme, "CompanyID")) for scheme in schemes)
    return {
        role: find_text(party, "PartyLegalEntity/RegistrationName") or find_text(party, "PartyName/Name"),
        f"{role}_tax_id": next((number for number in numbers if number), None),
    }


def _read_totals(root: etree._Element, currency: str | None) -> dict[str, str | None]:
    totals = find(root, "LegalMonetaryTotal")
    names = {"net": "TaxExclusiveAmount", "gross": "TaxInclusiveAmount", "prepaid": "PrepaidAmount",
             "amount_due": "PayableAmount"}  # fmt: skip
    found = {field: to_money(find_text_in_currency(totals, name, currency)) for field, name in names.items()}
    return found | {"tax": to_money(find_text_in_currency(root, "TaxTotal/TaxAmount", currency))}


def _read_taxes(root: etree._Element, currency: str | None) -> tuple[dict[str, str], ...]:
    return rows_of(
        {
            "rate": to_rate(find_text(tax, "TaxCategory/Percent") or find_text(tax, "Percent")),
            "net": to_money(find_text_in_currency(tax, "TaxableAmount", currency)),
            "tax": to_money(find_text_in_currency(tax, "TaxAmount", currency)),
        }
        for tax in walk(root, "TaxTotal/TaxSubtotal")
    )


def _read_line(line: etree._Element) -> dict[str, str | None]:
    return {
        "description": find_text(line, "Item/Name") or find_text(line, "Item/Description"),
        "quantity": to_number(find_text(line, "InvoicedQuantity|CreditedQuantity")),
        "unit_price": to_money(find_text(line, "Price/PriceAmount")),
        "net": to_money(find_text(line, "LineExtensionAmount")),
        "tax_rate": to_rate(next((rate for path in _RATE_PATHS if (rate := find_text(line, path))), None)),
    }


def _is_remark(row: dict[str, str]) -> bool:
    """Nothing of it for no money: some systems write their headings and notes as lines."""
    amounts = [Decimal(row[name]) for name in ("quantity", "net") if name in row]
    return not any(amounts)
