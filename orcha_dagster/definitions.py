"""What Dagster loads. Built from the settings; connects to nothing."""

import dagster as dg

from orcha_dagster.assets.ingestions import ingestion_stages
from orcha_dagster.jobs import ingest
from orcha_dagster.resources.ledger import LedgerResource
from orcha_dagster.resources.object_store import ObjectStoreResource
from orcha_dagster.resources.pace import PaceResource
from orcha_dagster.resources.providers import ProvidersResource
from orcha_dagster.resources.queue import QueueResource
from orcha_dagster.resources.secrets import SecretsResource
from orcha_dagster.sensors.ingestion_queue import build_ingestion_queue
from orcha_dagster.sensors.silent_ingestions import silent_ingestions
from orcha_dagster.settings import Settings, load_settings


def build_definitions(settings: Settings) -> dg.Definitions:
    return dg.Definitions(
        assets=[ingestion_stages],
        jobs=[ingest],
        sensors=[build_ingestion_queue(poll_seconds=settings.queue_poll_seconds), silent_ingestions],
        resources={
            # By name, not by value: the URL may hold a password, and the UI shows what resources are made of.
            "ledger": LedgerResource(database_url=dg.EnvVar("ORCHA_DATABASE_URL")),
            "queue": QueueResource(
                queue_url=dg.EnvVar("ORCHA_QUEUE_URL"), visibility_seconds=int(settings.lease_seconds)
            ),
            "objects": ObjectStoreResource(url=settings.object_store_url),
            "providers": ProvidersResource(
                transcriber=settings.transcriber,
                extractor=settings.extractor,
                cpu_workers=settings.cpu_workers,
                max_document_bytes=settings.max_document_bytes,
                max_pages=settings.max_pages,
                max_page_pixels=settings.max_page_pixels,
                quality_threshold=settings.quality_threshold,
            ),
            "pace": PaceResource(
                max_in_flight=settings.max_in_flight,
                ingestions_per_run=settings.ingestions_per_run,
                lease_seconds=settings.lease_seconds,
                max_attempts=settings.max_attempts,
                retry_delay_seconds=settings.retry_delay_seconds,
                stale_message_seconds=settings.stale_message_seconds,
                io_concurrency=settings.io_concurrency,
            ),
            "secrets": SecretsResource(tag=settings.secrets_tag),
        },
    )


defs = build_definitions(load_settings())
