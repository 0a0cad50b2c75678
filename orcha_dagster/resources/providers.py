"""Who prepares, reads and extracts, by setting.

The SDKs of providers take a second to import, in every process that Dagster starts: only those that are chosen are.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import dagster as dg

from orcha_dagster.adapters.einvoice.extractor import EInvoiceExtractor
from orcha_dagster.adapters.page_preparer import LocalPagePreparer
from orcha_dagster.adapters.process_pool import ProcessPool
from orcha_dagster.adapters.rapidocr_transcriber import RapidOcrTranscriber
from orcha_dagster.adapters.recorded_transcriber import RecordedTranscriber
from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.interfaces.cpu_pool import CpuPool
from orcha_dagster.interfaces.extractor import Extractor
from orcha_dagster.interfaces.object_store import ObjectStore
from orcha_dagster.interfaces.transcriber import Transcriber
from orcha_dagster.pipeline.artifacts import Encoding
from orcha_dagster.pipeline.ingesting import Tools
from orcha_dagster.pipeline.provider_limits import LimitedExtractor, LimitedTranscriber, ProviderGate
from orcha_dagster.pipeline.scratch import open_scratch
from orcha_dagster.pipeline.tickets import StoredTickets
from orcha_dagster.rules.rules_extractor import RulesExtractor
from orcha_dagster.schemas.loading import load_schemas


class ProvidersResource(dg.ConfigurableResource[None]):
    """Transcriber and extractors with their limits; `auto` takes what is configured, else what is local."""

    transcriber: str
    transcription_format: str
    document_ai_processor: str | None
    document_ai_endpoint: str | None
    document_ai_language_hints: str
    document_ai_imageless: bool
    document_ai_insecure: bool
    document_ai_usd_per_page: float
    recordings_folder: str | None
    extractor: str
    schemas_folder: str | None
    claude_model: str | None
    claude_base_url: str | None
    claude_window_pages: int
    claude_output_tokens: int
    cpu_workers: int
    cpu_task_seconds: float
    cpu_worker_megabytes: int
    scratch_folder: str | None
    max_document_bytes: int
    max_pages: int
    max_page_pixels: int
    document_seconds: float
    quality_threshold: float
    concurrency: int
    patience_seconds: float
    call_seconds: float

    @contextmanager
    def open_tools(self, objects: ObjectStore) -> Iterator[Tools]:
        with self.open_pool() as pool, self.open_scratch() as scratch:
            yield Tools(
                objects=objects,
                scratch=scratch,
                pages=self.build_page_preparer(pool),
                transcriber=self.choose_transcriber(pool),
                extractors=self.choose_extractors(pool, objects),
                witnesses=(RulesExtractor(),),
                schemas=load_schemas(Path(self.schemas_folder) if self.schemas_folder else None),
                max_document_bytes=self.max_document_bytes,
                quality_threshold=self.quality_threshold,
                document_seconds=self.document_seconds,
                transcription_encoding=Encoding(self.transcription_format),
            )

    @contextmanager
    def open_pool(self) -> Iterator[CpuPool]:
        pool = ProcessPool(
            self.cpu_workers, task_seconds=self.cpu_task_seconds, worker_bytes=self.cpu_worker_megabytes * 1_000_000
        )
        try:
            yield pool
        finally:
            pool.close()

    @contextmanager
    def open_scratch(self) -> Iterator[Path]:
        with open_scratch(Path(self.scratch_folder) if self.scratch_folder else None) as scratch:
            yield scratch

    def build_gate(self) -> ProviderGate:
        """For a provider in the network; each gets one of its own."""
        return ProviderGate(most_at_once=self.concurrency, patience_seconds=self.patience_seconds)

    def build_page_preparer(self, pool: CpuPool) -> LocalPagePreparer:
        return LocalPagePreparer(pool, max_pages=self.max_pages, max_page_pixels=self.max_page_pixels)

    def choose_transcriber(self, pool: CpuPool) -> Transcriber:
        if self.transcriber == "recorded":
            if self.recordings_folder is None:
                raise ConfigurationError("There are no recordings to read from.", remedy="Set ORCHA_RECORDINGS_FOLDER.")
            return RecordedTranscriber(Path(self.recordings_folder))
        if self.transcriber == "document-ai" or (self.transcriber == "auto" and self.document_ai_processor):
            return LimitedTranscriber(self._build_document_ai(), self.build_gate())
        return RapidOcrTranscriber(pool)

    def _build_document_ai(self) -> Transcriber:
        from orcha_dagster.adapters.document_ai.transcriber import DocumentAiTranscriber

        if self.document_ai_processor is None:
            raise ConfigurationError(
                "Document AI is chosen, but no processor is named.",
                remedy="Set ORCHA_DOCUMENT_AI_PROCESSOR to projects/P/locations/L/processors/ID.",
            )
        return DocumentAiTranscriber(
            self.document_ai_processor,
            endpoint=self.document_ai_endpoint,
            language_hints=tuple(hint.strip() for hint in self.document_ai_language_hints.split(",") if hint.strip()),
            imageless=self.document_ai_imageless,
            insecure=self.document_ai_insecure,
            usd_per_page=Decimal(str(self.document_ai_usd_per_page)),
            call_seconds=self.call_seconds,
        )

    def choose_extractors(self, pool: CpuPool, objects: ObjectStore) -> tuple[Extractor, ...]:
        """In the order of asking. What a document says of itself in XML costs nothing and is asked first."""
        if self.extractor == "rules":
            return (RulesExtractor(),)
        if self.extractor == "e-invoice":
            return (EInvoiceExtractor(pool),)
        if self.extractor == "claude-batch":
            return EInvoiceExtractor(pool), self._build_claude_batches(objects)
        if self.extractor == "claude" or self.claude_model:
            return EInvoiceExtractor(pool), self._build_claude()
        return EInvoiceExtractor(pool), RulesExtractor()

    def _build_claude(self) -> Extractor:
        from orcha_dagster.adapters.claude.extractor import ClaudeExtractor

        return LimitedExtractor(ClaudeExtractor(**self._claude_arguments()), self.build_gate())

    def _build_claude_batches(self, objects: ObjectStore) -> Extractor:
        """Without a gate: it waits for company, so that many documents share one batch."""
        from orcha_dagster.adapters.claude.batches import ClaudeBatchExtractor

        return ClaudeBatchExtractor(StoredTickets(objects), **self._claude_arguments())

    def _claude_arguments(self) -> dict[str, Any]:
        """The key is the SDK's own affair: ANTHROPIC_API_KEY, or what the machine is allowed to do."""
        model = {"model": self.claude_model} if self.claude_model else {}
        return {
            **model,
            "base_url": self.claude_base_url,
            "max_output_tokens": self.claude_output_tokens,
            "window_pages": self.claude_window_pages,
            "call_seconds": self.call_seconds,
        }
