"""Text brought into forms that can be compared. What is printed where is not known here."""

import re
import unicodedata
from functools import lru_cache

# Runs of letters or of digits: "DE123" is two, so that a number is found behind letters that were glued to it.
_PIECE = re.compile(r"[^\W\d_]+|\d+")
# What readers of pictures take for one another.
_CONFUSABLE = str.maketrans({"o": "0", "i": "1", "l": "1", "s": "5", "b": "8", "z": "2", "g": "6"})


def pieces(text: str) -> list[re.Match[str]]:
    """The runs of letters and of digits of a text, with their positions."""
    return list(_PIECE.finditer(text))


@lru_cache(maxsize=8192)
def fold_piece(piece: str) -> str:
    """Lower case without accents."""
    if piece.isascii():
        return piece.lower()
    bare = unicodedata.normalize("NFKD", piece.casefold())
    return "".join(character for character in bare if character.isalnum())


@lru_cache(maxsize=8192)
def skeleton(folded: str) -> str:
    """A folded piece with everything that readers confuse made equal."""
    return folded.replace("rn", "m").replace("vv", "w").translate(_CONFUSABLE)


def compact(text: str) -> str:
    """Letters and digits only, folded: two texts that differ in case, spaces and punctuation become one."""
    return "".join(fold_piece(match.group()) for match in pieces(text))


def within_distance(one: str, other: str, limit: int) -> int | None:
    """How many characters must change to make one text the other, or None when more than `limit`."""
    if one == other:
        return 0
    if abs(len(one) - len(other)) > limit:
        return None
    before = list(range(len(other) + 1))
    for row, character in enumerate(one, start=1):
        current = [row]
        for column, against in enumerate(other, start=1):
            step = before[column - 1] + (character != against)
            current.append(min(step, before[column] + 1, current[column - 1] + 1))
        if min(current) > limit:
            return None
        before = current
    return before[-1] if before[-1] <= limit else None
