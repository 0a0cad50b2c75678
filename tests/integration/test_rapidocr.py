"""The real models on pictures drawn here: words and where they stand, order, spaces, tall pages, quality."""

import asyncio
import io
import zlib

import cv2
import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from orcha_dagster.adapters.rapidocr_transcriber import RapidOcrTranscriber, read_picture
from orcha_dagster.domain.errors import DocumentDamaged, DocumentTooLarge
from orcha_dagster.domain.transcriptions import TranscribedPage
from orcha_dagster.interfaces.transcriber import Bundle
from tests.fake_providers import InlineCpuPool

Place = tuple[int, int, str]


def draw(width: int, height: int, *places: Place, size: int = 30) -> Image.Image:
    """Black text on white paper, each piece with its upper left corner in pixels."""
    image = Image.new("RGB", (width, height), "white")
    pen = ImageDraw.Draw(image)
    for x, y, text in places:
        pen.text((x, y), text, fill="black", font=ImageFont.load_default(size))
    return image


def encode(image: Image.Image, suffix: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, suffix)
    return buffer.getvalue()


def read(image: Image.Image) -> TranscribedPage:
    return read_picture(encode(image), page=1)


def texts(page: TranscribedPage) -> list[str]:
    return [line.text for line in page.lines]


def test_a_bundle_is_one_picture_and_gives_its_page() -> None:
    transcriber = RapidOcrTranscriber(InlineCpuPool())
    assert (transcriber.limits.pages, transcriber.limits.takes_pdf) == (1, False)
    bundle = Bundle(encode(draw(600, 200, (40, 70, "Page seven"))), "image/png", (7,))
    (page,) = asyncio.run(transcriber.transcribe(bundle))
    assert (page.page, page.source, texts(page)) == (7, "rapidocr", ["Page seven"])


def test_the_version_names_the_models() -> None:
    version = RapidOcrTranscriber(InlineCpuPool()).version
    assert version.startswith("rapidocr ")
    assert "PP-OCRv6_det_small, PP-OCRv6_rec_small" in version


def test_words_stand_where_they_were_drawn() -> None:
    text, size, left, width = "Total amount due 1,234.50 EUR", 34, 60, 900
    (line,) = read(draw(width, 300, (left, 130, text), size=size)).lines
    assert line.text == text
    assert [word.text for word in line.words] == text.split()
    font, begin = ImageFont.load_default(size), 0
    for word in line.words:
        begin = text.index(word.text, begin)
        assert word.box.left * width == pytest.approx(left + font.getlength(text[:begin]), abs=size / 3)
        assert word.box.right * width == pytest.approx(
            left + font.getlength(text[: begin + len(word.text)]), abs=size / 3
        )
        assert line.box.top <= word.box.top < word.box.bottom <= line.box.bottom
        assert 0.5 < word.confidence <= 1
        begin += len(word.text)


def test_a_lone_digit_is_read_upright() -> None:
    rows = [(60, 100 + 70 * row, name) for row, name in enumerate(["Paint", "Brush", "Ladder"])]
    counts = [(500, 100 + 70 * row, str(count)) for row, count in enumerate([1, 7, 4])]
    assert texts(read(draw(800, 400, *rows, *counts))) == ["Paint", "1", "Brush", "7", "Ladder", "4"]


def test_text_that_runs_down_the_page_is_read_and_stands_where_it_was() -> None:
    upright = draw(900, 900, (300, 300, "Upright text"), (300, 400, "and more of it"))
    margin = draw(700, 100, (100, 30, "Printed by a machine")).rotate(-90, expand=True)
    upright.paste(margin, (40, 100))
    page = read(upright)
    assert set(texts(page)) == {"Upright text", "and more of it", "Printed by a machine"}
    turned = next(line for line in page.lines if line.text.startswith("Printed"))
    tops = [word.box.top for word in turned.words]
    assert tops == sorted(tops)
    assert all(word.box.right < 0.2 for word in turned.words)


def test_a_leaning_page_is_read_row_by_row_and_says_how_it_leans() -> None:
    names = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot"]
    left = [(80, 150 + 60 * row, f"{name} left of the page") for row, name in enumerate(names)]
    right = [(800, 150 + 60 * row, f"{name} right") for row, name in enumerate(names)]
    page = read(draw(1200, 700, *left, *right).rotate(2.5, fillcolor="white", resample=Image.Resampling.BICUBIC))
    assert texts(page) == [text for name in names for text in (f"{name} left of the page", f"{name} right")]
    assert page.slope * 700 / 1200 == pytest.approx(-np.tan(np.radians(2.5)), abs=0.02)
    assert [line.text for line in page.rows[0]] == ["alpha left of the page", "alpha right"]


def test_two_columns_are_read_one_after_the_other() -> None:
    left = [f"The left column has line {row}" for row in range(10, 22)]
    right = [f"The right column has line {row}" for row in range(10, 22)]
    places = [(60, 100 + 50 * row, text) for row, text in enumerate(left)]
    places += [(680, 118 + 50 * row, text) for row, text in enumerate(right)]
    page = read(draw(1240, 800, *places))
    assert texts(page) == left + right
    assert [line.block for line in page.lines] == [0] * 12 + [1] * 12


def test_small_letters_on_a_long_receipt_stay_readable() -> None:
    rows = [f"Article {row} costs {row}.50" for row in range(10, 150)]
    page = read(draw(460, 3500, *[(40, 30 + 24 * row, text) for row, text in enumerate(rows)], size=16))
    read_well = sum(found == drawn for found, drawn in zip(texts(page), rows, strict=True))
    assert read_well >= 0.95 * len(rows)


def test_a_wide_strip_is_read_like_a_tall_one() -> None:
    places = [(100 + 900 * column, 200, f"Column number {column}") for column in range(8)]
    assert texts(read(draw(7400, 500, *places))) == [text for _, _, text in places]


def test_a_clean_page_has_no_defects_and_a_high_quality() -> None:
    page = read(draw(900, 500, *[(60, 60 + 60 * row, "Clean lines of printed text") for row in range(6)]))
    assert page.defects == ()
    assert page.quality_score > 0.95


def test_a_smeared_page_is_known_to_be_read_badly() -> None:
    rows = [(60, 60 + 44 * row, f"Line {row} of text number {row * 137}") for row in range(9)]
    clean = np.asarray(draw(900, 500, *rows, size=24))
    page = read(Image.fromarray(cv2.filter2D(clean, -1, np.full((1, 23), 1 / 23))))
    assert page.quality_score < 0.7
    assert "low_confidence" in {defect.name for defect in page.defects}


def test_blurred_and_tiny_text_is_named_as_such() -> None:
    rows = [(60, 60 + 60 * row, "Words in a picture out of focus") for row in range(6)]
    blurred = cv2.GaussianBlur(np.asarray(draw(900, 500, *rows)), (0, 0), 3.5)
    assert "blurry" in {defect.name for defect in read(Image.fromarray(blurred)).defects}
    tiny = draw(900, 500, *rows).resize((300, 167), Image.Resampling.LANCZOS)
    assert "text_too_small" in {defect.name for defect in read(tiny).defects}


def test_an_empty_page_has_no_lines_and_no_quality() -> None:
    page = read(draw(800, 1100))
    assert (page.lines, page.quality_score, page.defects) == ((), 0.0, ())


def test_transparent_paper_is_white() -> None:
    image = Image.new("RGBA", (600, 200), (0, 0, 0, 0))
    ImageDraw.Draw(image).text((40, 70), "On glass", fill=(0, 0, 0, 255), font=ImageFont.load_default(48))
    assert texts(read(image)) == ["On glass"]


def test_an_enormous_photo_is_read_smaller() -> None:
    photo = draw(1500, 2000, *[(150, 200 + 150 * row, f"Row {row} of a photo") for row in range(9)], size=60)
    page = read_picture(encode(photo.resize((6000, 8000)), "JPEG"), page=1)
    assert texts(page) == [f"Row {row} of a photo" for row in range(9)]


@pytest.mark.parametrize("size", [(1, 1), (3, 900), (900, 3)])
def test_a_sliver_of_a_picture_is_an_empty_page(size: tuple[int, int]) -> None:
    assert read(draw(*size)).lines == ()


@pytest.mark.parametrize("content", [b"", b"no picture", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0"])
def test_bytes_that_are_no_picture_are_damaged(content: bytes) -> None:
    with pytest.raises(DocumentDamaged):
        read_picture(content, page=1)


def test_a_picture_that_claims_to_be_gigantic_is_refused_before_it_is_decoded() -> None:
    header = encode(Image.new("1", (8, 8)))
    claim = header[:16] + (60_000).to_bytes(4, "big") * 2 + header[24:]
    chunk = claim[12:29]
    claim = claim[:29] + zlib.crc32(chunk).to_bytes(4, "big") + claim[33:]
    with pytest.raises(DocumentTooLarge):
        read_picture(claim, page=1)
