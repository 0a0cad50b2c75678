"""Text folded for comparing: lower case without accents, each character in its old place."""

import unicodedata


class _Folded(dict[int, str]):
    """Foldings by code point, each worked out once."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        bare = unicodedata.normalize("NFKD", character)[0] if character not in "°ºª" else "°"
        self[code] = bare.lower()[0]
        return self[code]


_FOLDED = _Folded()


def fold(text: str) -> str:
    """Return the folded text, as long as the original, so that positions found in one hold in the other."""
    return text.lower() if text.isascii() else text.translate(_FOLDED)
