"""How well a confidence tells right from wrong. Pure numbers; which documents they belong to is not known here."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from orcha_dagster.domain.model import DomainModel

Judged = tuple[float, bool]  # a confidence, and whether what it was given to is right


class Bin(DomainModel):
    """Those whose confidence lies between two bounds: a well-calibrated confidence is their share of right ones."""

    low: float
    high: float
    right: int
    wrong: int
    mean_confidence: float | None

    @property
    def share_right(self) -> float | None:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else None


class Coverage(NamedTuple):
    """Were all accepted that are at least so sure."""

    confidence: float
    accepted: float  # share of all
    wrong: float  # share of the accepted


def auroc(judged: Sequence[Judged]) -> float | None:
    """The chance that something right is surer than something wrong; a tie counts half. None without both of them."""
    right = sum(is_right for _, is_right in judged)
    wrong = len(judged) - right
    if not right or not wrong:
        return None
    passed = surer = 0.0
    for _, tied in groupby(sorted(judged), key=lambda one: one[0]):
        outcomes = [is_right for _, is_right in tied]
        right_here = sum(outcomes)
        wrong_here = len(outcomes) - right_here
        surer += right_here * (passed + wrong_here / 2)
        passed += wrong_here
    return surer / (right * wrong)


def reliability(judged: Sequence[Judged], *, bins: int = 10) -> tuple[Bin, ...]:
    inside: list[list[Judged]] = [[] for _ in range(bins)]
    for confidence, is_right in judged:
        inside[min(int(confidence * bins), bins - 1)].append((confidence, is_right))
    return tuple(
        Bin(
            low=number / bins,
            high=(number + 1) / bins,
            right=sum(is_right for _, is_right in members),
            wrong=sum(not is_right for _, is_right in members),
            mean_confidence=sum(confidence for confidence, _ in members) / len(members) if members else None,
        )
        for number, members in enumerate(inside)
    )


def coverage_curve(judged: Sequence[Judged]) -> tuple[Coverage, ...]:
    """From the surest to all of them; those with the same confidence come together."""
    points: list[Coverage] = []
    accepted = wrong = 0
    for confidence, tied in groupby(sorted(judged, key=lambda one: -one[0]), key=lambda one: one[0]):
        outcomes = [is_right for _, is_right in tied]
        accepted += len(outcomes)
        wrong += outcomes.count(False)
        points.append(Coverage(confidence, accepted / len(judged), wrong / accepted))
    return tuple(points)
