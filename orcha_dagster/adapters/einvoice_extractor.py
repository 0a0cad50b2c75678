"""Fields from the invoice XML inside a Factur-X or ZUGFeRD PDF. What the pages show is not looked at."""

import logging
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path

from lxml import etree

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.extractions import ExtractedField, Extraction
from orcha_dagster.domain.transcriptions import Transcription
from orcha_dagster.interfaces.cpu_pool import CpuPool
from orcha_dagster.interfaces.extractor import Extractor

_ROOTS = ("CrossIndustryInvoice", "CrossIndustryDocument")  # ZUGFeRD 2 and Factur-X; ZUGFeRD 1
_HEADERS = ("ExchangedDocument", "HeaderExchangedDocument")
_AGREEMENTS = ("ApplicableHeaderTradeAgreement", "ApplicableSupplyChainTradeAgreement")
_SETTLEMENTS = ("ApplicableHeaderTradeSettlement", "ApplicableSupplyChainTradeSettlement")
_SUMMATIONS = (
    "SpecifiedTradeSettlementHeaderMonetarySummation",
    "SpecifiedTradeSettlementMonetarySummation",
)
_DAY_FORMATS = {"102": "%Y%m%d", None: "%Y%m%d"}  # of UNTDID 2379; invoices are allowed no other


class EInvoiceExtractor(Extractor):
    name = "e-invoice"
    version = "1"

    def __init__(self, pool: CpuPool) -> None:
        self._pool = pool

    async def extract(self, raw: RawDocument, document: Path, transcription: Transcription) -> Extraction | None:  # noqa: ARG002
        if not raw.is_pdf:
            return None
        fields = await self._pool.run(read_embedded_invoice, document)
        if not fields:
            return None
        return Extraction(
            schema_name="invoice",
            fields={name: ExtractedField(value=value) for name, value in fields.items()},
            extractor=self.name,
            extractor_version=self.version,
        )


def read_embedded_invoice(document: Path) -> dict[str, str] | None:
    """The fields of the XML inside a PDF, or None when there is no XML or none that can be read.

    Runs inside a CPU worker. An attachment that cannot be read is no reason to fail: the page still can.
    """
    xml = _find_xml(document)
    return None if xml is None else read_invoice_xml(xml)


def read_invoice_xml(xml: bytes) -> dict[str, str] | None:
    """Read an invoice from somebody else's XML: no entity is resolved and nothing is fetched."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(xml, parser)
    except etree.XMLSyntaxError:
        return None
    return _parse_invoice(root) if etree.QName(root).localname in _ROOTS else None


def _parse_invoice(root: etree._Element) -> dict[str, str]:
    """Read the fields of a Cross Industry Invoice; what is missing or malformed is left out."""
    header, agreement, settlement = (f"//{_any(names)}" for names in (_HEADERS, _AGREEMENTS, _SETTLEMENTS))
    currency = _find_text(root, f"{settlement}/{_any(('InvoiceCurrencyCode',))}")
    sums = f"{settlement}/{_any(_SUMMATIONS)}"
    # A foreign supplier may state the tax in a second currency as well.
    tax = f"{sums}/{_any(('TaxTotalAmount',))}"
    found = {
        "number": _find_text(root, f"{header}/{_any(('ID',))}"),
        "issue_date": _find_day(root, f"{header}/{_any(('IssueDateTime',))}/{_any(('DateTimeString',))}"),
        "seller": _find_text(root, f"{agreement}/{_any(('SellerTradeParty',))}/{_any(('Name',))}"),
        "buyer": _find_text(root, f"{agreement}/{_any(('BuyerTradeParty',))}/{_any(('Name',))}"),
        "currency": currency,
        "net": _find_amount(root, f"{sums}/{_any(('TaxBasisTotalAmount',))}"),
        "tax": _find_amount(root, f"{tax}[@currencyID=$currency]", currency=currency or "") or _find_amount(root, tax),
        "gross": _find_amount(root, f"{sums}/{_any(('GrandTotalAmount',))}"),
    }
    return {name: value for name, value in found.items() if value is not None}


def _find_xml(document: Path) -> bytes | None:
    # Imported here: only the workers need them, and they take a second. Their logs repeat the XML.
    import facturx
    from pypdf.errors import PyPdfError

    logging.getLogger("factur-x").setLevel(logging.CRITICAL)
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        name, xml = facturx.get_xml_from_pdf(document.read_bytes(), check_xsd=False)
    # pypdf meets damaged objects with whatever the next operation on them raises.
    except (PyPdfError, etree.LxmlError, ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError,
            ValueError):  # fmt: skip
        return None
    return xml if name else None


def _any(names: tuple[str, ...]) -> str:
    """An XPath step for elements of these names in any namespace: each version of the standard has its own."""
    return "*[" + " or ".join(f"local-name()='{name}'" for name in names) + "]"


def _find_text(root: etree._Element, path: str, **variables: str) -> str | None:
    for element in root.xpath(path, **variables):
        text = " ".join((element.text or "").split())
        if text:
            return text
    return None


def _find_amount(root: etree._Element, path: str, **variables: str) -> str | None:
    text = _find_text(root, path, **variables)
    try:
        value = Decimal(text) if text else None
    except InvalidOperation:
        return None
    return f"{value:f}" if value is not None and value.is_finite() else None


def _find_day(root: etree._Element, path: str) -> str | None:
    for element in root.xpath(path):
        text, pattern = (element.text or "").strip(), _DAY_FORMATS.get(element.get("format"))
        try:
            return _to_day(text, pattern).isoformat()
        except ValueError:
            continue
    return None


def _to_day(text: str, pattern: str | None) -> date:
    if pattern is None:
        return date.fromisoformat(text[:10])
    return datetime.strptime(text, pattern).date()  # noqa: DTZ007 - a day has no time zone
