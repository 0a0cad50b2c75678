"""Ranking, chances and assignment: figures that can be worked out by hand, or by trying everything."""

import random
from itertools import permutations

import pytest

from orcha_dagster.evaluation.assignment import assign
from orcha_dagster.evaluation.chances import sign_test, wilson_interval
from orcha_dagster.evaluation.ranking import auroc, coverage_curve, reliability


def test_a_confidence_that_puts_every_right_one_first_has_an_auroc_of_one() -> None:
    assert auroc([(0.9, True), (0.8, True), (0.3, False)]) == 1.0
    assert auroc([(0.1, True), (0.8, False)]) == 0.0


def test_a_tie_counts_half() -> None:
    assert auroc([(0.5, True), (0.5, False)]) == 0.5
    assert auroc([(0.9, True), (0.5, True), (0.5, False), (0.7, False)]) == pytest.approx((1 + 1 + 0 + 0.5) / 4)


def test_the_auroc_is_the_share_of_pairs_in_the_right_order() -> None:
    dice = random.Random(11)
    judged = [(round(dice.random(), 1), dice.random() < 0.7) for _ in range(200)]
    pairs = [
        1.0 if sure > unsure else 0.5 if sure == unsure else 0.0
        for sure, is_right in judged
        if is_right
        for unsure, is_other_right in judged
        if not is_other_right
    ]
    assert auroc(judged) == pytest.approx(sum(pairs) / len(pairs))


def test_nothing_can_be_ranked_when_all_are_right() -> None:
    assert auroc([(0.9, True), (0.1, True)]) is None
    assert auroc([]) is None


def test_confidences_fall_into_bins_and_the_surest_into_the_last() -> None:
    bins = reliability([(0.05, False), (0.95, True), (1.0, True), (0.91, False)], bins=10)
    assert (bins[0].wrong, bins[0].right, bins[0].share_right) == (1, 0, 0.0)
    assert (bins[9].right, bins[9].wrong, bins[9].share_right) == (2, 1, pytest.approx(2 / 3))
    assert bins[9].mean_confidence == pytest.approx((0.95 + 1.0 + 0.91) / 3)
    assert bins[5].share_right is None


def test_the_coverage_curve_accepts_from_the_surest_on_and_ties_together() -> None:
    curve = coverage_curve([(0.9, True), (0.8, False), (0.8, True), (0.1, False)])
    assert [(one.confidence, one.accepted, one.wrong) for one in curve] == [
        (0.9, 0.25, 0.0),
        (0.8, 0.75, pytest.approx(1 / 3)),
        (0.1, 1.0, 0.5),
    ]


def test_the_interval_of_a_share_is_wilsons() -> None:
    """Figures from the literature: 0 of 10 and 5 of 10."""
    low, high = wilson_interval(0, 10) or (None, None)
    assert (low, high) == (0.0, pytest.approx(0.2775, abs=1e-4))
    assert wilson_interval(5, 10) == (pytest.approx(0.2366, abs=1e-4), pytest.approx(0.7634, abs=1e-4))
    assert wilson_interval(0, 0) is None


def test_five_changes_in_one_direction_may_be_chance_and_six_are_not() -> None:
    assert sign_test(5, 0) == pytest.approx(0.0625)
    assert sign_test(0, 6) == pytest.approx(0.03125)
    assert sign_test(3, 3) == 1.0
    assert sign_test(0, 0) == 1.0


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 3), (2, 5), (5, 2), (4, 4), (6, 5)])
def test_the_assignment_is_the_best_of_all(rows: int, columns: int) -> None:
    dice = random.Random(100 * rows + columns)
    for _ in range(20):
        likeness = [[round(dice.random(), 2) for _ in range(columns)] for _ in range(rows)]
        pairs = assign(likeness)
        assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == min(rows, columns)
        assert sum(likeness[row][column] for row, column in pairs) == pytest.approx(_best_sum(likeness))


def test_nothing_is_assigned_to_nothing() -> None:
    assert assign([]) == []
    assert assign([[], []]) == []


def _best_sum(likeness: list[list[float]]) -> float:
    rows, columns = len(likeness), len(likeness[0])
    if rows > columns:
        return _best_sum([list(column) for column in zip(*likeness, strict=True)])
    return max(
        sum(likeness[row][column] for row, column in enumerate(chosen)) for chosen in permutations(range(columns), rows)
    )
