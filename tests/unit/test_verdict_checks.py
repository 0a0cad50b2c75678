"""The verdict's checks as Dagster shows them: one answer per check and run."""

from uuid import UUID

import dagster as dg

from orcha_dagster.assets.verdict_checks import evaluate_checks, verdict_checks
from orcha_dagster.domain.verdicts import Check, Outcome, Verdict
from orcha_dagster.pipeline.judging.check_names import CHECK_NAMES

ALL = frozenset(CHECK_NAMES)


def verdict(**failed: str) -> Verdict:
    checks = tuple(Check(name=n, passed=n not in failed, reason=failed.get(n, "fine")) for n in CHECK_NAMES)
    return Verdict(outcome=Outcome.NEEDS_REVIEW if failed else Outcome.ACCEPTED, checks=checks)


def test_every_check_has_a_description_for_people() -> None:
    assert [spec.name for spec in verdict_checks] == list(CHECK_NAMES)
    assert all(spec.description for spec in verdict_checks)


def test_a_check_that_all_passed_is_green_and_one_that_some_failed_names_them() -> None:
    verdicts = {UUID(int=1): verdict(), UUID(int=2): verdict(totals_add_up="1 | 2\nis not 4")}
    results = {result.check_name: result for result in evaluate_checks(verdicts, ALL)}
    assert set(results) == ALL
    assert all(result.passed for name, result in results.items() if name != "totals_add_up")
    failed = results["totals_add_up"]
    assert (failed.passed, failed.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert (failed.metadata["asked"].value, failed.metadata["failed"].value) == (2, 1)
    table = str(failed.metadata["ingestions"].value)
    assert str(UUID(int=2)) in table
    assert "1 \\| 2 is not 4" in table


def test_without_a_verdict_there_is_nothing_to_tell() -> None:
    assert list(evaluate_checks({}, ALL)) == []


def test_only_selected_checks_are_told() -> None:
    results = list(evaluate_checks({UUID(int=1): verdict()}, frozenset({"grounded"})))
    assert [result.check_name for result in results] == ["grounded"]
