"""Real PDFium, OpenCV and RapidOCR on documents drawn here: from bytes to text to fields to a verdict."""

import asyncio
import io
from datetime import date
from pathlib import Path
from uuid import UUID

import cv2
import facturx
import numpy as np
import pytest
from fpdf import FPDF
from PIL import Image, ImageDraw, ImageFont

from orcha_dagster.adapters.einvoice_extractor import read_embedded_invoice, read_invoice_xml
from orcha_dagster.adapters.opencv_pictures import treat_picture
from orcha_dagster.adapters.pdf_pages import inspect_pdf, read_text_layer, render_page
from orcha_dagster.adapters.rapidocr_transcriber import RapidOcrTranscriber
from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.errors import DocumentDamaged, DocumentEncrypted, DocumentTooLarge
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.transcriptions import TranscribedPage, Transcription
from orcha_dagster.pipeline.judging import judge
from orcha_dagster.rules.rules_extractor import RulesExtractor
from orcha_dagster.samples.drawing import draw_samples
from orcha_dagster.samples.sample import Sample
from tests.fake_providers import InlineCpuPool

MAX_PIXELS = 50_000_000
SAMPLE_NAMES = ["invoice-en.pdf", "invoice-de.pdf", "receipt-scan.png", "receipt-photo.jpg", "facture-fr.pdf"]


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sample]:
    folder: Path = tmp_path_factory.mktemp("samples")
    return {sample.path.name: sample for sample in draw_samples(folder, seed=7)}


def pdf_of(*cells: tuple[float, float, str], pages: int = 1, password: str | None = None) -> bytes:
    """A PDF with text at places in millimetres."""
    document = FPDF()
    document.set_font("Helvetica", size=11)
    for _ in range(pages):
        document.add_page()
        for x, y, text in cells:
            document.text(x, y, text)
    if password:
        document.set_encryption(owner_password="owner", user_password=password)
    return bytes(document.output())


def picture_of(*rows: str, ink: int = 0, paper: int = 255, skew: float = 0.0, suffix: str = "PNG") -> bytes:
    image = Image.new("L", (900, 1100), paper)
    draw = ImageDraw.Draw(image)
    for index, row in enumerate(rows):
        draw.text((120, 120 + 60 * index), row, fill=ink, font=ImageFont.load_default(32))
    buffer = io.BytesIO()
    image.rotate(-skew, fillcolor=paper, resample=Image.Resampling.BICUBIC).save(buffer, suffix)
    return buffer.getvalue()


def read(picture: bytes) -> TranscribedPage:
    return asyncio.run(RapidOcrTranscriber(InlineCpuPool()).transcribe(picture, page=1))


def test_a_text_layer_is_told_from_an_empty_page() -> None:
    assert inspect_pdf(pdf_of((20, 20, "A sentence long enough to be text")), max_pages=5) == (True,)
    assert inspect_pdf(pdf_of((20, 20, "p. 1")), max_pages=5) == (False,)


def test_words_of_a_phrase_stay_together_and_columns_apart() -> None:
    content = pdf_of((20, 60, "Total amount due"), (120, 60, "1,200.00 EUR"), (20, 30, "First line of all"))
    (page,) = read_text_layer(content, [1])
    assert [[line.text for line in row] for row in page.rows] == [
        ["First line of all"],
        ["Total amount due", "1,200.00 EUR"],
    ]
    box = page.lines[1].box
    assert box.left == pytest.approx(20 / 210, abs=0.01)
    assert box.top < 60 / 297 < box.bottom + 0.005


def test_only_the_pages_asked_for_are_read() -> None:
    pages = read_text_layer(pdf_of((20, 20, "text"), pages=3), [1, 3])
    assert [page.page for page in pages] == [1, 3]


def test_a_pdf_with_too_many_pages_is_refused() -> None:
    with pytest.raises(DocumentTooLarge):
        inspect_pdf(pdf_of((20, 20, "text"), pages=3), max_pages=2)


def test_a_pdf_with_a_password_says_so() -> None:
    with pytest.raises(DocumentEncrypted):
        inspect_pdf(pdf_of((20, 20, "text"), password="secret"), max_pages=5)


@pytest.mark.parametrize("content", [b"", b"%PDF-1.7", b"not a pdf at all"])
def test_bytes_that_are_no_pdf_are_damaged(content: bytes) -> None:
    with pytest.raises(DocumentDamaged):
        inspect_pdf(content, max_pages=5)


def test_a_rendered_page_can_be_read_like_a_scan() -> None:
    jpeg = render_page(pdf_of((20, 40, "Rendered and read again")), 1, dpi=150)
    assert Image.open(io.BytesIO(jpeg)).size == (1241, 1754)
    assert [line.text for line in read(jpeg).lines] == ["Rendered and read again"]


def test_an_enormous_page_is_rendered_within_bounds() -> None:
    document = FPDF(format=(5000, 5000))
    document.add_page()
    width, height = Image.open(io.BytesIO(render_page(bytes(document.output()), 1, dpi=300))).size
    assert width * height <= 41_000_000


def test_a_good_picture_passes_untouched() -> None:
    treatment, content = treat_picture(picture_of(*["Straight lines of dark text"] * 8), page=1, max_pixels=MAX_PIXELS)
    assert (treatment.steps, content) == ((), None)
    assert (treatment.measurement.width, treatment.measurement.height) == (900, 1100)


@pytest.mark.parametrize("skew", [-8.0, -2.0, 1.5, 6.0])
def test_a_skewed_picture_is_turned_straight(skew: float) -> None:
    crooked = picture_of(*["Lines of text that lean"] * 12, skew=skew)
    treatment, content = treat_picture(crooked, page=1, max_pixels=MAX_PIXELS)
    assert treatment.measurement.skew_degrees == pytest.approx(skew, abs=0.3)
    assert treatment.steps == ("deskewed",)
    assert content is not None
    again, _ = treat_picture(content, page=1, max_pixels=MAX_PIXELS)
    assert again.measurement.skew_degrees == pytest.approx(0, abs=0.3)


def test_a_faded_picture_gets_its_contrast_back() -> None:
    faded = picture_of(*["Faded by years in a drawer"] * 8, ink=190, paper=225)
    treatment, content = treat_picture(faded, page=1, max_pixels=MAX_PIXELS)
    assert treatment.steps == ("contrast_raised",)
    assert content is not None
    again, _ = treat_picture(content, page=1, max_pixels=MAX_PIXELS)
    assert (again.measurement.contrast or 0) > 2 * (treatment.measurement.contrast or 0)


def test_a_blank_page_is_left_alone() -> None:
    assert treat_picture(picture_of(), page=1, max_pixels=MAX_PIXELS)[1] is None


def test_a_tiff_becomes_a_jpeg_because_readers_are_promised_one() -> None:
    treatment, content = treat_picture(picture_of("Archive copy", suffix="TIFF"), page=1, max_pixels=MAX_PIXELS)
    assert treatment.steps == ("converted",)
    assert content is not None
    assert Image.open(io.BytesIO(content)).format == "JPEG"


def test_a_photo_lying_on_its_side_is_turned_upright() -> None:
    image = Image.open(io.BytesIO(picture_of("Held sideways"))).rotate(90, expand=True)
    exif = Image.Exif()
    exif[0x0112] = 6
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", exif=exif)
    treatment, content = treat_picture(buffer.getvalue(), page=1, max_pixels=MAX_PIXELS)
    assert treatment.steps == ("turned_upright",)
    assert content is not None
    assert [line.text for line in read(content).lines] == ["Held sideways"]


def test_a_picture_over_the_limit_is_refused_before_it_is_decoded() -> None:
    with pytest.raises(DocumentTooLarge):
        treat_picture(picture_of("text")[:100], page=1, max_pixels=1000)


@pytest.mark.parametrize("keep", [0, 100, 3000])
def test_a_cut_off_picture_is_damaged(keep: int) -> None:
    with pytest.raises(DocumentDamaged):
        treat_picture(picture_of(*["text"] * 9)[:keep], page=1, max_pixels=MAX_PIXELS)


def test_lines_on_a_leaning_page_are_read_in_order() -> None:
    rows = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot"]
    image = Image.new("L", (1200, 700), 255)
    draw = ImageDraw.Draw(image)
    for index, row in enumerate(rows):
        draw.text((80, 150 + 60 * index), f"{row} left of the page", fill=0, font=ImageFont.load_default(30))
        draw.text((800, 150 + 60 * index), f"{row} right", fill=0, font=ImageFont.load_default(30))
    leaning = np.asarray(image.rotate(2.5, fillcolor=255, resample=Image.Resampling.BICUBIC))
    _, encoded = cv2.imencode(".png", leaning)
    texts = [line.text for line in read(bytes(encoded)).lines]
    assert texts == [text for row in rows for text in (f"{row} left of the page", f"{row} right")]


@pytest.mark.parametrize("name", SAMPLE_NAMES)
def test_every_sample_gives_the_fields_printed_on_it_and_is_accepted(name: str, samples: dict[str, Sample]) -> None:
    sample = samples[name]
    transcription = transcribe(sample)
    extraction = extract_by_rules(transcription)
    assert extraction.schema_name == sample.kind
    assert {field: extraction.find_value(field) for field in sample.fields} == sample.fields
    assert judge(extraction, transcription, today=date(2026, 11, 30), quality_threshold=0.8).is_accepted


def test_the_xml_in_a_hybrid_invoice_says_what_the_page_says(samples: dict[str, Sample]) -> None:
    sample = samples["facture-fr.pdf"]
    fields = read_embedded_invoice(sample.path.read_bytes())
    assert fields is not None
    assert {name: fields.get(name) for name in sample.fields} == sample.fields


def test_a_pdf_without_xml_has_no_embedded_invoice() -> None:
    assert read_embedded_invoice(pdf_of((20, 20, "Invoice"))) is None


def test_an_external_entity_in_the_xml_is_never_fetched(samples: dict[str, Sample], tmp_path: Path) -> None:
    sample = samples["facture-fr.pdf"]
    secret = tmp_path / "secret.txt"
    secret.write_text("do not read me")
    _, xml = facturx.get_xml_from_pdf(sample.path.read_bytes(), check_xsd=False)
    body = xml.decode().split("?>", 1)[1].replace(f">{sample.fields['seller']}<", ">&leak;<")
    poisoned = f'<!DOCTYPE x [<!ENTITY leak SYSTEM "{secret.as_uri()}">]>{body}'
    fields = read_invoice_xml(poisoned.encode())
    assert fields is not None
    assert fields["number"] == sample.fields["number"]
    assert "seller" not in fields


@pytest.mark.parametrize("xml", [b"", b"<a", b"<a/>", b"<CrossIndustryInvoice/>"])
def test_xml_that_is_no_invoice_gives_nothing(xml: bytes) -> None:
    assert not read_invoice_xml(xml)


def test_text_running_up_the_margin_does_not_cut_through_the_rows() -> None:
    document = FPDF()
    document.add_page()
    document.set_font("Helvetica", size=11)
    document.text(40, 60, "Total amount due")
    document.text(40, 66, "within thirty days")
    with document.rotation(90, x=20, y=90):
        document.text(20, 90, "printed by a machine")
    (page,) = read_text_layer(bytes(document.output()), [1])
    assert [line.text for line in page.lines] == ["Total amount due", "within thirty days"]


def test_the_damaged_sample_is_found_damaged(samples: dict[str, Sample]) -> None:
    with pytest.raises(DocumentDamaged) as caught:
        inspect_pdf(samples["damaged.pdf"].path.read_bytes(), max_pages=5)
    assert caught.value.code == samples["damaged.pdf"].expected_error_code


def transcribe(sample: Sample) -> Transcription:
    content = sample.path.read_bytes()
    if sample.path.suffix == ".pdf":
        pages = read_text_layer(content, range(1, len(inspect_pdf(content, max_pages=20)) + 1))
    else:
        _, treated = treat_picture(content, page=1, max_pixels=MAX_PIXELS)
        pages = (read(treated or content),)
    quality = sum(page.quality_score for page in pages) / len(pages)
    return Transcription(pages=pages, provider="test", provider_version="1", quality_score=quality)


def extract_by_rules(transcription: Transcription) -> Extraction:
    raw = RawDocument(document_id=UUID(int=1), file_path="a", media_type="x", byte_size=1, sha256="0" * 64)
    extraction = asyncio.run(RulesExtractor().extract(raw, b"", transcription))
    assert extraction is not None
    return extraction
