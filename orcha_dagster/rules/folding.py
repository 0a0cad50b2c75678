"""Text folded for comparing: lower case without accents, each character in its old place."""

import unicodedata


def fold(text: str) -> str:
    """Return the folded text, as long as the original, so that positions found in one hold in the other."""
    return "".join(_fold_character(character) for character in text)


def _fold_character(character: str) -> str:
    bare = unicodedata.normalize("NFKD", character)[0] if character not in "°ºª" else "°"
    return bare.lower()[0]
