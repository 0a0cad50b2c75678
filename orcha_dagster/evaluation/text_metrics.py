"""How near a reading comes to the truth. Pure functions on text; what is read and from where is not known here.

Before anything is compared, both texts are folded: compatible characters are the same (NFKC: "ﬁ" is "fi"), upper and
lower case are the same (many labels are in capitals only), and any white space is one space. Nothing else is forgiven:
0 is not O, a comma is not a point, and an accent counts.

- The **character error rate** is the least number of characters to insert, delete or replace, by the length of the
  truth. It depends on the order of the lines.
- **Word recall and precision** do not: words are compared as multisets, so a word that is printed twice must be read
  twice. A word is what stands between white space, without punctuation at its ends.
- A reader may join two words or split one while every character is right. **Recall without spacing** counts such a word
  as found: it then looks for the missing words within what is left of each line, with its spaces removed.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from orcha_dagster.domain.model import DomainModel

_AT_THE_ENDS = re.compile(r"^[\W_]+|[\W_]+$")
_AMOUNT_END = re.compile(r"[.,]\s*\d\d\s*$")
_CUT = "\0"  # in no folded text: stands where a word was taken out


class TextScore(DomainModel):
    character_error_rate: float  # 0 is perfect; above 1 when more is wrong than was there to read
    word_recall: float  # share of the truth's words that were read
    word_precision: float  # share of the words read that are in the truth
    recall_without_spacing: float
    words: int  # in the truth


def score_text(truth: str, reading: str) -> TextScore:
    expected, lines = words_of(truth), [words_of(line) for line in reading.splitlines()]
    read = [word for line in lines for word in line]
    found = sum((Counter(expected) & Counter(read)).values())
    return TextScore(
        character_error_rate=character_error_rate(truth, reading),
        word_recall=_share(found, len(expected)),
        word_precision=_share(found, len(read)) if read or not expected else 0.0,
        recall_without_spacing=_share(found + _count_joined(expected, lines), len(expected)),
        words=len(expected),
    )


def fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def words_of(text: str) -> list[str]:
    """What has no letter and no digit is no word: rules of a table, bullets, stray marks."""
    stripped = (_AT_THE_ENDS.sub("", word) for word in fold(text).split(" "))
    return [word for word in stripped if word]


def character_error_rate(truth: str, reading: str) -> float:
    expected = fold(truth)
    return edit_distance(expected, fold(reading)) / max(1, len(expected))


def edit_distance(left: str, right: str) -> int:
    """Insertions, deletions and replacements that turn one into the other.

    A column of the table of distances is held as the differences between its neighbours, one bit each, in two integers
    as long as the text (after Myers and Hyyrö). So 5,000 characters take milliseconds instead of a minute.
    """
    if not left or not right:
        return len(left) or len(right)
    places: dict[str, int] = {}
    for place, character in enumerate(left):
        places[character] = places.get(character, 0) | 1 << place
    all_ones = (1 << len(left)) - 1
    last = 1 << (len(left) - 1)
    distance = len(left)
    grows, shrinks = all_ones, 0  # where the distance is one more, or one less, than a row above
    for character in right:
        same = places.get(character, 0)
        diagonal = (((same & grows) + grows) ^ grows) | same | shrinks
        grows_across = shrinks | (~(diagonal | grows) & all_ones)
        shrinks_across = grows & diagonal
        distance += bool(grows_across & last) - bool(shrinks_across & last)
        grows_across = (grows_across << 1 | 1) & all_ones
        shrinks_across = (shrinks_across << 1) & all_ones
        grows = shrinks_across | (~(diagonal | grows_across) & all_ones)
        shrinks = grows_across & diagonal
    return distance


def is_printed(value: str, text: str) -> bool:
    """Does the text hold the value, whatever the case and the spacing?

    An amount never as a part of a longer number: 9.00 is neither in 19.00 nor in 1,239.00 nor in 9.005. A date may
    touch the time of day that follows it.
    """
    characters = [re.escape(character) for character in fold(value) if character != " "]
    if not characters:
        return False
    pattern = r"\s*".join(characters)
    if _AMOUNT_END.search(value):
        before = r"(?<!\d)(?<!\d[.,])" if characters[0].isdigit() else ""
        pattern = f"{before}{pattern}(?![.,]?\\d)"
    return re.search(pattern, fold(text)) is not None


def _count_joined(expected: Sequence[str], lines: Sequence[Sequence[str]]) -> int:
    """Words of the truth that are not among those read but lie within what is left of a line, its spaces removed."""
    missing = Counter(expected) - Counter(word for line in lines for word in line)
    to_spend = Counter(expected)
    rest = [_join_rest(line, to_spend) for line in lines]
    found = 0
    # The longest first: a short word may lie within a longer one that is missing as well.
    for word in sorted(missing.elements(), key=len, reverse=True):
        for index, line in enumerate(rest):
            if word in line:
                rest[index] = line.replace(word, _CUT, 1)
                found += 1
                break
    return found


def _join_rest(line: Sequence[str], to_spend: Counter[str]) -> str:
    """The line without spaces; a word that the truth has, too, is spent and leaves a gap that nothing reaches over."""
    parts = []
    for word in line:
        spent = to_spend[word] > 0
        to_spend[word] -= spent
        parts.append(_CUT if spent else word)
    return "".join(parts)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
