"""What can be the name of somebody, and what of a line is it. Whose name it is: see `parties`."""

import re

from orcha_dagster.rules import labels
from orcha_dagster.rules.dates import find_dates
from orcha_dagster.rules.folding import fold

# German letters repeat the sender in one small line above the address: "Firma · Straße 1 · 12345 Ort".
_SENDER_LINE = re.compile(r"\s+[·•●|\-–—∙*]\s+|\s*[·•●∙|]\s*|,\s")
_POSTCODE = re.compile(
    r"(?:[A-Z]{1,3}[ -])?\d{4,5}\s*[A-ZÀ-Ý][A-Za-zÀ-ÿ]|.*\b[A-Z]{2},?\s+\d{5}(?:-\d{4})?$|"
    r".*\b[A-Z]{1,2}\d[\dA-Z]?\s?\d[A-Z]{2}$"
)
_CONTACT = re.compile(r"@|www\.|https?:|\+?\d[\d\s()/\-]{6,}\d")
# Numbers of registers, which are printed behind names: "(1234567-X)", "Co. No: 12345-K", "(Reg. 99)".
_REGISTERED = re.compile(
    r"\s*[(\[{]?\s*(?:co(?:mpany)?\.?\s*)?(?:reg(?:istration)?\.?|roc|ssm|gst|hrb|rcs|siret?)?\s*(?:no|nr)?\.?\s*[:#]?\s*"
    r"[(\[{]?\s*(?:[a-z]{1,3}[ -]?)?\d[\d ]{3,}\s?-?\s?[a-z]?\s*[)\]}]?\s*$|\s*[(\[]\s*(?:co|reg|gst)[^)\]]*[)\]]?\s*$",
    re.IGNORECASE,
)
_REGISTER_NUMBER = re.compile(r"\(\s*(?:co[^()]*?)?\d[\d ]{3,}\s?-?\s?[A-Z]\s*\)", re.IGNORECASE)
# Legal forms whose letters OCR takes for digits.
_MISREAD_ENDING = re.compile(r"(?<=\s)(?:5/[8B]|S/8|5DN\.? ?[B8]H[DO0]|SDN\.? ?(?:8H[DO0]|BH[O0]))$")
# Till or shop numbers before a name; "99" and "1001" may begin one.
_NUMBER_BEFORE = re.compile(r"^\s*(?:#\s?\d+|0\d{2,}|\d{6,})[\s:\-]+(?=[^\W\d]{2})")
# In capitals OCR takes an I for a bracket; one that is closed is a bracket.
_MISREAD_I = re.compile(r"(?<=[A-Z])[\[|](?=[A-Z\s]|$)(?![^\[]*\])")
_FORMERLY = re.compile(r"\s*[(,]?\s*\b(?:f\.?k\.?a|formerly|vormals|anciennement|dahulunya)\b.*$", re.IGNORECASE)
# A branch below the name of its company: "(Jalan Klang Lama)", but not "(Reg. …)", "(formerly …)" or "(Tax invoice)".
_BRANCH_IN_BRACKETS = re.compile(
    r"[(\[]\s*(?!(?:co|company|reg|roc|gst|sst|tax|no|formerly|f\.?k\.?a|incorporated|invoice|receipt|copy|duplicate)\b)"
    r"[a-z][a-z .&'\-]{2,40}[)\]]"
)
_LEADING_MARKS = re.compile(r"^[^a-z0-9]+")
_MARKS = " ,:;·•●|-*_~'\"<>="
_TITLE_BEHIND = re.compile(r"\s+(?:tax\s+)?(?:invoice|rechnung|facture|receipt)\s*$", re.IGNORECASE)


def clean_name(text: str) -> str:
    """The name in a line: without the address behind it, register numbers, titles and marks."""
    name = _NUMBER_BEFORE.sub("", _first_part(text))
    if _is_title(name):
        return name.strip(_MARKS)  # whole: what is left of a title without its last word would look like a name
    for pattern in (_FORMERLY, _REGISTERED, _TITLE_BEHIND):
        shorter = pattern.sub("", name)
        if sum(map(str.isalpha, shorter)) >= 3:
            name = shorter
    name = _without_branch(_MISREAD_I.sub("I", name).strip(_MARKS))
    return _MISREAD_ENDING.sub(_correct_ending, name)


def _without_branch(name: str) -> str:
    folded = fold(name)
    endings = list(labels.COMPANY_ENDINGS.finditer(folded))
    is_branch = bool(endings) and endings[-1].start() > 2 and labels.BRANCH_WORDS.search(folded, endings[-1].end())
    return name[: endings[-1].end()] if is_branch else name


def _is_title(text: str) -> bool:
    """It begins with a word that begins no name, be there marks before it or not."""
    return labels.NOT_A_NAME.match(_LEADING_MARKS.sub("", fold(text))) is not None


def _correct_ending(match: re.Match[str]) -> str:
    return "S/B" if "/" in match.group() else "SDN BHD"


def is_registered(text: str) -> bool:
    """The number of a register stands in brackets behind the name."""
    return _REGISTER_NUMBER.search(text) is not None


def is_sender_line(text: str) -> bool:
    return _first_part(text) != text.strip(" ,·•●|-")


def is_postcode_line(text: str) -> bool:
    return _POSTCODE.match(text) is not None and not re.search(r"[·•●∙|]|\s[-–—]\s", text)


def is_address_or_contact(text: str) -> bool:
    """A line that stands under a name: street, town, telephone, register."""
    folded = fold(text)
    return (
        labels.ADDRESS_WORDS.search(folded) is not None
        or is_postcode_line(text)
        or re.match(r"(?:no\.?\s?)?\d+[a-z]?[,.\s-]+[a-z]", folded) is not None
        or re.match(r"\(?(?:tel|fax|phone|co\.? ?reg|company|gst|reg|roc)\b", folded) is not None
        or re.fullmatch(r"\(?[\d\s]{5,}-\s?[a-z]\)?", folded) is not None
    )


def is_name(text: str) -> bool:
    folded = fold(text)
    letters = sum(character.isalpha() for character in text)
    return (
        letters >= 3
        and letters >= 0.55 * len(text.replace(" ", ""))
        and len(text) <= 70
        and not _is_title(text)
        and not labels.COURTESIES.search(folded)
        and not labels.TILL_NUMBER.match(folded)
        and not (labels.PLACE_LINES.match(folded) and not has_company_ending(text))
        and not (labels.ADDRESS_WORDS.search(folded) and re.search(r"\d", text))
        and not _CONTACT.search(text)
        and not find_dates(text)
        and not re.match(r"[a-z]{0,2}-?\d{4,5}\s", folded)
        and not text.rstrip().endswith(":")
        and not _is_sentence(text)
    )


def _is_sentence(text: str) -> bool:
    """Names are in capitals, or have few small words between large ones."""
    return sum(word[:1].islower() for word in text.split()) > 3


def has_company_ending(text: str) -> bool:
    return labels.COMPANY_ENDINGS.search(fold(text)) is not None


def continues_name(text: str) -> bool:
    """Nothing but the legal form and words of trade, so that it must be the end of the name above."""
    rest = labels.TRADE_WORDS.sub("", labels.COMPANY_ENDINGS.sub("", fold(text)))
    return has_company_ending(text) and sum(map(str.isalpha, rest)) < 3


def is_branch_in_brackets(text: str) -> bool:
    """A line of nothing but words in brackets: printed below a company, it is part of its name."""
    return _BRANCH_IN_BRACKETS.fullmatch(fold(text).strip()) is not None


def compact(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", fold(text))


def _first_part(text: str) -> str:
    """The name in a sender line, or the whole text when it is not one."""
    parts = _SENDER_LINE.split(text.strip())
    has_address = len(parts) > 2 or any(re.search(r"\d{4,5}", part) for part in parts[1:])
    return (parts[0] if has_address and not has_company_ending(" ".join(parts[1:2])) else text).strip(" ,·•●|-")
