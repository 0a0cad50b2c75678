"""Names, numbers and other text found on a page in spite of spacing, case, line ends and misreadings."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from typing import NamedTuple

from orcha_dagster.domain.transcriptions import Line
from orcha_dagster.pipeline.matching.folding import fold_piece, pieces, skeleton, within_distance
from orcha_dagster.pipeline.matching.places import Place, Segment

EXACT = 1.0
CONFUSED = 0.9  # equal but for characters that readers confuse
INSIDE_A_WORD = 0.7
SCATTERED = 0.95  # every word is there, but not in one row of words
NEAR = 0.8  # a word that differs by a character or two
LEAST_COVERED = 0.5  # of a value's characters; less is chance
LEAST_ALIKE = 0.8  # of two whole lines
MANY = 40  # occurrences; a value printed more often is found in none of them
REACH = 3.5  # line heights: the words of one name stand no further apart
SHORTEST_INSIDE = 6  # characters of a value that may be found inside a longer word


class _Piece(NamedTuple):
    line: int
    start: int
    end: int
    folded: str


class PrintedText:
    """The letters and digits of a page in one string, and which piece of which line each belongs to."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        self._pieces: list[_Piece] = []
        self._starts: list[int] = []
        length = 0
        for index, line in enumerate(lines):
            for match in pieces(line.text):
                folded = fold_piece(match.group())
                self._pieces.append(_Piece(index, match.start(), match.end(), folded))
                self._starts.append(length)
                length += len(folded)
        self._text = "".join(piece.folded for piece in self._pieces)

    def find(self, value: str) -> list[Place]:
        """Every place of a value that is written there in one piece, else where its words stand together."""
        wanted = [fold_piece(match.group()) for match in pieces(value)]
        if not any(wanted):
            return []
        found = list(self._find_written(self._text, self._starts, "".join(wanted), EXACT))
        if not found:
            bones = "".join(map(skeleton, wanted))
            found = list(self._find_written(*self._skeletons, bones, CONFUSED))
        return found

    def find_resembling(self, value: str) -> list[Place]:
        """Where a value stands with its words scattered over neighbouring lines, or misread."""
        wanted = [skeleton(fold_piece(match.group())) for match in pieces(value)]
        if sum(map(len, wanted)) < 4:
            return []
        scattered = self._find_scattered(wanted)
        if scattered is not None and scattered.score >= NEAR:
            return [scattered]
        alike = self._find_line_alike("".join(wanted))
        return (
            [max((place for place in (scattered, alike) if place), key=lambda place: place.score)]
            if (scattered or alike)
            else []
        )

    @cached_property
    def _skeletons(self) -> tuple[str, list[int]]:
        starts, parts, length = [], [], 0
        for piece in self._pieces:
            part = skeleton(piece.folded)
            starts.append(length)
            parts.append(part)
            length += len(part)
        return "".join(parts), starts

    @cached_property
    def _by_skeleton(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for index, piece in enumerate(self._pieces):
            found[skeleton(piece.folded)].append(index)
        return found

    def _find_written(self, text: str, starts: list[int], wanted: str, score: float) -> Iterator[Place]:
        position, count = text.find(wanted), 0
        while position >= 0 and count < MANY:
            count += 1
            end = position + len(wanted)
            first, last = bisect_right(starts, position) - 1, bisect_right(starts, end - 1) - 1
            is_whole = starts[first] == position and end == (starts[last + 1] if last + 1 < len(starts) else len(text))
            if is_whole or len(wanted) >= SHORTEST_INSIDE:
                yield Place(score if is_whole else score * INSIDE_A_WORD, self._segments(range(first, last + 1)))
            position = text.find(wanted, position + 1)

    def _segments(self, indexes: Sequence[int]) -> tuple[Segment, ...]:
        by_line: dict[int, tuple[int, int]] = {}
        for index in indexes:
            piece = self._pieces[index]
            start, end = by_line.get(piece.line, (piece.start, piece.end))
            by_line[piece.line] = (min(start, piece.start), max(end, piece.end))
        return tuple(Segment(line, start, end) for line, (start, end) in by_line.items())

    def _find_scattered(self, wanted: list[str]) -> Place | None:
        """The neighbourhood that holds most of the value's words."""
        anchors = sorted({word for word in wanted if word in self._by_skeleton}, key=len, reverse=True)
        best: Place | None = None
        tried: set[int] = set()
        for word in anchors[:2]:
            for index in self._by_skeleton[word][:MANY]:
                line = self._pieces[index].line
                if len(word) < 2 or line in tried:
                    continue
                tried.add(line)
                place = self._cover(wanted, line)
                if place is not None and (best is None or place.score > best.score):
                    best = place
        return best

    def _cover(self, wanted: list[str], line: int) -> Place | None:
        near = self._neighbours(line)
        available = [index for other in near for index in self._pieces_of[other]]
        total, covered, used = sum(map(len, wanted)), 0.0, []
        for word in wanted:
            weight, index = self._best_piece(word, available)
            if index is not None:
                covered += weight * len(word)
                available.remove(index)
                used.append(index)
        if covered < LEAST_COVERED * total:
            return None
        return Place(SCATTERED * covered / total, self._segments(sorted(used)))

    def _best_piece(self, word: str, available: list[int]) -> tuple[float, int | None]:
        for index in available:
            if skeleton(self._pieces[index].folded) == word:
                return 1.0, index
        limit = 0 if len(word) < 4 else 1 if len(word) < 8 else 2
        for index in available:
            if limit and within_distance(skeleton(self._pieces[index].folded), word, limit) is not None:
                return NEAR, index
        return 0.0, None

    @cached_property
    def _pieces_of(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for index, piece in enumerate(self._pieces):
            found[piece.line].append(index)
        return found

    def _neighbours(self, line: int) -> list[int]:
        here = self._lines[line].box
        reach = REACH * (here.bottom - here.top)
        middle = (here.top + here.bottom) / 2
        return [
            index
            for index, other in enumerate(self._lines)
            if abs((other.box.top + other.box.bottom) / 2 - middle) <= reach
        ]

    def _find_line_alike(self, wanted: str) -> Place | None:
        """The line that looks most like the value as a whole: words glued together and misread at once."""
        letters = Counter(wanted)
        best: Place | None = None
        for indexes in self._pieces_of.values():
            text = "".join(skeleton(self._pieces[index].folded) for index in indexes)
            if not 0.7 * len(wanted) <= len(text) <= 1.4 * len(wanted):
                continue
            # No ratio can be higher than that of the letters both have.
            if 2 * (letters & Counter(text)).total() < LEAST_ALIKE * (len(wanted) + len(text)):
                continue
            ratio = SequenceMatcher(None, text, wanted, autojunk=False).ratio()
            if ratio >= LEAST_ALIKE and (best is None or ratio > best.score):
                best = Place(ratio * SCATTERED, self._segments(indexes))
        return best
