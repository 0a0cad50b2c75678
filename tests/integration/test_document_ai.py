"""The Document AI transcriber: the real SDK over gRPC, against the simulated server."""

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from orcha_dagster.adapters.document_ai.errors import DAY_QUOTA_SECONDS, MINUTE_QUOTA_SECONDS
from orcha_dagster.adapters.document_ai.transcriber import DocumentAiTranscriber
from orcha_dagster.domain.errors import (
    ConfigurationError,
    DocumentDamaged,
    DocumentTooLarge,
    DocumentUnsupported,
    OrchaError,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
)
from orcha_dagster.domain.transcriptions import Box, Language, Line, QualityDefect, TranscribedPage, Word
from orcha_dagster.interfaces.transcriber import Bundle
from orcha_dagster.simulated.document_ai_server import PROCESSOR, SimulatedDocumentAi
from orcha_dagster.simulated.faults import Fault, FaultKind
from tests.fake_providers import InlineCpuPool
from tests.simulated_document_ai import PaperReader, document_ai, papers


def word(text: str, left: float, right: float, top: float = 0.125) -> Word:
    return Word(text=text, box=Box(left=left, top=top, right=right, bottom=top + 0.0625), confidence=0.75)


def line(*words: Word, block: int = 0) -> Line:
    first, last = words[0].box, words[-1].box
    box = first.model_copy(update={"right": last.right})
    return Line(text=" ".join(word.text for word in words), box=box, confidence=0.5, words=words, block=block)


def page_of(*lines: Line, **more: Any) -> TranscribedPage:
    return TranscribedPage(**{"page": 1, "lines": lines, "source": "prepared", "quality_score": 0.875, **more})


def numbered(count: int) -> list[TranscribedPage]:
    return [page_of(line(word(f"Page-{number}", 0.125, 0.5))) for number in range(1, count + 1)]


def answered(page: TranscribedPage, number: int) -> TranscribedPage:
    return page.model_copy(update={"page": number, "source": "document-ai", "times_billed": 1})


def with_server(
    work: Callable[[SimulatedDocumentAi, DocumentAiTranscriber], Awaitable[Any]],
    pages: Sequence[TranscribedPage],
    **arguments: Any,
) -> Any:
    async def run() -> Any:
        async with SimulatedDocumentAi(PaperReader(pages), pool=InlineCpuPool()) as server:
            transcriber = DocumentAiTranscriber(PROCESSOR, endpoint=server.address, insecure=True, **arguments)
            try:
                return await work(server, transcriber)
            finally:
                await transcriber.close()

    return asyncio.run(run())


def read(bundle: Bundle, pages: Sequence[TranscribedPage], **arguments: Any) -> tuple[TranscribedPage, ...]:
    async def work(_: SimulatedDocumentAi, transcriber: DocumentAiTranscriber) -> Any:
        return await transcriber.transcribe(bundle)

    return with_server(work, pages, **arguments)


def pdf_bundle(count: int, *, first: int = 1) -> Bundle:
    return Bundle(papers(count), "application/pdf", tuple(range(first, first + count)))


def picture_bundle(kind: str = "PNG") -> Bundle:
    return Bundle(papers(1, kind=kind), f"image/{kind.lower()}", (1,))


def test_every_page_of_a_pdf_is_read_under_its_number_in_the_document() -> None:
    prepared = numbered(3)
    bundle = Bundle(papers(3), "application/pdf", (4, 7, 5))
    assert read(bundle, prepared) == tuple(map(answered, prepared, bundle.pages))


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_picture_is_one_page(kind: str) -> None:
    prepared = page_of(line(word("Total", 0.125, 0.25), word("12.50", 0.5, 0.75)))
    assert read(picture_bundle(kind), [prepared]) == (answered(prepared, 1),)


def test_text_boxes_words_blocks_and_slope_arrive_as_they_were_read() -> None:
    prepared = page_of(
        line(word("Größe", 0.125, 0.25), word("in", 0.3125, 0.375), word("m²", 0.5, 0.625)),
        line(word("12,50", 0.125, 0.25, top=0.5), word("€", 0.3125, 0.375, top=0.5)),
        line(word("in", 0.125, 0.25, top=0.75), word("in", 0.3125, 0.375, top=0.75), block=1),
        slope=0.03125,
    )
    assert read(picture_bundle(), [prepared]) == (answered(prepared, 1),)


def test_the_same_words_on_two_pages_stay_on_their_pages() -> None:
    prepared = [page_of(line(word("Invoice", 0.125, 0.25))), page_of(line(word("Invoice", 0.5, 0.75)))]
    boxes = [page.lines[0].words[0].box.left for page in read(pdf_bundle(2), prepared)]
    assert boxes == [0.125, 0.5]


def test_quality_defects_and_languages_are_the_providers() -> None:
    prepared = page_of(
        line(word("Summe", 0.125, 0.25)),
        quality_score=0.25,
        defects=(QualityDefect(name="blurry", score=0.75), QualityDefect(name="text_too_small", score=0.5)),
        languages=(Language(code="de", confidence=0.875), Language(code="en", confidence=0.125)),
    )
    assert read(picture_bundle(), [prepared]) == (answered(prepared, 1),)


def test_an_empty_page_is_a_page_without_lines() -> None:
    prepared = [page_of(), page_of(line(word("Two", 0.125, 0.25))), page_of()]
    assert [len(page.lines) for page in read(pdf_bundle(3), prepared)] == [0, 1, 0]


def test_the_request_says_what_the_processor_needs_to_know() -> None:
    async def work(server: SimulatedDocumentAi, transcriber: DocumentAiTranscriber) -> Any:
        await transcriber.transcribe(pdf_bundle(1))
        await transcriber.transcribe(picture_bundle())
        return server.calls

    pdf, picture = with_server(work, numbered(1), language_hints=("de", "fr"), imageless=True)
    assert pdf.processor == PROCESSOR
    assert pdf.metadata["x-goog-request-params"] == f"name={PROCESSOR}"
    assert [(call.media_type, call.native_pdf_parsing) for call in (pdf, picture)] == [
        ("application/pdf", True),
        ("image/png", False),
    ]
    assert [(call.language_hints, call.imageless) for call in (pdf, picture)] == [(("de", "fr"), True)] * 2


@pytest.mark.parametrize(("imageless", "most"), [(False, 15), (True, 30)])
def test_a_full_call_is_answered_and_a_fuller_one_is_never_sent(imageless: bool, most: int) -> None:
    async def work(server: SimulatedDocumentAi, transcriber: DocumentAiTranscriber) -> Any:
        assert transcriber.limits.pages == most
        pages = await transcriber.transcribe(pdf_bundle(most))
        with pytest.raises(DocumentTooLarge):
            await transcriber.transcribe(pdf_bundle(most + 1))
        return pages, len(server.calls), server.pages_billed

    pages, calls, billed = with_server(work, numbered(30), imageless=imageless)
    assert [page.lines[0].text for page in pages] == [f"Page-{number}" for number in range(1, most + 1)]
    assert (calls, billed) == (1, most)


def test_more_bytes_than_a_call_takes_are_never_sent() -> None:
    async def work(server: SimulatedDocumentAi, transcriber: DocumentAiTranscriber) -> Any:
        with pytest.raises(DocumentTooLarge):
            await transcriber.transcribe(Bundle(bytes(transcriber.limits.bytes + 1), "application/pdf", (1,)))
        return server.calls

    assert with_server(work, []) == []


def test_a_document_of_nearly_the_most_bytes_is_sent_whole() -> None:
    async def work(server: SimulatedDocumentAi, transcriber: DocumentAiTranscriber) -> Any:
        picture = papers(1, kind="PNG")
        content = picture + bytes(transcriber.limits.bytes - len(picture))
        (page,) = await transcriber.transcribe(Bundle(content, "image/png", (1,)))
        return page.lines[0].text, server.calls[0].size, transcriber.limits.bytes

    text, size, most = with_server(work, numbered(1))
    assert (text, size) == ("Page-1", most)


def test_an_answer_above_four_megabytes_arrives() -> None:
    words = tuple(word(f"{number:04d}" + "x" * 2000, 0.125, 0.25) for number in range(3000))
    (page,) = read(picture_bundle(), [page_of(line(*words))])
    assert len(page.lines[0].text) > 6_000_000
    assert page.lines[0].words == words


FAULTS = [
    (FaultKind.RATE_LIMIT, RateLimited),
    (FaultKind.QUOTA, RateLimited),
    (FaultKind.UNAVAILABLE, ProviderUnavailable),
    (FaultKind.INTERNAL, ProviderUnavailable),
    (FaultKind.PERMISSION, ProviderRefused),
    (FaultKind.NOT_FOUND, ProviderRefused),
    (FaultKind.DAMAGED, DocumentDamaged),
    (FaultKind.CUT_ANSWER, ProviderUnavailable),
    (FaultKind.SURPLUS_ANSWER, ProviderUnavailable),
    (FaultKind.RESET, ProviderUnavailable),
    (FaultKind.HANG, ProviderTimeout),
]


def failure_of(fault: Fault | FaultKind, **arguments: Any) -> OrchaError:
    """What a fault becomes, after showing that the next call through the same client goes well."""

    async def work(server: SimulatedDocumentAi, transcriber: DocumentAiTranscriber) -> OrchaError:
        server.faults.queue(fault)
        with pytest.raises(OrchaError) as caught:
            await transcriber.transcribe(pdf_bundle(2))
        assert len(await transcriber.transcribe(pdf_bundle(2))) == 2
        assert len(server.calls) == 2
        return caught.value

    return with_server(work, numbered(2), **arguments)


@pytest.mark.parametrize(("kind", "expected"), FAULTS, ids=[kind for kind, _ in FAULTS])
def test_every_fault_is_an_error_of_ours_and_is_not_tried_again(kind: FaultKind, expected: type[OrchaError]) -> None:
    assert type(failure_of(kind, call_seconds=1.0)) is expected


def test_every_fault_that_there_is_has_its_error() -> None:
    assert {kind for kind, _ in FAULTS} == set(FaultKind)


@pytest.mark.parametrize(
    ("fault", "seconds"),
    [
        (Fault(FaultKind.RATE_LIMIT, retry_after_seconds=7.5), 7.5),
        (Fault(FaultKind.RATE_LIMIT, retry_after_seconds=0.0), 0.0),
        (Fault(FaultKind.RATE_LIMIT), MINUTE_QUOTA_SECONDS),
        (Fault(FaultKind.QUOTA), DAY_QUOTA_SECONDS),
    ],
)
def test_a_limit_says_how_long_to_wait(fault: Fault, seconds: float) -> None:
    error = failure_of(fault)
    assert isinstance(error, RateLimited)
    assert error.retry_after_seconds == seconds


def test_a_refusal_tells_the_operator_what_is_missing() -> None:
    assert "documentai.processors.processOnline" in str(failure_of(FaultKind.PERMISSION))


@pytest.mark.parametrize(
    ("bundle", "expected"),
    [
        (Bundle(b"", "image/png", (1,)), DocumentDamaged),
        (Bundle(b"no picture", "image/jpeg", (1,)), DocumentDamaged),
        (Bundle(b"%PDF-1.7 cut off", "application/pdf", (1,)), DocumentDamaged),
        (Bundle(b"PK", "application/zip", (1,)), DocumentUnsupported),
        (Bundle(papers(16), "application/pdf", (1,)), DocumentTooLarge),
    ],
    ids=["empty", "no picture", "no pdf", "wrong kind", "more pages than said"],
)
def test_what_the_server_will_not_read_is_for_a_person(bundle: Bundle, expected: type[OrchaError]) -> None:
    with pytest.raises(OrchaError) as caught:
        read(bundle, numbered(16))
    assert type(caught.value) is expected


def test_a_file_with_other_pages_than_announced_is_not_believed() -> None:
    with pytest.raises(ProviderUnavailable):
        read(Bundle(papers(3), "application/pdf", (1, 2)), numbered(3))


def test_a_call_that_hangs_ends_when_its_time_is_up() -> None:
    started = time.monotonic()
    assert isinstance(failure_of(FaultKind.HANG, call_seconds=0.5), ProviderTimeout)
    assert time.monotonic() - started < 5


def test_a_cancelled_call_ends_at_once_and_its_neighbours_go_on() -> None:
    async def work(server: SimulatedDocumentAi, transcriber: DocumentAiTranscriber) -> Any:
        server.faults.queue(FaultKind.HANG)
        hanging = asyncio.create_task(transcriber.transcribe(pdf_bundle(1)))
        await asyncio.wait_for(server.called.wait(), 10)
        neighbour = asyncio.create_task(transcriber.transcribe(pdf_bundle(1)))
        hanging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hanging
        return await neighbour

    assert len(with_server(work, numbered(1), call_seconds=60.0)) == 1


def test_many_calls_at_once_each_get_their_own_answer() -> None:
    async def work(server: SimulatedDocumentAi, transcriber: DocumentAiTranscriber) -> Any:
        bundles = [pdf_bundle(1 + number % 5, first=number * 10 + 1) for number in range(40)]
        answers = await asyncio.gather(*(transcriber.transcribe(bundle) for bundle in bundles))
        return [bundle.pages for bundle in bundles], [tuple(page.page for page in answer) for answer in answers]

    asked, got = with_server(work, numbered(5))
    assert asked == got


def test_it_may_be_used_in_one_event_loop_after_the_other() -> None:
    with document_ai() as transcriber:
        answers = [asyncio.run(transcriber.transcribe(picture_bundle())) for _ in range(3)]
    assert [answer[0].page for answer in answers] == [1, 1, 1]


def test_closing_twice_and_calling_again_is_fine() -> None:
    async def work(_: SimulatedDocumentAi, transcriber: DocumentAiTranscriber) -> Any:
        await transcriber.transcribe(picture_bundle())
        await transcriber.close()
        await transcriber.close()
        return await transcriber.transcribe(picture_bundle())

    assert len(with_server(work, numbered(1))) == 1


def test_nobody_at_the_address_is_unavailable() -> None:
    async def call() -> None:
        transcriber = DocumentAiTranscriber(PROCESSOR, endpoint="127.0.0.1:1", insecure=True, call_seconds=5)
        try:
            await transcriber.transcribe(picture_bundle())
        finally:
            await transcriber.close()

    with pytest.raises(ProviderUnavailable):
        asyncio.run(call())


def test_a_server_that_dies_in_the_middle_is_unavailable_and_comes_back(tmp_path: Path) -> None:
    def start(name: str, *options: str) -> tuple[subprocess.Popen[bytes], str]:
        process = start_server(tmp_path / name, *options)
        return process, announced(process, tmp_path / name)

    async def story() -> str:
        server, address = await asyncio.to_thread(start, "first", "--latency", "60")
        transcriber = DocumentAiTranscriber(PROCESSOR, endpoint=address, insecure=True, call_seconds=60)
        call = asyncio.create_task(transcriber.transcribe(picture_bundle()))
        await asyncio.sleep(1.0)
        server.kill()
        with pytest.raises(ProviderUnavailable):
            await asyncio.wait_for(call, 10)
        await asyncio.to_thread(server.wait)
        port = address.rpartition(":")[2]
        again, _ = await asyncio.to_thread(start, "second", "--port", port, "--fault", "damaged=1")
        try:
            return await first_answer(transcriber)
        finally:
            again.terminate()
            await asyncio.to_thread(again.wait)
            await transcriber.close()

    assert asyncio.run(story()) == "DOCUMENT_DAMAGED"


async def first_answer(transcriber: DocumentAiTranscriber) -> str:
    """The code of the first error that comes from the server itself, once the connection is tried again."""
    for _ in range(100):
        try:
            await transcriber.transcribe(picture_bundle())
        except ProviderUnavailable:
            await asyncio.sleep(0.2)
        except OrchaError as error:
            return error.code
    return "none"


def start_server(port_file: Path, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "orcha_dagster.simulated.document_ai_server", "--port-file", str(port_file)]
    return subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL)


def announced(server: subprocess.Popen[bytes], port_file: Path) -> str:
    for _ in range(600):
        if port_file.exists():
            return port_file.read_text(encoding="utf-8").strip()
        assert server.poll() is None
        time.sleep(0.1)
    raise AssertionError("The server was not ready in time.")


def test_the_server_process_ends_at_once_when_asked(tmp_path: Path) -> None:
    server = start_server(tmp_path / "address")
    address = announced(server, tmp_path / "address")
    assert address.startswith("127.0.0.1:")
    asked = time.monotonic()
    server.send_signal(signal.SIGTERM)
    assert server.wait(10) == 0
    assert time.monotonic() - asked < 3


@pytest.mark.parametrize(
    "endpoint", [None, "eu-documentai.googleapis.com", "192.168.1.4:8080", "127.0.0.1.example.com:1"]
)
def test_documents_leave_this_machine_only_encrypted(endpoint: str | None) -> None:
    with pytest.raises(ConfigurationError, match="without encryption"):
        DocumentAiTranscriber(PROCESSOR, endpoint=endpoint, insecure=True)


@pytest.mark.parametrize("endpoint", ["127.0.0.1:8080", "localhost:8080", "[::1]:8080", "localhost"])
def test_a_server_on_this_machine_may_be_called_without_tls(endpoint: str) -> None:
    DocumentAiTranscriber(PROCESSOR, endpoint=endpoint, insecure=True)


@pytest.mark.parametrize("name", ["", "ocr", "projects/p/processors/x", "projects/p/locations/eu/processors/x/", "a b"])
def test_what_is_no_processor_is_a_wrong_setting(name: str) -> None:
    with pytest.raises(ConfigurationError, match="projects/my-project/locations"):
        DocumentAiTranscriber(name)


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("projects/p/locations/eu/processors/x", "default"),
        ("projects/p/locations/eu/processors/x/processorVersions/rc", "rc"),
        ("projects/p/locations/eu/processors/x/processorVersions/pretrained-ocr-v2.1-2024-08-07",
         "pretrained-ocr-v2.1-2024-08-07"),
    ],
)  # fmt: skip
def test_the_version_is_that_of_the_processor(name: str, version: str) -> None:
    transcriber = DocumentAiTranscriber(name)
    assert (transcriber.name, transcriber.version) == ("document-ai", version)


def test_credentials_that_are_not_there_are_for_the_operator(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "missing.json"))
    with pytest.raises(ProviderRefused, match="GOOGLE_APPLICATION_CREDENTIALS"):
        asyncio.run(DocumentAiTranscriber(PROCESSOR).transcribe(picture_bundle()))
