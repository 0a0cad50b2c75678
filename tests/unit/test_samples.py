"""The sample documents: drawn the same every time, true to their truth, and readable or broken as promised."""

import json
from decimal import Decimal
from pathlib import Path

import cv2
import facturx
import numpy as np
import pypdfium2
import pytest
from lxml import etree

from orcha_dagster.samples.drawing import draw_einvoice, draw_invoice, draw_receipt, draw_samples
from orcha_dagster.samples.letterheads import LETTERHEADS
from orcha_dagster.samples.receipts import LAYOUTS
from orcha_dagster.samples.sample import Sample
from orcha_dagster.samples.trade import invent_trade
from orcha_dagster.samples.wording import format_amount

INVOICES = ["invoice-en.pdf", "invoice-de.pdf", "facture-fr.pdf"]


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sample]:
    return {sample.path.name: sample for sample in draw_samples(tmp_path_factory.mktemp("samples"))}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def page_texts(path: Path) -> list[str]:
    with pypdfium2.PdfDocument(path) as pdf:
        # The reader may give the French no-break space back as a plain one.
        return [page.get_textpage().get_text_range().replace("\u00a0", " ") for page in pdf]


def printed(amount: str, language: str) -> str:
    return format_amount(Decimal(amount), language).replace("\u00a0", " ")


def paper_skew(picture: np.ndarray) -> float:
    """Degrees by which the left edge of the bright paper leans; counter-clockwise is positive."""
    bright = cv2.GaussianBlur(picture[:, :, 2], (0, 0), 5)
    _, paper = cv2.threshold(bright, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    outlines, _ = cv2.findContours(paper, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    angle = cv2.minAreaRect(max(outlines, key=cv2.contourArea))[2] % 90
    return -angle if angle < 45 else 90 - angle


def test_the_same_seed_draws_the_same_bytes(tmp_path: Path, samples: dict[str, Sample]) -> None:
    draw_samples(tmp_path)

    assert contents(tmp_path) == contents(samples["damaged.pdf"].path.parent)


def test_the_hour_of_drawing_leaves_no_trace_in_the_einvoice(samples: dict[str, Sample]) -> None:
    """Two drawings within one second would be the same even with a clock inside."""
    sample = samples["facture-fr.pdf"]
    with pypdfium2.PdfDocument(sample.path) as pdf:
        metadata = pdf.get_metadata_dict()

    expected = f"D:{sample.fields['issue_date'].replace('-', '')}090000"
    assert metadata["CreationDate"].startswith(expected)
    assert metadata["ModDate"].startswith(expected)
    moments = etree.fromstring(_xmp(sample.path)).xpath("//*[local-name()='CreateDate' or local-name()='ModifyDate']")
    assert {moment.text for moment in moments} == {f"{sample.fields['issue_date']}T09:00:00+00:00"}


def _xmp(path: Path) -> bytes:
    whole = path.read_bytes()
    return whole[whole.index(b"<x:xmpmeta") : whole.index(b"</x:xmpmeta>") + len(b"</x:xmpmeta>")]


def test_another_seed_draws_other_documents(tmp_path: Path, samples: dict[str, Sample]) -> None:
    others = draw_samples(tmp_path, seed=8)

    for other in others:
        assert other.path.read_bytes() != samples[other.path.name].path.read_bytes()


def test_the_six_samples_promise_how_they_end(samples: dict[str, Sample]) -> None:
    promises = {name: (s.expected_status, s.expected_outcome, s.expected_error_code) for name, s in samples.items()}

    accepted = ("completed", "accepted", None)
    assert promises == {
        "invoice-en.pdf": accepted,
        "invoice-de.pdf": accepted,
        "receipt-scan.png": accepted,
        "receipt-photo.jpg": accepted,
        "facture-fr.pdf": accepted,
        "damaged.pdf": ("failed", None, "DOCUMENT_DAMAGED"),
    }


def test_the_truth_beside_a_document_is_the_one_returned(samples: dict[str, Sample]) -> None:
    for name, sample in samples.items():
        truth = json.loads(sample.path.with_name(f"{name}.truth.json").read_text(encoding="utf-8"))
        assert truth["fields"] == sample.fields
        assert (truth["kind"], truth["language"]) == (sample.kind, sample.language)


@pytest.mark.parametrize("country", ["GB", "US", "MY", "DE", "FR"])
@pytest.mark.parametrize("seed", range(20))
def test_the_lines_sum_to_net_and_net_and_tax_to_gross(country: str, seed: int) -> None:
    trade = invent_trade(country, seed, line_count=9)
    fields = trade.to_fields()

    assert sum(line.quantity * line.unit_price for line in trade.lines) == Decimal(fields["net"])
    assert Decimal(fields["net"]) + Decimal(fields["tax"]) == Decimal(fields["gross"])
    assert abs(Decimal(fields["net"]) * trade.market.tax_rate / 100 - Decimal(fields["tax"])) <= Decimal("0.005")
    assert all(Decimal(fields[name]).as_tuple().exponent == -2 for name in ("net", "tax", "gross"))


@pytest.mark.parametrize("seed", range(20))
def test_account_numbers_have_valid_check_digits(seed: int) -> None:
    iban = invent_trade("DE", seed, line_count=1).seller.iban.replace(" ", "")

    assert len(iban) == 22
    assert int("".join(str(int(letter, 36)) for letter in iban[4:] + iban[:4])) % 97 == 1


@pytest.mark.parametrize("name", INVOICES)
def test_the_text_of_an_invoice_says_what_its_truth_says(name: str, samples: dict[str, Sample]) -> None:
    sample = samples[name]
    texts = page_texts(sample.path)

    for field in ("number", "seller", "buyer"):
        assert sample.fields[field] in texts[0]
    for field in ("net", "tax", "gross"):
        assert printed(sample.fields[field], sample.language) in texts[-1]


def test_each_country_prints_money_in_its_own_way(samples: dict[str, Sample]) -> None:
    def last_page(name: str) -> str:
        return page_texts(samples[name].path)[-1]

    assert f"£{printed(samples['invoice-en.pdf'].fields['gross'], 'en')}" in last_page("invoice-en.pdf")
    assert f"{printed(samples['invoice-de.pdf'].fields['gross'], 'de')} EUR" in last_page("invoice-de.pdf")
    assert f"{printed(samples['facture-fr.pdf'].fields['gross'], 'fr')} €" in last_page("facture-fr.pdf")
    assert [format_amount(Decimal("1234.50"), language) for language in ("en", "de", "fr")] == [
        "1,234.50",
        "1.234,50",
        "1\u00a0234,50",
    ]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("layout", sorted(LETTERHEADS))
def test_a_long_invoice_carries_its_subtotal_from_page_to_page(tmp_path: Path, layout: str, seed: int) -> None:
    sample = draw_invoice(tmp_path / "long.pdf", country="DE", seed=seed, line_count=52, layout=layout)
    texts = page_texts(sample.path)
    trade = invent_trade("DE", seed, 52)

    assert [f"Seite {page}/3" in text for page, text in enumerate(texts, start=1)] == [True, True, True]
    assert [printed(sample.fields["gross"], "de") in text for text in texts] == [False, False, True]
    assert all(sum(line.article in text for text in texts) == 1 for line in trade.lines)
    on_first_page = [line.amount for line in trade.lines if line.article in texts[0]]
    carried = f"{format_amount(sum(on_first_page, Decimal(0)), 'de')} EUR"
    assert carried in texts[0]
    assert carried in texts[1]


@pytest.mark.parametrize("line_count", range(1, 53))
@pytest.mark.parametrize("layout", sorted(LETTERHEADS))
def test_nothing_is_drawn_over_the_footer(tmp_path: Path, layout: str, line_count: int) -> None:
    sample = draw_invoice(tmp_path / "any.pdf", country="DE", line_count=line_count, layout=layout)
    millimetre = 72 / 25.4
    with pypdfium2.PdfDocument(sample.path) as pdf:
        thanks = pdf[len(pdf) - 1].get_textpage()
        match = thanks.search("Vielen Dank").get_next()
        assert match is not None
        _, bottom, _, _ = thanks.get_charbox(match[0])

    assert 297 - bottom / millimetre < 262


def test_the_layouts_look_different(tmp_path: Path) -> None:
    invoices = [draw_invoice(tmp_path / f"{layout}.pdf", layout=layout).path for layout in LETTERHEADS]
    receipts = [draw_receipt(tmp_path / f"{layout}.png", layout=layout).path for layout in LAYOUTS]

    assert len({path.read_bytes() for path in invoices}) == len(invoices) >= 2
    assert len({path.read_bytes() for path in receipts}) == len(receipts) >= 2


@pytest.mark.parametrize("seed", range(5))
def test_the_xml_in_the_einvoice_has_the_totals_of_its_page(tmp_path: Path, seed: int) -> None:
    sample = draw_einvoice(tmp_path / "facture.pdf", seed=seed)
    name, xml = facturx.get_xml_from_pdf(sample.path.read_bytes(), check_xsd=True)
    root = etree.fromstring(xml)

    def text(path: str) -> str:
        return str(root.findtext(f".//{{*}}{path}"))

    assert name == "factur-x.xml"
    assert text("TaxBasisTotalAmount") == sample.fields["net"]
    assert text("TaxTotalAmount") == sample.fields["tax"]
    assert text("GrandTotalAmount") == sample.fields["gross"]
    assert text("InvoiceCurrencyCode") == sample.fields["currency"]
    assert text("ExchangedDocument/{*}ID") == sample.fields["number"]
    assert text("SellerTradeParty/{*}Name") == sample.fields["seller"]
    assert text("BuyerTradeParty/{*}Name") == sample.fields["buyer"]


def test_the_einvoice_is_one_pdf_and_not_two_in_a_row(samples: dict[str, Sample]) -> None:
    whole = samples["facture-fr.pdf"].path.read_bytes()

    assert whole.startswith(b"%PDF-")
    assert whole.count(b"%%EOF") == 1


def test_the_damaged_pdf_looks_like_one_and_cannot_be_opened(samples: dict[str, Sample]) -> None:
    path = samples["damaged.pdf"].path

    assert path.read_bytes().startswith(b"%PDF-")
    with pytest.raises(pypdfium2.PdfiumError):
        pypdfium2.PdfDocument(path)


@pytest.mark.parametrize("seed", [1, 2, 3, 7])
def test_a_photo_is_skewed_by_the_angle_in_its_truth(tmp_path: Path, seed: int) -> None:
    sample = draw_receipt(tmp_path / "photo.jpg", seed=seed)
    skew = json.loads(sample.truth_path.read_text(encoding="utf-8"))["skew_degrees"]

    assert 3 <= abs(skew) <= 6
    assert paper_skew(cv2.imread(str(sample.path))) == pytest.approx(skew, abs=0.8)


def test_a_photo_is_blurred_and_lit_unevenly_and_a_scan_is_not(tmp_path: Path) -> None:
    photo = cv2.imread(str(draw_receipt(tmp_path / "photo.jpg").path), cv2.IMREAD_GRAYSCALE)
    scanned = cv2.imread(str(draw_receipt(tmp_path / "scan.png").path), cv2.IMREAD_GRAYSCALE)

    def sharpness(picture: np.ndarray) -> float:
        return float(cv2.Laplacian(picture, cv2.CV_64F).var())

    def light_across(picture: np.ndarray) -> float:
        """How much the brightest tone of the paper differs between two strips left and right of its middle."""
        third = picture.shape[1] // 3
        return abs(float(np.percentile(picture[:, third], 90)) - float(np.percentile(picture[:, 2 * third], 90)))

    assert sharpness(photo) < sharpness(scanned) / 4
    assert light_across(photo) > 3 * light_across(scanned)


def test_a_receipt_names_no_buyer_and_prints_its_tax(samples: dict[str, Sample]) -> None:
    assert set(samples["receipt-scan.png"].fields) == {"seller", "issue_date", "currency", "net", "tax", "gross"}


def test_asking_for_more_lines_than_there_are_goods_says_how_many_there_are() -> None:
    with pytest.raises(ValueError, match="at most as many lines"):
        invent_trade("MY", seed=1, line_count=500)
