"""PDF pages through PDFium: what they hold, their text, their picture, and PDFs made of some of them.

Every function runs inside a CPU worker process, because PDFium allows one caller at a time per process. The document
is a file, of which PDFium reads what it needs. Pages count from 1. How it is done is in the package `pdf`; pictures
are judged and treated elsewhere.

All raise DocumentDamaged, DocumentEncrypted or DocumentTooLarge for what cannot be opened within limits. A file that
PDFium itself cannot cope with ends in the limits of the worker: seconds and memory.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orcha_dagster.adapters.collector import collector_paused
from orcha_dagster.adapters.pdf.cutting import copy_pages
from orcha_dagster.adapters.pdf.kept_text import TextKeeper, load_text
from orcha_dagster.adapters.pdf.layer_inspection import inspect_page
from orcha_dagster.adapters.pdf.opening import open_pdf
from orcha_dagster.adapters.pdf.picture_pages import write_picture_pages
from orcha_dagster.adapters.pdf.rendering import draw_page
from orcha_dagster.adapters.pdf.stream_sizes import refuse_bombs
from orcha_dagster.adapters.pdf.text_layer import read_page, to_transcribed
from orcha_dagster.domain.errors import DocumentTooLarge
from orcha_dagster.domain.pages import PageMeasurement
from orcha_dagster.domain.transcriptions import TranscribedPage


def inspect_pdf(
    document: Path, *, max_pages: int, first: int = 1, most: int | None = None, keep: Path | None = None
) -> tuple[PageMeasurement, ...]:
    """Say for each page whether it has a text layer worth reading, and why one that is there is not believed.

    A long document is inspected in pieces of `most` pages, from its `first` on. Whoever inspects the first page is
    the first to open a document, so it is here that bombs are looked for. `keep` is a file for the text that was found
    on the way, for `read_text_layer`.
    """
    if first == 1:
        refuse_bombs(document)
    measurements: list[PageMeasurement] = []
    keeper = TextKeeper()
    with open_pdf(document) as opened:
        if len(opened) > max_pages:
            raise DocumentTooLarge(f"The PDF has {len(opened)} pages; the limit is {max_pages}.")
        last = len(opened) if most is None else min(len(opened), first + most - 1)
        for number in range(first, last + 1):
            measurement, text = inspect_page(opened, number)
            measurements.append(measurement)
            if text is not None:
                keeper.take(number, text)
    if keep is not None:
        keeper.write(document, keep)
    return tuple(measurements)


def read_text_layer(document: Path, pages: Sequence[int], *, kept: Sequence[Path] = ()) -> tuple[TranscribedPage, ...]:
    """`kept` are files that an inspection may have left; the PDF is opened for pages that are in none of them."""
    with collector_paused():
        found = {page: text for file in kept for page, text in load_text(document, file).items()}
        read = {page: to_transcribed(page, found[page]) for page in pages if page in found}
        if len(read) < len(set(pages)):
            with open_pdf(document) as opened:
                read |= {page: read_page(opened, page) for page in pages if page not in read}
        return tuple(read[page] for page in pages)


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
