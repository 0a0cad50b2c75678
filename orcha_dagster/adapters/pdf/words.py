"""The words PDFium finds on a page, with their places. Which of them a reader sees is decided in `seen_words`."""

import unicodedata
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pypdfium2 as pdfium
from numpy.typing import NDArray

from orcha_dagster.adapters.pdf.native_calls import (
    address_of,
    character_angles,
    character_boxes,
    character_codes,
    character_colours,
    characters_never_drawn,
)
from orcha_dagster.adapters.pdf.page_frame import PageFrame

# A page of small print holds 12,000 characters. What holds more than this was not made to be read by people, and
# every character costs time and memory.
MAX_PAGE_CHARACTERS = 200_000

# In heights of the font. Some programs write a space after every letter and pull the next one back over it.
_PULLED_BACK = 0.05
# Letters of one word may be set wide apart; beyond this PDFium missed a space.
_TORN_APART = 1.5

_LINE_BREAK_HYPHEN = 0x02  # how PDFium marks the hyphen of a word that goes on in the next line
_SOFT_HYPHEN = 0xAD
_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
_SPACES = np.array(
    [ord(character) for character in "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"]
    + list(range(0x2000, 0x200C)),
    np.uint32,
)
_LINE_FEED, _CARRIAGE_RETURN = 0x0A, 0x0D
_PRIVATE_PLANES = 0xF0000  # and everything after them
_BEYOND_TABLES = 0x10000  # in tables by code, the place of all codes from here on


@dataclass(frozen=True)
class PdfWords:
    """All words of a page, in the order in which the file draws them; arrays have one row for each."""

    texts: list[str]
    boxes: NDArray[np.float64]  # left, top, right, bottom; 0 to 1 as the page is seen
    angles: NDArray[np.float64]  # degrees clockwise, as the page is seen; 0 is upright
    never_drawn: NDArray[np.bool_]
    colours: NDArray[np.uint32]  # red, green, blue, opacity; 0 to 255
    unknown_characters: int = 0  # those whose font does not say what they mean

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        return np.array([len(text) for text in self.texts], np.int64)

    def only(self, chosen: NDArray[np.bool_]) -> "PdfWords":
        if chosen.all():
            return self
        texts = [text for text, wanted in zip(self.texts, chosen.tolist(), strict=True) if wanted]
        return PdfWords(
            texts,
            self.boxes[chosen],
            self.angles[chosen],
            self.never_drawn[chosen],
            self.colours[chosen],
            self.unknown_characters,
        )


def count_characters(textpage: pdfium.PdfTextPage) -> int:
    return max(0, int(textpage.count_chars()))


def words_of(textpage: pdfium.PdfTextPage, frame: PageFrame, *, page_rotation: int) -> PdfWords:
    """Every word of a page that holds no more than MAX_PAGE_CHARACTERS."""
    handle = address_of(textpage)
    count = min(count_characters(textpage), MAX_PAGE_CHARACTERS)
    codes = character_codes(handle, count)
    unknown = _are_unknown(codes)
    inked = np.flatnonzero(~(_are_spaces(codes) | unknown))
    if not len(inked):
        return _no_words(int(unknown.sum()))
    boxes = character_boxes(handle, count)
    starts = _word_starts(codes, boxes, inked)
    first_characters = inked[starts].tolist()
    return PdfWords(
        texts=_texts(codes[inked], starts),
        boxes=frame.see_boxes(_joined_boxes(boxes[inked], starts)),
        angles=(character_angles(handle, first_characters) + page_rotation) % 360,
        never_drawn=characters_never_drawn(handle, first_characters),
        colours=character_colours(handle, first_characters),
        unknown_characters=int(unknown.sum()),
    )


def _are_spaces(codes: NDArray[np.uint32]) -> NDArray[np.bool_]:
    spaces: NDArray[np.bool_] = _SPACE_TABLE[np.minimum(codes, _BEYOND_TABLES)]
    return spaces


def _are_unknown(codes: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Characters that mean nothing outside their own font: control codes, private use, no code at all."""
    unknown: NDArray[np.bool_] = _UNKNOWN_TABLE[np.minimum(codes, _BEYOND_TABLES)] | (codes >= _PRIVATE_PLANES)
    return unknown


def _mark_spaces() -> NDArray[np.bool_]:
    marks = np.zeros(_BEYOND_TABLES + 1, np.bool_)
    marks[_SPACES] = True
    return marks


def _mark_unknown() -> NDArray[np.bool_]:
    codes = np.arange(_BEYOND_TABLES + 1)
    control = (codes < 0x20) & ~_SPACE_TABLE & (codes != _LINE_BREAK_HYPHEN)
    control |= (codes >= 0x7F) & (codes < 0xA0) & (codes != 0x85)
    private = (codes >= 0xE000) & (codes <= 0xF8FF)
    marks: NDArray[np.bool_] = control | private | ((codes >= 0xFFF0) & (codes <= 0xFFFF))
    return marks


# Looked up, because comparing each character with each space takes numpy ten times as long.
_SPACE_TABLE = _mark_spaces()
_UNKNOWN_TABLE = _mark_unknown()


def _no_words(unknown_characters: int) -> PdfWords:
    nothing = np.zeros(0)
    return PdfWords(
        [], nothing.reshape(0, 4), nothing, nothing.astype(bool), nothing.reshape(0, 4).astype(np.uint32),
        unknown_characters,
    )  # fmt: skip


def _word_starts(codes: NDArray[np.uint32], boxes: NDArray[np.float64], inked: NDArray[np.int64]) -> NDArray[np.int64]:
    """Which of the inked characters begin a word: after a space, in another line, or far from the one before."""
    before, after = inked[:-1], inked[1:]
    gaps = _gaps(boxes[before], boxes[after])
    ends_line = (codes == _LINE_FEED) | (codes == _CARRIAGE_RETURN) | (codes == _LINE_BREAK_HYPHEN)
    lines_ended = np.cumsum(ends_line)
    in_another_line = lines_ended[after - 1] > lines_ended[before] - ends_line[before]
    after_space = (after - before > 1) & (gaps > _PULLED_BACK)
    return np.concatenate([[0], 1 + np.flatnonzero(in_another_line | after_space | (gaps > _TORN_APART))])


def _gaps(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    """The space between neighbours in heights of the font, whichever way the text runs."""
    low_before, high_before = _corners(before)
    low_after, high_after = _corners(after)
    space = _larger_side(np.maximum(low_after - high_before, low_before - high_after))
    height = _larger_side(np.maximum(high_before - low_before, high_after - low_after))
    gaps: NDArray[np.float64] = space / np.maximum(height, 1e-3)
    return gaps


def _larger_side(sides: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.maximum(sides[:, 0], sides[:, 1])


def _corners(boxes: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    pairs = boxes.reshape(-1, 2, 2)
    # Not min and max along an axis of two, which takes numpy ten times as long.
    return np.minimum(pairs[:, 0], pairs[:, 1]), np.maximum(pairs[:, 0], pairs[:, 1])


def _joined_boxes(boxes: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    low, high = _corners(boxes)
    return np.hstack([np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)])


def _texts(codes: NDArray[np.uint32], starts: NDArray[np.int64]) -> list[str]:
    codes = np.where((codes == _LINE_BREAK_HYPHEN) | (codes == _SOFT_HYPHEN), ord("-"), codes)
    text = codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    ends = [*starts[1:].tolist(), len(text)]
    words = [text[start:end] for start, end in zip(starts.tolist(), ends, strict=True)]
    return words if text.isascii() else [_composed(word) for word in words]


def _composed(word: str) -> str:
    """One character for each that is seen: pairs of surrogates and letters with their accents joined."""
    if word.isascii():
        return word
    paired = word.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    return unicodedata.normalize("NFC", paired.translate(_LIGATURES))
