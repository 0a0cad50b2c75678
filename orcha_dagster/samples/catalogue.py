"""The invented world of the samples: companies, places and goods, by country. All names are made up.

Only lists live here; what is bought, when and for how much is decided in `trade.py`.
"""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class Market:
    """How business papers of one country differ from those of another."""

    country: str  # ISO 3166-1
    language: str
    currency: str
    tax_name: str
    tax_rate: Decimal  # percent
    sellers: tuple[str, ...]
    buyers: tuple[str, ...]
    streets: tuple[str, ...]
    places: tuple[tuple[str, str], ...]  # postcode, town
    goods: tuple[tuple[str, str, str, str], ...]  # description with {}, variants by "|", unit, price of the cheapest


MARKETS = {
    "GB": Market(
        country="GB",
        language="en",
        currency="GBP",
        tax_name="VAT",
        tax_rate=Decimal("20"),
        sellers=("Brackenholt Office Supply Ltd", "Tarnwick Office Works Ltd", "Ashlode Interiors Ltd"),
        buyers=("Penhallor Design Ltd", "Corrimoor Dental Practice", "Wexcombe Architects LLP"),
        streets=("Mill Lane", "Foundry Road", "Station Approach", "Quarry Street"),
        places=(("NR99 4QT", "Eastmere"), ("LS98 2HB", "Otterdale"), ("BS97 6JN", "Wynford")),
        goods=(
            ("Copier paper A4, {}, box of 5", "80 gsm|90 gsm|100 gsm", "box", "21.40"),
            ("Ergonomic desk chair, {}", "black|grey|navy", "pc", "164.00"),
            ("Standing desk, {}", "120 cm|140 cm|160 cm", "pc", "389.50"),
            ("Toner cartridge, {}", "black|cyan|magenta|yellow", "pc", "58.75"),
            ("Desk lamp LED, {}", "white|brass", "pc", "42.30"),
            ("On-site assembly, {}", "per hour|weekend, per hour", "hr", "48.00"),
            ("Cable tray, {}", "short|long", "pc", "17.85"),
        ),
    ),
    "US": Market(
        country="US",
        language="en",
        currency="USD",
        tax_name="Sales tax",
        tax_rate=Decimal("8.25"),
        sellers=("Juniper Flat Deli", "Cedarbrook General Store", "Marlow Street Market"),
        buyers=("Halvorsen Field Services Inc.", "Redwillow Studios LLC"),
        streets=("Marlow Street", "Harbor Avenue", "Birch Road", "2nd Street"),
        places=(("CA 90999", "Port Alder"), ("OR 97999", "Millers Bend"), ("WA 98999", "Larkfield")),
        goods=(
            ("Flat white {}", "small|large", "ea", "3.90"),
            ("Turkey sandwich {}", "rye|sourdough", "ea", "9.25"),
            ("Blueberry muffin", "", "ea", "3.45"),
            ("Sparkling water {}", "lemon|plain", "ea", "2.80"),
            ("Paper towels {}", "2 rolls|6 rolls", "ea", "4.19"),
            ("AA batteries {}", "4 pack|8 pack", "ea", "6.49"),
            ("Ground coffee {}", "dark|medium", "ea", "11.75"),
            ("Tomato soup", "", "ea", "6.60"),
        ),
    ),
    "MY": Market(
        country="MY",
        language="en",
        currency="MYR",
        tax_name="SST",
        tax_rate=Decimal("6"),
        sellers=("Kedai Kopi Bayu Sdn Bhd", "Restoran Warisan Seroja", "Warung Damai Sdn Bhd"),
        buyers=("Lumina Studio Sdn Bhd",),
        streets=("Jalan Bayu", "Jalan Seroja", "Lorong Damai"),
        places=(("99110", "Taman Seroja"), ("99120", "Bandar Bayu")),
        goods=(
            ("Nasi lemak {}", "ayam|biasa", "ea", "8.50"),
            ("Teh tarik {}", "panas|ais", "ea", "2.60"),
            ("Roti canai {}", "kosong|telur", "ea", "2.20"),
            ("Mee goreng {}", "mamak|seafood", "ea", "9.80"),
            ("Mineral water {}", "500 ml|1.5 l", "ea", "1.90"),
            ("Kaya toast {}", "set|single", "ea", "3.40"),
        ),
    ),
    "DE": Market(
        country="DE",
        language="de",
        currency="EUR",
        tax_name="MwSt.",
        tax_rate=Decimal("19"),
        sellers=("Grünfeld & Harkort GmbH", "Weidenbruch Werkzeughandel GmbH", "Sonnleithner Befestigungstechnik KG"),
        buyers=("Tischlerei Ammerquell GmbH", "Stadtwerke Lindenroda AöR", "Holzbau Küpperling KG"),
        streets=("Lindenstraße", "Am Güterbahnhof", "Mühlenweg", "Gewerbering"),
        places=(("99991", "Lindenroda"), ("88999", "Oberweidach"), ("29997", "Süderbrück")),
        goods=(
            ("Sechskantschraube {}, verzinkt, 100 St.", "M6x30|M6x50|M8x40|M8x60|M10x50|M10x80|M12x80", "Pkg", "7.85"),
            ("Spanplattenschraube {}, 200 St.", "4x40|4x60|4,5x50|5x60|5x80|6x100", "Pkg", "9.40"),
            ("Dübel {}, 50 St.", "6 mm|8 mm|10 mm|12 mm", "Pkg", "5.95"),
            ("Bohrer HSS {}", "3 mm|4 mm|5 mm|6 mm|8 mm|10 mm", "Stk", "2.35"),
            ("Schleifscheibe 125 mm, {}", "Körnung 40|Körnung 80|Körnung 120|Körnung 180", "Stk", "1.48"),
            ("Winkelverbinder {}", "60x60|90x90|105x105", "Stk", "1.12"),
            ("Kantholz Fichte {}, 4 m", "60x60|60x80|80x80|80x120", "Stk", "14.60"),
            ("Akkuschrauber 18 V, {}", "ohne Akku|mit 2 Akkus", "Stk", "89.90"),
            ("Arbeitshandschuhe {}", "Größe 8|Größe 9|Größe 10", "Paar", "4.75"),
            ("Montagekleber {}", "weiß, 310 ml|transparent, 290 ml", "Stk", "6.20"),
            ("Gewindestange {}, 1 m", "M6|M8|M10|M12", "Stk", "1.95"),
            ("Multiplexplatte Birke {}", "12 mm|15 mm|18 mm|21 mm", "Stk", "46.80"),
            ("Lochsäge {}", "35 mm|51 mm|68 mm", "Stk", "11.30"),
            ("Acryldichtstoff {}", "weiß|grau|braun", "Stk", "3.15"),
            ("Scharnier {}, Edelstahl", "80 mm|100 mm|120 mm", "Stk", "8.35"),
        ),
    ),
    "FR": Market(
        country="FR",
        language="fr",
        currency="EUR",
        tax_name="TVA",
        tax_rate=Decimal("20"),
        sellers=("Ateliers Vauclerc SAS", "Menuiserie Boisjoly SARL", "Mobilier du Grand-Hêtre SAS"),
        buyers=("Hôtel des Trois Fontaines SARL", "Cabinet Delaroze & Fils", "Librairie L'Encre Bleue SARL"),
        streets=("rue des Tanneurs", "avenue de la Gare", "quai du Moulin", "impasse des Érables"),
        places=(("99110", "Saint-Aubrac"), ("99240", "Villeneuve-l'Étang"), ("99370", "Montrevel")),
        goods=(
            ("Table en chêne massif, {}", "160 cm|180 cm|220 cm", "pce", "640.00"),
            ("Chaise paillée, {}", "hêtre|noyer", "pce", "118.50"),
            ("Étagère murale, {}", "80 cm|120 cm", "pce", "74.90"),
            ("Pose et réglage, {}", "par heure|samedi, par heure", "h", "52.00"),
            ("Vernis mat, {}", "1 L|2,5 L", "pce", "23.75"),
            ("Plaque gravée, {}", "laiton|acier brossé", "pce", "46.20"),
            ("Livraison, {}", "zone 1|zone 2", "fft", "85.00"),
        ),
    ),
}
