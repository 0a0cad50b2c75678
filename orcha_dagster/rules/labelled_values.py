"""Finding the text that belongs to a label: the rest of its line, else what stands to its right, else below it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orcha_dagster.domain.transcriptions import Line, TranscribedPage, Transcription
from orcha_dagster.rules.folding import fold

Labels = tuple[re.Pattern[str], ...]
# In line heights: a value under its label is in the next rows or is not this label's value.
MAX_DROP = 3.5


@dataclass(frozen=True)
class Piece:
    """Some text on a page that may hold a value."""

    page: int
    line: Line
    text: str  # of the line, or of what is left of it behind the label


@dataclass(frozen=True)
class LabelledPlace:
    """One place a label was found, with the texts that may hold its value."""

    rank: int  # of the label; lower is surer
    row: int  # counted through the document
    row_text: str  # folded; to recognise rows that only look right
    label_text: str  # folded; the line the label was found in
    beside: tuple[Piece, ...]  # from the left
    below: tuple[Piece, ...]  # from the top


def find_labelled(
    transcription: Transcription, labels: Labels, *, unless: Labels = (), ignoring: re.Pattern[str] | None = None
) -> Iterator[LabelledPlace]:
    """Every place one of the labels stands, from the top of the first page.

    A line that holds one of `unless` is passed over; what matches `ignoring` does not count for that.
    """
    row_number = 0
    for page in transcription.pages:
        rows = page.rows
        for index, row in enumerate(rows):
            row_number += 1
            for line in row:
                if _is_ruled_out(line, unless, ignoring):
                    continue
                place = _read_place(page, rows, index, line, labels, row_number)
                if place is not None:
                    yield place


def _is_ruled_out(line: Line, unless: Labels, ignoring: re.Pattern[str] | None) -> bool:
    folded = fold(line.text)
    if ignoring is not None:
        folded = ignoring.sub(" ", folded)
    return any(pattern.search(folded) for pattern in unless)


def _read_place(
    page: TranscribedPage,
    rows: Sequence[Sequence[Line]],
    index: int,
    line: Line,
    labels: Labels,
    row_number: int,
) -> LabelledPlace | None:
    folded = fold(line.text)
    found = next(((rank, match) for rank, label in enumerate(labels) if (match := label.search(folded))), None)
    if found is None:
        return None
    rank, match = found
    row = rows[index]
    return LabelledPlace(
        rank=rank,
        row=row_number,
        row_text=fold("   ".join(neighbour.text for neighbour in row)),
        label_text=folded,
        beside=tuple(_beside(page.page, row, line, match.end())),
        below=tuple(_below(page.page, rows[index + 1 :], line)),
    )


def _beside(page: int, row: Sequence[Line], line: Line, end: int) -> Iterator[Piece]:
    rest = line.text[end:].strip(" :\t")
    if rest:
        yield Piece(page, line, rest)
    for neighbour in row:
        if neighbour.box.left > line.box.left:
            yield Piece(page, neighbour, neighbour.text.strip(" :"))


def _below(page: int, rows: Sequence[Sequence[Line]], line: Line) -> Iterator[Piece]:
    height = line.box.bottom - line.box.top
    for row in rows:
        for candidate in row:
            if candidate.box.top - line.box.bottom > MAX_DROP * height:
                return
            if candidate.box.left < line.box.right and candidate.box.right > line.box.left:
                yield Piece(page, candidate, candidate.text)
