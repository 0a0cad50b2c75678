"""PDF pages through PDFium: what they hold, their text, their picture, and PDFs made of some of them.

Every function runs inside a CPU worker process, because PDFium allows one caller at a time per process. The document
is a file, of which PDFium reads what it needs. Pages count from 1. How it is done is in the package `pdf`; pictures
are judged and treated elsewhere.

All raise DocumentDamaged, DocumentEncrypted or DocumentTooLarge for what cannot be opened within limits. A file that
PDFium itself cannot cope with ends in the limits of the worker: seconds and memory.
"""

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orcha_dagster.adapters.pdf.cutting import copy_pages
from orcha_dagster.adapters.pdf.layer_inspection import inspect_page
from orcha_dagster.adapters.pdf.opening import open_pdf
from orcha_dagster.adapters.pdf.picture_pages import write_picture_pages
from orcha_dagster.adapters.pdf.rendering import draw_page
from orcha_dagster.adapters.pdf.stream_sizes import refuse_bombs
from orcha_dagster.adapters.pdf.text_layer import read_page
from orcha_dagster.domain.errors import DocumentTooLarge
from orcha_dagster.domain.pages import PageMeasurement
from orcha_dagster.domain.transcriptions import TranscribedPage


def inspect_pdf(document: Path, *, max_pages: int) -> tuple[PageMeasurement, ...]:
    """Say for each page whether it has a text layer worth reading, and why one that is there is not believed.

    The first to open a document, so it is here that bombs are looked for.
    """
    refuse_bombs(document)
    with open_pdf(document) as opened:
        if len(opened) > max_pages:
            raise DocumentTooLarge(f"The PDF has {len(opened)} pages; the limit is {max_pages}.")
        return tuple(inspect_page(opened, number) for number in range(1, len(opened) + 1))


def read_text_layer(document: Path, pages: Sequence[int]) -> tuple[TranscribedPage, ...]:
    with _collector_paused(), open_pdf(document) as opened:
        return tuple(read_page(opened, page) for page in pages)


def render_page(document: Path, page: int, *, max_pixels: int) -> tuple[NDArray[np.uint8], float]:
    """The page as blue, green and red, filled-in forms and remarks included; and the dots per inch used."""
    with open_pdf(document) as opened:
        return draw_page(opened, page, max_pixels=max_pixels)


def cut_pages(document: Path, pages: Sequence[int]) -> bytes:
    """A PDF of these pages only."""
    with open_pdf(document) as opened:
        return copy_pages(opened, pages)


def pictures_to_pdf(pictures: Sequence[Path]) -> bytes:
    """JPEGs as the pages of one PDF, without encoding them again."""
    return write_picture_pages(pictures)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """A page becomes a thousand models, none in a loop; searching them for loops takes a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
