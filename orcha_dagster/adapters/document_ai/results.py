"""From Document AI's answer to our pages. Works on the plain protobuf messages: the SDK's wrappers around them cost
some fifty times as much, and a dense page has thousands of them. Calling Document AI happens in `transcriber`.

Document AI straightens a skewed page and gives the boxes of the straightened one. A page that lies on its side or on
its head it reads as it lies and says so line by line (`orientation`). Boxes are turned here until most of the text is
upright, so that rows are rows, however the sheet was scanned.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from google.cloud.documentai_v1 import Document

from orcha_dagster.domain.errors import ProviderUnavailable
from orcha_dagster.domain.transcriptions import Box, Language, Line, QualityDefect, TranscribedPage, Word

Point = tuple[float, float]
Orientation = Document.Page.Layout.Orientation

_DEFECT_PREFIX = "quality/defect_"
_DIGITS = 6  # of a box: a millionth of a page; the answer has 32-bit numbers
_WIDE = 0.15  # of the page: the slope of a shorter line is mostly rounding
_STEEPEST = 0.4  # a steeper line is a remark across the page, not the page's skew


def _as_it_is(x: float, y: float) -> Point:
    return x, y


_TURNS: dict[int, Callable[[float, float], Point]] = {
    Orientation.PAGE_RIGHT.value: lambda x, y: (y, 1 - x),
    Orientation.PAGE_DOWN.value: lambda x, y: (1 - x, 1 - y),
    Orientation.PAGE_LEFT.value: lambda x, y: (1 - y, x),
}


def to_pages(document: Any, pages: Sequence[int], *, source: str) -> tuple[TranscribedPage, ...]:
    """The pages of a Document message under their numbers in our document, in the order in which they were sent."""
    answered = {page.page_number or place: page for place, page in enumerate(document.pages, start=1)}
    expected = range(1, len(pages) + 1)
    if len(document.pages) != len(pages) or sorted(answered) != list(expected):
        raise ProviderUnavailable(
            f"Document AI was sent {len(pages)} pages and answered with {len(document.pages)}, or misnumbered them."
        )
    return tuple(
        _PageReader(answered[place], document.text).read(number, source)
        for place, number in zip(expected, pages, strict=True)
    )


@dataclass(frozen=True)
class _Piece:
    """A line or token: where it stands in the text and on the page."""

    segments: tuple[tuple[int, int], ...]  # half-open, into the document's text
    corners: tuple[Point, ...]
    confidence: float

    @property
    def start(self) -> int:
        return min((start for start, _ in self.segments), default=0)

    def holds(self, position: int) -> bool:
        return any(start <= position < end for start, end in self.segments)


class _PageReader:
    def __init__(self, page: Any, text: str) -> None:
        self._page = page
        self._text = text
        self._turn = _TURNS.get(_main_orientation(page), _as_it_is)

    def read(self, number: int, source: str) -> TranscribedPage:
        pieces = sorted(self._pieces(self._page.lines), key=lambda piece: piece.start)
        lines = self._lines(pieces)
        scores = self._page.image_quality_scores
        return TranscribedPage(
            page=number,
            lines=lines,
            source=source,
            slope=_slope(pieces),
            quality_score=_share(scores.quality_score) if self._has_scores() else _mean_confidence(lines),
            defects=tuple(
                QualityDefect(name=defect.type_.removeprefix(_DEFECT_PREFIX), score=_share(defect.confidence))
                for defect in scores.detected_defects
            ),
            languages=tuple(
                Language(code=language.language_code, confidence=_share(language.confidence))
                for language in self._page.detected_languages
                if language.language_code
            ),
            times_billed=1,
        )

    def _has_scores(self) -> bool:
        return bool(self._page.HasField("image_quality_scores"))

    def _pieces(self, units: Iterable[Any]) -> list[_Piece]:
        return [self._piece(unit.layout) for unit in units]

    def _piece(self, layout: Any) -> _Piece:
        segments = tuple((segment.start_index, segment.end_index) for segment in layout.text_anchor.text_segments)
        corners = tuple(self._turn(x, y) for x, y in self._corners(layout.bounding_poly))
        return _Piece(segments, corners, _share(layout.confidence))

    def _corners(self, polygon: Any) -> list[Point]:
        if polygon.normalized_vertices:
            return [(vertex.x, vertex.y) for vertex in polygon.normalized_vertices]
        width, height = self._page.dimension.width, self._page.dimension.height
        if not (width > 0 and height > 0):
            return []
        return [(vertex.x / width, vertex.y / height) for vertex in polygon.vertices]

    def _lines(self, pieces: Sequence[_Piece]) -> tuple[Line, ...]:
        tokens = sorted(self._pieces(self._page.tokens), key=lambda token: token.start)
        starts = [token.start for token in tokens]
        blocks = self._pieces(self._page.blocks)
        lines = [self._line(piece, tokens, starts, _block_of(piece, blocks)) for piece in pieces]
        found = sorted((line for line in lines if line.text), key=lambda line: line.block)
        places = {block: place for place, block in enumerate(dict.fromkeys(line.block for line in found))}
        return tuple(line.model_copy(update={"block": places[line.block]}) for line in found)

    def _line(self, piece: _Piece, tokens: Sequence[_Piece], starts: Sequence[int], block: int) -> Line:
        box = _box(piece.corners, otherwise=_WHOLE_PAGE)
        inside = [
            token
            for start, end in piece.segments
            for token in tokens[bisect_left(starts, start) : bisect_left(starts, end)]
        ]
        words = (
            Word(text=text, box=_box(token.corners, otherwise=box), confidence=token.confidence)
            for token in inside
            if (text := self._text_of(token))
        )
        return Line(text=self._text_of(piece), box=box, confidence=piece.confidence, words=tuple(words), block=block)

    def _text_of(self, piece: _Piece) -> str:
        """Anchors reach over the space or line break that follows."""
        return "".join(self._text[start:end] for start, end in piece.segments).replace("\n", " ").strip()


_WHOLE_PAGE = Box(left=0.0, top=0.0, right=1.0, bottom=1.0)


def _main_orientation(page: Any) -> int:
    """That of most of the text; a remark in the margin turns nothing."""
    votes: Counter[int] = Counter()
    for line in page.lines:
        length = sum(segment.end_index - segment.start_index for segment in line.layout.text_anchor.text_segments)
        votes[line.layout.orientation] += length
    return votes.most_common(1)[0][0] if votes else 0


def _block_of(line: _Piece, blocks: Sequence[_Piece]) -> int:
    """Lines outside of all blocks come last, together."""
    return next((index for index, block in enumerate(blocks) if block.holds(line.start)), len(blocks))


def _box(corners: Sequence[Point], *, otherwise: Box) -> Box:
    if not corners:
        return otherwise
    across = [_share(x) for x, _ in corners]
    down = [_share(y) for _, y in corners]
    return Box(left=min(across), top=min(down), right=max(across), bottom=max(down))


def _share(value: float) -> float:
    return round(min(max(value, 0.0), 1.0), _DIGITS)


def _slope(pieces: Sequence[_Piece]) -> float:
    """How far rows fall across the page: the median over wide lines, whose first edge is their upper one."""
    slopes = []
    for piece in pieces:
        if len(piece.corners) == 4:
            (left, left_top), (right, right_top) = piece.corners[:2]
            if right - left > _WIDE and abs(right_top - left_top) < _STEEPEST * (right - left):
                slopes.append((right_top - left_top) / (right - left))
    return round(median(slopes), _DIGITS) if slopes else 0.0


def _mean_confidence(lines: Sequence[Line]) -> float:
    """Each line weighs as many characters as it has."""
    characters = sum(len(line.text) for line in lines)
    return round(sum(line.confidence * len(line.text) for line in lines) / characters, 4) if characters else 0.0
