"""Tools without work in them: fixed answers at once, or after a server has waited as long as a real provider would."""

from collections.abc import Sequence

import httpx2 as httpx

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.errors import RecoverableError
from orcha_dagster.domain.extractions import ExtractedField, Extraction
from orcha_dagster.domain.pages import PageMeasurement, PageTreatment
from orcha_dagster.domain.transcriptions import Box, Line, TranscribedPage, Transcription
from orcha_dagster.interfaces.extractor import Extractor
from orcha_dagster.interfaces.page_preparer import PagePreparer
from orcha_dagster.interfaces.transcriber import Transcriber

TRANSCRIBE_PATH, EXTRACT_PATH = "/transcribe", "/extract"
_CALL_SECONDS = 60
_LINE = Line(text="Total 10.00", box=Box(left=0.1, top=0.1, right=0.4, bottom=0.12), confidence=1.0)
_TREATMENT = PageTreatment(
    measurement=PageMeasurement(page=1, has_text_layer=False), steps=(), reason="Benchmarks look at nothing."
)


class InstantPages(PagePreparer):
    """One page per document, never treated; its picture is the document."""

    async def prepare(
        self,
        raw: RawDocument,  # noqa: ARG002
        content: bytes,  # noqa: ARG002
    ) -> tuple[tuple[PageTreatment, ...], dict[int, bytes]]:
        return (_TREATMENT,), {}

    async def read_text_layer(self, content: bytes, pages: Sequence[int]) -> tuple[TranscribedPage, ...]:  # noqa: ARG002
        return ()

    async def picture_of(self, raw: RawDocument, content: bytes, page: int) -> bytes:  # noqa: ARG002
        return content

    async def pack(self, pictures: Sequence[bytes]) -> tuple[str, bytes]:
        return "jpg", pictures[0]

    async def unpack(self, packed: bytes) -> list[bytes]:
        return [packed]


class InstantTranscriber(Transcriber):
    name = "instant"
    version = "1"

    async def transcribe(self, picture: bytes, *, page: int) -> TranscribedPage:  # noqa: ARG002
        return TranscribedPage(page=page, lines=(_LINE,), source=self.name, quality_score=1.0)


class InstantExtractor(Extractor):
    name = "instant"
    version = "1"

    async def extract(self, raw: RawDocument, content: bytes, transcription: Transcription) -> Extraction | None:  # noqa: ARG002
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

    async def transcribe(self, picture: bytes, *, page: int) -> TranscribedPage:
        await post(self._client, TRANSCRIBE_PATH, picture)
        return await super().transcribe(picture, page=page)


class SlowExtractor(InstantExtractor):
    """Sends the text and waits for the answer."""

    name = "slow"

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def extract(self, raw: RawDocument, content: bytes, transcription: Transcription) -> Extraction | None:
        await post(self._client, EXTRACT_PATH, transcription.text.encode())
        return await super().extract(raw, content, transcription)


def provider_client(url: str) -> httpx.AsyncClient:
    """As many connections as there are calls; no proxy between two processes of this machine."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    return httpx.AsyncClient(base_url=url, timeout=_CALL_SECONDS, limits=limits, trust_env=False)


async def post(client: httpx.AsyncClient, path: str, content: bytes) -> None:
    try:
        (await client.post(path, content=content)).raise_for_status()
    except httpx.HTTPError as error:
        raise RecoverableError(f"The simulated provider did not answer ({type(error).__name__}).") from error
