"""Reading an e-invoice in whichever syntax it is written, from a PDF or from an XML file by itself.

Runs inside CPU workers. What cannot be read gives None, never an error: a PDF still has its pages.
"""

from pathlib import Path

from orcha_dagster.adapters.einvoice.attachments import find_attachments
from orcha_dagster.adapters.einvoice.cii import is_cii, read_cii
from orcha_dagster.adapters.einvoice.invoice_data import InvoiceData, Values
from orcha_dagster.adapters.einvoice.ubl import is_ubl, read_ubl
from orcha_dagster.adapters.einvoice.xml_tree import MAX_XML_BYTES, parse_xml

# What the standards call the file inside a PDF.
_STANDARD_NAMES = frozenset({"factur-x.xml", "zugferd-invoice.xml", "xrechnung.xml"})
_LABELS = {
    "number": "Invoice number", "issue_date": "Invoice date", "due_date": "Due date", "seller": "Seller",
    "seller_tax_id": "Seller VAT number", "buyer": "Buyer", "buyer_tax_id": "Buyer VAT number", "iban": "IBAN",
    "currency": "Currency", "net": "Net total", "tax": "Total tax", "gross": "Grand total", "prepaid": "Prepaid",
    "amount_due": "Amount due",
}  # fmt: skip


def read_invoice_xml(xml: bytes) -> InvoiceData | None:
    """The invoice written in this XML, or None when it is no invoice or says nothing."""
    root = parse_xml(xml)
    if root is None:
        return None
    data = read_cii(root) if is_cii(root) else read_ubl(root) if is_ubl(root) else None
    return data if data is not None and data.fields else None


def read_invoice_file(document: Path) -> InvoiceData | None:
    """The invoice of an XML file by itself."""
    with document.open("rb") as file:
        return read_invoice_xml(file.read(MAX_XML_BYTES + 1))


def read_embedded_invoice(document: Path) -> InvoiceData | None:
    """The invoice inside a PDF: the one under a name of the standards, else the only one there is.

    Several that differ, with no standard to choose by, are none: the page decides then.
    """
    standard: list[InvoiceData] = []
    others: list[InvoiceData] = []
    for attachment in find_attachments(document):
        data = read_invoice_xml(attachment.content)
        if data is not None:
            (standard if attachment.name.lower() in _STANDARD_NAMES else others).append(data)
    candidates = standard or others
    return candidates[0] if candidates and all(data == candidates[0] for data in candidates) else None


def describe_invoice_xml(document: Path) -> list[str]:
    """The invoice of an XML file as lines of text for people: label and value, then the rows of its tables."""
    data = read_invoice_file(document)
    if data is None:
        return []
    lines = [f"{label}: {data.fields[name]}" for name, label in _LABELS.items() if name in data.fields]
    lines += [_describe("Tax", row) for row in data.taxes]
    return lines + [_describe(f"Line {number}", row) for number, row in enumerate(data.line_items, start=1)]


def _describe(title: str, row: Values) -> str:
    return f"{title}: " + "; ".join(f"{name.replace('_', ' ')} {value}" for name, value in row.items())
