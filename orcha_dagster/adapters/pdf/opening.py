"""PDFs opened and their pages loaded, or a clear error. What is on the pages is the business of the other modules.

PDFium reads the file as it needs it, so a large PDF is never in memory as a whole. It allows one caller at a time per
process, which is why everything in this package runs inside a CPU worker.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from orcha_dagster.domain.errors import DocumentDamaged, DocumentEncrypted

# What a person typed or stamped onto a page lives beside its content, where PDFium does not look for text.
_WRITTEN_ON = frozenset({pdfium_c.FPDF_ANNOT_WIDGET, pdfium_c.FPDF_ANNOT_FREETEXT, pdfium_c.FPDF_ANNOT_STAMP})
_MAX_ANNOTATIONS = 5_000  # asked for one by one


@contextmanager
def open_pdf(document: Path) -> Iterator[pdfium.PdfDocument]:
    """A password that is empty needs none to be typed: such a PDF opens like any other.

    Forms are prepared before the first page, so that fields whose look the file leaves to the viewer get one.
    """
    try:
        opened = pdfium.PdfDocument(document)
    except pdfium.PdfiumError as error:
        raise _translated(error) from error
    with closing(opened):
        # A form that is broken is left as it is; its pages are still there.
        with suppress(pdfium.PdfiumError):
            opened.init_forms()
        yield opened


@contextmanager
def open_page(document: pdfium.PdfDocument, number: int) -> Iterator[pdfium.PdfPage]:
    """A page by its number from 1, as it is stored."""
    if not 1 <= number <= len(document):
        raise DocumentDamaged(f"The PDF has no page {number}; it has {len(document)}.")
    try:
        page = document[number - 1]
    except pdfium.PdfiumError as error:
        raise DocumentDamaged(f"Page {number} of the PDF cannot be opened.") from error
    with closing(page):
        yield page


@contextmanager
def open_whole_page(document: pdfium.PdfDocument, number: int) -> Iterator[pdfium.PdfPage]:
    """A page with its filled-in fields and typed remarks made part of the content, in memory only."""
    with open_page(document, number) as page:
        merged = _is_written_on(page) and _merge_annotations(page)
        if not merged:
            yield page
            return
    with open_page(document, number) as page:
        yield page


def _is_written_on(page: pdfium.PdfPage) -> bool:
    for index in range(min(pdfium_c.FPDFPage_GetAnnotCount(page), _MAX_ANNOTATIONS)):
        annotation = pdfium_c.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        kind = pdfium_c.FPDFAnnot_GetSubtype(annotation)
        pdfium_c.FPDFPage_CloseAnnot(annotation)
        if kind in _WRITTEN_ON:
            return True
    return False


def _merge_annotations(page: pdfium.PdfPage) -> bool:
    return bool(pdfium_c.FPDFPage_Flatten(page, pdfium_c.FLAT_NORMALDISPLAY) == pdfium_c.FLATTEN_SUCCESS)


def _translated(error: pdfium.PdfiumError) -> DocumentDamaged | DocumentEncrypted:
    if error.err_code == pdfium_c.FPDF_ERR_PASSWORD:
        return DocumentEncrypted("The PDF asks for a password.")
    if error.err_code == pdfium_c.FPDF_ERR_SECURITY:
        return DocumentEncrypted("The PDF is encrypted in a way that is not supported.")
    if error.err_code == pdfium_c.FPDF_ERR_SUCCESS:
        return DocumentDamaged("The PDF has no pages.")
    return DocumentDamaged("The PDF cannot be opened.")
