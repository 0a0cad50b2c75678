"""Words put into lines, and lines into the order people read them. What stands apart is found in `page_blocks`."""

from collections.abc import Sequence

from orcha_dagster.adapters.page_blocks import Cell, Row, find_blocks, group_rows
from orcha_dagster.domain.transcriptions import Box, Line, Word

# In line heights. Words stand 0.2 to 0.4 apart, the columns of a table seldom less than 0.8.
COLUMN_GAP = 0.75


def lay_out(words: Sequence[Word], *, aspect: float, slope: float = 0.0) -> tuple[Line, ...]:
    """Join words into lines and put these into reading order: one phrase is one line, a table row is several.

    `aspect` is the page's width by its height, because boxes measure each side from 0 to 1. `slope` is how far rows
    fall from the left edge of the page to the right, as boxes measure.
    """
    phrases: list[Row] = []
    for row in group_rows([_cell(word.box, index, aspect, slope, True) for index, word in enumerate(words)]):
        phrases += _phrases(row)
    cells = [_join(phrase, index, words) for index, phrase in enumerate(phrases)]
    return tuple(
        _to_line([words[member.phrase] for member in phrases[cell.phrase]], number)
        for number, block in enumerate(find_blocks(cells))
        for row in block
        for cell in row
    )


def order_lines(lines: Sequence[Line], *, aspect: float, slope: float) -> tuple[Line, ...]:
    """Put lines into reading order and number their blocks, for readers that give whole lines."""
    cells = [_cell(line.box, index, aspect, slope, _is_label(line.text)) for index, line in enumerate(lines)]
    return tuple(
        lines[cell.phrase].model_copy(update={"block": number})
        for number, block in enumerate(find_blocks(cells))
        for row in block
        for cell in row
    )


def _cell(box: Box, index: int, aspect: float, slope: float, is_label: bool) -> Cell:
    """A box in units of the page's height, moved up by as much as its row has fallen until there."""
    left, right = box.left, box.right
    fall = slope * (left + right) / 2
    # A leaning line's box is taller than the line. The rest of it is what counts, but never less than a sliver.
    spare = min(abs(slope) * (right - left), 0.7 * (box.bottom - box.top)) / 2
    return Cell(left * aspect, right * aspect, box.top - fall + spare, box.bottom - fall - spare, index, is_label)


def _phrases(row: Row) -> list[Row]:
    """A row cut where its words stand too far apart to be one phrase."""
    phrases = [[row[0]]]
    for cell in row[1:]:
        before = phrases[-1][-1]
        height = max(before.bottom - before.top, cell.bottom - cell.top)
        if cell.left - before.right > COLUMN_GAP * height:
            phrases.append([cell])
        else:
            phrases[-1].append(cell)
    return phrases


def _join(phrase: Row, index: int, words: Sequence[Word]) -> Cell:
    return Cell(
        min([cell.left for cell in phrase]),
        max([cell.right for cell in phrase]),
        min([cell.top for cell in phrase]),
        max([cell.bottom for cell in phrase]),
        index,
        _is_label("".join([words[cell.phrase].text for cell in phrase])),
    )


def _is_label(text: str) -> bool:
    return sum(map(str.isalpha, text)) > sum(map(str.isdigit, text))


def _to_line(words: Sequence[Word], block: int) -> Line:
    if len(words) == 1:  # most cells of a table
        (word,) = words
        return Line(text=word.text, box=word.box, confidence=word.confidence, words=(word,), block=block)
    boxes = [word.box for word in words]
    return Line(
        text=" ".join([word.text for word in words]),
        box=Box(
            left=min([box.left for box in boxes]),
            top=min([box.top for box in boxes]),
            right=max([box.right for box in boxes]),
            bottom=max([box.bottom for box in boxes]),
        ),
        confidence=sum([word.confidence for word in words]) / len(words),
        words=tuple(words),
        block=block,
    )
