"""The words documents put beside their values, in English, German and French, and in Malay for receipts; folded.

Each field has its labels in ranks: a match of an earlier rank beats any of a later one. Order within a rank says
nothing. No sample values here, only vocabulary.
"""

import re
from collections.abc import Iterable
from typing import Protocol

Labels = tuple[re.Pattern[str], ...]
_SPACES = re.compile(r"(\[[^\]]*\])| ")
_WORD_STARTS = re.compile(r"(?<![a-z])[a-z]")


def compile_labels(*patterns: str) -> Labels:
    """One pattern per rank. A space may be missing on the page: OCR loses many."""
    loose = (_SPACES.sub(lambda match: match[1] or " ?", pattern) for pattern in patterns)
    return tuple(re.compile(rf"(?<![a-z])(?:{pattern})(?![a-z])") for pattern in loose)


def find_label(folded: str, word_starts: Iterable[int], labels: Labels) -> tuple[int, int, int] | None:
    """The surest label in a folded text: its rank, where it begins and where it ends."""
    for rank, label in enumerate(labels):
        for start in word_starts:
            # Tried at the beginnings of words only, which is five times as quick as searching.
            match = label.match(folded, start)
            if match is not None:
                return rank, start, match.end()
    return None


class Labelled(Protocol):
    """A cell or a row."""

    @property
    def folded(self) -> str: ...

    @property
    def word_starts(self) -> tuple[int, ...]: ...


def holds(place: Labelled, labels: Labels) -> bool:
    return find_label(place.folded, place.word_starts, labels) is not None


def has_label(folded: str, labels: Labels) -> bool:
    return find_label(folded, [match.start() for match in _WORD_STARTS.finditer(folded)], labels) is not None


_NO = r"(?:\s*[.:]?\s*(?:no|nr|num|number|nummer|numero|n°|#|id)\b[.:°]?|\s*[#:°])"
_DUE = (
    r"total (?:amount )?(?:due|payable|to pay)|(?:amount|amt\.?|balance) (?:due|payable)|due payable|net a payer|"
    r"a payer|zu zahlen(?:der betrag)?|zahlbetrag|zahlungsbetrag|total a (?:regler|payer)|reste? a payer|solde a payer|"
    r"total due|fall?iger betrag|(?:noch )?offener betrag|restbetrag|outstanding (?:amount|balance)|please pay"
)
AMOUNT_DUE = compile_labels(_DUE)
PREPAID = compile_labels(
    r"prepaid(?: amount)?|(?:less )?deposits?(?: paid| received)?|(?:less )?(?:amount )?already paid|amount paid|"
    r"(?:less )?payments? received|paid to date|(?:abzgl\.? |abzuglich )?(?:erhaltene |geleistete )?"
    r"(?:anzahlung(?:en)?|abschlagszahlung(?:en)?|vorauszahlung(?:en)?)|bereits (?:ge|be)zahlt|"
    r"acomptes?(?: verses?)?|montant deja (?:paye|regle|verse)|deja regle",
)
GROSS = compile_labels(
    r"grand total|total (?:sales? |amt\.? |amount |€ |rm )?\(?(?:incl|inc|inkl|inclusive)[a-z.]*|"
    r"summe inkl[a-z.]*|total (?:amount )?(?:with|incl\.?|including) (?:gst|vat|tax|sst)|total[ -]?t\.?t\.?c\.?|"
    r"montant t\.?t\.?c\.?|gesamtbetrag|rechnungsbetrag|bruttobetrag|bruttosumme|gesamtsumme|rechnungssumme|"
    r"endsumme|endbetrag|(?:gesamt|summe|total) brutto|brutto gesamt|gross (?:total|amount)|total gross|"
    r"invoice (?:total|amount)|total invoice amount|montant total|total (?:amt\.? |amount )?payable|"
    r"total € incl[a-z.]*|total \(?(?:gst|sst|vat)[^a-z]*(?:incl|inclusive)|total after (?:rounding|adj)|"
    r"rounded total|total rounded|(?:amount|amt) \(?incl[a-z.,]* (?:of )?(?:gst|vat|tax|sst)",
    _DUE,
    r"total (?:amount|amt|sales?|price|rm|eur|usd|chf)|total|totale|summe|gesamt|betrag gesamt|total general",
)
# On a receipt the net total is what is left to pay; elsewhere it is the total without tax. Asked only when no other
# label told the gross amount.
GROSS_ON_RECEIPTS = compile_labels(r"nett? (?:total|amt|amount)|(?:net )?to pay")
INCLUDING_TAX = re.compile(
    r"\(?(?:inkl|incl|inc|including|inclusive|with|mit)[a-z.]*\s?(?:of )?(?:\d+ ?% )?(?:gst|vat|tax|sst|tva|mwst|"
    r"ust|taxes)[.a-z]*\)?"
)
TAX_SUMMARY = compile_labels(
    r"(?:gst|vat|tax|sst|mwst|ust|tva)[ -]?(?:summary|analysis|breakdown|details?|ubersicht|aufschlusselung)|"
    r"detail (?:de la )?tva|tax rate|ventilation"
)
NOT_GROSS = compile_labels(
    r"sub[ -]?total|zwischensumme|sous[ -]?total|total[ -]?h\.?t\.?|h\.t\.?|montant h\.?t\.?|netto(?:betrag|"
    r"summe)?|net|(?:excl|exc|ex|exclude|excluding|exclusive|without|before|hors)\b.*|untaxed|(?:total|"
    r"summe) (?:gst|vat|tax|sst|tva|mwst|ust|steuer|discount|saving|savings|qty|quantity|items?|net|rabatt|remise|"
    r"tva)|(?:gst|vat|tax|sst|tva|mwst|ust|steuer)[a-z]* (?:total|amount|amt|betrag|summe)|cash|change|"
    r"tender(?:ed)?|accepted|received|paid|rounding|round(?:ing)? adj[a-z.]*|discounts?|savings?|qty|quantity|items?|"
    r"item\(s\)|"
    r"points?|balance|deposit|prepaid|anzahlung|ruckgeld|gegeben|bar|rendu|especes|acompte|skonto|rabatt|escompte|"
    r"remise|unit price|gst summary|tax summary|vergutungen|zuschlage|abschlage|positionen|mwst|ust|tva|"
    r"umsatzsteuer|steuerbetrag|capital|au capital|gebuhr[a-z]*|frais",
)
NET = compile_labels(
    r"total[ -]?h\.?t\.?|montant (?:total )?h\.?t\.?|nettobetrag|nettosumme|summe netto|gesamt netto|netto gesamt|"
    r"netto|net (?:total|amount)|total net|total (?:amount )?(?:excl|exc|excluding|exclusive|before|without|"
    r"hors)[a-z.]*.*|untaxed amount|taxable amount|rechnungssumme ohne ust",
    r"sub[ -]?total|zwischensumme|sous[ -]?total",
)
TAX = compile_labels(
    r"(?:total|summe|gesamt) (?:gst|vat|tax|sst|tva|mwst|ust|umsatzsteuer|steuer)[a-z]*|(?:gst|vat|tax|tva|mwst|"
    r"ust) total|steuerbetrag gesamt|montant (?:total )?(?:de la )?tva|total (?:de la )?tva|steuergesamtbetrag",
    r"(?:sales |service )?(?:gst|vat|tax|sst|tva|t\.v\.a\.?|mwst|m\.w\.st|mehrwertsteuer|ust|umsatzsteuer|steuerbetrag|"
    r"versicherungssteuer|versicherungsteuer)(?:[ -]?(?:amount|amt|betrag))?",
)
NOT_TAX = compile_labels(
    r"(?:incl|inc|inclusive|including|excl|exc|ex|excluding|exclusive|before|without|ohne|inkl|hors)[a-z.]*|"
    r"(?:gst|vat|tax|tva|ust|mwst)[ -]?(?:id|reg|no|nr|number|summary|code|invoice|rate).*|tax invoice|invoice|netto|"
    r"basis|taxable|subtotal|sub total|total sales|ttc|h\.?t\.?",
)
NUMBER = compile_labels(
    rf"(?:tax )?(?:invoice|inv){_NO}|rechnungs?[ -]?(?:nr|nummer|no)\.?|rechnung\s*[:#]?\s*(?:nr|no|nummer)\.?|"
    rf"(?:numero|n°|no|num)\s*(?:de )?(?:la )?facture|facture\s*(?:n°|no|num|numero|n|#)[.:]?|belegnummer|beleg-?nr\.?|"
    rf"credit (?:note|memo){_NO}|gutschrifts?[ -]?(?:nr|nummer|no)\.?|gutschrift\s*[:#]?\s*(?:nr|no|nummer)\.?|"
    rf"stornorechnungs?[ -]?(?:nr|nummer|no)\.?|(?:numero|n°|no|num)\s*d.avoir|avoir\s*(?:n°|no|num|numero|#)[.:]?|"
    rf"invoice id|[a-z]*rechnung(?!.{{0,40}}(?:bestell|auftrag|liefer|kunden))[a-z0-9 ()]{{0,30}} nr\.?",
    rf"(?:receipt|rcpt|bill|bon|ticket|transaction|trans|trx|document|doc|slip|check|cash bill){_NO}|bon-?nr\.?|"
    r"quittungs?-?nr\.?|document(?:ennummer)?|dokument(?:ennummer|nr)\.?",
    r"(?:invoice|facture|rechnung|credit note|gutschrift|stornorechnung)",
)
ISSUE_DATE = compile_labels(
    r"invoice date|credit note date|gutschriftsdatum|date (?:de l.|d.)avoir|date of (?:issue|invoice)|issue date|"
    r"issued (?:at|on)|rechnungsdatum|date (?:de |d')?(?:la )?"
    r"(?:facture|facturation|emission)|date d.emission|belegdatum|ausstellungsdatum|bill date|receipt date|facture du|"
    r"document date|rechnung vom|nr\. .{1,25} vom",
    r"date|datum|dated?|le",
)
NOT_ISSUE_DATE = compile_labels(
    r"due|falligkeit[a-z]*|fallig|zahlbar|echeance|delivery|deliver|liefer[a-z]*|leistung[a-z]*|livraison|order|"
    r"bestell[a-z]*|commande|expir[a-z]*|valid|period|zeitraum|periode|reg|version|remit|geburts[a-z]*|ship|"
    r"payment|until|bis|jusqu.*|skonto|prestation|associee?",
)
DUE_DATE = compile_labels(
    r"(?:payment )?due(?: date| on| by)?|date due|pay(?:able|ment)? (?:by|until|before)|fallig(?:keit)?(?:sdatum|stag)?"
    r"(?: am| zum)?|zahlbar bis(?: zum)?|zahlungsziel|zahlungsfrist|zahlungstermin|(?:date d.|date de l.)?echeance|"
    r"date limite(?: de paiement| de reglement)?|a (?:payer|regler) (?:avant|pour) le|payable (?:le|avant le)",
)
NOT_DUE_DATE = compile_labels(r"skonto|discount|escompte|amount due|total due|retard|interets?|penalit[a-z]*")
NOT_AMOUNT_DUE = compile_labels(r"(?:due|payable) (?:within|upon|in)|net (?:amount|total)|retard|interets?")
# The number of an invoice that this one corrects or refers to.
OTHER_NUMBER = compile_labels(
    r"(?:facture|invoice|rechnung)[a-z ]{0,12}(?:associee?|rectifiee?|d.origine)|(?:original|previous|corrected|"
    r"ursprungliche[a-z]*|stornierte[a-z]*) (?:invoice|rechnung[a-z]*)",
)
OTHER_INVOICE = compile_labels(r"associee?|original|previous|due|vorherig[a-z]*|precedente?")
PAID = compile_labels(
    r"cash(?: received| paid| tendered)?|payment|tender(?:ed)?|bar|gegeben|especes?|visa|mastercard|amount tendered|"
    r"paid"
)
NOT_PAID = compile_labels(r"change|bill|invoice|sales|ruckgeld|rendu|cashier|terms|method")
CHANGE = compile_labels(r"change(?: due)?|ruckgeld|rendu|monnaie rendue|wechselgeld")
ROUNDING = compile_labels(r"round(?:ing|ed)?(?: adj[a-z.]*)?|rundung[a-z]*|arrondi")
SELLER = compile_labels(
    r"seller|vendor|supplier|from|issued by|verkaufer|lieferant|rechnungssteller|vendeur|fournisseur|emetteur"
)
BUYER = compile_labels(
    r"bill(?:ed)? to(?: address)?|invoice(?:d)? to|sold to|buyer|customer(?: name)?|client|rechnungsempfanger|"
    r"rechnung an|kaufer/leistungsempfanger|kaufer|kunde|empfanger|acheteur|adresse du client|facture a|"
    r"destinataire|adresse de facturation|rechnungsadresse|rechnungsanschrift|billing address|bill-to|ship to",
)
BUYERS_DETAILS = compile_labels(r"vos (?:identifiants|references|coordonnees)|ihre daten|your details|kundendaten")
# Whose address, numbers and contacts follow under a heading.
OTHER_PARTY = compile_labels(
    r"ship(?:ped|ping)? to|deliver(?:y|ed)? (?:to|address)|lieferadresse|lieferanschrift|livraison(?: a)?|"
    r"adresse de livraison|representant fiscal|tax representative|fiskalvertreter|payee|beneficiaire",
)
CUSTOMERS = compile_labels(
    r"your|ihre?|vos|votre|customer[a-z.]*|kunden?[a-z.-]*|client|acheteur|buyer|kaufer|destinataire|empfanger",
)
_ID = r"(?:reg(?:istration|d)?|ident(?:ifi[a-z]*)?|id|no|nr|num|number|nummer|numero|n°|intra[a-z]*|#)"
TAX_ID = compile_labels(
    rf"(?:vat|gst|sst|tva|mwst|ust|umsatzsteuer|tax)(?:[ .:/-]{{0,3}}{_ID}[.°:#]?)+|(?:n°|no|num|"
    rf"numero)(?: de)? tva(?: intra[a-z.]*)?|"
    rf"(?:ust|umsatzsteuer)\.?-?id(?:ent)?(?:-?nr|-?nummer)?\.?|tva|vat|uid(?:-?nr)?\.?|abn|gstin",
)
ACCOUNT_HOLDER = compile_labels(
    r"account (?:holder|name)|kontoinhaber|titulaire(?: du compte)?|beneficiary(?: name)?|zahlungsempfanger|payable to|"
    r"(?:all )?che(?:que|ck)s? (?:payable|to be made payable) to|a l'ordre de",
)
CURRENCY = compile_labels(
    r"(?:invoice |rechnungs)?(?:currency|wahrung)|devise|monnaie|(?:betrage|amounts|prices|montants) (?:in|en)"
)
NAME = compile_labels(r"name|nom|firma|company|raison sociale")

TITLES = compile_labels(
    r"(?:tax |cash |simplified )?(?:invoice|receipt|bill)|rechnung|quittung|kassenbon|facture|ticket|gst|sst|vat|tel|"
    r"fax|"
    r"date|datum|cashier|table|(?:co|company|biz)\.? reg[a-z]*",
)
# A credit note is an invoice the other way round. "Avoir" is also French for to have: only as a title or with a number.
INVOICE_WORDS = compile_labels(
    r"(?:tax )?invoice|[a-z]*rechnung[a-z]*|facture|facturation|inv|credit ?(?:note|memo)|[a-z]*gutschrift[a-z]*|"
    r"note de credit|(?m:^avoir(?=\s*$))|avoir (?:n°|no|num|numero)",
)
RECEIPT_WORDS = compile_labels(
    r"receipt|recu|quittung|kassenbon|kassenbeleg|ticket de caisse",
    r"cash|bar|especes|tender(?:ed)?|gegeben",
    r"change|ruckgeld|rendu",
    r"cashier|kasse|kassierer|caisse|till|counter",
    r"goods sold|not (?:refundable|returnable|exchangeable)|rounding(?: adj[a-z]*)?",
)
# Words that end the name of a company, which make a line its name wherever it stands.
COMPANY_ENDINGS = re.compile(
    r"(?<![a-z])(?:gmbh|ag|kg|ohg|ug|e\.? ?k|mbh|se|ltd|limited|inc|llc|llp|plc|corp(?:oration)?|s\.?a\.?r\.?l|"
    r"s\.?a\.?s|s\.?a|sasu|eurl|snc|sagl|s\.?r\.?l|s\.?p\.?a|b\.?v|n\.?v|sdn\.? ?bhd|s/b|sb(?=\s*(?:\(|$))|bhd|sdn|pte|"
    r"pty|co|a\.g|"
    r"e\.v|& sohne)\.?(?![a-z])"
)
# Lines of nothing but such words continue the name in the line above.
TRADE_WORDS = re.compile(
    r"(?<![a-z])(?:restaurant|enterprise|enterprises|trading|services?|company|group|holding|m|malaysia|deutschland|"
    r"france|suisse|schweiz|international|and|und|et)(?![a-z])"
)
# What stands at the top of a page and is nobody's name.
NOT_A_NAME = re.compile(
    r"(?:tax |simplified |cash |pro ?forma |commercial |credit |sales |official |vereinfachte )*"
    r"(?:invoice|receipt|bill|rechnung|quittung|invois|resit|bon de caisse|"
    r"facture|kassenbon|kassenbeleg|note|memo|ticket|recu|gutschrift|avoir|original|copy|copie|kopie|duplicate|"
    r"welcome|seite|page|willkommen|bienvenue|tel|fax|phone|telefon|email|e-mail|www|http|date|datum|total|gst|"
    r"vat|tva|ust|reg|co\.? reg|company reg|roc|no|nr|n°|customer|kunde|client|bill to|table|order|from|to|an|"
    r"thank|merci|danke|vielen|seller|vendor|hotline|opening|datum|lesbarmachung|visualisierung|stylesheet|payment|"
    r"zahlung|siret|siren|iban|bic|nummer|number|kundennummer|globale|account|your|ihre|unsere|our|ref|reference|"
    r"contact|kontakt|siege social|[a-z.]{2,5} au capital|au capital|anschrift|adresse|address|logo|cashier|kasse|"
    r"invoice|sehr geehrt[a-z]*|dear)(?![a-z])"
)
# What a till says to its customers, anywhere in a line.
COURTESIES = re.compile(
    r"(?<![a-z])(?:thanks|thank ?you|tq for|terima kasih|(?:vielen|besten|herzlichen) dank|merci (?:de|pour|et)|"
    r"for (?:shopping|dining) (?:with|at)|visit (?:us|again)|come again|see you|have a (?:nice|good)|jumpa lagi|"
    r"selamat (?:datang|jalan)|datang lagi|auf wiedersehen|bis bald|schonen tag|au revoir|a bientot|bonne journee|"
    r"votre visite|ihren (?:einkauf|besuch)|goods sold|not (?:refundable|returnable|exchangeable))(?![a-z])"
)
# Numbers that tills print of themselves.
TILL_NUMBER = re.compile(
    r"(?:machine|counter|till|terminal|pos|lane|kasse|caisse|kaunter|mesin)\s*(?:no|nr)?\s*[.:#\[(]*\s*\d"
)
# Lines that begin so are places even without a number. Words that end a street ("Mill Lane") also name shops.
PLACE_LINES = re.compile(
    r"(?:\d+[ -]+)?(?:(?:off|opp|opposite|near|behind|beside)\.? )?(?:jalan|jln|lorong|lrg|lebuh|lebuhraya|persiaran|"
    r"lingkaran|mukim|kampung|kampong|kg\.|bandar|seksyen|taman|tmn|daerah|autoroute|autobahn|motorway|highway|"
    r"(?:ground|first|second|third) floor|lower ground|erdgeschoss|rez-de-chaussee|aire de|gewerbegebiet|"
    r"industriegebiet|zone (?:industrielle|artisanale|commerciale)|menara|wisma|bangunan|immeuble|batiment|"
    r"(?:rue|avenue|boulevard|chemin|place|route|quai) (?:de|du|des|d'|la|le|nationale))(?![a-z])|"
    r"(?:malaysia|singapore|deutschland|germany|osterreich|schweiz|suisse|switzerland|france|belgique|england|"
    r"united kingdom|usa)[ .,]*$"
)
# What companies print under their own name and address.
LETTERHEAD = re.compile(
    r"\(?(?:te[l1]|fax|phone|telefon|telephone|hotline|(?:gst|sst|vat|tva|ust|tax|co|company)[ .-]*(?:id|reg|no|nr))"
    r"(?:istration|istrierung)?(?![a-z])"
)
# Where a shop stands, printed behind the company that runs it.
BRANCH_WORDS = re.compile(
    r"(?<![a-z])(?:mall|plaza|shopping (?:centre|center)|branch|outlet|airport|cawangan|filiale|zweigstelle|"
    r"einkaufszentrum|flughafen|succursale|centre commercial|aeroport)(?![a-z])"
)
ADDRESS_WORDS = re.compile(
    r"(?<![a-z])(?:jalan|jln|street|st\.|road|rd|avenue|ave|lane|lot|floor|level|taman|no\.? ?\d|strasse|str\.|"
    r"weg|platz|allee|gasse|rue|boulevard|bd|chemin|place|route|box|postfach|suite|unit)(?![a-z])|strasse|straße|"
    r"stra.e \d|str\. ?\d|weg \d|platz \d|gasse \d"
)
