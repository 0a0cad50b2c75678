"""What an inspection found on the pages, in a file for whoever reads them next: finding it takes most of the time.

Another worker may read than inspected, so it is a file and not memory. It belongs into the folder of the ingestion,
lives as long as that, and nobody depends on it: without it pages are opened anew.
"""

import contextlib
import pickle
from pathlib import Path
from typing import NamedTuple

from orcha_dagster.adapters.pdf.words import PdfWords

# About a hundred pages, 2 MB. Whoever reads one of the pages that were inspected together loads all of them.
MAX_WORDS = 20_000


class PageText(NamedTuple):
    words: PdfWords  # those that a reader sees
    aspect: float  # the page's width by its height


class TextKeeper:
    """Takes page after page, from the first that has text until there is no more room; the rest is not kept."""

    def __init__(self) -> None:
        self._pages: dict[int, PageText] = {}
        self._room = MAX_WORDS

    def take(self, number: int, text: PageText) -> None:
        self._room -= len(text.words)
        if self._room >= 0:
            self._pages[number] = text

    def write(self, document: Path, kept: Path) -> None:
        """Nothing happens when there is no text, or no room on the disk."""
        if not self._pages:
            return
        part = kept.with_name(f"{kept.name}.part")
        with contextlib.suppress(OSError):
            part.write_bytes(pickle.dumps((_version_of(document), self._pages)))
            part.replace(kept)  # at once, so that nobody meets half of it


def load_text(document: Path, kept: Path) -> dict[int, PageText]:
    """By page number. Empty when nothing was kept, or of another version of the document."""
    try:
        content = kept.read_bytes()
        now = _version_of(document)
    except OSError:
        return {}
    version, pages = pickle.loads(content)  # noqa: S301  (written by a worker of ours)
    return pages if version == now else {}


def _version_of(document: Path) -> tuple[int, int, int]:
    status = document.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns
