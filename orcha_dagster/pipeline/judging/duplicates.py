"""Was the same document read before: same seller, same number, same total."""

from collections.abc import Iterator

from orcha_dagster.pipeline.evidence.agreement import same_value
from orcha_dagster.pipeline.judging.case import Case, Finding

_SAME = ("number", "gross", "seller")


def check_duplicates(case: Case) -> Iterator[Finding]:
    name = "duplicate_of_earlier"
    values = {each: case.extraction.find_value(each) for each in _SAME}
    if not all(values.values()):
        yield Finding(name, True, "not enough known to recognise an earlier document")
        return
    for earlier in case.earlier:
        theirs = {"number": earlier.number, "gross": earlier.gross, "seller": earlier.seller}
        if all(same_value(each, values[each] or "", theirs[each]) for each in _SAME):
            yield Finding(name, False, f"same seller, number and total as ingestion {earlier.ingestion_id}",
                          fields=_SAME)  # fmt: skip
            return
    yield Finding(name, True, f"unlike {len(case.earlier)} earlier documents")
