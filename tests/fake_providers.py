"""Fakes of the interfaces that read and extract. They take their failures in the constructor and show what happened."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import ParamSpec, TypeVar

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.errors import DocumentDamaged, DocumentEncrypted, DocumentTooLarge
from orcha_dagster.domain.extractions import ExtractedField, Extraction
from orcha_dagster.domain.pages import PageMeasurement, PageTreatment
from orcha_dagster.domain.transcriptions import Box, Line, TranscribedPage, Transcription
from orcha_dagster.interfaces.cpu_pool import CpuPool
from orcha_dagster.interfaces.extractor import ExtractionRequest, Extractor
from orcha_dagster.interfaces.page_preparer import BundleFile, PagePreparer
from orcha_dagster.interfaces.transcriber import Bundle, BundleLimits, Transcriber

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
    """Reads the same words on every page; the failures come first, one per call.

    `confidences` tells how sure it is of a picture that holds certain words; of any other it is as sure as it says. On
    a page that is blank it reads nothing.
    """

    name = "fake"
    version = "1"

    def __init__(
        self,
        words: Sequence[str] = ("hello",),
        *,
        confidence: float = 0.9,
        confidences: Mapping[str, float] | None = None,
        failures: Sequence[Exception | None] = (),
        pages_per_call: int = 1,
        bytes_per_call: int = 1_000_000,
        times_billed: int = 0,
    ) -> None:
        self.calls: list[tuple[int, ...]] = []
        self.pictures: list[str] = []
        self.is_closed = False
        self.limits = BundleLimits(pages=pages_per_call, bytes=bytes_per_call, takes_pdf=pages_per_call > 1)
        self._words = tuple(words)
        self._confidence = confidence
        self._confidences = confidences or {}
        self._failures = list(failures)
        self._times_billed = times_billed

    async def transcribe(self, bundle: Bundle) -> tuple[TranscribedPage, ...]:
        self.calls.append(bundle.pages)
        await asyncio.sleep(0)
        failure = self._failures.pop(0) if self._failures else None
        if failure is not None:
            raise failure
        if not bundle.content:
            raise DocumentDamaged(f"The picture of page {bundle.pages[0]} cannot be decoded.")
        pictures = bundle.content.split(b"\n")
        self.pictures += [picture.decode(errors="replace") for picture in pictures]
        return tuple(self._read(page, picture) for page, picture in zip(bundle.pages, pictures, strict=False))

    async def close(self) -> None:
        self.is_closed = True

    def _read(self, page: int, picture: bytes) -> TranscribedPage:
        sure = [value for words, value in self._confidences.items() if words.encode() in picture]
        confidence = sure[0] if sure else self._confidence
        lines = tuple(
            Line(text=word, box=place(0.1, 0.1 + 0.05 * index), confidence=confidence)
            for index, word in enumerate(self._words if b"blank" not in picture else ())
        )
        return TranscribedPage(
            page=page,
            lines=lines,
            source=self.name,
            quality_score=confidence if lines else 0.0,
            times_billed=self._times_billed,
        )


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

    async def extract(self, request: ExtractionRequest) -> Extraction | None:
        self.calls.append((request.raw, request.document.stat().st_size, request.transcription.text))
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
    """Prepares documents that `fake_document` wrote. The failures come first, one per call of `inspect`."""

    def __init__(self, *, max_pages: int = 50, failures: Sequence[Exception] = ()) -> None:
        self.calls: list[str] = []
        self._max_pages = max_pages
        self._failures = list(failures)

    async def inspect(
        self, raw: RawDocument, document: Path, *, on_pages: Callable[[], None] | None = None
    ) -> tuple[PageMeasurement, ...]:
        self.calls.append("inspect")
        await asyncio.sleep(0)
        if on_pages is not None:
            on_pages()
        if self._failures:
            raise self._failures.pop(0)
        kinds = _kinds_of(document)
        if len(kinds) > self._max_pages:
            raise DocumentTooLarge(f"The document has {len(kinds)} pages; the limit is {self._max_pages}.")
        return tuple(
            PageMeasurement(
                page=page,
                has_text_layer=kind == "text",
                text_layer_defect="garbled" if kind == "garbled" else None,
            )
            for page, kind in enumerate(kinds, start=1)
        )

    async def treat(
        self, raw: RawDocument, document: Path, page: int, *, picture: Path, thoroughly: bool = False
    ) -> PageTreatment:
        self.calls.append(f"treat {page}{' thoroughly' if thoroughly else ''}")
        kind = _kind_of(document, page)
        steps = ("deskewed",) if kind == "crooked" or (thoroughly and kind != "hopeless") else ()
        treatment = PageTreatment(
            measurement=PageMeasurement(
                page=page, has_text_layer=False, width=100, height=100, letter_height=None if kind == "blank" else 20.0
            ),
            steps=steps,
            reason=kind,
            conversions=("converted",) if kind == "webp" else (),
        )
        if treatment.has_picture:
            picture.write_bytes(_picture(page, "treated" if steps else kind))
        return treatment

    async def read_text_layer(
        self, raw: RawDocument, document: Path, pages: Sequence[int]
    ) -> tuple[TranscribedPage, ...]:
        self.calls.append("read_text_layer")
        assert all(_kind_of(document, page) == "text" for page in pages)
        return tuple(
            TranscribedPage(
                page=page,
                lines=(Line(text=f"text of page {page}", box=place(0.1, 0.1), confidence=1.0),),
                source="text_layer",
                quality_score=1.0,
            )
            for page in pages
        )

    async def bundle(
        self,
        raw: RawDocument,
        document: Path,
        pages: Sequence[int],
        *,
        pictures: Mapping[int, Path],
        drawn: Collection[int],
        limits: BundleLimits,
        file: Path,
    ) -> BundleFile:
        asked, pages = tuple(pages), ()
        contents: list[bytes] = []
        for page in asked[: limits.pages]:
            goes_as_picture = page in pictures or page in drawn
            kind = f"{_kind_of(document, page)}{', drawn' if page in drawn else ''}"
            contents.append(pictures[page].read_bytes() if page in pictures else _picture(page, kind))
            fits = len(b"\n".join(contents)) <= limits.bytes
            if pages and (not fits or goes_as_picture != (pages[0] in pictures or pages[0] in drawn)):
                contents.pop()
                break
            pages = (*pages, page)
        self.calls.append(f"bundle {' '.join(map(str, pages))}")
        file.write_bytes(b"\n".join(contents))
        return BundleFile(file, "image/jpeg" if len(pages) == 1 else "application/pdf", pages)

    async def pack(self, pictures: Sequence[Path], packed: Path) -> str:
        packed.write_bytes(b"\n".join(picture.read_bytes() for picture in pictures))
        return "pack"

    async def unpack(self, packed: Path, pictures: Sequence[Path]) -> None:
        self.calls.append("unpack")
        for picture, content in zip(pictures, packed.read_bytes().split(b"\n"), strict=True):
            picture.write_bytes(content)


def fake_document(*kinds: str) -> bytes:
    """A document for the fake preparer, of pages that are each `text`, `garbled`, `scan`, `webp` (readers do not take
    it as it is), `crooked`, `blank` or `hopeless`."""
    return b"%PDF-fake " + " ".join(kinds).encode()


def _kinds_of(document: Path) -> list[str]:
    head, *kinds = document.read_bytes().decode(errors="replace").split(" ")
    if head != "%PDF-fake" or not kinds:
        raise DocumentDamaged("The document cannot be opened.")
    if kinds == ["locked"]:
        raise DocumentEncrypted("The document asks for a password.")
    return kinds


def _kind_of(document: Path, page: int) -> str:
    return _kinds_of(document)[page - 1]


def _picture(page: int, kind: str) -> bytes:
    return f"picture of page {page}, {kind}".encode()
