"""Manners towards a provider: how many calls at once, and which waits are waited."""

import asyncio

import pytest

from orcha_dagster.domain.errors import ProviderUnavailable, RateLimited
from orcha_dagster.pipeline.provider_limits import LimitedTranscriber, ProviderGate
from tests.fake_providers import FakeTranscriber


class Provider:
    """Refuses as often as told, and counts who is inside."""

    def __init__(self, *refusals: Exception) -> None:
        self.refusals = list(refusals)
        self.inside = 0
        self.most_inside = 0
        self.calls = 0

    async def call(self) -> str:
        self.calls += 1
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)
        await asyncio.sleep(0)
        self.inside -= 1
        if self.refusals:
            raise self.refusals.pop(0)
        return "answer"


def call_through_gate(provider: Provider, *, times: int = 1, most_at_once: int = 2, patience: float = 5) -> list[str]:
    async def call() -> list[str]:
        gate = ProviderGate(most_at_once=most_at_once, patience_seconds=patience)
        return await asyncio.gather(*(gate.call(provider.call) for _ in range(times)))

    return asyncio.run(call())


@pytest.mark.parametrize("most", [1, 3])
def test_never_more_calls_at_once_than_the_provider_allows(most: int) -> None:
    provider = Provider()
    assert call_through_gate(provider, times=10, most_at_once=most) == ["answer"] * 10
    assert provider.most_inside == most


def test_a_short_wait_is_waited_inside_the_run() -> None:
    provider = Provider(RateLimited("slow down", retry_after_seconds=0.01))
    assert call_through_gate(provider) == ["answer"]
    assert provider.calls == 2


@pytest.mark.parametrize("seconds", [6, None])
def test_a_wait_beyond_our_patience_or_of_unknown_length_is_a_retry(seconds: float | None) -> None:
    provider = Provider(RateLimited("slow down", retry_after_seconds=seconds))
    with pytest.raises(RateLimited):
        call_through_gate(provider, patience=5)
    assert provider.calls == 1


def test_patience_is_spent_over_all_waits_of_a_call() -> None:
    provider = Provider(*(RateLimited("slow down", retry_after_seconds=0.1) for _ in range(9)))
    with pytest.raises(RateLimited):
        call_through_gate(provider, patience=0.25)
    assert provider.calls == 3


def test_every_other_error_passes() -> None:
    with pytest.raises(ProviderUnavailable):
        call_through_gate(Provider(ProviderUnavailable("away")))


def test_a_limited_transcriber_says_who_it_is() -> None:
    inner = FakeTranscriber()
    limited = LimitedTranscriber(inner, ProviderGate(most_at_once=1, patience_seconds=0))
    assert (limited.name, limited.version) == (inner.name, inner.version)
