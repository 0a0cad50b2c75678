"""Tools without work in them: fixed answers at once, or after a server has waited as long as a real provider would."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import httpx2 as httpx

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.errors import RecoverableError
from orcha_dagster.domain.extractions import ExtractedField, Extraction
from orcha_dagster.domain.pages import PageMeasurement, PageTreatment
from orcha_dagster.domain.transcriptions import Box, Line, TranscribedPage
from orcha_dagster.interfaces.extractor import ExtractionRequest, Extractor
from orcha_dagster.interfaces.page_preparer import BundleFile, PagePreparer
from orcha_dagster.interfaces.transcriber import Bundle, BundleLimits, Transcriber

TRANSCRIBE_PATH, EXTRACT_PATH = "/transcribe", "/extract"
_CALL_SECONDS = 60
_LINE = Line(text="Total 10.00", box=Box(left=0.1, top=0.1, right=0.4, bottom=0.12), confidence=1.0)
_ONE_PAGE = PageMeasurement(page=1, has_text_layer=False)
_PICTURE = "image/jpeg"


class InstantPages(PagePreparer):
    """One page per document, never treated; its picture is the document."""

    async def inspect(
        self,
        raw: RawDocument,  # noqa: ARG002
        document: Path,  # noqa: ARG002
        *,
        on_pages: Callable[[], None] | None = None,  # noqa: ARG002
    ) -> tuple[PageMeasurement, ...]:
        return (_ONE_PAGE,)

    async def treat(
        self,
        raw: RawDocument,  # noqa: ARG002
        document: Path,  # noqa: ARG002
        page: int,  # noqa: ARG002
        *,
        picture: Path,  # noqa: ARG002
        thoroughly: bool = False,  # noqa: ARG002
    ) -> PageTreatment:
        return PageTreatment(measurement=_ONE_PAGE, steps=(), reason="Benchmarks look at nothing.")

    async def read_text_layer(
        self,
        raw: RawDocument,  # noqa: ARG002
        document: Path,  # noqa: ARG002
        pages: Sequence[int],  # noqa: ARG002
    ) -> tuple[TranscribedPage, ...]:
        return ()

    async def bundle(
        self,
        raw: RawDocument,  # noqa: ARG002
        document: Path,
        pages: Sequence[int],
        *,
        pictures: Mapping[int, Path],  # noqa: ARG002
        drawn: Collection[int],  # noqa: ARG002
        limits: BundleLimits,  # noqa: ARG002
        file: Path,  # noqa: ARG002
    ) -> BundleFile:
        return BundleFile(document, _PICTURE, tuple(pages))

    async def pack(self, pictures: Sequence[Path], packed: Path) -> str:
        packed.write_bytes(pictures[0].read_bytes())
        return "jpg"

    async def unpack(self, packed: Path, pictures: Sequence[Path]) -> None:
        pictures[0].write_bytes(packed.read_bytes())


class InstantTranscriber(Transcriber):
    name = "instant"
    version = "1"
    limits = BundleLimits(pages=1, bytes=100_000_000, takes_pdf=False)

    async def transcribe(self, bundle: Bundle) -> tuple[TranscribedPage, ...]:
        return tuple(
            TranscribedPage(page=page, lines=(_LINE,), source=self.name, quality_score=1.0) for page in bundle.pages
        )


class InstantExtractor(Extractor):
    name = "instant"
    version = "1"

    async def extract(self, request: ExtractionRequest) -> Extraction | None:  # noqa: ARG002
        return Extraction(
            schema_name="generic",
            fields={"gross": ExtractedField(value="10.00", page=1, box=_LINE.box, text="10.00")},
            extractor=self.name,
            extractor_version=self.version,
        )


class SlowTranscriber(InstantTranscriber):
    """Sends the picture, as a real one does, and waits for the answer."""

    name = "slow"

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def transcribe(self, bundle: Bundle) -> tuple[TranscribedPage, ...]:
        await post(self._client, TRANSCRIBE_PATH, bundle.content)
        return await super().transcribe(bundle)


class SlowExtractor(InstantExtractor):
    """Sends the text and waits for the answer."""

    name = "slow"

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def extract(self, request: ExtractionRequest) -> Extraction | None:
        await post(self._client, EXTRACT_PATH, request.transcription.text.encode())
        return await super().extract(request)


def provider_client(url: str) -> httpx.AsyncClient:
    """As many connections as there are calls; no proxy between two processes of this machine."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    return httpx.AsyncClient(base_url=url, timeout=_CALL_SECONDS, limits=limits, trust_env=False)


async def post(client: httpx.AsyncClient, path: str, content: bytes) -> None:
    try:
        (await client.post(path, content=content)).raise_for_status()
    except httpx.HTTPError as error:
        raise RecoverableError(f"The simulated provider did not answer ({type(error).__name__}).") from error
