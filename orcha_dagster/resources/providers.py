"""Who prepares, reads and extracts, by setting."""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from orcha_dagster.adapters.einvoice_extractor import EInvoiceExtractor
from orcha_dagster.adapters.page_preparer import LocalPagePreparer
from orcha_dagster.adapters.process_pool import ProcessPool
from orcha_dagster.adapters.rapidocr_transcriber import RapidOcrTranscriber
from orcha_dagster.interfaces.cpu_pool import CpuPool
from orcha_dagster.interfaces.extractor import Extractor
from orcha_dagster.interfaces.object_store import ObjectStore
from orcha_dagster.pipeline.ingesting import Tools
from orcha_dagster.pipeline.provider_limits import ProviderGate
from orcha_dagster.rules.rules_extractor import RulesExtractor


class ProvidersResource(dg.ConfigurableResource[None]):
    """Transcriber and extractors with their limits; `auto` takes what is configured, else what is local."""

    transcriber: str
    extractor: str
    cpu_workers: int
    cpu_task_seconds: float
    max_document_bytes: int
    max_pages: int
    max_page_pixels: int
    quality_threshold: float
    concurrency: int
    patience_seconds: float

    @contextmanager
    def open_tools(self, objects: ObjectStore) -> Iterator[Tools]:
        pool = ProcessPool(self.cpu_workers, task_seconds=self.cpu_task_seconds)
        try:
            yield Tools(
                objects=objects,
                pages=LocalPagePreparer(pool, max_pages=self.max_pages, max_page_pixels=self.max_page_pixels),
                transcriber=RapidOcrTranscriber(pool),
                extractors=self._choose_extractors(pool),
                max_document_bytes=self.max_document_bytes,
                quality_threshold=self.quality_threshold,
            )
        finally:
            pool.close()

    def build_gate(self) -> ProviderGate:
        """For a provider in the network; each gets one of its own."""
        return ProviderGate(most_at_once=self.concurrency, patience_seconds=self.patience_seconds)

    def _choose_extractors(self, pool: CpuPool) -> tuple[Extractor, ...]:
        if self.extractor == "rules":
            return (RulesExtractor(),)
        if self.extractor == "e-invoice":
            return (EInvoiceExtractor(pool),)
        return EInvoiceExtractor(pool), RulesExtractor()
