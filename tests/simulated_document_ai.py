"""Document AI for tests: the simulated server with a reader that takes no time, and the transcriber that calls it."""

import asyncio
import io
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from PIL import Image, ImageOps

from orcha_dagster.adapters.document_ai.transcriber import DocumentAiTranscriber
from orcha_dagster.domain.errors import DocumentDamaged
from orcha_dagster.domain.transcriptions import Box, Line, TranscribedPage
from orcha_dagster.simulated.document_ai_server import PROCESSOR, SimulatedDocumentAi
from tests.fake_providers import InlineCpuPool

_GREY_STEP = 8  # between the papers of two pages: more than JPEG changes


@dataclass
class InkReader:
    """Reads the same text wherever there is ink, and puts it where the ink is."""

    text: str = "hello"
    confidence: float = 0.9

    async def __call__(self, picture: bytes) -> TranscribedPage:
        image = _decoded(picture)
        ink = ImageOps.invert(image).point(lambda value: 255 if value > 100 else 0).getbbox()
        lines = []
        if ink:
            left, top, right, bottom = ink
            box = Box(
                left=left / image.width,
                top=top / image.height,
                right=right / image.width,
                bottom=bottom / image.height,
            )
            lines = [Line(text=self.text, box=box, confidence=self.confidence)]
        quality = self.confidence if lines else 0.0
        return TranscribedPage(page=1, lines=tuple(lines), source="ink", quality_score=quality)


@dataclass
class PaperReader:
    """Knows each page by the grey of its paper (`papers` draws them) and says what was prepared for it."""

    pages: Sequence[TranscribedPage]
    read: list[int] = field(default_factory=list)

    async def __call__(self, picture: bytes) -> TranscribedPage:
        image = _decoded(picture)
        value = image.getpixel((image.width // 2, image.height // 2))
        assert isinstance(value, int | float)
        place = round((255 - value) / _GREY_STEP)
        self.read.append(place + 1)
        return self.pages[place]


def papers(count: int, *, kind: str = "PDF", size: tuple[int, int] = (60, 80)) -> bytes:
    """A document of pages that a PaperReader tells apart: a PDF or TIFF, or a picture of its first page."""
    first, *rest = [Image.new("L", size, 255 - _GREY_STEP * place) for place in range(count)]
    buffer = io.BytesIO()
    several: dict[str, Any] = {"save_all": True, "append_images": rest} if kind in ("PDF", "TIFF") else {}
    first.save(buffer, kind, **several)
    return buffer.getvalue()


@contextmanager
def document_ai(
    read: Callable[[bytes], Awaitable[TranscribedPage]] | None = None, **arguments: Any
) -> Iterator[DocumentAiTranscriber]:
    """A transcriber over a server in a thread of its own, so that it may be called from one `asyncio.run` after the
    other. `arguments` are the transcriber's."""
    with running(SimulatedDocumentAi(read or InkReader(), pool=InlineCpuPool())) as server:
        yield DocumentAiTranscriber(PROCESSOR, endpoint=server.address, insecure=True, **arguments)


@contextmanager
def running(server: SimulatedDocumentAi) -> Iterator[SimulatedDocumentAi]:
    """The server, serving from a thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="simulated-document-ai")
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(30)
        try:
            yield server
        finally:
            asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result(30)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()


def _decoded(picture: bytes) -> Image.Image:
    try:
        return Image.open(io.BytesIO(picture)).convert("L")
    except OSError as error:
        raise DocumentDamaged("The picture cannot be decoded.") from error
