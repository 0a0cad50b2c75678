"""The simulated Messages API, asked by the real SDK as somebody else might: it refuses what the real one does."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import anthropic
import pytest

from orcha_dagster.simulated.messages_api_server import SimulatedMessagesApi
from tests.simulated_messages_api import KEY

ASKED: dict[str, Any] = {
    "model": "claude-sonnet-5-5",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "Hello"}],
}


async def hello(_: dict[str, Any]) -> str:
    return "Hello yourself"


def with_client(work: Callable[[SimulatedMessagesApi, anthropic.AsyncAnthropic], Awaitable[Any]], **more: Any) -> Any:
    async def run() -> Any:
        async with (
            SimulatedMessagesApi(hello, **more) as server,
            anthropic.AsyncAnthropic(api_key=KEY, base_url=server.address, max_retries=0) as client,
        ):
            return await work(server, client)

    return asyncio.run(run())


def refusal(**more: Any) -> anthropic.APIStatusError:
    async def work(_: SimulatedMessagesApi, client: anthropic.AsyncAnthropic) -> Any:
        with pytest.raises(anthropic.APIStatusError) as caught:
            await client.messages.create(**{**ASKED, **more})
        return caught.value

    return with_client(work)


def form(**schema: Any) -> dict[str, Any]:
    return {"format": {"type": "json_schema", "schema": {"type": "object", "additionalProperties": False, **schema}}}


def test_a_message_is_one_of_the_real_kind() -> None:
    async def work(_: SimulatedMessagesApi, client: anthropic.AsyncAnthropic) -> Any:
        return await client.messages.create(**ASKED)

    message = with_client(work)
    anthropic.types.Message.model_validate(message.model_dump(), strict=True)
    assert (message.content[0].text, message.stop_reason) == ("Hello yourself", "end_turn")
    assert message.usage.input_tokens > 0
    assert message._request_id.startswith("req_")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"extra_body": {"temperature": 0}}, "temperature: Extra inputs"),
        ({"max_tokens": 0}, "max_tokens: Field required"),
        ({"messages": []}, "messages: Field required"),
        ({"messages": [*ASKED["messages"], {"role": "assistant", "content": "{"}]}, "prefill"),
        ({"output_config": {"effort": "none"}}, "effort"),
        ({"output_config": form(properties={"a": {"type": "string", "pattern": "a"}})}, "pattern"),
        ({"output_config": form(additionalProperties=True)}, "additionalProperties"),
        ({"output_config": form(properties={str(name): {"type": "string"} for name in range(25)})}, "too complex"),
    ],
)
def test_what_the_real_one_does_not_take_is_an_invalid_request(more: dict[str, Any], said: str) -> None:
    error = refusal(**more)
    assert isinstance(error, anthropic.BadRequestError)
    assert said in str(error.api_message)
    assert error.type == "invalid_request_error"


def test_nobody_comes_in_without_a_key() -> None:
    async def work(server: SimulatedMessagesApi, _: anthropic.AsyncAnthropic) -> Any:
        headers = {"Authorization": anthropic.omit}
        async with anthropic.AsyncAnthropic(api_key="", base_url=server.address, max_retries=0) as client:
            with pytest.raises(anthropic.AuthenticationError):
                await client.messages.create(**ASKED, extra_headers=headers)  # type: ignore[arg-type]

    with_client(work)


def test_an_answer_ends_where_its_tokens_end() -> None:
    async def work(_: SimulatedMessagesApi, client: anthropic.AsyncAnthropic) -> Any:
        return await client.messages.create(**{**ASKED, "max_tokens": 2})

    message = with_client(work)
    assert (message.content[0].text, message.stop_reason) == ("Hello yo", "max_tokens")


def test_the_cache_is_written_once_and_read_afterwards() -> None:
    system = [{"type": "text", "text": "word " * 1000, "cache_control": {"type": "ephemeral"}}]
    short = [{"type": "text", "text": "word", "cache_control": {"type": "ephemeral"}}]

    async def work(_: SimulatedMessagesApi, client: anthropic.AsyncAnthropic) -> Any:
        return [(await client.messages.create(**ASKED, system=part)).usage for part in (system, system, short, short)]

    usages = with_client(work)
    counted = [(one.cache_creation_input_tokens, one.cache_read_input_tokens) for one in usages]
    assert counted == [(1250, 0), (0, 1250), (0, 0), (0, 0)]


def test_a_batch_ends_after_a_while_and_its_results_are_not_in_order() -> None:
    requests: list[Any] = [{"custom_id": name, "params": ASKED} for name in ("a", "b")]
    requests.append({"custom_id": "c", "params": {**ASKED, "temperature": 1}})

    async def work(_: SimulatedMessagesApi, client: anthropic.AsyncAnthropic) -> Any:
        batch = await client.messages.batches.create(requests=requests)
        assert (batch.processing_status, batch.request_counts.processing) == ("in_progress", 3)
        while batch.processing_status != "ended":
            await asyncio.sleep(0.05)
            batch = await client.messages.batches.retrieve(batch.id)
        results = [line async for line in await client.messages.batches.results(batch.id)]
        return batch.request_counts, {line.custom_id: line.result.type for line in results}

    counts, results = with_client(work, batch_seconds=0.2)
    assert (counts.succeeded, counts.errored) == (2, 1)
    assert list(results.items()) == [("c", "errored"), ("b", "succeeded"), ("a", "succeeded")]


def test_batches_are_listed_page_by_page_the_latest_first() -> None:
    async def work(_: SimulatedMessagesApi, client: anthropic.AsyncAnthropic) -> Any:
        created = [(await client.messages.batches.create(requests=[{"custom_id": "a", "params": ASKED}])).id
                   for _ in range(5)]  # fmt: skip
        return created, [batch.id async for batch in client.messages.batches.list(limit=2)]

    created, listed = with_client(work)
    assert listed == created[::-1]


def test_a_canceled_batch_answers_nothing() -> None:
    async def work(server: SimulatedMessagesApi, client: anthropic.AsyncAnthropic) -> Any:
        batch = await client.messages.batches.create(requests=[{"custom_id": "a", "params": ASKED}])
        assert (await client.messages.batches.cancel(batch.id)).processing_status == "canceling"
        await server.batches.end_all()
        return [line.result.type async for line in await client.messages.batches.results(batch.id)]

    assert with_client(work) == ["canceled"]


@pytest.mark.parametrize("names", [["a", "a"], ["a b"], ["x" * 65], []])
def test_the_requests_of_a_batch_have_names_of_their_own(names: list[str]) -> None:
    async def work(_: SimulatedMessagesApi, client: anthropic.AsyncAnthropic) -> Any:
        with pytest.raises(anthropic.BadRequestError):
            await client.messages.batches.create(requests=[{"custom_id": name, "params": ASKED} for name in names])

    with_client(work)
