"""All settings, read from the environment by the entry points and passed down. Nothing else reads the environment."""

from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, DotEnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from orcha_dagster.domain.errors import ConfigurationError

# The checkout: where dagster.yaml and workspace.yaml lie, and the default home.
PROJECT_FOLDER = Path(__file__).resolve().parent.parent
STACK_ENV_FILE = "stack.env"


class Settings(BaseSettings):
    """Prefix ORCHA_. Order: the environment, `.env` in the checkout, what a running embedded stack left in its home."""

    reads_running_stack: ClassVar[bool] = True

    model_config = SettingsConfigDict(env_prefix="ORCHA_", extra="ignore", env_ignore_empty=True, frozen=True)

    home: Path = Field(PROJECT_FOLDER / ".orcha", description="Folder for everything the embedded parts keep.")
    database_url: str | None = Field(
        None, description="PostgreSQL with documents and ingestions. Empty: the embedded server."
    )
    dagster_database_url: str | None = Field(
        None, description="PostgreSQL database for Dagster's own tables. Empty: the embedded server."
    )
    queue_url: str | None = Field(None, description="URL of the SQS queue. Empty: the embedded server.")
    object_store: str | None = Field(
        None, description="Where documents and artifacts lie: file:///folder or s3://bucket/prefix. Empty: in the home."
    )
    compute_log_bucket: str | None = Field(
        None, description="S3 bucket for the output of runs (dagster-aws). Empty: files in the home."
    )
    secrets_tag: str | None = Field(
        None,
        description="AWS Secrets Manager: secrets with this tag key become environment variables of the steps "
        "(dagster-aws). Empty: none.",
    )
    ui_port: Annotated[int, Field(ge=1, le=65535)] = Field(
        3000, description="Port of the Dagster UI on 127.0.0.1; the next free one when taken."
    )
    code_server_host: str = Field("127.0.0.1", description="Where Dagster's code server listens.")
    code_server_port: Annotated[int, Field(ge=1, le=65535)] = Field(
        4266, description="Port of the code server; a start by `orcha up` chooses a free one itself."
    )
    max_concurrent_runs: Annotated[int, Field(ge=1, le=100)] = Field(
        2, description="Runs that Dagster executes at the same time."
    )
    max_in_flight: Annotated[int, Field(ge=1, le=100_000)] = Field(
        400, description="Ingestions claimed at the same time, over all runs; the rest wait in the queue."
    )
    ingestions_per_run: Annotated[int, Field(ge=1, le=1000)] = Field(
        100, description="Most first attempts that travel in one run."
    )
    lease_seconds: Annotated[float, Field(ge=5, le=3600)] = Field(
        300, description="How long a claim lives without a sign of life."
    )
    max_attempts: Annotated[int, Field(ge=1, le=20)] = Field(3, description="Attempts before a person must look.")
    retry_delay_seconds: Annotated[float, Field(ge=0, le=3600)] = Field(
        5, description="Wait before the second attempt; four times longer before each further one."
    )
    stale_message_seconds: Annotated[float, Field(ge=5, le=86_400)] = Field(
        600, description="The sweep rings again for an unfinished ingestion that was silent this long."
    )
    queue_poll_seconds: Annotated[int, Field(ge=1, le=300)] = Field(
        2, description="Shortest time between two looks at the queue."
    )
    io_concurrency: Annotated[int, Field(ge=1, le=1000)] = Field(
        # A full run of 100 is worked off in four full waves; with 32 the fourth would be nearly empty.
        25,
        description="Ingestions that a run works on at the same time.",
    )
    stage_seconds: Annotated[float, Field(ge=1, le=86_400)] = Field(
        900, description="An ingestion is given up for this attempt when nothing has moved in its stage for so long."
    )
    partition_days: Annotated[float, Field(ge=0.01, le=3650)] = Field(
        30, description="An ingestion that ended longer ago leaves the Dagster UI; its history stays."
    )
    stop_grace_seconds: Annotated[float, Field(ge=0, le=600)] = Field(
        10, description="How long a run that is stopped may go on with what it has begun."
    )
    provider_concurrency: Annotated[int, Field(ge=1, le=1000)] = Field(
        16, description="Calls that a run makes at the same time to one provider in the network."
    )
    provider_patience_seconds: Annotated[float, Field(ge=0, le=600)] = Field(
        60, description="Waits that a provider asks for are spent inside the run up to this; longer ones are retries."
    )
    cpu_workers: Annotated[int, Field(ge=0, le=128)] = Field(
        0, description="Processes per run for pictures and OCR. 0: one per core."
    )
    cpu_task_seconds: Annotated[float, Field(ge=1, le=3600)] = Field(
        120, description="Longest time one piece of work, such as reading a page, may take in such a process."
    )
    cpu_worker_megabytes: Annotated[int, Field(ge=500, le=1_000_000)] = Field(
        2500, description="Memory at which such a process is ended, and its document handed to a person."
    )
    scratch_folder: Path | None = Field(
        None, description="Folder on this machine for the files of documents under way. Empty: the system's own."
    )
    max_document_bytes: Annotated[int, Field(ge=1, le=2_000_000_000)] = Field(
        100_000_000, description="Larger documents are refused."
    )
    max_pages: Annotated[int, Field(ge=1, le=100_000)] = Field(
        500, description="Documents with more pages are refused."
    )
    max_page_pixels: Annotated[int, Field(ge=10_000, le=1_000_000_000)] = Field(
        100_000_000, description="Larger page pictures are refused."
    )
    document_seconds: Annotated[float, Field(ge=1, le=86_400)] = Field(
        3600, description="Longest time that CPU processes may work on one document, all its pages together."
    )
    quality_threshold: Annotated[float, Field(ge=0, le=1)] = Field(
        0.7, description="Below this reading quality a person must look."
    )
    transcriber: Literal["auto", "document-ai", "rapidocr", "recorded"] = Field(
        "auto",
        description="Who reads pages without a text layer. auto: Document AI when it is configured, else rapidocr.",
    )
    transcription_format: Literal["json", "edn"] = Field(
        "json", description="How transcriptions are written; edn has keyword keys, for readers on the JVM."
    )
    document_ai_processor: str | None = Field(
        None, description="projects/P/locations/L/processors/ID, optionally with /processorVersions/V."
    )
    document_ai_endpoint: str | None = Field(
        None, description="host:port of Document AI. Empty: that of the processor's location."
    )
    document_ai_language_hints: str = Field("", description="Languages of the documents, such as de,en. Empty: any.")
    document_ai_imageless: bool = Field(
        False, description="Ask for no page pictures back: 30 pages per call instead of 15."
    )
    document_ai_insecure: bool = Field(
        False, description="Without encryption and credentials; allowed for an endpoint on this machine only."
    )
    document_ai_usd_per_page: Annotated[float, Field(ge=0, le=100)] = Field(
        0.0015, description="What Document AI bills for a page, for the cost in the status log; Enterprise OCR's price."
    )
    provider_call_seconds: Annotated[float, Field(ge=1, le=3600)] = Field(
        120, description="Longest time one call to a provider in the network may take."
    )
    recordings_folder: Path | None = Field(
        None, description="Answers of a transcriber that were recorded earlier; needed by the transcriber `recorded`."
    )
    status_log_flush_bytes: Annotated[int, Field(ge=1, le=10_000_000_000)] = Field(
        64_000_000, description="Events that are not in the status log are flushed when they come to so many bytes."
    )
    status_log_flush_seconds: Annotated[float, Field(ge=1, le=86_400)] = Field(
        60, description="They are flushed, however few, when the oldest of them is so old."
    )
    status_log_file_bytes: Annotated[int, Field(ge=1_000_000, le=10_000_000_000)] = Field(
        128_000_000, description="Compaction makes files of about this size out of small ones."
    )
    status_log_compaction_cron: str = Field(
        "17 * * * *", description="When small files of the status log are compacted, as cron says it, in UTC."
    )
    status_log_freshness_seconds: Annotated[float, Field(ge=1, le=86_400)] = Field(
        300, description="The check `freshness` fails when an event waits longer than this for the status log."
    )
    status_log_error_share: Annotated[float, Field(ge=0, le=1)] = Field(
        0.05, description="The check `failed_conversions` fails above this share of events."
    )
    status_log_busy_share: Annotated[float, Field(ge=0, le=1)] = Field(
        0.9, description="The check `throughput` fails when flushing takes more than this share of the time."
    )
    schemas_folder: Path | None = Field(
        None, description="Folder with schemas of your own, as JSON Schema or Python; docs/schemas.md. Empty: none."
    )
    extractor: Literal["auto", "claude", "claude-batch", "e-invoice", "rules"] = Field(
        "auto",
        description="Who finds the fields. auto: e-invoice XML where there is some, else Claude if "
        "ORCHA_CLAUDE_MODEL is set, else rules.",
    )
    claude_model: str | None = Field(
        None, description="The model that Claude's extractors ask, such as claude-sonnet-5-5; empty: its default."
    )
    claude_base_url: str | None = Field(None, description="Where the Messages API is. Empty: Anthropic's own.")
    claude_window_pages: Annotated[int, Field(ge=1, le=100)] = Field(
        8, description="Pages that a model is shown at once; longer documents are asked about in windows."
    )
    claude_output_tokens: Annotated[int, Field(ge=500, le=200_000)] = Field(
        16_000, description="Longest answer of a model; one that is cut is asked for again in halves."
    )
    events_sns_topic: str | None = Field(
        None, description="ARN of an SNS topic that gets every status event; docs/event-sinks.md. Empty: none."
    )
    events_firehose_stream: str | None = Field(
        None, description="Firehose stream that gets every status event, by name or ARN. Empty: none."
    )
    events_webhook_url: str | None = Field(
        None, description="Address that gets every status event, in signed requests. Empty: none."
    )
    events_webhook_secret: str | None = Field(
        None, min_length=16, description="What these requests are signed with; the receiver has the same."
    )
    athena_database: str = Field(
        "orcha", pattern=r"^[a-z0-9_]+$", description="Database of Athena that has the status log's tables."
    )
    athena_workgroup: str = Field("primary", description="Workgroup of Athena that questions are asked in.")
    athena_output: str | None = Field(
        None, pattern=r"^s3://", description="Where Athena puts its answers: s3://…. Empty: where the workgroup says."
    )
    athena_seconds: Annotated[float, Field(ge=1, le=7200)] = Field(
        600, description="A question to Athena that takes longer is stopped."
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  (the signature is pydantic's)
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        checkout = DotEnvSettingsSource(settings_cls, env_file=PROJECT_FOLDER / ".env")
        if not cls.reads_running_stack:
            return init_settings, env_settings, checkout
        chosen = {**checkout(), **env_settings(), **init_settings()}
        home = Path(str(chosen.get("home") or PROJECT_FOLDER / ".orcha"))
        running = DotEnvSettingsSource(settings_cls, env_file=_below_project(home) / STACK_ENV_FILE)
        return init_settings, env_settings, checkout, running

    @cached_property
    def home_folder(self) -> Path:
        """Absolute; a relative home lies in the checkout, wherever the command was typed."""
        return _below_project(self.home)

    @property
    def has_event_sinks(self) -> bool:
        return bool(self.events_sns_topic or self.events_firehose_stream or self.events_webhook_url)

    @property
    def log_cache_folder(self) -> Path:
        """Copies of the status log's files, when the object store is not a folder of this machine."""
        return self.home_folder / "status-log"

    @property
    def object_store_url(self) -> str:
        return self.object_store or f"file://{self.home_folder / 'objects'}"


def _below_project(folder: Path) -> Path:
    return (PROJECT_FOLDER / folder.expanduser()).resolve()


class ChosenSettings(Settings):
    """Only what somebody chose, for those who start a stack: what an earlier one left behind does not count."""

    reads_running_stack: ClassVar[bool] = False


def load_settings(kind: type[Settings] = Settings) -> Settings:
    """One error that lists every problem, instead of a traceback."""
    try:
        return kind()
    except ValidationError as error:
        problems = "; ".join(f"ORCHA_{str(e['loc'][0]).upper()}: {e['msg']}" for e in error.errors())
        raise ConfigurationError(
            f"The settings are wrong: {problems}.", remedy="docs/configuration.md lists them with their bounds."
        ) from error
