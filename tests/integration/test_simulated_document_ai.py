"""The simulated Document AI, asked by the real SDK as somebody else might ask it: its answers are those of the real one
as far as its documentation tells."""

import asyncio
import io
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grpc
import psutil
import pytest
from google.api_core import exceptions as api
from google.cloud.documentai_v1 import OcrConfig, ProcessOptions, ProcessRequest, ProcessResponse, RawDocument
from google.cloud.documentai_v1.services.document_processor_service import DocumentProcessorServiceAsyncClient
from google.cloud.documentai_v1.services.document_processor_service.transports import (
    DocumentProcessorServiceGrpcAsyncIOTransport,
)
from PIL import Image, ImageDraw, ImageFont
from pypdf import PdfWriter

from orcha_dagster.adapters.document_ai.transcriber import DocumentAiTranscriber
from orcha_dagster.domain.errors import RecoverableError
from orcha_dagster.domain.transcriptions import Box, Line, TranscribedPage
from orcha_dagster.interfaces.transcriber import Bundle
from orcha_dagster.simulated.document_ai_server import MOST_BYTES, PROCESSOR, SimulatedDocumentAi
from orcha_dagster.simulated.faults import Fault, FaultKind, Faults
from tests.fake_providers import InlineCpuPool
from tests.simulated_document_ai import InkReader, PaperReader, papers

LINES = (
    Line(text="Invoice 17", box=Box(left=0.25, top=0.125, right=0.75, bottom=0.25), confidence=0.5),
    Line(text="Total 9.00", box=Box(left=0.25, top=0.5, right=0.75, bottom=0.625), confidence=0.75, block=1),
)


def read_pages(count: int) -> list[TranscribedPage]:
    return [TranscribedPage(page=1, lines=LINES, source="prepared", quality_score=0.5) for _ in range(count)]


def ask(
    content: bytes, media_type: str = "application/pdf", *, server: SimulatedDocumentAi | None = None, **more: Any
) -> Any:
    """The plain document message, by the plain SDK."""
    request = ProcessRequest(name=PROCESSOR, raw_document=RawDocument(content=content, mime_type=media_type), **more)

    answers: list[ProcessResponse] = []  # not returned: `asyncio.run` takes seconds to print a large result for itself

    async def call() -> None:
        async with server or SimulatedDocumentAi(PaperReader(read_pages(31)), pool=InlineCpuPool()) as running:
            options = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]
            channel = grpc.aio.insecure_channel(running.address, options=options)
            transport = DocumentProcessorServiceGrpcAsyncIOTransport(channel=channel)
            client = DocumentProcessorServiceAsyncClient(transport=transport)
            async with client:
                answers.append(await client.process_document(request=request, retry=None, timeout=20))

    asyncio.run(call())
    return ProcessResponse.pb(answers[0]).document


def refusal(*arguments: Any, **more: Any) -> api.GoogleAPICallError:
    with pytest.raises(api.GoogleAPICallError) as caught:
        ask(*arguments, **more)
    return caught.value


def anchored(document: Any, unit: Any) -> str:
    (segment,) = unit.layout.text_anchor.text_segments
    return str(document.text[segment.start_index : segment.end_index])


def test_text_is_anchored_in_the_document_at_every_level() -> None:
    document = ask(papers(2))
    page = document.pages[1]
    assert document.text == "Invoice 17\nTotal 9.00\n" * 2
    assert [anchored(document, unit) for unit in page.tokens] == ["Invoice ", "17\n", "Total ", "9.00\n"]
    assert [anchored(document, unit) for unit in page.lines] == ["Invoice 17\n", "Total 9.00\n"]
    assert [anchored(document, unit) for unit in page.paragraphs] == ["Invoice 17\n", "Total 9.00\n"]
    assert [anchored(document, unit) for unit in page.blocks] == ["Invoice 17\n", "Total 9.00\n"]
    assert anchored(document, page) == "Invoice 17\nTotal 9.00\n"


def test_a_line_without_words_has_a_token_for_each_of_them_inside_its_box() -> None:
    page = ask(papers(1)).pages[0]
    first, second = (
        [vertex.x for vertex in token.layout.bounding_poly.normalized_vertices] for token in page.tokens[:2]
    )
    assert min(first) == 0.25
    assert max(first) < min(second)
    assert max(second) == pytest.approx(0.75)


def test_a_page_has_its_number_its_size_and_its_picture() -> None:
    pages = ask(papers(2)).pages
    assert [page.page_number for page in pages] == [1, 2]
    picture = Image.open(io.BytesIO(pages[0].image.content))
    assert (pages[0].dimension.width, pages[0].dimension.height) == picture.size
    assert pages[0].dimension.unit == "pixels"


def test_imageless_means_without_pictures() -> None:
    assert not ask(papers(1), imageless_mode=True).pages[0].image.content


def test_a_field_mask_leaves_what_it_names() -> None:
    document = ask(papers(1), field_mask={"paths": ["text", "pages.lines", "pages.page_number"]})
    assert {field.name for field, _ in document.ListFields()} == {"text", "pages"}
    assert {field.name for field, _ in document.pages[0].ListFields()} == {"lines", "page_number"}


def test_a_field_mask_may_name_all_of_the_pages() -> None:
    document = ask(papers(1), field_mask={"paths": ["pages"]})
    assert not document.text
    assert document.pages[0].tokens


@pytest.mark.parametrize("path", ["nothing", "pages.nothing", "pages.lines.layout"])
def test_a_field_mask_of_something_else_is_refused(path: str) -> None:
    assert type(refusal(papers(1), field_mask={"paths": [path]})) is api.InvalidArgument


@pytest.mark.parametrize("asked", [True, False])
def test_quality_is_told_to_those_who_ask(asked: bool) -> None:
    options = ProcessOptions(ocr_config=OcrConfig(enable_image_quality_scores=asked))
    assert ask(papers(1), process_options=options).pages[0].HasField("image_quality_scores") is asked


@pytest.mark.parametrize(("kind", "pages"), [("PNG", 1), ("JPEG", 1), ("WEBP", 1), ("BMP", 1), ("TIFF", 3)])
def test_pictures_of_every_kind_are_read(kind: str, pages: int) -> None:
    assert len(ask(papers(pages, kind=kind), f"image/{kind.lower()}").pages) == pages


@pytest.mark.parametrize(("imageless", "most"), [(False, 15), (True, 30)])
def test_one_page_more_than_the_limit_is_refused(imageless: bool, most: int) -> None:
    assert len(ask(papers(most), imageless_mode=imageless).pages) == most
    error = refusal(papers(most + 1), imageless_mode=imageless)
    assert type(error) is api.InvalidArgument
    assert "PAGE_LIMIT_EXCEEDED" in error.reason
    assert f"limit: {most} got {most + 1}" in error.message


def test_one_byte_more_than_the_limit_is_refused() -> None:
    picture = papers(1, kind="PNG")
    assert len(ask(picture + bytes(MOST_BYTES - len(picture)), "image/png").pages) == 1
    error = refusal(picture + bytes(MOST_BYTES - len(picture) + 1), "image/png")
    assert type(error) is api.InvalidArgument
    assert "exceeds the limit" in str(error.details)


def encrypted() -> bytes:
    writer = PdfWriter(clone_from=io.BytesIO(papers(1)))
    writer.encrypt("secret", algorithm="RC4-128")
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "media_type", "said"),
    [
        (b"", "application/pdf", "Unsupported input file format"),
        (b"%PDF-1.4 and then nothing", "application/pdf", "Unsupported input file format"),
        (b"no picture", "image/png", "Unsupported input file format"),
        (papers(1, kind="PNG")[:-20], "image/webp", "Unsupported input file format"),
        (encrypted(), "application/pdf", "password"),
        (b"text", "text/plain", "Unsupported MIME type"),
    ],
    ids=["empty", "no pdf", "no picture", "cut off", "encrypted", "text"],
)
def test_what_cannot_be_read_is_an_invalid_argument(content: bytes, media_type: str, said: str) -> None:
    server = SimulatedDocumentAi(InkReader(), pool=InlineCpuPool())
    error = refusal(content, media_type, server=server)
    assert type(error) is api.InvalidArgument
    assert said in error.message


def test_a_reader_that_fails_is_an_internal_error() -> None:
    async def fail(_: bytes) -> TranscribedPage:
        raise RecoverableError("gone")

    error = refusal(papers(1), server=SimulatedDocumentAi(fail, pool=InlineCpuPool()))
    assert type(error) is api.InternalServerError


def kinds(faults: Faults, count: int) -> Sequence[FaultKind | None]:
    drawn = [faults.next() for _ in range(count)]
    return [fault.kind if fault else None for fault in drawn]


def test_queued_faults_come_once_and_in_their_order() -> None:
    faults = Faults()
    faults.queue(FaultKind.HANG, None, Fault(FaultKind.QUOTA))
    assert kinds(faults, 4) == [FaultKind.HANG, None, FaultKind.QUOTA, None]


def test_a_chance_is_kept_to_over_many_calls_and_the_same_each_time() -> None:
    def draw() -> Sequence[FaultKind | None]:
        faults = Faults(seed=4)
        faults.set_chance(FaultKind.RATE_LIMIT, 0.25)
        return kinds(faults, 2000)

    assert draw() == draw()
    assert 400 < draw().count(FaultKind.RATE_LIMIT) < 600


def test_cleared_faults_do_not_come() -> None:
    faults = Faults()
    faults.queue(FaultKind.HANG)
    faults.set_chance(FaultKind.RESET, 1.0)
    faults.clear()
    assert kinds(faults, 5) == [None] * 5


def picture_of(text: str) -> bytes:
    image = Image.new("RGB", (900, 300), "white")
    ImageDraw.Draw(image).text((60, 100), text, fill="black", font=ImageFont.load_default(60))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def wait_for(file: Path) -> str:
    for _ in range(600):
        if file.exists():
            return file.read_text(encoding="utf-8").strip()
        time.sleep(0.1)
    raise AssertionError(f"{file.name} did not come.")


def test_the_server_process_reads_with_the_local_engine_and_ends_with_its_parent(tmp_path: Path) -> None:
    """A shell between us is the parent that dies."""
    command = [sys.executable, "-m", "orcha_dagster.simulated.document_ai_server", "--workers", "1"]
    script = '"$@" & echo $! > pid; mv pid server.pid; wait'
    arguments = [*command, "--port-file", str(tmp_path / "address")]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    parent = subprocess.Popen(["sh", "-c", script, "sh", *arguments], cwd=tmp_path, env=environment)
    server = psutil.Process(int(wait_for(tmp_path / "server.pid")))
    try:
        transcriber = DocumentAiTranscriber(PROCESSOR, endpoint=wait_for(tmp_path / "address"), insecure=True)
        (page,) = asyncio.run(transcriber.transcribe(Bundle(picture_of("TOTAL 118.61"), "image/png", (1,))))
        assert "118.61" in " ".join(line.text for line in page.lines)
        assert 0 < page.quality_score <= 1
        parent.kill()
        parent.wait()
        server.wait(10)
    finally:
        if server.is_running():
            server.kill()
