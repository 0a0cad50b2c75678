"""What Dagster loads. Built from the settings; connects to nothing."""

import dagster as dg

from orcha_dagster.assets.ingestions import ingestion_stages
from orcha_dagster.assets.status_log import status_log, status_log_health
from orcha_dagster.jobs import build_compaction_schedule, compact_status_log, flush_status_log, ingest
from orcha_dagster.resources.event_sinks import EventSinksResource
from orcha_dagster.resources.ledger import LedgerResource
from orcha_dagster.resources.object_store import ObjectStoreResource
from orcha_dagster.resources.pace import PaceResource
from orcha_dagster.resources.providers import ProvidersResource
from orcha_dagster.resources.queue import QueueResource
from orcha_dagster.resources.secrets import SecretsResource
from orcha_dagster.resources.status_log import StatusLogResource
from orcha_dagster.sensors.ended_runs import cancelled_runs, failed_runs
from orcha_dagster.sensors.event_sinks import build_event_sinks
from orcha_dagster.sensors.ingestion_queue import build_ingestion_queue
from orcha_dagster.sensors.old_partitions import old_partitions
from orcha_dagster.sensors.silent_ingestions import silent_ingestions
from orcha_dagster.sensors.status_log_backlog import status_log_backlog
from orcha_dagster.settings import Settings, load_settings


def build_definitions(settings: Settings, *, providers: type[ProvidersResource] = ProvidersResource) -> dg.Definitions:
    """`providers`: the benchmarks put others in the place of those that take seconds or cost money."""
    return dg.Definitions(
        assets=[ingestion_stages, status_log],
        asset_checks=[status_log_health],
        jobs=[ingest, flush_status_log, compact_status_log],
        schedules=[build_compaction_schedule(settings.status_log_compaction_cron)],
        sensors=[
            build_ingestion_queue(poll_seconds=settings.queue_poll_seconds),
            silent_ingestions,
            old_partitions,
            status_log_backlog,
            failed_runs,
            cancelled_runs,
            build_event_sinks(has_sinks=settings.has_event_sinks),
        ],
        resources={
            # By name, not by value: the URL may hold a password, and the UI shows what resources are made of.
            "ledger": LedgerResource(database_url=dg.EnvVar("ORCHA_DATABASE_URL")),
            "queue": QueueResource(
                queue_url=dg.EnvVar("ORCHA_QUEUE_URL"), visibility_seconds=int(settings.lease_seconds)
            ),
            "objects": ObjectStoreResource(url=settings.object_store_url),
            "status_log_files": StatusLogResource(
                database_url=dg.EnvVar("ORCHA_DATABASE_URL"),
                flush_bytes=settings.status_log_flush_bytes,
                flush_seconds=settings.status_log_flush_seconds,
                file_bytes=settings.status_log_file_bytes,
                freshness_seconds=settings.status_log_freshness_seconds,
                error_share=settings.status_log_error_share,
                busy_share=settings.status_log_busy_share,
                scratch_folder=str(settings.scratch_folder) if settings.scratch_folder else None,
            ),
            "providers": providers(
                transcriber=settings.transcriber,
                transcription_format=settings.transcription_format,
                document_ai_processor=settings.document_ai_processor,
                document_ai_endpoint=settings.document_ai_endpoint,
                document_ai_language_hints=settings.document_ai_language_hints,
                document_ai_imageless=settings.document_ai_imageless,
                document_ai_insecure=settings.document_ai_insecure,
                document_ai_usd_per_page=settings.document_ai_usd_per_page,
                recordings_folder=str(settings.recordings_folder) if settings.recordings_folder else None,
                extractor=settings.extractor,
                schemas_folder=str(settings.schemas_folder) if settings.schemas_folder else None,
                claude_model=settings.claude_model,
                claude_base_url=settings.claude_base_url,
                claude_window_pages=settings.claude_window_pages,
                claude_output_tokens=settings.claude_output_tokens,
                cpu_workers=settings.cpu_workers,
                cpu_task_seconds=settings.cpu_task_seconds,
                cpu_worker_megabytes=settings.cpu_worker_megabytes,
                scratch_folder=str(settings.scratch_folder) if settings.scratch_folder else None,
                max_document_bytes=settings.max_document_bytes,
                max_pages=settings.max_pages,
                max_page_pixels=settings.max_page_pixels,
                document_seconds=settings.document_seconds,
                quality_threshold=settings.quality_threshold,
                concurrency=settings.provider_concurrency,
                patience_seconds=settings.provider_patience_seconds,
                call_seconds=settings.provider_call_seconds,
            ),
            "pace": PaceResource(
                max_in_flight=settings.max_in_flight,
                max_concurrent_runs=settings.max_concurrent_runs,
                ingestions_per_run=settings.ingestions_per_run,
                lease_seconds=settings.lease_seconds,
                max_attempts=settings.max_attempts,
                retry_delay_seconds=settings.retry_delay_seconds,
                stale_message_seconds=settings.stale_message_seconds,
                io_concurrency=settings.io_concurrency,
                stage_seconds=settings.stage_seconds,
                stop_grace_seconds=settings.stop_grace_seconds,
                partition_days=settings.partition_days,
            ),
            "secrets": SecretsResource(tag=settings.secrets_tag),
            "sinks": EventSinksResource(
                database_url=dg.EnvVar("ORCHA_DATABASE_URL"),
                sns_topic=settings.events_sns_topic,
                firehose_stream=settings.events_firehose_stream,
                # The address too may hold a secret.
                webhook_url=dg.EnvVar("ORCHA_EVENTS_WEBHOOK_URL") if settings.events_webhook_url else None,
                webhook_secret=dg.EnvVar("ORCHA_EVENTS_WEBHOOK_SECRET") if settings.events_webhook_secret else None,
            ),
        },
    )


defs = build_definitions(load_settings())
