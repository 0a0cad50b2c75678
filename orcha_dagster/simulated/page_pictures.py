"""A document as a provider gets it, opened and drawn page by page. Runs in a CPU worker; knows nothing of gRPC.

Its own opening of files, on purpose: a server that shared it with the client would share its mistakes, too.
"""

import io
import math
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c
from PIL import Image, UnidentifiedImageError

from orcha_dagster.domain.errors import DocumentDamaged, DocumentEncrypted

PDF = "application/pdf"
PICTURES = {"image/bmp", "image/gif", "image/jpeg", "image/png", "image/tiff", "image/webp"}
READ_AS_THEY_ARE = {"JPEG", "PNG"}
RENDER_DOTS_PER_INCH = 200
MOST_PIXELS = 40_000_000


@dataclass(frozen=True)
class PagePicture:
    content: bytes  # JPEG or PNG
    media_type: str
    width: int
    height: int


def count_pages(content: bytes, media_type: str) -> int:
    if media_type == PDF:
        with _pdf(content) as document:
            return len(document)
    with _picture(content) as picture:
        return 1 if picture.format in READ_AS_THEY_ARE else int(getattr(picture, "n_frames", 1))


def draw_pages(content: bytes, media_type: str, pages: int) -> list[PagePicture]:
    """So many from the beginning."""
    if media_type == PDF:
        with _pdf(content) as document:
            return [_draw_pdf_page(document, index) for index in range(pages)]
    with _picture(content) as picture:
        if picture.format in READ_AS_THEY_ARE:
            return [PagePicture(content, f"image/{picture.format.lower()}", *picture.size)]
        return [_draw_frame(picture, index) for index in range(pages)]


def _draw_frame(picture: Image.Image, index: int) -> PagePicture:
    picture.seek(index)
    return _encoded(picture)


def _draw_pdf_page(document: pdfium.PdfDocument, index: int) -> PagePicture:
    try:
        page = document[index]
    except pdfium.PdfiumError as error:
        raise DocumentDamaged(f"Page {index + 1} of the PDF cannot be opened.") from error
    with closing(page):
        width, height = page.get_size()
        scale = min(RENDER_DOTS_PER_INCH / 72, math.sqrt(MOST_PIXELS / max(width * height, 1.0)))
        return _encoded(page.render(scale=scale).to_pil())


def _encoded(picture: Image.Image) -> PagePicture:
    buffer = io.BytesIO()
    try:
        picture.convert("RGB").save(buffer, "JPEG", quality=92)
    except (OSError, ValueError, SyntaxError) as error:  # a file that ends too early shows it only here
        raise DocumentDamaged("The picture cannot be decoded.") from error
    return PagePicture(buffer.getvalue(), "image/jpeg", *picture.size)


@contextmanager
def _pdf(content: bytes) -> Iterator[pdfium.PdfDocument]:
    try:
        document = pdfium.PdfDocument(content)
    except pdfium.PdfiumError as error:
        if error.err_code == pdfium_c.FPDF_ERR_PASSWORD:
            raise DocumentEncrypted("The PDF asks for a password.") from error
        raise DocumentDamaged("The PDF cannot be opened.") from error
    with closing(document):
        yield document


@contextmanager
def _picture(content: bytes) -> Iterator[Image.Image]:
    try:
        picture = Image.open(io.BytesIO(content))
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError) as error:
        raise DocumentDamaged("The picture cannot be opened.") from error
    with picture:
        if picture.width * picture.height > MOST_PIXELS:
            raise DocumentDamaged("The picture has too many pixels.")
        yield picture
