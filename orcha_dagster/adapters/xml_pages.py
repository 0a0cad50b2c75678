"""An XML invoice by itself has no pages; its values are written out as one, so that people and checks have a text.

Runs inside a CPU worker.
"""

from pathlib import Path

from orcha_dagster.adapters.einvoice.reading import describe_invoice_xml
from orcha_dagster.domain.transcriptions import TEXT_LAYER, Box, Line, TranscribedPage

XML = "application/xml"
_LEFT, _RIGHT = 0.05, 0.95


def read_xml_page(document: Path) -> TranscribedPage:
    texts = describe_invoice_xml(document)
    height = 1 / (len(texts) + 1)
    lines = tuple(
        Line(
            text=text,
            box=Box(left=_LEFT, top=number * height, right=_RIGHT, bottom=(number + 0.8) * height),
            confidence=1.0,
        )
        for number, text in enumerate(texts)
    )
    return TranscribedPage(page=1, lines=lines, source=TEXT_LAYER, quality_score=1.0 if lines else 0.0)
