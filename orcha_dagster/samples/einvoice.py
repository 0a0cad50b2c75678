"""The Factur-X invoice inside a PDF: UN/CEFACT Cross Industry Invoice, profile EN 16931."""

import re
from datetime import date
from io import BytesIO
from pathlib import Path

import facturx
from lxml import etree

from orcha_dagster.samples.trade import Line, Party, Trade

NAMESPACES = {
    "rsm": "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100",
    "ram": "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100",
    "udt": "urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100",
}
UNIT_CODES = {"h": "HUR", "hr": "HUR"}  # UN/ECE Recommendation 20; all other units are counted as pieces
TRANSFER_BY_SEPA = "58"
COMMERCIAL_INVOICE = "380"


def write_hybrid(path: Path, pdf: bytes, trade: Trade) -> None:
    """Writes the PDF with the XML inside; factur-x checks the XML against the XSD of the profile before."""
    # Not generate_from_binary: it appends the new PDF to the old one. The metadata stays uncompressed so that the
    # clock can be taken out of it below.
    facturx.generate_from_file(
        BytesIO(pdf),
        render_einvoice(trade),
        flavor="factur-x",
        level="en16931",
        lang="fr-FR",
        output_pdf_file=str(path),
        xmp_compression=False,
    )
    path.write_bytes(_without_clock(path.read_bytes(), trade.issued_on))


def render_einvoice(trade: Trade) -> bytes:
    root = etree.Element(_qualify("rsm:CrossIndustryInvoice"), nsmap=NAMESPACES)
    guideline = "rsm:ExchangedDocumentContext/ram:GuidelineSpecifiedDocumentContextParameter/ram:ID"
    _add(root, guideline, "urn:cen.eu:en16931:2017")
    document = _add(root, "rsm:ExchangedDocument")
    _add(document, "ram:ID", trade.number)
    _add(document, "ram:TypeCode", COMMERCIAL_INVOICE)
    _add_date(document, "ram:IssueDateTime", trade.issued_on)
    transaction = _add(root, "rsm:SupplyChainTradeTransaction")
    for position, line in enumerate(trade.lines, start=1):
        _add_line(transaction, position, line, trade)
    agreement = _add(transaction, "ram:ApplicableHeaderTradeAgreement")
    _add_party(agreement, "ram:SellerTradeParty", trade.seller)
    _add_party(agreement, "ram:BuyerTradeParty", trade.buyer)
    delivery = _add(transaction, "ram:ApplicableHeaderTradeDelivery")
    _add_date(delivery, "ram:ActualDeliverySupplyChainEvent/ram:OccurrenceDateTime", trade.issued_on)
    _add_settlement(transaction, trade)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True))


def _add_line(transaction: etree._Element, position: int, line: Line, trade: Trade) -> None:
    item = _add(transaction, "ram:IncludedSupplyChainTradeLineItem")
    _add(item, "ram:AssociatedDocumentLineDocument/ram:LineID", str(position))
    product = _add(item, "ram:SpecifiedTradeProduct")
    _add(product, "ram:SellerAssignedID", line.article)
    _add(product, "ram:Name", line.description)
    price = "ram:SpecifiedLineTradeAgreement/ram:NetPriceProductTradePrice/ram:ChargeAmount"
    _add(item, price, str(line.unit_price))
    quantity = "ram:SpecifiedLineTradeDelivery/ram:BilledQuantity"
    _add(item, quantity, str(line.quantity), unitCode=UNIT_CODES.get(line.unit, "C62"))
    settlement = _add(item, "ram:SpecifiedLineTradeSettlement")
    tax = _add(settlement, "ram:ApplicableTradeTax")
    _add(tax, "ram:TypeCode", "VAT")
    _add(tax, "ram:CategoryCode", "S")
    _add(tax, "ram:RateApplicablePercent", str(trade.market.tax_rate))
    _add(settlement, "ram:SpecifiedTradeSettlementLineMonetarySummation/ram:LineTotalAmount", str(line.amount))


def _add_party(agreement: etree._Element, role: str, party: Party) -> None:
    element = _add(agreement, role)
    _add(element, "ram:Name", party.name)
    # 0002 is the French company register in the ISO 6523 list.
    _add(element, "ram:SpecifiedLegalOrganization/ram:ID", party.company_id, schemeID="0002")
    address = _add(element, "ram:PostalTradeAddress")
    _add(address, "ram:PostcodeCode", party.postcode)
    _add(address, "ram:LineOne", party.street)
    _add(address, "ram:CityName", party.town)
    _add(address, "ram:CountryID", party.country)
    _add(element, "ram:SpecifiedTaxRegistration/ram:ID", party.vat_id, schemeID="VA")


def _add_settlement(transaction: etree._Element, trade: Trade) -> None:
    settlement = _add(transaction, "ram:ApplicableHeaderTradeSettlement")
    _add(settlement, "ram:PaymentReference", trade.number)
    _add(settlement, "ram:InvoiceCurrencyCode", trade.market.currency)
    means = _add(settlement, "ram:SpecifiedTradeSettlementPaymentMeans")
    _add(means, "ram:TypeCode", TRANSFER_BY_SEPA)
    _add(means, "ram:PayeePartyCreditorFinancialAccount/ram:IBANID", trade.seller.iban.replace(" ", ""))
    tax = _add(settlement, "ram:ApplicableTradeTax")
    _add(tax, "ram:CalculatedAmount", str(trade.tax))
    _add(tax, "ram:TypeCode", "VAT")
    _add(tax, "ram:BasisAmount", str(trade.net))
    _add(tax, "ram:CategoryCode", "S")
    _add(tax, "ram:RateApplicablePercent", str(trade.market.tax_rate))
    _add_date(settlement, "ram:SpecifiedTradePaymentTerms/ram:DueDateDateTime", trade.due_on)
    totals = _add(settlement, "ram:SpecifiedTradeSettlementHeaderMonetarySummation")
    _add(totals, "ram:LineTotalAmount", str(trade.net))
    _add(totals, "ram:TaxBasisTotalAmount", str(trade.net))
    _add(totals, "ram:TaxTotalAmount", str(trade.tax), currencyID=trade.market.currency)
    _add(totals, "ram:GrandTotalAmount", str(trade.gross))
    _add(totals, "ram:DuePayableAmount", str(trade.gross))


def _add_date(parent: etree._Element, path: str, day: date) -> None:
    # Format 102 of UN/EDIFACT 2379 is the calendar day.
    _add(parent, f"{path}/udt:DateTimeString", f"{day:%Y%m%d}", format="102")


def _add(parent: etree._Element, path: str, text: str | None = None, **attributes: str) -> etree._Element:
    """Adds new elements down the path and returns the innermost."""
    for name in path.split("/"):
        parent = etree.SubElement(parent, _qualify(name))
    parent.text = text
    parent.attrib.update(attributes)
    return parent


def _qualify(name: str) -> str:
    prefix, _, local = name.partition(":")
    return f"{{{NAMESPACES[prefix]}}}{local}"


def _without_clock(pdf: bytes, day: date) -> bytes:
    """Replaces the moments factur-x writes by one of the same length, so that the PDF's offsets stay true."""
    # pypdf writes the colon of "D:2026..." as an octal escape.
    pdf = re.sub(rb"(?<=\(D\\072)\d{14}", f"{day:%Y%m%d}090000".encode(), pdf)
    return re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?=\+00:00<)", f"{day.isoformat()}T09:00:00".encode(), pdf)
