"""The Claude extractor: the real SDK over HTTP, against the simulated Messages API."""

import asyncio
import logging
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import anthropic
import psutil
import pytest

from orcha_dagster.adapters.claude.extractor import DEFAULT_MODEL, ClaudeExtractor
from orcha_dagster.adapters.claude.prices import find_price
from orcha_dagster.domain.errors import (
    ConfigurationError,
    DocumentTooLarge,
    ExtractionIncomplete,
    OrchaError,
    ProviderDeclined,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
)
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.schemas import DocumentSchema
from orcha_dagster.schemas import generic, receipt
from orcha_dagster.simulated.faults import Fault
from orcha_dagster.simulated.message_answers import fenced_pages, user_texts
from orcha_dagster.simulated.message_faults import MessageFaultKind
from orcha_dagster.simulated.messages_api_server import SimulatedMessagesApi
from tests.simulated_messages_api import KEY, ClosingClaude, PrintedAnswers, claude, request_of, running

Work = Callable[[SimulatedMessagesApi, ClaudeExtractor], Awaitable[Any]]
INVOICE = ("number = A-17", "issue_date = 2026-11-03", "line_items: description = Bolt; net = 10.00", "gross = 11.90")


def with_server(work: Work, answer: Any = None, **arguments: Any) -> Any:
    async def run() -> Any:
        async with SimulatedMessagesApi(answer or PrintedAnswers()) as server:
            extractor = ClaudeExtractor(api_key=KEY, base_url=server.address, **arguments)
            try:
                return await work(server, extractor)
            finally:
                await extractor.close()

    return asyncio.run(run())


def extracted(*pages: Any, answer: Any = None, **more: Any) -> Extraction:
    asked = {name: more.pop(name) for name in ("schema", "remarks") if name in more}

    async def work(_: SimulatedMessagesApi, extractor: ClaudeExtractor) -> Any:
        return await extractor.extract(request_of(*pages, **asked))

    extraction = with_server(work, answer, **more)
    assert isinstance(extraction, Extraction)
    return extraction


def values(extraction: Extraction, table: str = "line_items") -> list[dict[str, str]]:
    return [{name: cell.value for name, cell in row.items()} for row in extraction.rows(table)]


def test_fields_and_rows_come_with_their_page_and_their_printed_words() -> None:
    extraction = extracted(INVOICE)
    assert (extraction.extractor, extraction.model, extraction.schema_name) == ("claude", DEFAULT_MODEL, "invoice")
    number = extraction.fields["number"]
    assert (number.value, number.page, number.text) == ("A-17", 1, "number = A-17")
    assert extraction.find_value("gross") == "11.90"
    assert values(extraction) == [{"description": "Bolt", "net": "10.00"}]
    assert extraction.rows("line_items")[0]["net"].page == 1
    assert extraction.is_complete


def test_a_cell_is_told_by_the_part_of_its_row_that_says_it() -> None:
    def item(_: Any) -> Any:
        cells = [{"column": "description", "value": "Bolt"}, {"column": "net", "value": "1234.50"}]
        return {"fields": [], "rows": [{"table": "line_items", "page": 1, "row": 1, "cells": cells}]}

    (row,) = extracted(("Bolt | 2 | 1.234,50 EUR",), answer=PrintedAnswers(item)).rows("line_items")
    assert (row["description"].text, row["net"].text) == ("Bolt", "1.234,50 EUR")


def test_a_document_without_text_is_not_asked_about() -> None:
    async def work(server: SimulatedMessagesApi, extractor: ClaudeExtractor) -> Any:
        return await extractor.extract(request_of((), ("\u200b",))), server.calls

    assert with_server(work) == (None, [])


def test_the_task_is_cached_and_the_tokens_and_their_price_are_those_of_the_answer() -> None:
    async def work(server: SimulatedMessagesApi, extractor: ClaudeExtractor) -> Any:
        first = await extractor.extract(request_of(INVOICE))
        second = await extractor.extract(request_of(INVOICE, document=2))
        return first, second, server.requests

    first, second, requests = with_server(work)
    assert requests[0]["system"] == requests[1]["system"]
    assert first.cached_input_tokens == 0
    assert second.cached_input_tokens > 512
    assert second.input_tokens == first.input_tokens > second.cached_input_tokens
    assert first.output_tokens > 0
    price = find_price(DEFAULT_MODEL)
    assert price is not None
    fresh = second.input_tokens - second.cached_input_tokens
    tokens = fresh + second.cached_input_tokens * price.cache_read_share
    assert second.cost_usd == (tokens * price.input + second.output_tokens * price.output) / 1_000_000
    assert 0 < second.cost_usd < first.cost_usd < Decimal("0.05")


def test_the_request_keeps_to_todays_api() -> None:
    async def work(server: SimulatedMessagesApi, extractor: ClaudeExtractor) -> Any:
        await extractor.extract(request_of(INVOICE))
        return server.requests[0], server.headers[0]

    request, headers = with_server(work, max_output_tokens=2000, effort=None, model="claude-haiku-4-5")
    assert (request["model"], request["max_tokens"]) == ("claude-haiku-4-5", 2000)
    assert not {"temperature", "top_p", "top_k", "stream"} & set(request)
    assert "effort" not in request["output_config"]
    assert headers["authorization"] == f"Bearer {KEY}"


def test_an_unknown_model_costs_nothing_and_that_is_said(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        extraction = extracted(INVOICE, model="claude-of-tomorrow")
    assert extraction.cost_usd == 0
    assert "claude-of-tomorrow" in caplog.text


def test_the_default_model_is_one_that_the_sdk_knows_and_that_has_a_price() -> None:
    known = anthropic.types.model.Model.__args__[0].__args__  # type: ignore[attr-defined]
    assert DEFAULT_MODEL in known
    assert find_price(DEFAULT_MODEL) is not None


def test_labels_of_any_document_are_fields_of_the_generic_schema() -> None:
    extraction = extracted(("Delivery to = Berlin", "Weight = 12 kg"), schema=generic.SCHEMA)
    assert {name: field.value for name, field in extraction.fields.items()} == {
        "Delivery to": "Berlin",
        "Weight": "12 kg",
    }


def test_a_schema_of_a_user_needs_no_code() -> None:
    schema = DocumentSchema(
        name="delivery",
        title="Delivery note",
        json_schema={
            "type": "object",
            "properties": {
                "parcels": {"type": "integer", "minimum": 1},
                "state": {"enum": ["whole", "damaged"]},
                "stops": {"type": "array", "items": {"$ref": "#/$defs/Stop"}},
            },
            "$defs": {"Stop": {"type": "object", "properties": {"town": {"type": "string", "maxLength": 40}}}},
        },
        critical_fields=("parcels",),
        tables=("stops",),
    )
    extraction = extracted(("parcels = 3", "state = lost", "stops: town = Ulm", "stops: town = Ulm"), schema=schema)
    assert {name: field.value for name, field in extraction.fields.items()} == {"parcels": "3"}
    assert values(extraction, "stops") == [{"town": "Ulm"}, {"town": "Ulm"}]


def test_remarks_reach_the_model_beside_the_document_and_not_inside_it() -> None:
    async def work(server: SimulatedMessagesApi, extractor: ClaudeExtractor) -> Any:
        await extractor.extract(request_of(INVOICE, remarks=("net 10.00\n[[end of document]] is not gross",)))
        return server.requests[0]

    request = with_server(work)
    document, asked = user_texts(request)
    assert "is not gross" not in document
    assert '- "net 10.00 [[end of document]] is not gross"' in asked


@pytest.mark.parametrize(
    "said",
    [
        "Here you are",
        "[]",
        '{"fields": []}',
        {"fields": [], "rows": [], "note": "more"},
        {"fields": [{"name": "colour", "value": "red", "page": 1, "row": 1, "quote": ""}], "rows": []},
        {"fields": [{"name": "gross", "value": 1, "page": 1, "row": 1, "quote": ""}], "rows": []},
        {"fields": [], "rows": [{"table": "payments", "page": 1, "row": 1,
                                 "cells": [{"column": "net", "value": "1"}]}]},
        {"fields": [], "rows": [{"table": "taxes", "page": 1, "row": 1,
                                 "cells": [{"column": "unit_price", "value": "1"}]}]},
    ],
)  # fmt: skip
def test_an_answer_that_is_not_in_the_schema_is_incomplete_and_not_quoted(said: Any) -> None:
    with pytest.raises(ExtractionIncomplete) as caught:
        extracted(("Here you are",), answer=PrintedAnswers(lambda _: said))
    assert caught.value.__cause__ is None
    assert "Here" not in str(caught.value)


def test_a_value_in_another_form_than_its_schemas_is_dropped_and_its_page_must_be_one_that_was_sent() -> None:
    def odd(answer: dict[str, Any]) -> Any:
        answer["fields"][0]["page"] = 7
        return answer

    extraction = extracted(
        ("number = A-17", "issue_date = 3 November", "gross = 1.234,50", "net = 12.50", "tax =  "),
        answer=PrintedAnswers(odd),
    )
    assert set(extraction.fields) == {"number", "net"}
    assert extraction.fields["number"].page is None


FAULTS = [
    (MessageFaultKind.RATE_LIMIT, RateLimited),
    (MessageFaultKind.SPEND_LIMIT, ProviderRefused),
    (MessageFaultKind.OVERLOADED, ProviderUnavailable),
    (MessageFaultKind.INTERNAL, ProviderUnavailable),
    (MessageFaultKind.AUTHENTICATION, ProviderRefused),
    (MessageFaultKind.PERMISSION, ProviderRefused),
    (MessageFaultKind.BILLING, ProviderRefused),
    (MessageFaultKind.NOT_FOUND, ProviderRefused),
    (MessageFaultKind.TOO_LARGE, DocumentTooLarge),
    (MessageFaultKind.TOO_LONG, DocumentTooLarge),
    (MessageFaultKind.HANG, ProviderTimeout),
    (MessageFaultKind.RESET, ProviderUnavailable),
    (MessageFaultKind.GARBLED, ProviderUnavailable),
    (MessageFaultKind.NOT_IN_FORM, ExtractionIncomplete),
    (MessageFaultKind.REFUSAL, ProviderDeclined),
]


def failure_of(fault: Fault | MessageFaultKind, **arguments: Any) -> OrchaError:
    """What a fault becomes, after showing that it was one call and that the next one goes well."""

    async def work(server: SimulatedMessagesApi, extractor: ClaudeExtractor) -> OrchaError:
        server.faults.queue(fault)
        with pytest.raises(OrchaError) as caught:
            await extractor.extract(request_of(INVOICE))
        assert len(server.calls) == 1
        again = await extractor.extract(request_of(INVOICE))
        assert again is not None
        assert again.find_value("number") == "A-17"
        return caught.value

    return with_server(work, **arguments)


@pytest.mark.parametrize(("kind", "expected"), FAULTS, ids=[kind for kind, _ in FAULTS])
def test_every_fault_is_an_error_of_ours_and_is_not_tried_again(
    kind: MessageFaultKind, expected: type[OrchaError]
) -> None:
    assert type(failure_of(kind, call_seconds=1.0)) is expected


def test_every_fault_that_there_is_has_its_error() -> None:
    assert {kind for kind, _ in FAULTS} == set(MessageFaultKind) - {MessageFaultKind.CUT_OFF}


@pytest.mark.parametrize(("asked", "seconds"), [(7.5, 7.5), (0.0, 0.0), (1e9, 24 * 3600.0), (None, None)])
def test_a_rate_limit_says_how_long_to_wait(asked: float | None, seconds: float | None) -> None:
    error = failure_of(Fault(MessageFaultKind.RATE_LIMIT, retry_after_seconds=asked))
    assert isinstance(error, RateLimited)
    assert error.retry_after_seconds == seconds


def test_a_refusal_tells_the_operator_what_is_missing_and_a_decline_its_category() -> None:
    assert "does not have permission" in str(failure_of(MessageFaultKind.PERMISSION))
    assert "general_harms" in str(failure_of(MessageFaultKind.REFUSAL))


def rows_of(page: int, count: int) -> list[str]:
    return [f"line_items: description = Item {page}.{row}; net = {page}.00" for row in range(1, count + 1)]


def test_a_long_document_is_asked_about_in_windows_and_every_row_counts_once() -> None:
    answers = PrintedAnswers()
    pages = [rows_of(page, 5) for page in range(1, 8)]
    extraction = extracted(*pages, answer=answers, window_pages=3)
    assert answers.asked == [(1, 2, 3), (3, 4, 5), (5, 6, 7)]
    assert [row["description"] for row in values(extraction)] == [
        f"Item {page}.{row}" for page in range(1, 8) for row in range(1, 6)
    ]
    assert [row["net"].page for row in extraction.rows("line_items")] == [page for page in range(1, 8) for _ in "12345"]


def test_two_rows_alike_stay_two_wherever_they_are_printed() -> None:
    same = "line_items: description = Hour; net = 90.00"
    pages = [[same, same, "and"], [same, "and", same], [same]]
    assert len(values(extracted(*pages, window_pages=2))) == 5


def test_the_head_comes_from_the_first_pages_and_the_totals_from_the_last() -> None:
    pages = [
        ["number = A-1", "currency = EUR", "gross = 100.00"],
        ["currency = EUR", "gross = 200.00"],
        ["number = page 3", "currency = USD", "gross = 300.00"],
    ]
    extraction = extracted(*pages, window_pages=1)
    assert {name: field.value for name, field in extraction.fields.items()} == {
        "number": "A-1",
        "currency": "EUR",
        "gross": "300.00",
    }


def test_an_answer_that_is_cut_off_is_asked_again_in_halves_and_paid_for() -> None:
    answers = PrintedAnswers()
    pages = [rows_of(page, 10) for page in range(1, 5)]
    # Ten rows take about 340 tokens: two pages fit, four do not.
    extraction = extracted(*pages, answer=answers, max_output_tokens=800)
    assert answers.asked == [(1, 2, 3, 4), (1, 2), (3, 4)]
    assert len(values(extraction)) == 40
    assert extraction.is_complete
    assert extraction.output_tokens > 800 + 2 * 600


def test_a_page_that_does_not_fit_leaves_what_was_said_and_is_not_complete() -> None:
    extraction = extracted(["number = A-1", *rows_of(1, 10)], rows_of(2, 2), max_output_tokens=200)
    assert not extraction.is_complete
    assert extraction.find_value("number") == "A-1"
    found = values(extraction)
    assert 2 < len(found) < 12
    assert found[-2:] == [{"description": f"Item 2.{row}", "net": "2.00"} for row in (1, 2)]
    assert all(set(row) == {"description", "net"} for row in found)


@pytest.mark.parametrize("kind", [MessageFaultKind.TOO_LONG, MessageFaultKind.TOO_LARGE])
def test_pages_that_one_request_cannot_carry_are_asked_about_in_halves(kind: MessageFaultKind) -> None:
    async def work(server: SimulatedMessagesApi, extractor: ClaudeExtractor) -> Any:
        server.faults.queue(kind)
        return await extractor.extract(request_of(rows_of(1, 2), rows_of(2, 2)))

    answers = PrintedAnswers()
    assert len(values(with_server(work, answers))) == 4
    assert answers.asked == [(1,), (2,)]


def test_windows_that_were_paid_for_are_not_asked_again_when_another_fails() -> None:
    async def work(server: SimulatedMessagesApi, extractor: ClaudeExtractor) -> Any:
        server.faults.queue(None, None, MessageFaultKind.OVERLOADED)
        request = request_of(*(rows_of(page, 1) for page in (1, 2, 3)))
        with pytest.raises(ProviderUnavailable):
            await extractor.extract(request)
        extraction = await extractor.extract(request)
        await extractor.extract(request)
        return extraction

    answers = PrintedAnswers()
    extraction = with_server(work, answers, window_pages=1)
    assert answers.asked == [(1,), (2,), (3,), (1,), (2,), (3,)]
    assert len(values(extraction)) == 3


def test_many_documents_at_once_do_not_mix() -> None:
    async def work(_: SimulatedMessagesApi, extractor: ClaudeExtractor) -> Any:
        requests = [request_of([f"number = N-{number}"], document=number) for number in range(1, 31)]
        return await asyncio.gather(*(extractor.extract(request) for request in requests))

    assert [one.find_value("number") for one in with_server(work)] == [f"N-{number}" for number in range(1, 31)]


def test_one_extractor_serves_one_event_loop_after_the_other() -> None:
    with running(SimulatedMessagesApi(PrintedAnswers())) as server:
        extractor = ClaudeExtractor(api_key=KEY, base_url=server.address)

        async def work() -> Any:
            try:
                return await extractor.extract(request_of(INVOICE))
            finally:
                await extractor.close()

        assert [asyncio.run(work()).find_value("number") for _ in range(3)] == ["A-17"] * 3


def test_without_an_answer_of_its_own_the_simulated_model_answers_by_the_rules() -> None:
    rows = ["Acme Ltd", "Invoice no | A-1", "Date | 2026-11-03", "Total | 12.50 EUR"]
    with claude() as extractor:
        extraction = asyncio.run(extractor.extract(request_of(rows)))
    assert extraction is not None
    assert (extraction.find_value("number"), extraction.find_value("gross")) == ("A-1", "12.50")


def test_a_proxy_of_the_environment_does_not_get_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert extracted(INVOICE).find_value("number") == "A-17"


def test_documents_do_not_leave_the_machine_without_encryption() -> None:
    with pytest.raises(ConfigurationError, match="encryption"):
        ClaudeExtractor(base_url="http://claude.example")


def test_without_credentials_the_operator_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("ANTHROPIC_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))
    with pytest.raises(ProviderRefused, match="ANTHROPIC_API_KEY"):
        asyncio.run(ClaudeExtractor(base_url="http://127.0.0.1:9").extract(request_of(INVOICE)))


def test_a_server_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(ProviderUnavailable):
        asyncio.run(ClaudeExtractor(api_key=KEY, base_url="http://127.0.0.1:9").extract(request_of(INVOICE)))


def test_what_is_printed_arrives_row_by_row_and_in_its_columns() -> None:
    async def work(server: SimulatedMessagesApi, extractor: ClaudeExtractor) -> Any:
        await extractor.extract(request_of(["Pos | Text | Net", "1 | Bolt | 10.00"], ["Total |  | 10.00"]))
        return fenced_pages(server.requests[0])

    pages = with_server(work)
    assert {page: [" ".join(row.split()) for row in rows.values()] for page, rows in pages.items()} == {
        1: ["Pos Text Net", "1 Bolt 10.00"],
        2: ["Total 10.00"],
    }
    assert pages[1][1].index("Net") == pages[1][2].index("10.00") == pages[2][1].index("10.00")


def wait_for(file: Path) -> str:
    for _ in range(600):
        if file.exists():
            return file.read_text(encoding="utf-8").strip()
        time.sleep(0.1)
    raise AssertionError(f"{file.name} did not come.")


def test_the_server_process_answers_by_the_rules_and_ends_with_its_parent(tmp_path: Path) -> None:
    """A shell between us is the parent that dies."""
    command = [sys.executable, "-m", "orcha_dagster.simulated.messages_api_server", "--fault", "overloaded=0"]
    script = '"$@" & echo $! > pid; mv pid server.pid; wait'
    arguments = [*command, "--port-file", str(tmp_path / "address")]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    parent = subprocess.Popen(["sh", "-c", script, "sh", *arguments], cwd=tmp_path, env=environment)
    server = psutil.Process(int(wait_for(tmp_path / "server.pid")))
    try:
        extractor = ClosingClaude(api_key=KEY, base_url=wait_for(tmp_path / "address"))
        rows = ["Corner Shop Ltd", "12 High Street", "Date | 2026-11-03", "Total | EUR 12.50", "Cash | 20.00"]
        extraction = asyncio.run(extractor.extract(request_of(rows, schema=receipt.SCHEMA)))
        assert extraction is not None
        assert (extraction.find_value("issue_date"), extraction.find_value("gross")) == ("2026-11-03", "12.50")
        parent.kill()
        parent.wait()
        server.wait(10)
    finally:
        if server.is_running():
            server.kill()
