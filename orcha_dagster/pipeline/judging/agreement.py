"""Do the extractors that read the same document agree."""

from collections.abc import Iterator

from orcha_dagster.pipeline.confidence import is_exact_source
from orcha_dagster.pipeline.evidence.agreement import same_value
from orcha_dagster.pipeline.judging.case import Case, Finding

# Who is paid how much. Whoever reads what a page says to readers, and not what it says, errs here first.
MONEY = ("net", "tax", "gross", "amount_due", "iban")
# What the printed page of an e-invoice must not say otherwise than its data.
COMPARED_OF_AN_EINVOICE = ("number", "issue_date", "net", "tax", "gross", "amount_due")
# Names are written in many ways and found by weaker rules: a difference lowers their confidence, but decides nothing.
_NAMES = frozenset({"seller", "buyer"})


def check_agreement(case: Case) -> Iterator[Finding]:
    name, extraction = "extractor_agreement", case.extraction
    read = tuple(dict.fromkeys((*case.schema.critical_fields, *MONEY)))
    wanted = COMPARED_OF_AN_EINVOICE if is_exact_source(extraction) else read
    compared, different = 0, {}
    for witness in extraction.witnesses:
        for each in wanted:
            mine, theirs = extraction.find_value(each), witness.values.get(each)
            if not mine or not theirs or each in _NAMES:
                continue
            compared += 1
            if not same_value(each, mine, theirs):
                different[each] = f"{each}: {extraction.extractor} says {mine}, {witness.extractor} says {theirs}"
    if not compared:
        yield Finding(name, True, "no other extractor to compare with")
    elif different:
        share = 1 - len(different) / compared
        yield Finding(name, False, "; ".join(different.values()), round(share, 4), tuple(different))
    else:
        yield Finding(name, True, f"{compared} values found alike", 1.0)
