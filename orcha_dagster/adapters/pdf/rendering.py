"""A page as a picture that can be read, at the resolution it needs. Small looks at a page are in `page_look`."""

import math
from contextlib import closing

import numpy as np
import pypdfium2 as pdfium
from numpy.typing import NDArray

from orcha_dagster.adapters.pdf.opening import open_page, open_whole_page
from orcha_dagster.adapters.pdf.page_frame import PageFrame, frame_of
from orcha_dagster.adapters.pdf.page_objects import MAX_PICTURE_PIXELS, MAX_PIXELS_IN_ALL, PageObjects, objects_of
from orcha_dagster.adapters.pdf.words import MAX_PAGE_CHARACTERS, count_characters, words_of
from orcha_dagster.domain.errors import DocumentDamaged, DocumentTooLarge

# A scan is drawn as it was scanned: more invents pixels, less loses some. Beyond 300 no reader gains.
SCAN_DPI = (150.0, 300.0)
# Small print of an invoice is 15 pixels high then, which OCR reads well.
DRAWN_DPI = 200.0
_SMALL_LETTERS = 8.0  # points from the top of the font to its bottom; smaller ones get more pixels
_MAX_SIDE = 30_000  # pixels; a JPEG has no more than 65,535, and a strip of paper may be kilometres long


def draw_page(document: pdfium.PdfDocument, number: int, *, max_pixels: int) -> tuple[NDArray[np.uint8], float]:
    """Blue, green, red; and the dots per inch it was drawn with."""
    # PDFium draws the fields of a form itself, and knows no fields where the document tells of no form.
    opener = open_page if document.formenv else open_whole_page
    with opener(document, number) as page:
        frame = frame_of(page)
        objects = objects_of(page, frame)
        _refuse_enormous_pictures(objects, number)
        wanted = _wanted_resolution(page, frame, objects)
        resolution = 72 * _scale_within(frame, wanted / 72, max_pixels)
        try:
            drawn = page.render(scale=resolution / 72, bitmap_maker=pdfium.PdfBitmap.new_native).to_numpy()
        except (pdfium.PdfiumError, ValueError) as error:
            raise DocumentDamaged(f"Page {number} of the PDF cannot be drawn.") from error
    # The buffer of such a bitmap belongs to Python and lives as long as the array does.
    return drawn, resolution


def _refuse_enormous_pictures(objects: PageObjects, number: int) -> None:
    """By what they claim, before they are decoded."""
    picture = objects.enormous_picture()
    if picture is not None:
        raise DocumentTooLarge(
            f"Page {number} of the PDF shows a picture of {picture.width} x {picture.height} pixels; the limit is "
            f"{MAX_PICTURE_PIXELS // 1_000_000} million for one and {MAX_PIXELS_IN_ALL // 1_000_000} million in all."
        )


def _wanted_resolution(page: pdfium.PdfPage, frame: PageFrame, objects: PageObjects) -> float:
    lowest, highest = SCAN_DPI
    scanned = objects.scan_resolution(frame)
    if scanned is not None:
        return min(max(scanned, lowest), highest)
    # A picture on a drawn page is often a scan pasted in; it keeps its resolution too.
    pasted = max((each.dots_per_inch(frame) for each in objects.pictures if each.square_inches(frame) > 1), default=0.0)
    return min(max(DRAWN_DPI, pasted, _resolution_for_letters(page, frame)), highest)


def _resolution_for_letters(page: pdfium.PdfPage, frame: PageFrame) -> float:
    """What the smallest tenth of the words asks for."""
    with closing(page.get_textpage()) as textpage:
        if not 0 < count_characters(textpage) <= MAX_PAGE_CHARACTERS:
            return 0.0
        words = words_of(textpage, frame, page_rotation=page.get_rotation())
    if not len(words):
        return 0.0
    sides = (words.boxes[:, 2:] - words.boxes[:, :2]) * (frame.width, frame.height)
    runs_across = np.abs(np.cos(np.radians(words.angles))) > 0.7
    height = float(np.percentile(np.where(runs_across, sides[:, 1], sides[:, 0]), 10))
    return DRAWN_DPI * _SMALL_LETTERS / max(height, 1.0)


def _scale_within(frame: PageFrame, scale: float, max_pixels: int) -> float:
    scale = min(scale, _MAX_SIDE / max(frame.width, frame.height))
    scale = min(scale, math.sqrt(max_pixels / (frame.width * frame.height)))
    # Sides are rounded up, so a page just at the limit would lie above it.
    while math.ceil(frame.width * scale) * math.ceil(frame.height * scale) > max_pixels and scale > 1e-6:
        scale *= 0.999
    return scale
