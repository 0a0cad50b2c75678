"""UN/CEFACT Cross Industry Invoice: Factur-X, ZUGFeRD 2, XRechnung in this syntax, and ZUGFeRD 1 with its draft.

The names of the elements changed between the versions; each path names all of them. Missing or malformed values are
left out.
"""

from itertools import islice

from lxml import etree

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

MAX_LINE_ITEMS = 50_000
_HEADER = "ExchangedDocument|HeaderExchangedDocument"
_TRANSACTION = "SupplyChainTradeTransaction|SpecifiedSupplyChainTradeTransaction"
_AGREEMENT = "ApplicableHeaderTradeAgreement|ApplicableSupplyChainTradeAgreement"
_SETTLEMENT = "ApplicableHeaderTradeSettlement|ApplicableSupplyChainTradeSettlement"
_SUMMATION = "SpecifiedTradeSettlementHeaderMonetarySummation|SpecifiedTradeSettlementMonetarySummation"
_LINE = "IncludedSupplyChainTradeLineItem"
_LINE_PRICE = "SpecifiedLineTradeAgreement|SpecifiedSupplyChainTradeAgreement/NetPriceProductTradePrice/ChargeAmount"
_LINE_QUANTITY = "SpecifiedLineTradeDelivery|SpecifiedSupplyChainTradeDelivery/BilledQuantity"
_LINE_SETTLEMENT = "SpecifiedLineTradeSettlement|SpecifiedSupplyChainTradeSettlement"
_LINE_TOTAL = "SpecifiedTradeSettlementLineMonetarySummation|SpecifiedTradeSettlementMonetarySummation/LineTotalAmount"
_RATE = "RateApplicablePercent|ApplicablePercent"
# Lines of the extended profile that group others or only tell something; their amounts are in other lines already.
_NOT_BILLED = frozenset({"GROUP", "INFORMATION"})


def is_cii(root: etree._Element) -> bool:
    # The draft of ZUGFeRD 1 called its root "Invoice", as UBL does.
    is_draft = local_name(root) == "Invoice" and find(root, "HeaderExchangedDocument") is not None
    return local_name(root) in ("CrossIndustryInvoice", "CrossIndustryDocument") or (
        is_draft and "uncefact" in namespace(root)
    )


def read_cii(root: etree._Element) -> InvoiceData:
    header, transaction = find(root, _HEADER), find(root, _TRANSACTION)
    agreement, settlement = find(transaction, _AGREEMENT), find(transaction, _SETTLEMENT)
    currency = to_currency(find_text(settlement, "InvoiceCurrencyCode"))
    lines = list(islice(walk(transaction, _LINE), MAX_LINE_ITEMS + 1))
    return InvoiceData(
        fields=without_gaps(
            {
                "number": find_text(header, "ID"),
                "issue_date": _find_day(header, "IssueDateTime"),
                "due_date": _find_day(settlement, "SpecifiedTradePaymentTerms/DueDateDateTime"),
                "currency": currency,
                "iban": _find_iban(settlement),
                **_read_party(agreement, "seller", "SellerTradeParty"),
                **_read_party(agreement, "buyer", "BuyerTradeParty"),
                **_read_totals(settlement, currency),
            }
        ),
        taxes=rows_of(_read_tax(tax) for tax in walk(settlement, "ApplicableTradeTax")),
        line_items=rows_of(_read_line(line) for line in lines[:MAX_LINE_ITEMS] if _is_billed(line)),
        is_complete=len(lines) <= MAX_LINE_ITEMS,
    )


def _read_totals(settlement: etree._Element | None, currency: str | None) -> dict[str, str | None]:
    summation = find(settlement, _SUMMATION)
    names = {"net": "TaxBasisTotalAmount", "tax": "TaxTotalAmount", "gross": "GrandTotalAmount",
             "prepaid": "TotalPrepaidAmount", "amount_due": "DuePayableAmount"}  # fmt: skip
    return {field: to_money(find_text_in_currency(summation, name, currency)) for field, name in names.items()}


def _read_party(agreement: etree._Element | None, role: str, element: str) -> dict[str, str | None]:
    party = find(agreement, element)
    trading_name = find_text(party, "SpecifiedLegalOrganization/TradingBusinessName")
    registrations = [each for each in walk(party, "SpecifiedTaxRegistration/ID") if each.get("schemeID") == "VA"]
    numbers = (without_spaces(registration.text) for registration in registrations)
    return {
        role: find_text(party, "Name") or trading_name,
        f"{role}_tax_id": next((number for number in numbers if number), None),
    }


def _find_iban(settlement: etree._Element | None) -> str | None:
    """The account of who is paid; that of the payer stands beside it when money is collected."""
    path = "SpecifiedTradeSettlementPaymentMeans/PayeePartyCreditorFinancialAccount/IBANID"
    return to_iban(find_text(settlement, path))


def _read_tax(tax: etree._Element) -> dict[str, str | None]:
    return {
        "rate": to_rate(find_text(tax, _RATE)),
        "net": to_money(find_text(tax, "BasisAmount")),
        "tax": to_money(find_text(tax, "CalculatedAmount")),
    }


def _is_billed(line: etree._Element) -> bool:
    return find_text(line, "AssociatedDocumentLineDocument/LineStatusReasonCode") not in _NOT_BILLED


def _read_line(line: etree._Element) -> dict[str, str | None]:
    settlement = find(line, _LINE_SETTLEMENT)
    return {
        "description": find_text(line, "SpecifiedTradeProduct/Name"),
        "quantity": to_number(find_text(line, _LINE_QUANTITY)),
        "unit_price": to_money(find_text(line, _LINE_PRICE)),
        "net": to_money(find_text(settlement, _LINE_TOTAL)),
        "tax_rate": to_rate(find_text(settlement, f"ApplicableTradeTax/{_RATE}")),
    }


def _find_day(element: etree._Element | None, path: str) -> str | None:
    """A date is an element inside the one that names it, or in the oldest version its own text."""
    for found in walk(element, path):
        for inner in (*walk(found, "DateTimeString|DateTime|Date"), found):
            day = to_day((inner.text or "").strip(), inner.get("format"))
            if day is not None:
                return day
    return None
