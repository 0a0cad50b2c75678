"""PDF pages through PDFium: what they hold, their text, their picture. Pictures are judged in `opencv_pictures`.

Every function runs inside a CPU worker process, because PDFium allows one caller at a time per process.
"""

import math
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from ctypes import byref, c_int

import cv2
import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from orcha_dagster.adapters.reading_order import Glyph, join_glyphs
from orcha_dagster.domain.errors import DocumentDamaged, DocumentEncrypted, DocumentTooLarge
from orcha_dagster.domain.transcriptions import Box, TranscribedPage

# Fewer characters are a stamp or a page number on a scan, not the text of the page.
MIN_TEXT_CHARACTERS = 20
MAX_STRANGE_SHARE = 0.1  # of characters no alphabet knows: fonts without a usable encoding
MAX_RENDER_PIXELS = 40_000_000  # A4 at 600 dpi is 35 million; a page may claim to be metres wide
_GRID = 1_000_000  # PDFium maps page coordinates to whole numbers, so the page is mapped onto a fine grid


def inspect_pdf(content: bytes, *, max_pages: int) -> tuple[bool, ...]:
    """Say for each page whether it has a text layer worth reading."""
    with _open(content) as document:
        if len(document) > max_pages:
            raise DocumentTooLarge(f"The PDF has {len(document)} pages; the limit is {max_pages}.")
        if len(document) == 0:
            raise DocumentDamaged("The PDF has no pages.")
        return tuple(_has_sane_text(document, index) for index in range(len(document)))


def read_text_layer(content: bytes, pages: Sequence[int]) -> tuple[TranscribedPage, ...]:
    """Read the text of the pages named (from 1)."""
    with _open(content) as document:
        return tuple(_read_page(document, page) for page in pages)


def render_page(content: bytes, page: int, *, dpi: int) -> bytes:
    """Draw one page (from 1) as a JPEG, at a lower resolution than asked when the page is enormous."""
    with _open(content) as document:
        document.init_forms()
        with closing(_load_page(document, page - 1)) as loaded:
            width, height = loaded.get_size()
            scale = min(dpi / 72, math.sqrt(MAX_RENDER_PIXELS / max(width * height, 1.0)))
            picture = loaded.render(scale=scale).to_numpy()
            _, encoded = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 92])
            return bytes(encoded)


@contextmanager
def _open(content: bytes) -> Iterator[pdfium.PdfDocument]:
    try:
        document = pdfium.PdfDocument(content)
    except pdfium.PdfiumError as error:
        if error.err_code == pdfium_c.FPDF_ERR_PASSWORD:
            raise DocumentEncrypted("The PDF asks for a password.") from error
        raise DocumentDamaged("The PDF cannot be opened.") from error
    with closing(document):
        yield document


def _load_page(document: pdfium.PdfDocument, index: int) -> pdfium.PdfPage:
    try:
        return document[index]
    except pdfium.PdfiumError as error:
        raise DocumentDamaged(f"Page {index + 1} of the PDF cannot be opened.") from error


def _has_sane_text(document: pdfium.PdfDocument, index: int) -> bool:
    with closing(_load_page(document, index)) as page, closing(page.get_textpage()) as textpage:
        text: list[str] = [character for character in textpage.get_text_range() if not character.isspace()]
    strange = sum(character == "\ufffd" or unicodedata.category(character) in ("Cc", "Co", "Cn") for character in text)
    readable = sum(character.isalnum() for character in text)
    return readable >= MIN_TEXT_CHARACTERS and strange <= MAX_STRANGE_SHARE * len(text)


def _read_page(document: pdfium.PdfDocument, page: int) -> TranscribedPage:
    with closing(_load_page(document, page - 1)) as loaded, closing(loaded.get_textpage()) as textpage:
        lines = join_glyphs(_upright_glyphs(loaded, textpage), aspect=loaded.get_width() / loaded.get_height())
    return TranscribedPage(page=page, lines=lines, source="text_layer", quality_score=1.0 if lines else 0.0)


def _upright_glyphs(page: pdfium.PdfPage, textpage: pdfium.PdfTextPage) -> list[Glyph]:
    """The characters of the page without what runs up its margin, which would cut through every row it passes."""
    upright: list[Glyph] = []
    turned: list[Glyph] = []
    for index in range(textpage.count_chars()):
        code = pdfium_c.FPDFText_GetUnicode(textpage, index)
        # PDFium reports characters beyond the basic plane as two surrogates; those are emoji, not invoice data.
        if code == 0 or 0xD800 <= code <= 0xDFFF or chr(code).isspace():
            continue
        glyph = Glyph(chr(code), _displayed_box(page, *textpage.get_charbox(index, loose=True)))
        angle = math.degrees(pdfium_c.FPDFText_GetCharAngle(textpage, index)) + page.get_rotation()
        (upright if abs(math.sin(math.radians(angle))) < 0.5 else turned).append(glyph)
    return upright if len(upright) >= len(turned) else upright + turned


def _displayed_box(page: pdfium.PdfPage, left: float, bottom: float, right: float, top: float) -> Box:
    """The box as the reader sees it: crop box and rotation applied, from the top left."""
    x1, y1 = _displayed_point(page, left, top)
    x2, y2 = _displayed_point(page, right, bottom)
    return Box(left=min(x1, x2), top=min(y1, y2), right=max(x1, x2), bottom=max(y1, y2))


def _displayed_point(page: pdfium.PdfPage, x: float, y: float) -> tuple[float, float]:
    column, row = c_int(), c_int()
    pdfium_c.FPDF_PageToDevice(page, 0, 0, _GRID, _GRID, 0, x, y, byref(column), byref(row))
    return column.value / _GRID, row.value / _GRID
