"""The status log for Dagster's side: its journal, its files, and the numbers that rule it."""

from pathlib import Path

import dagster as dg

from orcha_dagster.adapters.parquet.encoder import ParquetLogEncoder
from orcha_dagster.adapters.postgres.event_journal import PostgresEventJournal
from orcha_dagster.domain.flushes import Backlog, Flushed, FlushedElsewhere
from orcha_dagster.interfaces.event_journal import EventJournal
from orcha_dagster.interfaces.object_store import ObjectStore
from orcha_dagster.pipeline.compacting import CompactionReport, LogCompactor
from orcha_dagster.pipeline.flushing import flush_log
from orcha_dagster.pipeline.log_health import HealthLimits


class StatusLogResource(dg.ConfigurableResource[None]):
    database_url: str
    flush_bytes: int
    flush_seconds: float
    file_bytes: int
    freshness_seconds: float
    error_share: float
    busy_share: float
    scratch_folder: str | None

    def get_journal(self) -> EventJournal:
        return PostgresEventJournal(self.database_url)

    def is_due(self, backlog: Backlog) -> bool:
        return backlog.event_count > 0 and (
            backlog.byte_size >= self.flush_bytes or backlog.age_seconds >= self.flush_seconds
        )

    def flush(self, objects: ObjectStore) -> Flushed | FlushedElsewhere | None:
        return flush_log(self.get_journal(), ParquetLogEncoder(), objects, scratch=self._scratch)

    def compact(self, objects: ObjectStore) -> CompactionReport:
        compactor = LogCompactor(
            self.get_journal(), ParquetLogEncoder(), objects, target_bytes=self.file_bytes, scratch=self._scratch
        )
        return compactor.run()

    def get_health_limits(self) -> HealthLimits:
        return HealthLimits(
            freshness_seconds=self.freshness_seconds, error_share=self.error_share, busy_share=self.busy_share
        )

    @property
    def _scratch(self) -> Path | None:
        return Path(self.scratch_folder) if self.scratch_folder else None
