"""Pages written cell by cell at places of their own, for rules that look at columns."""

from collections.abc import Sequence

from orcha_dagster.domain.transcriptions import Box, Line, TranscribedPage, Transcription, Word

CHARACTER_WIDTH = 0.008
LINE_HEIGHT = 0.012
ROW_STEP = 0.016

PrintedRow = Sequence[tuple[float, str]]  # where each cell begins, and its text


def printed(*rows: PrintedRow, words: bool = True) -> Transcription:
    """One page, its rows under one another; `words=False` for readers that tell of whole lines only."""
    return pages(rows, words=words)


def pages(*contents: Sequence[PrintedRow], words: bool = True) -> Transcription:
    read = tuple(_page(number, rows, words) for number, rows in enumerate(contents, start=1))
    return Transcription(pages=read, provider="text_layer", provider_version="1", quality_score=1.0)


def _page(number: int, rows: Sequence[PrintedRow], words: bool) -> TranscribedPage:
    lines = []
    for index, row in enumerate(rows):
        top = 0.03 + ROW_STEP * index
        lines += [_line(left, top, text, words) for left, text in row]
    return TranscribedPage(page=number, lines=tuple(lines), source="text_layer", quality_score=1.0)


def _line(left: float, top: float, text: str, words: bool) -> Line:
    def box(start: int, end: int) -> Box:
        return Box(
            left=left + start * CHARACTER_WIDTH,
            top=top,
            right=left + end * CHARACTER_WIDTH,
            bottom=top + LINE_HEIGHT,
        )

    found = []
    position = 0
    for word in text.split():
        start = text.index(word, position)
        position = start + len(word)
        found.append(Word(text=word, box=box(start, position), confidence=1.0))
    return Line(text=text, box=box(0, len(text)), confidence=1.0, words=tuple(found) if words else ())
