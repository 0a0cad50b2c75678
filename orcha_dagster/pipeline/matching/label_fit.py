"""Whether the words beside a value speak for the field it is taken for: only to choose between equal places.

The words are those of invoices and receipts in English, German and French; of other fields, their own name.
"""

import re
from functools import cache

_WITHOUT_TAX = r"(?:h\.?t|net|excl|hors|before|tax|vat|gst|tva)"
# Folded; beginnings of words. What speaks for the field, then what speaks against it.
_WORDS: dict[str, tuple[str, str]] = {
    "number": (r"invoice|inv|rechnung|facture|beleg|receipt|bill|no|nr|n°|number|nummer|document|#",
               r"order|bestell|commande|kunde|customer|client|tax|ust|tva|vat|tel|fax|iban|phone|page|seite"),
    "issue_date": (r"date|datum|invoice|rechnung|facture|issue|vom|du|le|emission|ausstell",
                   r"due|fallig|echeance|deliver|liefer|leistung|livraison|order|bestell|zahlbar|pay"),
    "due_date": (r"due|fallig|echeance|zahlbar|pay|bis|until|avant|before", r"deliver|liefer|issue|invoice date"),
    "net": (r"net|netto|ht|h\.t|subtotal|sub total|zwischensumme|excl|ohne|hors|taxable|untaxed|basis",
            r"gross|brutto|ttc|grand|due|payer|zahlen|pay"),
    "tax": (r"tax|vat|gst|sst|tva|mwst|ust|umsatzsteuer|steuer|mehrwert",
            r"total incl|gross|brutto|ttc|netto|subtotal|invoice|id|reg"),
    "gross": ((rf"(?:total|gesamt|summe|montant)(?! {_WITHOUT_TAX})|gross|brutto|ttc|endbetrag|rechnungsbetrag|amount|"
              r"due|payable|zahlen|payer"),
              r"sub|net|ht|h\.t|tax|vat|gst|mwst|ust|tva|cash|change|tender|bar|ruckgeld|rendu|zwischen|excl|discount|qty"),
    "amount_due": (r"due|payable|zahlen|zahlbetrag|payer|balance|offen|solde|reste", r"date|datum|sub|net|tax"),
    "prepaid": (r"prepaid|paid|deposit|anzahlung|vorauszahlung|acompte|bereits|gezahlt|deja", r"due|total"),
    "iban": (r"iban|account|konto|bank", r"kunde|customer"),
    "seller_tax_id": (r"vat|ust|tva|tax|steuer|gst|uid|id", r"customer|kunde|client|buyer"),
    "buyer_tax_id": (r"customer|kunde|client|buyer|acheteur|ihre|your", r"our|unsere|seller"),
    "currency": (r"total|gesamt|summe|gross|brutto|ttc|currency|wahrung|devise|monnaie", r"sub"),
    "seller": (r"seller|verkaufer|vendor|supplier|from|issued by|rechnungssteller|vendeur|fournisseur|emetteur",
               r"bill|sold to|ship|buyer|customer|client|kunde|kaufer|empfanger|acheteur|deliver|destinataire|attn"),
    "buyer": (r"bill|sold|client|kunde|customer|buyer|acheteur|an|to|rechnung", r"from|seller"),
}  # fmt: skip


def label_fit(field: str, beside: str) -> int:
    """1 when the folded words beside a value speak for the field, -1 when they speak against it, else 0."""
    speaks_for, speaks_against = _patterns(field)
    return (speaks_for.search(beside) is not None) - (
        speaks_against is not None and speaks_against.search(beside) is not None
    )


@cache
def _patterns(field: str) -> tuple[re.Pattern[str], re.Pattern[str] | None]:
    if field in _WORDS:
        speaks_for, speaks_against = _WORDS[field]
        return _starting(speaks_for), _starting(speaks_against)
    words = [re.escape(word) for word in re.split(r"[\W_]+", field.lower()) if word]
    return _starting("|".join(words) or "(?!)"), None


def _starting(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z])(?:{words})")
