"""How much a figure from few documents can be trusted: intervals and tests, without any library."""

from math import comb, sqrt
from typing import NamedTuple

_95_PER_CENT = 1.959964  # standard deviations to either side


class Interval(NamedTuple):
    low: float
    high: float


def wilson_interval(hits: int, of: int) -> Interval | None:
    """The 95 % interval of a share, also when it is 0 or 1 of few. None without anything to count."""
    if of == 0:
        return None
    share, square = hits / of, _95_PER_CENT**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    reach = _95_PER_CENT / (1 + square / of) * sqrt(share * (1 - share) / of + square / (4 * of * of))
    return Interval(max(0.0, middle - reach), min(1.0, middle + reach))


def sign_test(better: int, worse: int) -> float:
    """How likely so uneven a split is when both sides are equally likely: the exact, two-sided binomial test."""
    changes = better + worse
    if changes == 0:
        return 1.0
    tail = sum(comb(changes, count) for count in range(min(better, worse) + 1))
    return min(1.0, float(2 * tail / 2**changes))
