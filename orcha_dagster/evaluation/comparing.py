"""This evaluation beside an earlier one of the same documents: better, worse, or nobody can tell.

Documents are paired by their path and bytes. Of each pair only a change counts: right now and wrong before, or the
other way. If all changes were chance, both ways would be equally likely; a two-sided sign test below 5 % says that they
are not. Whole documents are compared by how many of their fields are right, because fields of one document go together.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.domain.model import DomainModel
from orcha_dagster.domain.verdicts import Outcome
from orcha_dagster.evaluation.chances import sign_test
from orcha_dagster.evaluation.extraction_scores import ExtractionScore
from orcha_dagster.evaluation.field_matching import Match

SIGNIFICANT = 0.05


class Change(StrEnum):
    BETTER = "better"
    WORSE = "worse"
    INCONCLUSIVE = "inconclusive"


class Paired(DomainModel):
    """One figure over the documents that both evaluations have."""

    documents: int
    before: float  # share that was right, or the mean of what was counted
    now: float
    better: int  # documents
    worse: int
    chance: float  # of so uneven a split, were there no difference
    change: Change


class Comparison(DomainModel):
    paired: int
    only_now: int
    only_before: int
    fields: dict[str, Paired]
    tables: dict[str, Paired]  # right rows of a document
    right_fields: Paired  # of a document
    right_documents: Paired  # every critical field right
    accepted_wrong: Paired  # being accepted though wrong; fewer are better


class _OldField(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str
    match: Match


class _OldRow(BaseModel):
    model_config = ConfigDict(extra="ignore")

    match: Match


class _OldTable(BaseModel):
    model_config = ConfigDict(extra="ignore")

    rows: tuple[_OldRow, ...]


class _OldDocument(BaseModel):
    """What is needed of an earlier score, so that reports of older versions can still be compared with."""

    model_config = ConfigDict(extra="ignore")

    path: str
    sha256: str | None = None
    fields: tuple[_OldField, ...] = ()
    tables: dict[str, _OldTable] = Field(default_factory=dict)
    is_right: bool | None = None
    outcome: Outcome | None = None


class Baseline(BaseModel):
    model_config = ConfigDict(extra="ignore")

    documents: tuple[_OldDocument, ...]


Scored = ExtractionScore | _OldDocument
Pair = tuple[_OldDocument, ExtractionScore]  # before and now


def load_baseline(file: Path) -> Baseline:
    try:
        return Baseline.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise ConfigurationError(
            f"{file} is not a report of `orcha evaluate extraction`.", remedy="Give a file that --json wrote."
        ) from error


def compare(baseline: Baseline, scores: Sequence[ExtractionScore]) -> Comparison:
    """Raises ConfigurationError when no document is in both."""
    before = {one.path: one for one in baseline.documents}
    pairs = [(before[one.path], one) for one in scores if one.path in before and _is_same(before[one.path], one)]
    if not pairs:
        raise ConfigurationError(
            "No document is in both evaluations.", remedy="Give a baseline that was made from the same folder."
        )
    names = dict.fromkeys(field.name for _, now in pairs for field in now.fields)
    return Comparison(
        paired=len(pairs),
        only_now=len(scores) - len(pairs),
        only_before=len(before) - len(pairs),
        fields={name: paired for name in names if (paired := _compare_field(name, pairs)) is not None},
        tables={name: _compare_table(name, pairs) for name in _names_of_tables(pairs)},
        right_fields=_paired(_count_right_fields(before, now) for before, now in pairs),
        right_documents=_paired(_both(pairs, lambda one: None if one.is_right is None else float(one.is_right))),
        accepted_wrong=_paired(_both(pairs, _is_accepted_wrong), fewer_is_better=True),
    )


def _is_same(before: _OldDocument, now: ExtractionScore) -> bool:
    """A document that could not be opened has no hash; its path has to do."""
    return before.sha256 == now.sha256 or None in (before.sha256, now.sha256)


def _compare_field(name: str, pairs: Sequence[Pair]) -> Paired | None:
    values = [
        (float(was[name].is_right), float(is_now[name].is_right))
        for was, is_now in ((_matches(before), _matches(now)) for before, now in pairs)
        if name in was and name in is_now
    ]
    return _paired(values) if values else None


def _names_of_tables(pairs: Iterable[Pair]) -> list[str]:
    return sorted({name for before, now in pairs for name in before.tables.keys() & now.tables.keys()})


def _compare_table(name: str, pairs: Iterable[Pair]) -> Paired:
    def count(one: Scored) -> float | None:
        return float(sum(row.match.is_right for row in one.tables[name].rows)) if name in one.tables else None

    return _paired(_both(pairs, count))


def _count_right_fields(before: _OldDocument, now: ExtractionScore) -> tuple[float, float]:
    """Only of fields that both were asked for."""
    was, is_now = _matches(before), _matches(now)
    both = was.keys() & is_now.keys()
    return float(sum(was[name].is_right for name in both)), float(sum(is_now[name].is_right for name in both))


def _matches(one: Scored) -> Mapping[str, Match]:
    return {field.name: field.match for field in one.fields}


def _both(pairs: Iterable[Pair], figure: Callable[[Scored], float | None]) -> list[tuple[float, float]]:
    values = [(figure(before), figure(now)) for before, now in pairs]
    return [(was, is_now) for was, is_now in values if was is not None and is_now is not None]


def _is_accepted_wrong(one: Scored) -> float | None:
    return None if one.is_right is None else float(one.outcome is Outcome.ACCEPTED and not one.is_right)


def _paired(values: Iterable[tuple[float, float]], *, fewer_is_better: bool = False) -> Paired:
    listed = list(values)
    more, fewer = sum(now > was for was, now in listed), sum(now < was for was, now in listed)
    better, worse = (fewer, more) if fewer_is_better else (more, fewer)
    chance = sign_test(better, worse)
    change = Change.INCONCLUSIVE
    if chance < SIGNIFICANT:
        change = Change.BETTER if better > worse else Change.WORSE
    count = len(listed) or 1
    return Paired(
        documents=len(listed),
        before=sum(was for was, _ in listed) / count,
        now=sum(now for _, now in listed) / count,
        better=better,
        worse=worse,
        chance=round(chance, 4),
        change=change,
    )
