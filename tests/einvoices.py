"""Small e-invoices in the three syntaxes, all telling the same sale."""

UBL = """<?xml version="1.0" encoding="UTF-8"?>
<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"
  xmlns:cac="urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2"
  xmlns:cbc="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">
  <cbc:ID>RE-118</cbc:ID><cbc:IssueDate>2026-11-03</cbc:IssueDate><cbc:DueDate>2026-12-03</cbc:DueDate>
  <cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode>
  <cac:AccountingSupplierParty><cac:Party>
    <cac:PartyName><cbc:Name>Nordlicht</cbc:Name></cac:PartyName>
    <cac:PartyTaxScheme><cbc:CompanyID>77/815</cbc:CompanyID><cac:TaxScheme><cbc:ID>FC</cbc:ID></cac:TaxScheme>
    </cac:PartyTaxScheme>
    <cac:PartyTaxScheme><cbc:CompanyID>DE 123 456 788</cbc:CompanyID><cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme>
    </cac:PartyTaxScheme>
    <cac:PartyLegalEntity><cbc:RegistrationName>Nordlicht Werkzeuge GmbH</cbc:RegistrationName></cac:PartyLegalEntity>
  </cac:Party></cac:AccountingSupplierParty>
  <cac:AccountingCustomerParty><cac:Party>
    <cac:PartyName><cbc:Name>Bäckerei
      Sommer</cbc:Name></cac:PartyName>
  </cac:Party></cac:AccountingCustomerParty>
  <cac:PaymentMeans><cac:PayeeFinancialAccount><cbc:ID>DE89 3704 0044 0532 0130 00</cbc:ID></cac:PayeeFinancialAccount>
  </cac:PaymentMeans>
  <cac:TaxTotal><cbc:TaxAmount currencyID="USD">41.80</cbc:TaxAmount></cac:TaxTotal>
  <cac:TaxTotal><cbc:TaxAmount currencyID="EUR">38.00</cbc:TaxAmount>
    <cac:TaxSubtotal><cbc:TaxableAmount currencyID="EUR">200.00</cbc:TaxableAmount>
      <cbc:TaxAmount currencyID="EUR">38.00</cbc:TaxAmount>
      <cac:TaxCategory><cbc:Percent>19.00</cbc:Percent></cac:TaxCategory></cac:TaxSubtotal>
  </cac:TaxTotal>
  <cac:LegalMonetaryTotal>
    <cbc:TaxExclusiveAmount currencyID="EUR">200.00</cbc:TaxExclusiveAmount>
    <cbc:TaxInclusiveAmount currencyID="EUR">238.00</cbc:TaxInclusiveAmount>
    <cbc:PrepaidAmount currencyID="EUR">38.00</cbc:PrepaidAmount>
    <cbc:PayableAmount currencyID="EUR">200.00</cbc:PayableAmount>
  </cac:LegalMonetaryTotal>
  <cac:InvoiceLine><cbc:InvoicedQuantity unitCode="C62">8.0000</cbc:InvoicedQuantity>
    <cbc:LineExtensionAmount currencyID="EUR">200.00</cbc:LineExtensionAmount>
    <cac:Item><cbc:Name>Bohrer</cbc:Name>
      <cac:ClassifiedTaxCategory><cbc:Percent>19</cbc:Percent></cac:ClassifiedTaxCategory></cac:Item>
    <cac:Price><cbc:PriceAmount currencyID="EUR">25.0000</cbc:PriceAmount></cac:Price></cac:InvoiceLine>
  <cac:InvoiceLine><cbc:InvoicedQuantity>0.00</cbc:InvoicedQuantity>
    <cbc:LineExtensionAmount currencyID="EUR">0.00</cbc:LineExtensionAmount>
    <cac:Item><cbc:Name>--- thank you ---</cbc:Name></cac:Item></cac:InvoiceLine>
</Invoice>"""

CREDIT_NOTE = (
    UBL.replace("Invoice-2", "CreditNote-2").replace("<Invoice ", "<CreditNote ").replace("</Invoice>", "</CreditNote>")
    .replace("InvoiceLine", "CreditNoteLine").replace("InvoicedQuantity", "CreditedQuantity")
    .replace("<cbc:DueDate>2026-12-03</cbc:DueDate>", "")
    .replace("<cac:PaymentMeans>", "<cac:PaymentMeans><cbc:PaymentDueDate>2026-12-03</cbc:PaymentDueDate>")
)  # fmt: skip

CII = """<?xml version="1.0" encoding="UTF-8"?>
<rsm:CrossIndustryInvoice xmlns:rsm="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100"
  xmlns:ram="urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100"
  xmlns:udt="urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100">
  <rsm:ExchangedDocument><ram:ID>RE-118</ram:ID>
    <ram:IssueDateTime><udt:DateTimeString format="102">20261103</udt:DateTimeString></ram:IssueDateTime>
  </rsm:ExchangedDocument>
  <rsm:SupplyChainTradeTransaction>
    <ram:IncludedSupplyChainTradeLineItem>
      <ram:AssociatedDocumentLineDocument><ram:LineStatusReasonCode>GROUP</ram:LineStatusReasonCode>
      </ram:AssociatedDocumentLineDocument>
      <ram:SpecifiedTradeProduct><ram:Name>All tools</ram:Name></ram:SpecifiedTradeProduct>
    </ram:IncludedSupplyChainTradeLineItem>
    <ram:IncludedSupplyChainTradeLineItem>
      <ram:SpecifiedTradeProduct><ram:Name>Bohrer</ram:Name></ram:SpecifiedTradeProduct>
      <ram:SpecifiedLineTradeAgreement>
        <ram:GrossPriceProductTradePrice><ram:ChargeAmount>27.00</ram:ChargeAmount></ram:GrossPriceProductTradePrice>
        <ram:NetPriceProductTradePrice><ram:ChargeAmount>25.0000</ram:ChargeAmount></ram:NetPriceProductTradePrice>
      </ram:SpecifiedLineTradeAgreement>
      <ram:SpecifiedLineTradeDelivery><ram:BilledQuantity>8.0000</ram:BilledQuantity></ram:SpecifiedLineTradeDelivery>
      <ram:SpecifiedLineTradeSettlement>
        <ram:ApplicableTradeTax><ram:RateApplicablePercent>19</ram:RateApplicablePercent></ram:ApplicableTradeTax>
        <ram:SpecifiedTradeSettlementLineMonetarySummation><ram:LineTotalAmount>200.00</ram:LineTotalAmount>
        </ram:SpecifiedTradeSettlementLineMonetarySummation>
      </ram:SpecifiedLineTradeSettlement>
    </ram:IncludedSupplyChainTradeLineItem>
    <ram:ApplicableHeaderTradeAgreement>
      <ram:SellerTradeParty><ram:Name>Nordlicht Werkzeuge GmbH</ram:Name>
        <ram:SpecifiedTaxRegistration><ram:ID schemeID="FC">77/815</ram:ID></ram:SpecifiedTaxRegistration>
        <ram:SpecifiedTaxRegistration><ram:ID schemeID="VA">DE123456788</ram:ID></ram:SpecifiedTaxRegistration>
      </ram:SellerTradeParty>
      <ram:BuyerTradeParty><ram:Name>Bäckerei Sommer</ram:Name></ram:BuyerTradeParty>
    </ram:ApplicableHeaderTradeAgreement>
    <ram:ApplicableHeaderTradeSettlement>
      <ram:InvoiceCurrencyCode>EUR</ram:InvoiceCurrencyCode>
      <ram:SpecifiedTradeSettlementPaymentMeans>
        <ram:PayerPartyDebtorFinancialAccount><ram:IBANID>GB33BUKB20201555555555</ram:IBANID>
        </ram:PayerPartyDebtorFinancialAccount>
        <ram:PayeePartyCreditorFinancialAccount><ram:IBANID>DE89 3704 0044 0532 0130 00</ram:IBANID>
        </ram:PayeePartyCreditorFinancialAccount>
      </ram:SpecifiedTradeSettlementPaymentMeans>
      <ram:ApplicableTradeTax><ram:CalculatedAmount>38.00</ram:CalculatedAmount>
        <ram:BasisAmount>200.00</ram:BasisAmount><ram:RateApplicablePercent>19.00</ram:RateApplicablePercent>
      </ram:ApplicableTradeTax>
      <ram:SpecifiedTradePaymentTerms>
        <ram:DueDateDateTime><udt:DateTimeString format="102">20261203</udt:DateTimeString></ram:DueDateDateTime>
      </ram:SpecifiedTradePaymentTerms>
      <ram:SpecifiedTradeSettlementHeaderMonetarySummation>
        <ram:TaxBasisTotalAmount>200.00</ram:TaxBasisTotalAmount>
        <ram:TaxTotalAmount currencyID="USD">41.80</ram:TaxTotalAmount>
        <ram:TaxTotalAmount currencyID="EUR">38.00</ram:TaxTotalAmount>
        <ram:GrandTotalAmount>238.00</ram:GrandTotalAmount>
        <ram:TotalPrepaidAmount>38.00</ram:TotalPrepaidAmount>
        <ram:DuePayableAmount>200.00</ram:DuePayableAmount>
      </ram:SpecifiedTradeSettlementHeaderMonetarySummation>
    </ram:ApplicableHeaderTradeSettlement>
  </rsm:SupplyChainTradeTransaction>
</rsm:CrossIndustryInvoice>"""

_OLD_NAMES = {
    "ExchangedDocument>": "HeaderExchangedDocument>",
    "SupplyChainTradeTransaction>": "SpecifiedSupplyChainTradeTransaction>",
    "ApplicableHeaderTradeAgreement": "ApplicableSupplyChainTradeAgreement",
    "ApplicableHeaderTradeSettlement": "ApplicableSupplyChainTradeSettlement",
    "SpecifiedTradeSettlementHeaderMonetarySummation": "SpecifiedTradeSettlementMonetarySummation",
    "SpecifiedTradeSettlementLineMonetarySummation": "SpecifiedTradeSettlementMonetarySummation",
    "SpecifiedLineTradeAgreement": "SpecifiedSupplyChainTradeAgreement",
    "SpecifiedLineTradeDelivery": "SpecifiedSupplyChainTradeDelivery",
    "SpecifiedLineTradeSettlement": "SpecifiedSupplyChainTradeSettlement",
    "RateApplicablePercent": "ApplicablePercent",
    "CrossIndustryInvoice:100": "CrossIndustryDocument:invoice:1p0",
    "rsm:CrossIndustryInvoice": "rsm:CrossIndustryDocument",
}


def _in_old_names(xml: str) -> str:
    for new, old in _OLD_NAMES.items():
        xml = xml.replace(new, old)
    return xml


ZUGFERD_1 = _in_old_names(CII)
# The draft before ZUGFeRD 1: a root called Invoice, dates without an element of their own.
ZUGFERD_DRAFT = (
    ZUGFERD_1.replace("CrossIndustryDocument:invoice:1p0", "CBFBUY:5")
    .replace("rsm:CrossIndustryDocument", "rsm:Invoice")
    .replace('<ram:IssueDateTime><udt:DateTimeString format="102">', '<ram:IssueDateTime format="102">')
    .replace("</udt:DateTimeString></ram:IssueDateTime>", "</ram:IssueDateTime>")
)  # fmt: skip

FIELDS = {
    "number": "RE-118", "issue_date": "2026-11-03", "due_date": "2026-12-03", "seller": "Nordlicht Werkzeuge GmbH",
    "seller_tax_id": "DE123456788", "buyer": "Bäckerei Sommer", "iban": "DE89370400440532013000", "currency": "EUR",
    "net": "200.00", "tax": "38.00", "gross": "238.00", "prepaid": "38.00", "amount_due": "200.00",
}  # fmt: skip
TAXES = ({"rate": "19", "net": "200.00", "tax": "38.00"},)
LINE_ITEMS = ({"description": "Bohrer", "quantity": "8", "unit_price": "25.00", "net": "200.00", "tax_rate": "19"},)
