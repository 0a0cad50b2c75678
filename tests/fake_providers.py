"""Fakes of the interfaces that read and extract. They take their failures in the constructor and show what happened."""

import asyncio
from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.errors import DocumentDamaged, DocumentEncrypted, DocumentTooLarge
from orcha_dagster.domain.extractions import ExtractedField, Extraction
from orcha_dagster.domain.pages import PageMeasurement, PageTreatment
from orcha_dagster.domain.transcriptions import Box, Line, TranscribedPage, Transcription
from orcha_dagster.interfaces.cpu_pool import CpuPool
from orcha_dagster.interfaces.extractor import Extractor
from orcha_dagster.interfaces.page_preparer import PagePreparer
from orcha_dagster.interfaces.transcriber import Transcriber

P = ParamSpec("P")
T = TypeVar("T")


class InlineCpuPool(CpuPool):
    """Runs the function where it stands."""

    def __init__(self, failures: Sequence[Exception] = ()) -> None:
        self.calls: list[str] = []
        self._failures = list(failures)

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        self.calls.append(function.__name__)
        if self._failures:
            raise self._failures.pop(0)
        return function(*args, **kwargs)

    def close(self) -> None:
        pass


class FakeTranscriber(Transcriber):
    """Reads the same words on every picture; the failures come first, one per call."""

    name = "fake"
    version = "1"

    def __init__(
        self, words: Sequence[str] = ("hello",), *, confidence: float = 0.9, failures: Sequence[Exception] = ()
    ) -> None:
        self.calls: list[int] = []
        self._words = tuple(words)
        self._confidence = confidence
        self._failures = list(failures)

    async def transcribe(self, picture: bytes, *, page: int) -> TranscribedPage:
        self.calls.append(page)
        await asyncio.sleep(0)
        if self._failures:
            raise self._failures.pop(0)
        if not picture:
            raise DocumentDamaged(f"The picture of page {page} cannot be decoded.")
        lines = tuple(
            Line(text=word, box=place(0.1, 0.1 + 0.05 * index), confidence=self._confidence)
            for index, word in enumerate(self._words)
        )
        quality = self._confidence if lines else 0.0
        return TranscribedPage(page=page, lines=lines, source=self.name, quality_score=quality)


class FakeExtractor(Extractor):
    """Answers with the fields it was given, or None without any; the failures come first, one per call."""

    name = "fake"
    version = "1"

    def __init__(
        self,
        fields: dict[str, str] | None = None,
        *,
        schema_name: str = "invoice",
        failures: Sequence[Exception] = (),
    ) -> None:
        self.calls: list[tuple[RawDocument, int, str]] = []  # the document, its size and its text
        self._fields = fields
        self._schema_name = schema_name
        self._failures = list(failures)

    async def extract(self, raw: RawDocument, content: bytes, transcription: Transcription) -> Extraction | None:
        self.calls.append((raw, len(content), transcription.text))
        await asyncio.sleep(0)
        if self._failures:
            raise self._failures.pop(0)
        if self._fields is None:
            return None
        return Extraction(
            schema_name=self._schema_name,
            fields={name: ExtractedField(value=value) for name, value in self._fields.items()},
            extractor=self.name,
            extractor_version=self.version,
        )


def place(left: float, top: float, *, width: float = 0.2, height: float = 0.02) -> Box:
    return Box(left=left, top=top, right=left + width, bottom=top + height)


def transcription_of(*rows: str, quality_score: float = 1.0) -> Transcription:
    """A page written row by row; ` | ` separates what stands in different columns."""
    lines = []
    for row_index, row in enumerate(rows):
        for column, text in enumerate(row.split(" | ") if row else []):
            box = place(0.05 + 0.22 * column, 0.03 + 0.025 * row_index)
            lines.append(Line(text=text, box=box, confidence=1.0))
    page = TranscribedPage(page=1, lines=tuple(lines), source="text_layer", quality_score=quality_score)
    return Transcription(pages=(page,), provider="text_layer", provider_version="1", quality_score=quality_score)


class FakePagePreparer(PagePreparer):
    """Prepares documents that `fake_document` wrote. The failures come first, one per call of `prepare`."""

    def __init__(self, *, max_pages: int = 50, failures: Sequence[Exception] = ()) -> None:
        self.calls: list[str] = []
        self._max_pages = max_pages
        self._failures = list(failures)

    async def prepare(
        self,
        raw: RawDocument,
        content: bytes,
    ) -> tuple[tuple[PageTreatment, ...], dict[int, bytes]]:
        self.calls.append("prepare")
        await asyncio.sleep(0)
        if self._failures:
            raise self._failures.pop(0)
        kinds = _kinds_of(content)
        if len(kinds) > self._max_pages:
            raise DocumentTooLarge(f"The document has {len(kinds)} pages; the limit is {self._max_pages}.")
        treatments = tuple(_treatment(page, kind) for page, kind in enumerate(kinds, start=1))
        return treatments, {t.measurement.page: _picture(t.measurement.page, "treated") for t in treatments if t.steps}

    async def read_text_layer(self, content: bytes, pages: Sequence[int]) -> tuple[TranscribedPage, ...]:
        self.calls.append("read_text_layer")
        assert all(_kinds_of(content)[page - 1] == "text" for page in pages)
        return tuple(
            TranscribedPage(
                page=page,
                lines=(Line(text=f"text of page {page}", box=place(0.1, 0.1), confidence=1.0),),
                source="text_layer",
                quality_score=1.0,
            )
            for page in pages
        )

    async def picture_of(self, raw: RawDocument, content: bytes, page: int) -> bytes:
        self.calls.append("picture_of")
        return _picture(page, _kinds_of(content)[page - 1])

    async def pack(self, pictures: Sequence[bytes]) -> tuple[str, bytes]:
        return "pack", b"\n".join(pictures)

    async def unpack(self, packed: bytes) -> list[bytes]:
        return packed.split(b"\n")


def fake_document(*kinds: str) -> bytes:
    """A document for the fake preparer, of pages that are each `text`, `scan` or `crooked`."""
    return b"%PDF-fake " + " ".join(kinds).encode()


def _kinds_of(content: bytes) -> list[str]:
    head, *kinds = content.decode().split(" ")
    if head != "%PDF-fake" or not kinds:
        raise DocumentDamaged("The document cannot be opened.")
    if kinds == ["locked"]:
        raise DocumentEncrypted("The document asks for a password.")
    return kinds


def _treatment(page: int, kind: str) -> PageTreatment:
    steps = ("deskewed",) if kind == "crooked" else ()
    measurement = PageMeasurement(page=page, has_text_layer=kind == "text")
    return PageTreatment(measurement=measurement, steps=steps, reason=kind)


def _picture(page: int, kind: str) -> bytes:
    return f"picture of page {page}, {kind}".encode()
