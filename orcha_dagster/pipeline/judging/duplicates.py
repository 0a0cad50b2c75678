"""Was the same document read before: same seller, same number, same total."""

from collections.abc import Iterator

from orcha_dagster.domain.earlier_documents import DocumentIdentity
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.pipeline.evidence.agreement import same_value
from orcha_dagster.pipeline.evidence.amounts import to_decimal
from orcha_dagster.pipeline.judging.case import Case, Finding
from orcha_dagster.pipeline.matching.folding import compact

_SAME = ("number", "gross", "seller")
_MOST_CHARACTERS = 200  # of a number, to look it up by; an index takes no more than some thousand bytes
_MOST_DIGITS = 15  # of a total; beyond this no amount is meant


def identify(extraction: Extraction) -> DocumentIdentity | None:
    """What the document can be recognised by; None when not enough of it was found."""
    seller, number = ((extraction.find_value(name) or "").strip() for name in ("seller", "number"))
    gross = to_decimal(extraction.find_value("gross"))
    key = compact(number)
    if not seller or not key or gross is None or abs(gross.adjusted()) > _MOST_DIGITS:
        return None
    return DocumentIdentity(seller=seller, number=number, number_key=key[:_MOST_CHARACTERS], gross=gross)


def check_duplicates(case: Case) -> Iterator[Finding]:
    name = "duplicate_of_earlier"
    mine = identify(case.extraction)
    if mine is None:
        yield Finding(name, True, "not enough known to recognise an earlier document")
        return
    for earlier in case.earlier:
        is_same = earlier.gross == mine.gross and same_value("number", mine.number, earlier.number)
        if is_same and same_value("seller", mine.seller, earlier.seller):
            reason = f"same seller, number and total as ingestion {earlier.ingestion_id}"
            yield Finding(name, False, reason, fields=_SAME)
            return
    yield Finding(name, True, f"unlike {len(case.earlier)} earlier documents with this number and total")
