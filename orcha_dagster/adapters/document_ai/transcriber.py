"""Google Document AI (Enterprise OCR) as a transcriber: one online call for each bundle. What an answer means is in
`results`, what an error means in `errors`; when to try again is the caller's decision, so the SDK's own is off."""

import asyncio
import re
from collections.abc import Sequence
from decimal import Decimal
from ipaddress import ip_address
from typing import Any

import google.auth
import grpc
from google.api_core.exceptions import from_grpc_status
from google.cloud.documentai_v1 import OcrConfig, ProcessOptions, ProcessRequest, ProcessResponse, RawDocument
from google.cloud.documentai_v1.services.document_processor_service import DocumentProcessorServiceAsyncClient
from google.cloud.documentai_v1.services.document_processor_service.transports import (
    DocumentProcessorServiceGrpcAsyncIOTransport,
)

from orcha_dagster.adapters.document_ai.errors import translated
from orcha_dagster.adapters.document_ai.results import to_pages
from orcha_dagster.domain.errors import ConfigurationError, DocumentTooLarge
from orcha_dagster.domain.transcriptions import TranscribedPage
from orcha_dagster.interfaces.transcriber import Bundle, BundleLimits, Transcriber

NAME = "document-ai"
MOST_PAGES, MOST_PAGES_IMAGELESS = 15, 30  # of one online call
MOST_BYTES = 40_000_000
_ENVELOPE_BYTES = 100_000  # what a request holds beside the document, generously
_SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
_PROCESSOR = re.compile(
    r"projects/[^/\s]+/locations/(?P<location>[a-z0-9-]+)/processors/[^/\s]+(/processorVersions/(?P<version>[^/\s]+))?"
)
# Without the pictures of the pages, which would be most of an answer.
_WANTED = (
    "text",
    "error",
    "pages.page_number",
    "pages.dimension",
    "pages.layout",
    "pages.blocks",
    "pages.lines",
    "pages.tokens",
    "pages.detected_languages",
    "pages.image_quality_scores",
)
_CHANNEL_OPTIONS = (
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),  # otherwise 4 MB, which fifteen dense pages exceed
    # A connection that failed is tried again soon, also after a long absence: whether to call at all is decided above.
    ("grpc.max_reconnect_backoff_ms", 5_000),
)


class DocumentAiTranscriber(Transcriber):
    """A gRPC client belongs to its event loop, so there is one per loop, made by the first call in it.

    `close` it in that loop when no call is under way. One whose loop has ended is dropped.
    """

    name = NAME

    def __init__(
        self,
        processor: str,  # projects/…/locations/…/processors/…[/processorVersions/…]
        *,
        endpoint: str | None = None,  # host[:port]; None for the one of the processor's location
        language_hints: Sequence[str] = (),  # BCP 47
        imageless: bool = False,
        call_seconds: float = 120.0,  # the server itself gives up after two minutes
        insecure: bool = False,  # without TLS and credentials; for a server on this machine only
        usd_per_page: Decimal = Decimal(0),
    ) -> None:
        match = _PROCESSOR.fullmatch(processor)
        if match is None:
            raise ConfigurationError(
                f"This is not the name of a Document AI processor: {processor!r}.",
                remedy="It looks like projects/my-project/locations/eu/processors/0123456789abcdef, with "
                "/processorVersions/… behind it to hold on to one version.",
            )
        self.version = match["version"] or "default"
        self.limits = BundleLimits(
            pages=MOST_PAGES_IMAGELESS if imageless else MOST_PAGES, bytes=MOST_BYTES - _ENVELOPE_BYTES, takes_pdf=True
        )
        self._endpoint = endpoint or f"{match['location']}-documentai.googleapis.com"
        if insecure and not _is_loopback(self._endpoint):
            raise ConfigurationError(
                f"Document AI at {self._endpoint} would get documents without encryption.",
                remedy="Only a simulated Document AI on this machine (127.0.0.1) may be called without TLS.",
            )
        self.usd_per_page = usd_per_page
        self._processor = processor
        self._language_hints = tuple(language_hints)
        self._imageless = imageless
        self._call_seconds = call_seconds
        self._insecure = insecure
        self._clients: dict[asyncio.AbstractEventLoop, asyncio.Task[DocumentProcessorServiceAsyncClient]] = {}

    async def transcribe(self, bundle: Bundle) -> tuple[TranscribedPage, ...]:
        self._check_limits(bundle)
        with translated():
            client = await self._client()
            response = await client.process_document(
                request=self._request(bundle), retry=None, timeout=self._call_seconds
            )
            document = ProcessResponse.pb(response).document
            if document.error.code:
                raise from_grpc_status(document.error.code, document.error.message)
        # In a thread: fifteen dense pages take a good while, and the event loop renews leases.
        return await asyncio.to_thread(to_pages, document, bundle.pages, source=self.name)

    async def close(self) -> None:
        """End the connections of the running loop. The next call would open new ones."""
        connecting = self._clients.pop(asyncio.get_running_loop(), None)
        if connecting is not None:
            with translated():
                client = await connecting
                await client.transport.close()

    def _check_limits(self, bundle: Bundle) -> None:
        if len(bundle.pages) > self.limits.pages or len(bundle.content) > self.limits.bytes:
            raise DocumentTooLarge(
                f"{len(bundle.pages)} pages in {len(bundle.content)} bytes are more than one call to Document AI takes "
                f"({self.limits.pages} pages, {self.limits.bytes} bytes)."
            )

    def _request(self, bundle: Bundle) -> ProcessRequest:
        ocr = OcrConfig(
            enable_native_pdf_parsing=bundle.media_type == "application/pdf",
            enable_image_quality_scores=True,
            hints=OcrConfig.Hints(language_hints=self._language_hints),
        )
        return ProcessRequest(
            name=self._processor,
            raw_document=RawDocument(content=bundle.content, mime_type=bundle.media_type),
            process_options=ProcessOptions(ocr_config=ocr),
            field_mask={"paths": _WANTED},
            skip_human_review=True,
            imageless_mode=self._imageless,
        )

    async def _client(self) -> DocumentProcessorServiceAsyncClient:
        """One task connects for all calls that come at once; a call that is cancelled does not cancel it for others."""
        loop = asyncio.get_running_loop()
        self._clients = {owner: task for owner, task in self._clients.items() if not owner.is_closed()}
        connecting = self._clients.get(loop)
        if connecting is None or (connecting.done() and (connecting.cancelled() or connecting.exception())):
            connecting = self._clients[loop] = loop.create_task(self._connect())
        return await asyncio.shield(connecting)

    async def _connect(self) -> DocumentProcessorServiceAsyncClient:
        transport = self._insecure_transport() if self._insecure else self._transport(await self._credentials())
        return DocumentProcessorServiceAsyncClient(transport=transport)

    async def _credentials(self) -> Any:
        """In a thread: files are read, and on a virtual machine the metadata server is asked."""
        async with asyncio.timeout(self._call_seconds):
            credentials, _ = await asyncio.to_thread(google.auth.default, scopes=_SCOPES)
        return credentials

    def _transport(self, credentials: Any) -> DocumentProcessorServiceGrpcAsyncIOTransport:
        def open_channel(host: str, **arguments: Any) -> grpc.aio.Channel:
            arguments["options"] = _CHANNEL_OPTIONS
            return DocumentProcessorServiceGrpcAsyncIOTransport.create_channel(host, **arguments)

        return DocumentProcessorServiceGrpcAsyncIOTransport(
            host=self._endpoint, credentials=credentials, channel=open_channel, always_use_jwt_access=True
        )

    def _insecure_transport(self) -> DocumentProcessorServiceGrpcAsyncIOTransport:
        # A company's http_proxy must not get between two processes of this machine.
        options = (*_CHANNEL_OPTIONS, ("grpc.enable_http_proxy", 0))
        channel = grpc.aio.insecure_channel(self._endpoint, options=options)
        return DocumentProcessorServiceGrpcAsyncIOTransport(channel=channel)


def _is_loopback(endpoint: str) -> bool:
    host = endpoint.rsplit(":", 1)[0] if re.search(r":\d+$", endpoint) else endpoint
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
