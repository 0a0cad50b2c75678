"""The words documents put beside their values, in English, German and French; matched on folded text.

Each field has its labels in ranks: a match of an earlier rank beats any of a later one. Order within a rank says
nothing. No sample values here, only vocabulary.
"""

import re


def _compile(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(rf"(?<![a-z])(?:{pattern})(?![a-z])") for pattern in patterns)


_NO = r"(?:\s*[.:]?\s*(?:no|nr|num|number|nummer|numero|n°|#|id)\b[.:°]?|\s*[#:°])"
GROSS = _compile(
    r"grand total|total (?:sales? |amt\.? |amount |€ |rm )?\(?(?:incl|inc|inkl|inclusive)[a-z.]*|"
    r"summe inkl[a-z.]*|total (?:amount )?(?:with|incl\.?|including) (?:gst|vat|tax|sst)|total[ -]?t\.?t\.?c\.?|"
    r"montant t\.?t\.?c\.?|gesamtbetrag|rechnungsbetrag|bruttobetrag|bruttosumme|gesamtsumme|rechnungssumme|"
    r"endsumme|endbetrag|(?:gesamt|summe|total) brutto|brutto gesamt|gross (?:total|amount)|total gross|"
    r"invoice (?:total|amount)|total invoice amount|montant total|total (?:amt\.? |amount )?payable|"
    r"total € incl[a-z.]*|total \(?(?:gst|sst|vat)[^a-z]*(?:incl|inclusive)|total after (?:rounding|adj)|"
    r"rounded total|total rounded",
    r"total (?:amount )?(?:due|payable|to pay)|(?:amount|amt\.?|balance) (?:due|payable)|due payable|net a payer|"
    r"a payer|zu zahlen(?:der betrag)?|zahlbetrag|zahlungsbetrag|total a (?:regler|payer)|reste? a payer|"
    r"total due|fall?iger betrag",
    r"total (?:amount|amt|sales?|price|rm|eur|usd|chf)|total|totale|summe|gesamt|betrag gesamt|total general",
)
# On a receipt the net total is what is left to pay; elsewhere it is the total without tax. Asked only when no other
# label told the gross amount.
GROSS_ON_RECEIPTS = _compile(r"nett? (?:total|amt|amount)|(?:net )?to pay")
INCLUDING_TAX = re.compile(
    r"\(?(?:inkl|incl|inc|including|inclusive|with|mit)[a-z.]*\s?(?:of )?(?:\d+ ?% )?(?:gst|vat|tax|sst|tva|mwst|"
    r"ust|taxes)[.a-z]*\)?"
)
TAX_SUMMARY = _compile(
    r"(?:gst|vat|tax|sst|mwst|ust|tva)[ -]?(?:summary|analysis|breakdown|details?|ubersicht|aufschlusselung)|"
    r"detail (?:de la )?tva|tax rate|ventilation"
)
NOT_GROSS = _compile(
    r"sub[ -]?total|zwischensumme|sous[ -]?total|total[ -]?h\.?t\.?|h\.t\.?|montant h\.?t\.?|netto(?:betrag|"
    r"summe)?|net|(?:excl|exc|ex|exclude|excluding|exclusive|without|before|hors)\b.*|untaxed|(?:total|"
    r"summe) (?:gst|vat|tax|sst|tva|mwst|ust|steuer|discount|saving|savings|qty|quantity|items?|net|rabatt|remise|"
    r"tva)|(?:gst|vat|tax|sst|tva|mwst|ust|steuer)[a-z]* (?:total|amount|amt|betrag|summe)|cash|change|"
    r"tender(?:ed)?|paid|rounding|round(?:ing)? adj[a-z.]*|discounts?|savings?|qty|quantity|items?|item\(s\)|"
    r"points?|balance|deposit|prepaid|anzahlung|ruckgeld|gegeben|bar|rendu|especes|acompte|skonto|rabatt|escompte|"
    r"remise|unit price|gst summary|tax summary|vergutungen|zuschlage|abschlage|positionen|mwst|ust|tva|"
    r"umsatzsteuer|steuerbetrag|capital|au capital|gebuhr[a-z]*|frais",
)
NET = _compile(
    r"total[ -]?h\.?t\.?|montant (?:total )?h\.?t\.?|nettobetrag|nettosumme|summe netto|gesamt netto|netto gesamt|"
    r"netto|net (?:total|amount)|total net|total (?:amount )?(?:excl|exc|excluding|exclusive|before|without|"
    r"hors)[a-z.]*.*|untaxed amount|taxable amount|rechnungssumme ohne ust",
    r"sub[ -]?total|zwischensumme|sous[ -]?total",
)
TAX = _compile(
    r"(?:total|summe|gesamt) (?:gst|vat|tax|sst|tva|mwst|ust|umsatzsteuer|steuer)[a-z]*|(?:gst|vat|tax|tva|mwst|"
    r"ust) total|steuerbetrag gesamt|montant (?:total )?(?:de la )?tva|total (?:de la )?tva|steuergesamtbetrag",
    r"(?:sales |service )?(?:gst|vat|tax|sst|tva|t\.v\.a\.?|mwst|m\.w\.st|mehrwertsteuer|ust|umsatzsteuer|steuerbetrag|"
    r"versicherungssteuer|versicherungsteuer)(?:[ -]?(?:amount|amt|betrag))?",
)
NOT_TAX = _compile(
    r"(?:incl|inc|inclusive|including|excl|exc|ex|excluding|exclusive|before|without|ohne|inkl|hors)[a-z.]*|"
    r"(?:gst|vat|tax|tva|ust|mwst)[ -]?(?:id|reg|no|nr|number|summary|code|invoice|rate).*|tax invoice|invoice|netto|"
    r"basis|taxable|subtotal|sub total|total sales|ttc|h\.?t\.?",
)
NUMBER = _compile(
    rf"(?:tax )?(?:invoice|inv){_NO}|rechnungs?[ -]?(?:nr|nummer|no)\.?|rechnung\s*[:#]?\s*(?:nr|no|nummer)\.?|"
    rf"(?:numero|n°|no|num)\s*(?:de )?(?:la )?facture|facture\s*(?:n°|no|num|numero|n|#)[.:]?|belegnummer|beleg-?nr\.?|"
    rf"handelsrechnung.{{0,8}}nr\.?|invoice id",
    rf"(?:receipt|rcpt|bill|bon|ticket|transaction|trans|trx|document|doc|slip|check|cash bill){_NO}|bon-?nr\.?|"
    r"quittungs?-?nr\.?|document(?:ennummer)?|dokument(?:ennummer|nr)\.?",
    r"(?:invoice|facture|rechnung)",
)
ISSUE_DATE = _compile(
    r"invoice date|date of (?:issue|invoice)|issue date|issued (?:at|on)|rechnungsdatum|date (?:de |d')?(?:la )?"
    r"(?:facture|facturation|emission)|date d.emission|belegdatum|ausstellungsdatum|bill date|receipt date|facture du|"
    r"document date|rechnung vom|nr\. .{1,25} vom",
    r"date|datum|dated?|le",
)
NOT_ISSUE_DATE = _compile(
    r"due|falligkeit[a-z]*|fallig|zahlbar|echeance|delivery|deliver|liefer[a-z]*|leistung[a-z]*|livraison|order|"
    r"bestell[a-z]*|commande|expir[a-z]*|valid|period|zeitraum|periode|reg|version|remit|geburts[a-z]*|ship|"
    r"payment|until|bis|jusqu.*|skonto|prestation|associee?",
)
OTHER_INVOICE = _compile(r"associee?|original|previous|due|vorherig[a-z]*|precedente?")
ROUNDING = _compile(r"round(?:ing|ed)?(?: adj[a-z.]*)?|rundung[a-z]*|arrondi")
SELLER = _compile(
    r"seller|vendor|supplier|from|issued by|verkaufer|lieferant|rechnungssteller|vendeur|fournisseur|emetteur"
)
BUYER = _compile(
    r"bill(?:ed)? to(?: address)?|invoice(?:d)? to|sold to|buyer|customer(?: name)?|client|rechnungsempfanger|"
    r"rechnung an|kaufer/leistungsempfanger|kaufer|kunde|empfanger|acheteur|adresse du client|facture a|"
    r"destinataire|adresse de facturation|rechnungsadresse|rechnungsanschrift|billing address|bill-to|ship to",
)
CURRENCY = _compile(r"currency|wahrung|devise|monnaie")
NAME = _compile(r"name|nom|firma|company|raison sociale")

INVOICE_WORDS = _compile(r"(?:tax )?invoice|[a-z]*rechnung[a-z]*|facture|facturation|inv")
RECEIPT_WORDS = _compile(
    r"receipt|recu|quittung|kassenbon|kassenbeleg|ticket de caisse",
    r"cash|bar|especes|tender(?:ed)?|gegeben",
    r"change|ruckgeld|rendu",
    r"cashier|kasse|kassierer|caisse|till|counter",
    r"goods sold|not (?:refundable|returnable|exchangeable)|rounding(?: adj[a-z]*)?",
)
# Words that end the name of a company, which make a line its name wherever it stands.
COMPANY_ENDINGS = re.compile(
    r"(?<![a-z])(?:gmbh|ag|kg|ohg|ug|e\.? ?k|mbh|se|ltd|limited|inc|llc|llp|plc|corp(?:oration)?|s\.?a\.?r\.?l|"
    r"s\.?a\.?s|s\.?a|sasu|eurl|snc|sagl|s\.?r\.?l|s\.?p\.?a|b\.?v|n\.?v|sdn\.? ?bhd|s/b|bhd|sdn|pte|pty|co|a\.g|"
    r"e\.v|& sohne)\.?(?![a-z])"
)
# Lines of nothing but such words continue the name in the line above.
TRADE_WORDS = re.compile(
    r"(?<![a-z])(?:restaurant|enterprise|enterprises|trading|services?|company|group|holding|m|malaysia|deutschland|"
    r"france|suisse|schweiz|international|and|und|et)(?![a-z])"
)
# What stands at the top of a page and is nobody's name.
NOT_A_NAME = re.compile(
    r"(?:tax |simplified |cash |pro ?forma |commercial |credit |sales )*(?:invoice|receipt|bill|rechnung|quittung|"
    r"facture|kassenbon|kassenbeleg|note|memo|ticket|recu|gutschrift|avoir|original|copy|copie|kopie|duplicate|"
    r"welcome|seite|page|willkommen|bienvenue|tel|fax|phone|telefon|email|e-mail|www|http|date|datum|total|gst|"
    r"vat|tva|ust|reg|co\.? reg|company reg|roc|no|nr|n°|customer|kunde|client|bill to|table|order|from|to|an|"
    r"thank|merci|vielen|seller|vendor|hotline|opening|datum|lesbarmachung|visualisierung|stylesheet|payment|"
    r"zahlung|siret|siren|iban|bic|nummer|number|kundennummer|globale|account|your|ihre|unsere|our|ref|reference|"
    r"contact|kontakt|anschrift|adresse|address|logo|cashier|kasse|invoice|sehr geehrt[a-z]*|dear)(?![a-z])"
)
ADDRESS_WORDS = re.compile(
    r"(?<![a-z])(?:jalan|jln|street|st\.|road|rd|avenue|ave|lane|lot|floor|level|taman|no\.? ?\d|strasse|str\.|"
    r"weg|platz|allee|gasse|rue|boulevard|bd|chemin|place|route|box|postfach|suite|unit)(?![a-z])|strasse|straße|"
    r"stra.e \d|str\. ?\d|weg \d|platz \d|gasse \d"
)


def is_labelled(text: str, labels: tuple[re.Pattern[str], ...]) -> bool:
    """Say whether a folded text holds one of the labels."""
    return any(label.search(text) for label in labels)
