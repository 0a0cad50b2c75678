"""Numbers in the words of a table row: signs and narrow spaces put together, codes left alone."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from orcha_dagster.rules.amounts import find_amounts
from orcha_dagster.rules.layout import PlacedWord

MAX_NUMBER = 10_000_000  # longer figures are codes of articles
_THOUSANDS = re.compile(r"[-−–]?\d{1,3}")
_HUNDREDS = re.compile(r"\d{3}(?:,\d{1,2})?")
_NUMBER = re.compile(r"[-−–]?(?:[€$£]|EUR|RM|CHF|USD|GBP)?[-−–]?\d[\d.,'’]*(?:[€$£%]|EUR|CHF)?-?", re.IGNORECASE)
_SIGNS = frozenset({"€", "$", "£", "%", "EUR", "USD", "CHF", "GBP", "RM", "-", "−"})


@dataclass(frozen=True)
class TableNumber:
    value: Decimal
    words: tuple[PlacedWord, ...]
    is_percent: bool
    has_cents: bool

    @property
    def left(self) -> float:
        return self.words[0].box.left

    @property
    def right(self) -> float:
        return self.words[-1].box.right


def group_words(words: Sequence[PlacedWord]) -> Iterator[list[PlacedWord]]:
    """Each word by itself, but signs with the number they belong to, and numbers put together again."""
    pending: list[PlacedWord] = []
    for word in words:
        if pending and _belongs(pending, word):
            pending.append(word)
        else:
            if pending:
                yield pending
            pending = [word]
    if pending:
        yield pending


def _belongs(pending: list[PlacedWord], word: PlacedWord) -> bool:
    is_number = _NUMBER.fullmatch(word.text) is not None
    if is_number and len(pending) == 1 and pending[0].text.upper() in _SIGNS:
        return True
    if word.text.upper() in _SIGNS and _NUMBER.fullmatch(pending[-1].text):
        return True
    return _goes_on(pending[-1], word)


def _goes_on(before: PlacedWord, word: PlacedWord) -> bool:
    """Thousands apart by a narrow space, as in French."""
    if not (_THOUSANDS.fullmatch(before.text) and _HUNDREDS.fullmatch(word.text)):
        return False
    character = (word.box.right - word.box.left) / len(word.text)
    return word.box.left - before.box.right < 1.5 * character


def read_number(group: list[PlacedWord]) -> TableNumber | None:
    text = "".join(word.text for word in group)
    if not _NUMBER.fullmatch(text):
        return None
    is_percent = text.endswith("%")
    amounts = find_amounts(text.rstrip("%"))
    if len(amounts) != 1 or abs(amounts[0].value) >= MAX_NUMBER:
        return None
    return TableNumber(
        amounts[0].value, tuple(group), is_percent, amounts[0].has_cents or amounts[0].currency is not None
    )
