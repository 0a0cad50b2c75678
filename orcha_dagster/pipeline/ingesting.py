"""One ingestion through the stages that were asked for; everything before them is loaded from its artifact."""

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TypeVar
from uuid import UUID

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.earlier_documents import EarlierDocument
from orcha_dagster.domain.errors import SchemaUnknown, StageTimedOut
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.ingestions import Lease
from orcha_dagster.domain.model import DomainModel
from orcha_dagster.domain.pages import PreprocessedImage
from orcha_dagster.domain.schemas import DocumentSchema
from orcha_dagster.domain.stages import Stage
from orcha_dagster.domain.transcriptions import TEXT_LAYER, Transcription
from orcha_dagster.domain.verdicts import Verdict
from orcha_dagster.interfaces.cpu_pool import cpu_limited
from orcha_dagster.interfaces.extractor import ExtractionRequest, Extractor
from orcha_dagster.interfaces.ledger import IngestionLedger
from orcha_dagster.interfaces.object_store import ObjectStore
from orcha_dagster.interfaces.page_preparer import PagePreparer
from orcha_dagster.interfaces.transcriber import Transcriber
from orcha_dagster.interfaces.turns import turns_watched
from orcha_dagster.pipeline.artifacts import (
    Encoding,
    find_artifact,
    forget_artifact,
    forget_second_pictures,
    get_artifact,
    save_artifact,
)
from orcha_dagster.pipeline.byte_budget import ByteBudget
from orcha_dagster.pipeline.extracting import extract_fields
from orcha_dagster.pipeline.fenced_objects import FencedObjects
from orcha_dagster.pipeline.fetching import describe_document, fetch_document
from orcha_dagster.pipeline.judging.duplicates import identify
from orcha_dagster.pipeline.judging.verdict import judge
from orcha_dagster.pipeline.paid_pages import forget_paid_pages
from orcha_dagster.pipeline.patient_writes import write_patiently
from orcha_dagster.pipeline.preprocessing import load_pictures, preprocess_pages
from orcha_dagster.pipeline.schema_choice import choose_schema
from orcha_dagster.pipeline.scratch import own_folder
from orcha_dagster.pipeline.stage_facts import Facts, tell_facts
from orcha_dagster.pipeline.transcribing import Reading, transcribe_pages
from orcha_dagster.schemas.loading import BUILT_IN

M = TypeVar("M", bound=DomainModel)
T = TypeVar("T")
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Tools:
    """What the stages work with."""

    objects: ObjectStore
    scratch: Path  # a folder on this machine for the files of what is under way
    pages: PagePreparer
    transcriber: Transcriber
    extractors: tuple[Extractor, ...]
    max_document_bytes: int
    quality_threshold: float
    document_seconds: float = math.inf  # of CPU workers, for one attempt
    transcription_encoding: Encoding = Encoding.JSON
    budget: ByteBudget = field(default_factory=ByteBudget)
    witnesses: tuple[Extractor, ...] = ()
    schemas: Mapping[str, DocumentSchema] = field(default_factory=lambda: BUILT_IN)

    async def close(self) -> None:
        """In the event loop that they were used in."""
        await self.transcriber.close()
        for extractor in (*self.extractors, *self.witnesses):
            await extractor.close()


class StageFinished(NamedTuple):
    """A stage of an ingestion has its artifact, and the ledger knows."""

    ingestion_id: UUID
    stage: Stage
    artifact: DomainModel
    artifact_path: str
    seconds: float


class IngestionFlow:
    """`stage` tells at any time which stage is at work, for whoever has to explain a failure."""

    def __init__(
        self,
        lease: Lease,
        selected: frozenset[Stage],
        *,
        tools: Tools,
        ledger: IngestionLedger,
        stage_seconds: float,
        patience_seconds: float,
        report: Callable[[StageFinished], None],
    ) -> None:
        self._lease = lease
        self._id = lease.ingestion_id
        self._selected = selected
        self._tools = tools
        self._ledger = ledger
        self._stage_seconds = stage_seconds
        self._patience_seconds = patience_seconds
        self._objects = FencedObjects(
            tools.objects,
            lambda: ledger.holds(lease),
            f"ingestion {lease.ingestion_id}",
            patience_seconds=patience_seconds,
        )
        self._limit = asyncio.timeout(None)
        self._waits = 0  # of this ingestion, for a turn somewhere
        self._report = report
        self.stage = Stage.RAW_DOCUMENT

    async def run(self) -> tuple[Extraction, Verdict] | None:
        """The result, or None when the verdict was not asked for."""
        folder = own_folder(self._tools.scratch, str(self._id))
        try:
            with folder as self._folder, cpu_limited(self._tools.document_seconds), turns_watched(self._wait):
                return await self._run()
        finally:
            self._objects.shut()

    async def _run(self) -> tuple[Extraction, Verdict] | None:
        if self._lease.is_by_hand and Stage.TRANSCRIPTION in self._selected:
            await asyncio.to_thread(self._forget_readings)
        raw = await self._pass(Stage.RAW_DOCUMENT, RawDocument, self._describe)
        if self._ends_with(Stage.RAW_DOCUMENT):
            return None
        preprocessed = await self._pass(Stage.PREPROCESSED_IMAGE, PreprocessedImage, lambda: self._preprocess(raw))
        if self._ends_with(Stage.PREPROCESSED_IMAGE):
            return None
        transcription = await self._pass(
            Stage.TRANSCRIPTION, Transcription, lambda: self._transcribe(raw, preprocessed)
        )
        if Stage.TRANSCRIPTION in self._selected and transcription.provider != TEXT_LAYER:
            await self._within_limit(asyncio.to_thread(forget_paid_pages, self._objects, self._id))
        if self._ends_with(Stage.TRANSCRIPTION):
            return None
        extraction = await self._pass(Stage.EXTRACTION, Extraction, lambda: self._extract(raw, transcription))
        if self._ends_with(Stage.EXTRACTION):
            return None
        verdict = await self._pass(Stage.QUALITY_VERDICT, Verdict, lambda: self._judge(extraction, transcription))
        return extraction, verdict

    async def _pass(self, stage: Stage, model: type[M], work: Callable[[], Awaitable[M]]) -> M:
        """Do a stage that was asked for, load one that was not."""
        self.stage = stage
        return await self._within_limit(self._do(stage, model, work))

    async def _within_limit(self, work: Awaitable[T]) -> T:
        """Give up when nothing moves any more."""
        try:
            async with asyncio.timeout(self._stage_seconds) as self._limit:
                return await work
        except TimeoutError as error:
            if not self._limit.expired():
                raise
            raise StageTimedOut(f"Nothing has moved in {self.stage} for {self._stage_seconds:.0f} s.") from error

    def _move(self) -> None:
        """A sign of progress within a stage: its time begins anew, or stands still while it waits for a turn."""
        end = None if self._waits else asyncio.get_running_loop().time() + self._stage_seconds
        with contextlib.suppress(RuntimeError):  # it has run out just now, and what is told comes too late
            self._limit.reschedule(end)

    def _wait(self, begins: bool) -> None:
        self._waits += 1 if begins else -1
        self._move()

    async def _do(self, stage: Stage, model: type[M], work: Callable[[], Awaitable[M]]) -> M:
        objects = self._objects
        if stage not in self._selected:
            return await asyncio.to_thread(get_artifact, objects, self._id, stage, model)
        begun = time.monotonic()
        reused = await self._find_paid_for(stage, model)
        artifact: M = reused or await work()
        encoding = self._tools.transcription_encoding if stage is Stage.TRANSCRIPTION else Encoding.JSON
        path = await asyncio.to_thread(save_artifact, objects, self._id, stage, artifact, encoding)
        seconds = time.monotonic() - begun
        facts = tell_facts(artifact, is_reused=reused is not None)
        await write_patiently(
            lambda: self._record(stage, seconds, artifact, path, facts), seconds=self._patience_seconds
        )
        self._report(StageFinished(self._id, stage, artifact, path, seconds))
        return artifact

    def _record(self, stage: Stage, seconds: float, artifact: DomainModel, path: str, facts: Facts) -> None:
        """Progress, and what the ingestion's row shows of the artifact."""
        read = artifact if isinstance(artifact, Transcription) else None
        self._ledger.finish_stage(
            self._lease,
            stage,
            seconds=seconds,
            preprocessed_file_path=artifact.picture_path if isinstance(artifact, PreprocessedImage) else None,
            transcription_file_path=path if read else None,
            transcription_quality_score=read.quality_score if read else None,
            facts=facts,
        )

    def _ends_with(self, stage: Stage) -> bool:
        order = list(Stage)
        return all(order.index(asked) <= order.index(stage) for asked in self._selected)

    async def _find_paid_for(self, stage: Stage, model: type[M]) -> M | None:
        """A transcription that an earlier attempt left behind is used again: reading is what costs.

        A person who asks for this very stage wants it done anew, also by the attempts that may follow this one.
        """
        if stage is not Stage.TRANSCRIPTION:
            return None
        try:
            return await asyncio.to_thread(find_artifact, self._objects, self._id, stage, model)
        except ValueError:  # of another version of Orcha; it is read again
            _log.warning("The earlier %s of ingestion %s cannot be understood.", stage, self._id)
            return None

    def _forget_readings(self) -> None:
        forget_artifact(self._objects, self._id, Stage.TRANSCRIPTION)
        forget_paid_pages(self._objects, self._id)
        forget_second_pictures(self._objects, self._id)

    async def _document(self) -> Path:
        """The document as a file, fetched when the first stage needs it: one that is only loaded does not."""
        file = self._folder / "document"
        if not file.exists():
            arriving = file.with_suffix(".arriving")
            await asyncio.to_thread(
                fetch_document,
                self._objects,
                self._lease.document,
                arriving,
                max_bytes=self._tools.max_document_bytes,
            )
            arriving.rename(file)
        return file

    async def _describe(self) -> RawDocument:
        return describe_document(self._lease.document, await self._document())

    async def _preprocess(self, raw: RawDocument) -> PreprocessedImage:
        return await preprocess_pages(
            self._id,
            raw,
            await self._document(),
            folder=self._folder,
            pages=self._tools.pages,
            objects=self._objects,
            on_page=self._move,
        )

    async def _transcribe(self, raw: RawDocument, preprocessed: PreprocessedImage) -> Transcription:
        tools = self._tools
        pictures = await load_pictures(preprocessed, folder=self._folder, pages=tools.pages, objects=self._objects)
        reading = Reading(
            ingestion_id=self._id,
            raw=raw,
            document=await self._document(),
            folder=self._folder,
            pictures=pictures,
            drawn=preprocessed.pages_with_false_text,
            pages=tools.pages,
            transcriber=tools.transcriber,
            objects=self._objects,
            quality_threshold=tools.quality_threshold,
            budget=tools.budget,
            on_page=self._move,
        )
        return await transcribe_pages(preprocessed, reading)

    async def _extract(self, raw: RawDocument, transcription: Transcription) -> Extraction:
        chosen = self._lease.document.schema_name
        return await extract_with(self._tools, raw, await self._document(), transcription, chosen=chosen)

    async def _judge(self, extraction: Extraction, transcription: Transcription) -> Verdict:
        identity = identify(extraction)
        earlier: list[EarlierDocument] = []
        if identity is not None:
            earlier = await write_patiently(
                lambda: self._ledger.remember_document(self._lease, identity), seconds=self._patience_seconds
            )
        return await asyncio.to_thread(judge_with, self._tools, extraction, transcription, earlier)


async def extract_with(
    tools: Tools, raw: RawDocument, document: Path, transcription: Transcription, *, chosen: str | None
) -> Extraction:
    """`chosen`: the schema that the document was submitted with; None: its words decide."""
    schema, reason = await asyncio.to_thread(choose_schema, transcription, tools.schemas, chosen=chosen)
    extraction = await extract_fields(
        ExtractionRequest(raw, document, transcription, schema, is_schema_chosen=chosen is not None),
        extractors=tools.extractors,
        witnesses=tools.witnesses,
        schemas=tools.schemas,
        judge=lambda found: judge_with(tools, found, transcription),
    )
    return extraction.model_copy(update={"schema_reason": extraction.schema_reason or reason})


def judge_with(
    tools: Tools, extraction: Extraction, transcription: Transcription, earlier: Sequence[EarlierDocument] = ()
) -> Verdict:
    schema = tools.schemas.get(extraction.schema_name)
    if schema is None:
        raise SchemaUnknown(f"The extraction follows the schema {extraction.schema_name!r}; there is none now.")
    return judge(
        extraction,
        transcription,
        schema=schema,
        today=datetime.now(UTC).date(),
        quality_threshold=tools.quality_threshold,
        earlier=earlier,
    )
