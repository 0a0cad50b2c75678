"""Failure is a decision: what happens next, from the error and the attempt. Nothing here waits or writes."""

import random
from dataclasses import dataclass

from orcha_dagster.domain.errors import ExtractionIncomplete, OrchaError, PermanentError, RateLimited


@dataclass(frozen=True)
class RetryPolicy:
    """How patient we are."""

    max_attempts: int = 3
    first_delay_seconds: float = 5.0
    max_delay_seconds: float = 300.0
    quota_seconds: float = 24 * 3600.0  # since its first attempt; a quota by the day is full again by then


@dataclass(frozen=True)
class RetryDecision:
    """Try again after so many seconds, or None: a person must look."""

    retry_after_seconds: float | None

    @property
    def gives_up(self) -> bool:
        return self.retry_after_seconds is None


GIVE_UP = RetryDecision(None)


def decide_retry(
    error: BaseException, attempt: int, policy: RetryPolicy, *, earlier_code: str | None = None
) -> RetryDecision:
    """Unknown errors are retried like recoverable ones: the attempts bound them.

    `earlier_code`: why the last attempt that failed did so.
    """
    if isinstance(error, PermanentError) or attempt >= policy.max_attempts:
        return GIVE_UP
    if isinstance(error, ExtractionIncomplete) and attempt > 1 and earlier_code == error.code:
        return GIVE_UP  # what an extractor leaves out twice, it leaves out the third time too
    if isinstance(error, RateLimited) and error.retry_after_seconds is not None:
        return RetryDecision(error.retry_after_seconds)
    delay = min(policy.first_delay_seconds * 4 ** (attempt - 1), policy.max_delay_seconds)
    # Jitter keeps a hundred ingestions that failed together from coming back together.
    return RetryDecision(delay * random.uniform(0.5, 1.0))  # noqa: S311


def find_free_wait(error: BaseException, *, age_seconds: float, policy: RetryPolicy) -> float | None:
    """How long to wait without using up an attempt: the document is not to blame for a quota that is used up.

    None when the error is another, when the wait is as short as ours are, or when it has gone on for too long.
    """
    wait = error.retry_after_seconds if isinstance(error, RateLimited) else None
    if wait is None or wait <= policy.max_delay_seconds or age_seconds + wait > policy.quota_seconds:
        return None
    return wait


def error_code(error: BaseException) -> str:
    return error.code if isinstance(error, OrchaError) else "UNKNOWN_ERROR"


def error_message(error: BaseException) -> str:
    """For the database and the UI. An unknown error gives its type only: its text may hold the document's."""
    if isinstance(error, OrchaError):
        return str(error)
    return f"{type(error).__name__} (unexpected; the run's log has the traceback)"
