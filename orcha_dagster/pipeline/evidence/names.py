"""What speaks for a text being the whole name of a company, and what speaks against it."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from orcha_dagster.domain.transcriptions import Transcription, Word
from orcha_dagster.pipeline.matching.folding import compact
from orcha_dagster.rules import labels
from orcha_dagster.rules.folding import fold

TOP_ROWS = 8  # of the first page; the name of a seller stands in one of them
SAME_BEGINNING = 8  # characters; a name may go on in the next row
# A name is checked against nothing else on the page: one letter that its reader hesitated about may be another one.
DOUBTFUL_WORD = 0.96
SHORTEST_WORD = 3  # shorter ones are legal forms and initials, which rules put right
LONGEST_TAIL = 3  # letters and digits behind the legal form; more was not part of the name
_TRADE = re.compile(
    r"(?<![a-z])(?:trading|enterprises?|restaurant|restoran|ristorante|cafe|coffee|bakery|bakeries|backerei|"
    r"boulangerie|hotel|market|supermarkt|supermarche|hypermarket|mart|store|shop|stationery|hardware|electrical|"
    r"pharmacy|apotheke|pharmacie|bookstore|books|clinic|klinik|services|solutions|group|holdings?|company|kedai|"
    r"deli|delicatessen|grocery|groceries|diner|bistro|pizzeria|kiosk|florist|salon|"
    r"supplies|industries|garage|autohaus|werkzeuge|atelier|ateliers|mobilier|verlag|versicherung|foods|motors?)(?![a-z])"
)
_NO_NAME = re.compile(
    r"[:#@?\[\]{}|\\]|[a-z]\d+[a-z]|[a-z]{2}[0158](?![a-z\d])|\d$|"
    r"thank|welcome|visit us|\.(?:com|net|org|de|fr|my)(?![a-z])|"
    r"(?<![a-z])(?:no|nr|tel|fax|date|datum)[.:]"
)
_BRACKET_FOR_I = re.compile(r"(?<=[a-z])[\[|](?=[a-z\s]|$)")
_DOMAIN = re.compile(r"(?:www\.|@|https?://(?:www\.)?)([a-z0-9\-]{3,})\.")


class NameEvidence(NamedTuple):
    speaking_for: int
    speaking_against: int


def weigh_name(name: str, transcription: Transcription) -> NameEvidence:
    folded = fold(name)
    form_ends_at = find_legal_form(folded)
    has_trade = _TRADE.search(folded) is not None
    speaking_for = (form_ends_at is not None) + has_trade + _is_in_an_address_of_the_net(name, transcription)
    rows = _rows_at_top(transcription)
    if form_ends_at is not None:
        against = len(compact(name[form_ends_at:])) > LONGEST_TAIL or _stands_under_a_company(name, rows)
    else:
        is_address = labels.ADDRESS_WORDS.search(folded) is not None
        against = is_address or _continues(name, rows) or (not has_trade and _is_outranked(name, rows))
    against = against or _was_corrected(name, rows)
    return NameEvidence(speaking_for, against + (_NO_NAME.search(folded) is not None))


def has_doubtful_word(name: str, words: Iterable[Word]) -> bool:
    """Whether one of the words that make the name its own was read with hesitation; those of a trade are known."""
    own = _TRADE.sub(" ", labels.COMPANY_ENDINGS.sub(" ", fold(name)))
    mine = {compact(word) for word in own.split()}
    return any(
        word.confidence < DOUBTFUL_WORD and len(compact(word.text)) >= SHORTEST_WORD and compact(word.text) in mine
        for word in words
    )


def find_legal_form(folded: str) -> int | None:
    """Where the legal form ends: in "acme ltd" it is one; "kg" may begin a village and "sa" a number."""
    ends = [
        match.end()
        for match in labels.COMPANY_ENDINGS.finditer(folded)
        if match.start() > 2 and not folded[match.end() : match.end() + 1].isdigit()
    ]
    return ends[-1] if ends else None


def _is_in_an_address_of_the_net(name: str, transcription: Transcription) -> bool:
    wanted = compact(name)
    domains = {compact(domain) for domain in _DOMAIN.findall(fold(transcription.text))}
    return any(len(domain) >= 4 and (wanted in domain or (domain in wanted and 2 * len(domain) > len(wanted)))
               for domain in domains)  # fmt: skip


def _rows_at_top(transcription: Transcription) -> list[str]:
    return [" ".join(line.text for line in row) for page in transcription.pages[:1] for row in page.rows[:TOP_ROWS]]


def _was_corrected(name: str, rows: Sequence[str]) -> bool:
    """An I of the name was read as a bracket: a good guess, but where one letter was misread others may be."""
    wanted = compact(name)
    return any(
        wanted in compact(_BRACKET_FOR_I.sub("i", fold(row))) and wanted not in compact(row)
        for row in rows
        if "[" in row or "|" in row
    )


def _stands_under_a_company(name: str, rows: Sequence[str]) -> bool:
    """Of two companies the seller is the upper one more often than not."""
    wanted = compact(name)
    for row in rows:
        beginning = compact(row)[:SAME_BEGINNING]
        if wanted in compact(row) or (beginning and wanted.startswith(beginning)):
            return False
        if find_legal_form(fold(row)) is not None:
            return True
    return False


def _is_outranked(name: str, rows: Sequence[str]) -> bool:
    """Another line at the top looks more like a company than the name does."""
    wanted = compact(name)
    return any(
        wanted not in compact(row) and (find_legal_form(fold(row)) is not None or _TRADE.search(fold(row)) is not None)
        for row in rows
    )


def _continues(name: str, rows: Sequence[str]) -> bool:
    """The next line could be more of the name: words only, and neither an address nor a heading."""
    wanted = compact(name)
    for number, row in enumerate(rows[:-1]):
        if wanted in compact(row) or (compact(row) and wanted.endswith(compact(row))):
            below = fold(rows[number + 1])
            return (
                sum(map(str.isalpha, below)) >= 4
                and not any(map(str.isdigit, below))
                and "," not in below
                and labels.ADDRESS_WORDS.search(below) is None
                and labels.NOT_A_NAME.match(below) is None
            )
    return False
