"""How each country writes: labels, amounts and dates on business papers."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from orcha_dagster.samples.catalogue import Market

NO_BREAK_SPACE = "\u00a0"

_MONTHS = {
    "en": [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ],
    "fr": [
        "janvier",
        "février",
        "mars",
        "avril",
        "mai",
        "juin",
        "juillet",
        "août",
        "septembre",
        "octobre",
        "novembre",
        "décembre",
    ],
}


@dataclass(frozen=True)
class Wording:
    """The labels of one language."""

    title: str
    number: str
    issued: str
    due: str
    customer: str
    seller: str
    buyer: str
    columns: tuple[str, str, str, str, str, str]  # position, article, description, quantity, price, amount
    net: str
    gross: str
    carried_over: str
    brought_forward: str
    page: str
    opening: str
    terms: str
    thanks: str
    vat_id: str
    bank: str


WORDINGS = {
    "en": Wording(
        title="Invoice",
        number="Invoice number",
        issued="Invoice date",
        due="Due date",
        customer="Customer no.",
        seller="From",
        buyer="Bill to",
        columns=("No.", "Item", "Description", "Qty", "Unit price", "Amount"),
        net="Subtotal",
        gross="Total due",
        carried_over="Carried forward",
        brought_forward="Brought forward",
        page="Page {page} of {pages}",
        opening="Thank you for your order. We invoice the following goods and services:",
        terms="Please pay by {due} quoting {number}.",
        thanks="Thank you for your business.",
        vat_id="VAT no.",
        bank="Bank account",
    ),
    "de": Wording(
        title="Rechnung",
        number="Rechnungsnummer",
        issued="Rechnungsdatum",
        due="Fällig am",
        customer="Kundennummer",
        seller="Absender",
        buyer="Rechnungsempfänger",
        columns=("Pos.", "Art.-Nr.", "Bezeichnung", "Menge", "Einzelpreis", "Gesamt"),
        net="Nettobetrag",
        gross="Gesamtbetrag",
        carried_over="Übertrag",
        brought_forward="Übertrag von Seite {page}",
        page="Seite {page}/{pages}",
        opening="Sehr geehrte Damen und Herren, wir berechnen Ihnen die folgenden Lieferungen:",
        terms="Bitte überweisen Sie den Betrag bis zum {due} unter Angabe von {number}.",
        thanks="Vielen Dank für Ihren Auftrag.",
        vat_id="USt-IdNr.",
        bank="Bankverbindung",
    ),
    "fr": Wording(
        title="Facture",
        number="N° de facture",
        issued="Date de facture",
        due="Date d'échéance",
        customer="N° client",
        seller="Émetteur",
        buyer="Facturé à",
        columns=("N°", "Réf.", "Désignation", "Qté", "Prix unitaire", "Montant HT"),
        net="Total HT",
        gross="Total TTC",
        carried_over="À reporter",
        brought_forward="Report",
        page="Page {page}/{pages}",
        opening="Nous vous remercions de votre commande et vous facturons les prestations suivantes :",
        terms="À régler avant le {due} en rappelant la référence {number}.",
        thanks="Merci de votre confiance.",
        vat_id="N° TVA",
        bank="Coordonnées bancaires",
    ),
}


def format_amount(value: Decimal, language: str) -> str:
    english = f"{value:,.2f}"
    marks = {"en": ",.", "de": ".,", "fr": f"{NO_BREAK_SPACE},"}[language]
    return english.translate(str.maketrans(",.", marks))


def format_money(value: Decimal, language: str, currency: str) -> str:
    amount = format_amount(value, language)
    if language == "de":
        return f"{amount} {currency}"
    if language == "fr":
        return f"{amount}{NO_BREAK_SPACE}€"
    return {"GBP": "£", "USD": "$", "MYR": "RM "}[currency] + amount


def format_tax_label(market: Market) -> str:
    rate = f"{market.tax_rate:f}"
    if market.language == "en":
        return f"{market.tax_name} {rate}%"
    return f"{market.tax_name} {rate.replace('.', ',')} %"


def format_date(day: date, country: str) -> str:
    if country == "DE":
        return f"{day:%d.%m.%Y}"
    if country == "FR":
        # The first of a month is an ordinal in French.
        return f"{'1er' if day.day == 1 else day.day} {_MONTHS['fr'][day.month - 1]} {day.year}"
    month = _MONTHS["en"][day.month - 1]
    return f"{month} {day.day}, {day.year}" if country == "US" else f"{day.day} {month} {day.year}"
