"""Claude through Message Batches: the real SDK over HTTP, against the simulated Messages API."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from orcha_dagster.adapters.claude import batch_desk
from orcha_dagster.adapters.claude.batches import ClaudeBatchExtractor
from orcha_dagster.adapters.claude.extractor import ClaudeExtractor
from orcha_dagster.domain.errors import (
    ExtractionIncomplete,
    OrchaError,
    Parked,
    ProviderDeclined,
    ProviderRefused,
    ProviderUnavailable,
    RateLimited,
    StorageUnavailable,
)
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.interfaces.extractor import ExtractionRequest
from orcha_dagster.simulated.message_faults import MessageFaultKind, ResultFaultKind
from orcha_dagster.simulated.messages_api_server import SimulatedMessagesApi
from tests.simulated_messages_api import KEY, FakeTicketStore, PrintedAnswers, request_of

Work = Callable[[SimulatedMessagesApi, ClaudeBatchExtractor, FakeTicketStore], Awaitable[Any]]
DOCUMENT = UUID(int=1)


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_desk, "_LOOK_SECONDS", 0.0)


def with_server(work: Work, answer: Any = None, tickets: FakeTicketStore | None = None, **arguments: Any) -> Any:
    async def run() -> Any:
        store = tickets or FakeTicketStore()
        async with SimulatedMessagesApi(answer or PrintedAnswers()) as server:
            extractor = another(server, store, **arguments)
            try:
                return await work(server, extractor, store)
            finally:
                await extractor.close()

    return asyncio.run(run())


def another(server: SimulatedMessagesApi, tickets: FakeTicketStore, **arguments: Any) -> ClaudeBatchExtractor:
    """As another process would have it: only the tickets are shared."""
    return ClaudeBatchExtractor(
        tickets, **{"api_key": KEY, "base_url": server.address, "collect_seconds": 0.05, **arguments}
    )


def documents(count: int) -> list[ExtractionRequest]:
    return [request_of([f"number = N-{number}"], document=number) for number in range(1, count + 1)]


async def parked(extractor: ClaudeBatchExtractor, *requests: ExtractionRequest) -> list[Parked]:
    ended = await asyncio.gather(*(extractor.extract(one) for one in requests), return_exceptions=True)
    assert [type(one) for one in ended] == [Parked] * len(requests)
    return [one for one in ended if isinstance(one, Parked)]


def sizes(server: SimulatedMessagesApi) -> list[int]:
    return [len(batch.requests) for batch in server.batches.all.values()]


def numbers(extractions: Sequence[Extraction | None]) -> list[str | None]:
    return [one.find_value("number") if one else None for one in extractions]


def test_documents_that_come_together_share_a_batch_and_each_gets_its_own_result() -> None:
    async def work(server: SimulatedMessagesApi, extractor: ClaudeBatchExtractor, _: FakeTicketStore) -> Any:
        waits = await parked(extractor, *documents(30))
        await parked(extractor, *documents(30))  # not ready yet, and not handed in again
        await server.batches.end_all()
        found = await asyncio.gather(*(extractor.extract(one) for one in documents(30)))
        return sizes(server), waits[0].check_after_seconds, found, server.calls

    batches, check_after, found, calls = with_server(work, check_seconds=900.0)
    assert batches == [30]
    assert check_after == 900.0
    assert numbers(found) == [f"N-{number}" for number in range(1, 31)]
    assert [path for _, path in calls].count("/v1/messages/batches") == 1
    assert sum(path.endswith("/results") for _, path in calls) == 1  # one look for all of them


def test_a_full_batch_goes_at_once_and_the_rest_in_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_desk, "MOST_REQUESTS", 4)

    async def work(server: SimulatedMessagesApi, extractor: ClaudeBatchExtractor, _: FakeTicketStore) -> Any:
        await parked(extractor, *documents(10))
        return sizes(server)

    assert sorted(with_server(work)) == [2, 4, 4]


def test_the_bytes_of_a_batch_are_limited_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_desk, "MOST_BYTES", 20_000)

    async def work(server: SimulatedMessagesApi, extractor: ClaudeBatchExtractor, _: FakeTicketStore) -> Any:
        await parked(extractor, *documents(5))
        return sizes(server)

    batches = with_server(work)
    assert len(batches) > 1
    assert sum(batches) == 5


def test_the_same_question_at_once_is_handed_in_once() -> None:
    async def work(server: SimulatedMessagesApi, extractor: ClaudeBatchExtractor, _: FakeTicketStore) -> Any:
        await parked(extractor, *documents(1), *documents(1))
        return sizes(server)

    assert with_server(work) == [1]


def test_it_costs_half() -> None:
    async def work(server: SimulatedMessagesApi, extractor: ClaudeBatchExtractor, _: FakeTicketStore) -> Any:
        (request,) = documents(1)
        await parked(extractor, request)
        await server.batches.end_all()
        batched = await extractor.extract(request)
        direct = ClaudeExtractor(api_key=KEY, base_url=server.address)
        warm = await direct.extract(request)
        await direct.close()
        return batched, warm

    async def cold(server: SimulatedMessagesApi, *_: Any) -> Any:
        direct = ClaudeExtractor(api_key=KEY, base_url=server.address)
        try:
            return await direct.extract(documents(1)[0])
        finally:
            await direct.close()

    batched, warm = with_server(work)
    full = with_server(cold)
    assert warm.cached_input_tokens > 0
    assert (batched.input_tokens, batched.output_tokens) == (full.input_tokens, full.output_tokens)
    assert batched.cost_usd * 2 == full.cost_usd > 0
    assert batched.extractor == "claude-batch"


def test_another_process_finds_the_result_and_it_can_be_fetched_again() -> None:
    async def work(server: SimulatedMessagesApi, extractor: ClaudeBatchExtractor, tickets: FakeTicketStore) -> Any:
        await parked(extractor, *documents(2))
        await server.batches.end_all()
        later = another(server, tickets)
        found = [await later.extract(one) for one in documents(2) for _ in "12"]
        await later.close()
        return found, sizes(server)

    found, batches = with_server(work)
    assert numbers(found) == ["N-1", "N-1", "N-2", "N-2"]
    assert batches == [2]


def test_a_long_document_is_several_requests_and_halves_of_what_was_cut_off() -> None:
    async def work(server: SimulatedMessagesApi, extractor: ClaudeBatchExtractor, _: FakeTicketStore) -> Any:
        request = request_of(*([f"number = A-1, page {page}", f"line_items: net = {page}.00"] for page in range(1, 5)))
        await parked(extractor, request)
        server.result_faults.queue(ResultFaultKind.CUT_OFF, None)
        await server.batches.end_all()
        await parked(extractor, request)
        await server.batches.end_all()
        return await extractor.extract(request), sizes(server)

    extraction, batches = with_server(work, window_pages=3)
    assert batches == [2, 2]
    assert [row["net"].value for row in extraction.rows("line_items")] == ["1.00", "2.00", "3.00", "4.00"]
    assert extraction.is_complete


RESULTS = [
    (ResultFaultKind.ERRORED, ProviderUnavailable),
    (ResultFaultKind.INVALID, ProviderRefused),
    (ResultFaultKind.EXPIRED, ProviderUnavailable),
    (ResultFaultKind.CANCELED, ProviderUnavailable),
    (ResultFaultKind.REFUSAL, ProviderDeclined),
]


@pytest.mark.parametrize(("kind", "expected"), RESULTS, ids=[kind for kind, _ in RESULTS])
def test_a_request_that_failed_is_an_error_and_is_handed_in_anew(
    kind: ResultFaultKind, expected: type[OrchaError]
) -> None:
    async def work(server: SimulatedMessagesApi, extractor: ClaudeBatchExtractor, tickets: FakeTicketStore) -> Any:
        first, second = documents(2)
        await parked(extractor, first, second)
        server.result_faults.queue(kind)
        await server.batches.end_all()
        with pytest.raises(expected) as caught:
            await extractor.extract(first)
        assert type(caught.value) is expected
        assert tickets.tickets.keys() == {UUID(int=2)}
        assert numbers([await extractor.extract(second)]) == ["N-2"]
        await parked(extractor, first)
        await server.batches.end_all()
        return await extractor.extract(first), sizes(server)

    extraction, batches = with_server(work)
    assert numbers([extraction]) == ["N-1"]
    assert batches == [2, 1]


def test_every_way_a_request_can_fail_has_its_error() -> None:
    assert {kind for kind, _ in RESULTS} == set(ResultFaultKind) - {ResultFaultKind.CUT_OFF}


def test_an_answer_that_is_not_in_the_schema_is_asked_for_anew() -> None:
    async def work(server: SimulatedMessagesApi, extractor: ClaudeBatchExtractor, tickets: FakeTicketStore) -> Any:
        await parked(extractor, *documents(1))
        await server.batches.end_all()
        with pytest.raises(ExtractionIncomplete):
            await extractor.extract(documents(1)[0])
        return tickets.tickets

    assert with_server(work, PrintedAnswers(lambda _: "no")) == {}


def test_remarks_make_it_another_question() -> None:
    async def work(server: SimulatedMessagesApi, extractor: ClaudeBatchExtractor, tickets: FakeTicketStore) -> Any:
        await parked(extractor, request_of(["number = A-1"]))
        await server.batches.end_all()
        await parked(extractor, request_of(["number = A-1"], remarks=("the total is missing",)))
        return sizes(server), len(tickets.tickets[DOCUMENT].batches)

    assert with_server(work) == ([1, 1], 1)


def test_a_batch_whose_ticket_was_not_written_is_found_and_not_paid_again() -> None:
    """The process died between handing in and remembering: only the intention was written."""

    async def work(server: SimulatedMessagesApi, extractor: ClaudeBatchExtractor, tickets: FakeTicketStore) -> Any:
        (request,) = documents(1)
        with pytest.raises(StorageUnavailable):
            await extractor.extract(request)
        assert list(tickets.tickets[DOCUMENT].batches.values()) == [None]
        later = another(server, tickets)
        await parked(later, request)  # it may be in the batch that has not ended
        await server.batches.end_all()
        found = await later.extract(request)
        await later.close()
        return found, sizes(server)

    extraction, batches = with_server(work, tickets=FakeTicketStore([None, StorageUnavailable("away")]))
    assert numbers([extraction]) == ["N-1"]
    assert batches == [1]


def test_an_answer_to_handing_in_that_was_lost_is_no_second_batch() -> None:
    async def work(server: SimulatedMessagesApi, extractor: ClaudeBatchExtractor, _: FakeTicketStore) -> Any:
        (request,) = documents(1)
        server.faults.queue(MessageFaultKind.RESET)
        with pytest.raises(ProviderUnavailable):
            await extractor.extract(request)
        await server.batches.end_all()
        return await extractor.extract(request), sizes(server)

    extraction, batches = with_server(work)
    assert numbers([extraction]) == ["N-1"]
    assert batches == [1]


def test_what_was_never_handed_in_is_handed_in_although_there_are_other_batches() -> None:
    async def work(server: SimulatedMessagesApi, extractor: ClaudeBatchExtractor, _: FakeTicketStore) -> Any:
        first, second = documents(2)
        await parked(extractor, first)
        server.faults.queue(MessageFaultKind.OVERLOADED)
        with pytest.raises(ProviderUnavailable):
            await extractor.extract(second)
        await parked(extractor, second)  # it cannot be told yet whether it is in the first batch
        waiting = sizes(server)
        await server.batches.end_all()
        await parked(extractor, second)
        return waiting, sizes(server)

    assert with_server(work) == ([1], [1, 1])


def test_older_batches_are_not_searched() -> None:
    async def work(server: SimulatedMessagesApi, extractor: ClaudeBatchExtractor, _: FakeTicketStore) -> Any:
        first, second = documents(2)
        await parked(extractor, first)
        (batch,) = server.batches.all.values()
        batch.created_at -= timedelta(hours=1)
        server.faults.queue(MessageFaultKind.OVERLOADED)
        with pytest.raises(ProviderUnavailable):
            await extractor.extract(second)
        await parked(extractor, second)
        return sizes(server)

    assert with_server(work) == [1, 1]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [(MessageFaultKind.RATE_LIMIT, RateLimited), (MessageFaultKind.AUTHENTICATION, ProviderRefused)],
)
def test_a_batch_that_is_refused_is_refused_for_all_and_leaves_no_ticket(
    kind: MessageFaultKind, expected: type[OrchaError]
) -> None:
    async def work(server: SimulatedMessagesApi, extractor: ClaudeBatchExtractor, tickets: FakeTicketStore) -> Any:
        server.faults.queue(kind)
        ended = await asyncio.gather(*(extractor.extract(one) for one in documents(3)), return_exceptions=True)
        return ended, tickets.tickets

    ended, tickets = with_server(work)
    assert [type(one) for one in ended] == [expected] * 3
    assert len({id(one) for one in ended}) == 3
    assert tickets == {}


def test_results_that_the_provider_no_longer_keeps_are_asked_for_anew() -> None:
    async def work(server: SimulatedMessagesApi, extractor: ClaudeBatchExtractor, tickets: FakeTicketStore) -> Any:
        first, second = documents(2)
        await parked(extractor, first, second)
        await server.batches.end_all()
        (batch,) = server.batches.all.values()
        batch.is_archived = True
        with pytest.raises(ProviderUnavailable):
            await extractor.extract(first)
        del server.batches.all[batch.id]
        later = another(server, tickets)
        with pytest.raises(ProviderUnavailable):
            await later.extract(second)
        await later.close()
        return tickets.tickets

    assert with_server(work) == {}


def test_looking_can_fail_and_be_repeated() -> None:
    async def work(server: SimulatedMessagesApi, extractor: ClaudeBatchExtractor, tickets: FakeTicketStore) -> Any:
        (request,) = documents(1)
        await parked(extractor, request)
        await server.batches.end_all()
        for faults in ([MessageFaultKind.OVERLOADED], [None, None, MessageFaultKind.GARBLED]):
            server.faults.queue(*faults)
            with pytest.raises(ProviderUnavailable):
                await extractor.extract(request)
        return await extractor.extract(request)

    assert numbers([with_server(work)]) == ["N-1"]


def test_who_stops_waiting_does_not_take_the_batch_from_the_others() -> None:
    async def work(server: SimulatedMessagesApi, extractor: ClaudeBatchExtractor, _: FakeTicketStore) -> Any:
        first, second = documents(2)
        leaving = asyncio.create_task(extractor.extract(first))
        staying = asyncio.create_task(extractor.extract(second))
        await asyncio.sleep(0.1)
        leaving.cancel()
        with pytest.raises(Parked):
            await staying
        return sizes(server)

    assert with_server(work, collect_seconds=0.4) == [2]


def test_a_document_without_text_is_not_handed_in() -> None:
    async def work(server: SimulatedMessagesApi, extractor: ClaudeBatchExtractor, _: FakeTicketStore) -> Any:
        return await extractor.extract(request_of(())), server.calls

    assert with_server(work) == (None, [])
