"""Long documents in pieces: which pages go into one request, and how a page is printed into it row by row."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from orcha_dagster.domain.transcriptions import Line, TranscribedPage, Transcription

_COLUMNS = 110  # characters across a page: what stands in one column of the page stays in one column of the text
# Invisible characters, private ones and halves of characters: nothing is printed there, but a model would read them.
_UNPRINTED = {"Cf", "Co", "Cs", "Cn"}


@dataclass(frozen=True)
class Window:
    """Consecutive pages that are asked about together."""

    pages: tuple[TranscribedPage, ...]
    pages_in_all: int

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(page.page for page in self.pages)

    @property
    def is_single(self) -> bool:
        return len(self.pages) == 1

    @cached_property
    def rows(self) -> dict[int, tuple[tuple[Line, ...], ...]]:
        """The printed rows by page. Kept: a page sorts its lines anew whenever it is asked for its rows."""
        return {page.page: page.rows for page in self.pages}

    def find_row(self, page: int, row: int) -> tuple[Line, ...]:
        """The lines of a printed row, counted from 1; empty when there is none."""
        rows = self.rows.get(page, ())
        return rows[row - 1] if 1 <= row <= len(rows) else ()

    def halves(self) -> tuple["Window", "Window"]:
        """When an answer was cut off. They do not overlap, so that every page is at last asked about by itself."""
        middle = (len(self.pages) + 1) // 2
        return Window(self.pages[:middle], self.pages_in_all), Window(self.pages[middle:], self.pages_in_all)


def plan_windows(transcription: Transcription, *, window_pages: int) -> tuple[Window, ...]:
    """Each begins with the last page of the one before: a table that goes on keeps its heading and its broken row.

    Pages without text are left out. No window for a document without any.
    """
    pages = [page for page in transcription.pages if any(printed(line.text) for line in page.lines)]
    if not pages:
        return ()
    step = max(1, window_pages - 1) if window_pages > 1 else 1
    starts = range(0, max(1, len(pages) - (window_pages - step)), step)
    return tuple(Window(tuple(pages[start : start + window_pages]), len(transcription.pages)) for start in starts)


def printed(text: str) -> str:
    """On one line and without what cannot be seen."""
    seen = (" " if unicodedata.category(char) == "Cc" else char for char in text)
    return " ".join("".join(char for char in seen if unicodedata.category(char) not in _UNPRINTED).split())


def layout(row: Sequence[Line]) -> str:
    """A row with its parts at the places where the page has them; at least two spaces lie between two parts."""
    text = ""
    for line in row:
        part = printed(line.text)
        if part:
            gap = max(2 if text else 0, round(line.box.left * _COLUMNS) - len(text))
            text += " " * gap + part
    return text
