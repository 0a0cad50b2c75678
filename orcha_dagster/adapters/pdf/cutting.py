"""Some pages of a PDF as a PDF of their own. Nothing is drawn or decoded on the way."""

from collections.abc import Sequence
from contextlib import closing
from io import BytesIO

import pypdfium2 as pdfium

from orcha_dagster.domain.errors import DocumentDamaged


def copy_pages(document: pdfium.PdfDocument, pages: Sequence[int]) -> bytes:
    """In the order given. What was encrypted with an empty password comes out in the clear."""
    if not pages:
        raise ValueError("A PDF of no pages cannot be written.")  # PDFium would take all of them
    count = len(document)
    for page in pages:
        if not 1 <= page <= count:
            raise DocumentDamaged(f"The PDF has no page {page}; it has {count}.")
    with closing(pdfium.PdfDocument.new()) as cut:
        try:
            cut.import_pages(document, [page - 1 for page in pages])
        except pdfium.PdfiumError as error:
            raise DocumentDamaged("The pages cannot be taken out of the PDF.") from error
        written = BytesIO()
        cut.save(written)
        return written.getvalue()
