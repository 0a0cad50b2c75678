"""What follows from an error: again, when, or never."""

import pytest

from orcha_dagster.domain.errors import (
    ConfigurationError,
    DocumentDamaged,
    LeaseLost,
    OrchaError,
    PermanentError,
    ProviderTimeout,
    RateLimited,
    RecoverableError,
    StorageUnavailable,
    WorkerDied,
    WorkerTimedOut,
)
from orcha_dagster.domain.retrying import (
    GIVE_UP,
    RetryPolicy,
    decide_retry,
    error_code,
    error_message,
    find_free_wait,
)

POLICY = RetryPolicy(max_attempts=4, first_delay_seconds=10, max_delay_seconds=100)


@pytest.mark.parametrize("error", [PermanentError("x"), DocumentDamaged("x")])
@pytest.mark.parametrize("attempt", [1, 2, 4])
def test_what_a_person_must_look_at_is_never_retried(error: Exception, attempt: int) -> None:
    assert decide_retry(error, attempt, POLICY) == GIVE_UP
    assert GIVE_UP.gives_up


@pytest.mark.parametrize(
    "error",
    [
        RecoverableError("x"),
        StorageUnavailable("x"),
        ProviderTimeout("x"),
        WorkerDied("x"),
        WorkerTimedOut("x"),
        RateLimited("x"),
        ConfigurationError("x"),
        ValueError("nobody foresaw this"),
        MemoryError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_everything_else_is_retried_until_the_attempts_are_used_up(error: Exception) -> None:
    decisions = [decide_retry(error, attempt, POLICY) for attempt in (1, 2, 3, 4, 5)]
    assert [decision.gives_up for decision in decisions] == [False, False, False, True, True]


@pytest.mark.parametrize(("attempt", "longest"), [(1, 10), (2, 40), (3, 100)])
def test_each_wait_is_four_times_longer_up_to_a_bound(attempt: int, longest: float) -> None:
    waits = [decide_retry(StorageUnavailable("x"), attempt, POLICY).retry_after_seconds or 0 for _ in range(200)]
    assert all(longest / 2 <= wait <= longest for wait in waits)


def test_those_that_failed_together_do_not_come_back_together() -> None:
    waits = {decide_retry(StorageUnavailable("x"), 1, POLICY).retry_after_seconds for _ in range(100)}
    assert len(waits) > 90


def test_a_provider_that_names_a_time_is_taken_at_its_word() -> None:
    decision = decide_retry(RateLimited("x", retry_after_seconds=77), 1, POLICY)
    assert decision.retry_after_seconds == 77


def test_a_provider_that_names_a_time_does_not_get_more_attempts() -> None:
    assert decide_retry(RateLimited("x", retry_after_seconds=1), POLICY.max_attempts, POLICY).gives_up


@pytest.mark.parametrize(
    ("error", "age_seconds", "wait"),
    [
        (RateLimited("x", retry_after_seconds=3600), 0, 3600),
        (RateLimited("x", retry_after_seconds=3600), 23 * 3600, 3600),
        (RateLimited("x", retry_after_seconds=3600), 23.5 * 3600, None),
        (RateLimited("x", retry_after_seconds=POLICY.max_delay_seconds), 0, None),
        (RateLimited("x"), 0, None),
        (ProviderTimeout("x"), 0, None),
    ],
)
def test_only_a_long_wait_for_a_quota_is_free_and_only_for_a_day(
    error: Exception, age_seconds: float, wait: float | None
) -> None:
    assert find_free_wait(error, age_seconds=age_seconds, policy=POLICY) == wait


def test_no_wait_is_a_decision_to_try_again_at_once() -> None:
    decision = decide_retry(RateLimited("x", retry_after_seconds=0), 1, POLICY)
    assert (decision.gives_up, decision.retry_after_seconds) == (False, 0)


def test_one_attempt_means_no_second_one() -> None:
    assert decide_retry(StorageUnavailable("x"), 1, RetryPolicy(max_attempts=1)).gives_up


@pytest.mark.parametrize(
    ("error", "code"), [(LeaseLost("x"), "LEASE_LOST"), (OrchaError("x"), "ORCHA_ERROR"), (KeyError(), "UNKNOWN_ERROR")]
)
def test_every_error_has_a_code(error: Exception, code: str) -> None:
    assert error_code(error) == code


def test_our_own_errors_explain_themselves() -> None:
    assert error_message(StorageUnavailable("It is away.", remedy="Wait.")) == "It is away. Wait."


def test_the_text_of_an_unknown_error_stays_outside_because_it_may_be_the_documents() -> None:
    message = error_message(ValueError("IBAN DE02 1203 0000 0000 2020 51"))
    assert "IBAN" not in message
    assert "ValueError" in message
