"""Whether the text of a layer can be what the page shows. Judges characters only; the page itself is in `page_look`.

A font without a usable table of characters gives text that is wrong in one of a few ways: codes that mean nothing,
letters exchanged for others, signs instead of letters, or two signs for each letter with an accent. Numbers, codes
and names are no prose, so a page is only called garbled on evidence, never for lack of it.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from operator import add

MAX_UNKNOWN_SHARE = 0.1
MAX_SIGN_SHARE = 0.6  # of what is neither letter nor digit; a page of formulas stays below
MAX_MOJIBAKE_SHARE = 0.02  # of the words; one name broken by its sender is no reason to distrust a page
MIN_MOJIBAKE_WORDS = 3

# A page is judged by its pairs of letters from so many on; fewer may be a few names and codes.
MIN_PAIRS = 50
# Measured on prose in 14 languages, invoices in three and receipts: 0.50 to 0.85. The same texts with their letters
# exchanged or shifted: 0.05 to 0.45, and one in two hundred of the shortest above.
MIN_FREQUENT_SHARE = 0.45

_MAX_WORDS_JUDGED = 2_000  # enough to know, however long the page is

# Of all 676 pairs, the 130 that are most frequent in languages written with Latin letters; accents are left out.
_FOLLOWED_BY = {
    "a": "bcdgiklmnprstu", "b": "el", "c": "aehiot", "d": "aeio", "e": "cdegiklmnrst", "f": "io", "g": "e",
    "h": "aei", "i": "acdegklmnorstv", "k": "aeo", "l": "aeilotu", "m": "aeiop", "n": "adeginost", "o": "cdlmnprstu",
    "p": "aelor", "r": "adeimost", "s": "aceiost", "t": "aehiortu", "u": "elmnrst", "v": "ae", "z": "e",
}  # fmt: skip
_FREQUENT_PAIRS = frozenset(first + second for first, seconds in _FOLLOWED_BY.items() for second in seconds)

_LETTERS_OF_THEIR_OWN = str.maketrans({"ß": "ss", "ø": "o", "ł": "l", "æ": "ae", "œ": "oe", "ı": "i", "đ": "d"})
_DIGIT = re.compile(r"\d")
_LATIN_RUN = re.compile(r"[a-z\u00df-\u024f]{2,}")
# UTF-8 read as if it were Windows-1252: Â, Ã, Ä or Å and then a sign, or the beginning of a dash, quote or euro.
_MOJIBAKE = re.compile(
    "[\u00c2-\u00c5][\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013-\u203a\u20ac\u2122]"
    "|\u00e2[\u20ac\u201a\u0080]"
)
_REPEATED_SIGN = re.compile(r"([\W_])\1+")  # the dots of a table of contents, the lines of a form


def is_garbled(words: Sequence[str], *, unknown_characters: int) -> bool:
    """Whether the words of a page, in any order, cannot be what a person wrote."""
    words = words[:_MAX_WORDS_JUDGED]
    characters = sum(map(len, words))
    if unknown_characters > MAX_UNKNOWN_SHARE * (characters + unknown_characters):
        return True
    return _is_symbol_soup(words) or _is_mojibake(words) or not _has_letters_of_a_language(words)


def _is_symbol_soup(words: Sequence[str]) -> bool:
    text = _REPEATED_SIGN.sub(r"\1", "".join(words))
    signs = len(text) - sum(map(str.isalnum, text))
    return signs > MAX_SIGN_SHARE * len(text)


def _is_mojibake(words: Sequence[str]) -> bool:
    broken = sum(_MOJIBAKE.search(word) is not None for word in words if not word.isascii())
    return broken >= MIN_MOJIBAKE_WORDS and broken > MAX_MOJIBAKE_SHARE * len(words)


def _has_letters_of_a_language(words: Sequence[str]) -> bool:
    pairs = list(_pairs(words))
    frequent = sum(map(_FREQUENT_PAIRS.__contains__, pairs))
    return len(pairs) < MIN_PAIRS or frequent >= MIN_FREQUENT_SHARE * len(pairs)


def _pairs(words: Sequence[str]) -> Iterator[str]:
    """Neighbouring Latin letters in the different words of a page: a table says the same few again and again.

    Codes mix letters with digits and are no words. Other alphabets are not judged.
    """
    text = " ".join({word.lower() for word in words if not _DIGIT.search(word)})
    for run in _LATIN_RUN.findall(_without_accents(text)):
        yield from map(add, run, run[1:])


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    taken_apart = unicodedata.normalize("NFD", text.translate(_LETTERS_OF_THEIR_OWN))
    return "".join(character for character in taken_apart if not unicodedata.combining(character))
