"""The figures that Orcha wants to reach, and whether these documents reach them.

A target that needs documents or an extractor that were not there is not measured, which is neither.
"""

from collections.abc import Iterable, Sequence

from orcha_dagster.domain.model import DomainModel
from orcha_dagster.evaluation.chances import Interval, wilson_interval
from orcha_dagster.evaluation.extraction_scores import End, ExtractionScore
from orcha_dagster.evaluation.field_matching import Match
from orcha_dagster.evaluation.figures import RulesSpeed

RULES = "rules"
E_INVOICE = "e-invoice"
MAX_MILLISECONDS = 20.0
MAX_ACCEPTED_WRONG = 0.02
_RULES_FIELDS = ("number", "issue_date", "gross")
_RECEIPT_FIELDS = (("issue_date", 0.93), ("gross", 0.90), ("seller", 0.75))


class Target(DomainModel):
    name: str
    wanted: str
    value: float | None  # None: not measured
    measured: str  # in words
    reached: bool | None
    interval: Interval | None = None  # 95 %, of shares


def check_targets(scores: Sequence[ExtractionScore], speed: RulesSpeed | None) -> tuple[Target, ...]:
    receipts = [one for one in scores if one.expected_schema == "receipt"]
    return (
        _share("e-invoices: all fields, by their XML", 1.0, _einvoice_fields(scores)),
        *(
            _share(f"the same pages by rules alone: {name}", 0.85, _rules_on_invoices(scores, name))
            for name in _RULES_FIELDS
        ),
        *(_share(f"receipts: {name}", wanted, _field_of(receipts, name)) for name, wanted in _RECEIPT_FIELDS),
        _accepted_wrong(scores),
        _acceptance(scores),
        _speed(speed),
    )


def _einvoice_fields(scores: Iterable[ExtractionScore]) -> list[bool]:
    """Fields and rows of documents that were extracted from their XML, and of those that should have been."""
    return [
        match.is_right
        for one in scores
        if one.extractor == E_INVOICE or (_is_einvoice(one) and one.extractor != RULES)
        for match in (
            *(field.match for field in one.fields),
            *(row.match for table in one.tables.values() for row in table.rows),
        )
    ]


def _rules_on_invoices(scores: Iterable[ExtractionScore], name: str) -> list[bool]:
    """By the rules themselves, or by what they said as a witness beside the XML."""
    found: list[Match] = []
    for one in scores:
        if not _is_einvoice(one):
            continue
        if one.extractor == RULES:
            found += [field.match for field in one.fields if field.name == name]
        elif name in one.witnesses.get(RULES, {}):
            found.append(one.witnesses[RULES][name])
    return [match.is_right for match in found]


def _is_einvoice(one: ExtractionScore) -> bool:
    return one.extractor == E_INVOICE or one.kind.startswith("einvoice")


def _field_of(scores: Iterable[ExtractionScore], name: str) -> list[bool]:
    return [field.match.is_right for one in scores for field in one.fields if field.name == name]


def _accepted_wrong(scores: Sequence[ExtractionScore]) -> Target:
    accepted = [one.end is End.ACCEPTED_WRONG for one in scores if one.end in (End.ACCEPTED_RIGHT, End.ACCEPTED_WRONG)]
    return _share("accepted but wrong, of the accepted", MAX_ACCEPTED_WRONG, accepted, at_most=True)


def _acceptance(scores: Sequence[ExtractionScore]) -> Target:
    ends = [one.end in (End.ACCEPTED_RIGHT, End.ACCEPTED_WRONG) for one in scores if one.end is not None]
    return _share("accepted, of all", 0.5, ends)


def _speed(speed: RulesSpeed | None) -> Target:
    name, wanted = "rules and verdict", f"< {MAX_MILLISECONDS:g} ms/page"
    if speed is None:
        return Target(name=name, wanted=wanted, value=None, measured="not measured", reached=None)
    words = f"{speed.mean:.1f} ms/page"
    return Target(name=name, wanted=wanted, value=speed.mean, measured=words, reached=speed.mean < MAX_MILLISECONDS)


def _share(
    name: str,
    wanted: float,
    hits: Sequence[bool],
    *,
    at_most: bool = False,
) -> Target:
    words = f"{'≤' if at_most else '≥'} {100 * wanted:g} %"
    if not hits:
        return Target(name=name, wanted=words, value=None, measured="not measured", reached=None)
    value = sum(hits) / len(hits)
    return Target(
        name=name,
        wanted=words,
        value=value,
        measured=f"{100 * value:.1f} % ({sum(hits)} of {len(hits)})",
        reached=value <= wanted if at_most else value >= wanted,
        interval=wilson_interval(sum(hits), len(hits)),
    )
