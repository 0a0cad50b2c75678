"""Many ingestions side by side, on fakes: what becomes of each, and of its neighbours, its lease and its message."""

import asyncio
import logging
import shutil
import tempfile
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from uuid import UUID

import pytest

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.errors import (
    ConfigurationError,
    DocumentDamaged,
    LeaseLost,
    Parked,
    ProviderUnavailable,
    RateLimited,
    StorageUnavailable,
    WorkerDied,
)
from orcha_dagster.domain.ingestions import Claimed, IngestionStatus, IngestionView, Lease
from orcha_dagster.domain.messages import Message
from orcha_dagster.domain.pages import PageMeasurement, PageTreatment
from orcha_dagster.domain.retrying import RetryPolicy
from orcha_dagster.domain.stages import Stage
from orcha_dagster.domain.transcriptions import TranscribedPage, Transcription
from orcha_dagster.interfaces.cpu_pool import CpuAllowance, get_cpu_allowance
from orcha_dagster.interfaces.extractor import Extractor
from orcha_dagster.interfaces.page_preparer import PagePreparer
from orcha_dagster.interfaces.transcriber import Bundle, Transcriber
from orcha_dagster.interfaces.turns import waiting_for_turn
from orcha_dagster.pipeline.artifacts import Encoding, artifact_path, get_artifact, ingestion_folder
from orcha_dagster.pipeline.ingesting import StageFinished, Tools
from orcha_dagster.pipeline.ingestion_line import IngestionFailed, IngestionLine, LineSettings, Outcome
from orcha_dagster.pipeline.receiving import claim_from_queue, ring_silent
from orcha_dagster.pipeline.submitting import submit_document
from tests.fake_providers import FakeExtractor, FakePagePreparer, FakeTranscriber, fake_document
from tests.fake_storage import Failures, FakeClock, FakeLedger, FakeObjectStore, FakeQueue

ALL = frozenset(Stage)
LEASE_SECONDS = 60.0
RETRY = RetryPolicy(max_attempts=3, first_delay_seconds=10, max_delay_seconds=100)
INVOICE = {
    "number": "R-7",
    "issue_date": "2026-05-04",
    "seller": "Acme Trading Ltd",
    "currency": "EUR",
    "net": "10.00",
    "tax": "1.90",
    "gross": "11.90",
}

PRINTED = (  # as on the pages
    "Acme Trading Ltd", "Invoice number R-7", "Invoice date 2026-05-04", "Net EUR 10.00", "VAT EUR 1.90",
    "Total EUR 11.90",
)  # fmt: skip


class Hall:
    """Everything a line stands in, in memory."""

    def __init__(
        self,
        *,
        ledger: Failures | None = None,
        queue: Failures | None = None,
        pages: PagePreparer | None = None,
        transcriber: Transcriber | None = None,
        extractors: Sequence[Extractor] | None = None,
        stage_seconds: float = 60,
        encoding: Encoding = Encoding.JSON,
    ) -> None:
        self.encoding = encoding
        self.stage_seconds = stage_seconds
        self.clock = FakeClock()
        self.ledger = FakeLedger(self.clock, failures=ledger)
        self.queue = FakeQueue(self.clock, visibility_seconds=LEASE_SECONDS, failures=queue)
        self.objects = FakeObjectStore()
        self.scratch = Path(tempfile.mkdtemp(prefix="orcha-hall-"))
        weakref.finalize(self, shutil.rmtree, self.scratch)
        self.pages = pages or FakePagePreparer()
        self.transcriber = transcriber or FakeTranscriber(PRINTED)
        self.extractors = (FakeExtractor(INVOICE),) if extractors is None else tuple(extractors)

    def submit(self, *kinds: str, content: bytes | None = None) -> UUID:
        return submit_document(
            "a.pdf",
            fake_document(*kinds or ("text", "scan")) if content is None else content,
            case_id=1,
            batch_id=1,
            objects=self.objects,
            ledger=self.ledger,
            queue=self.queue,
        )

    def claim(self) -> list[Lease]:
        return claim_from_queue(
            self.ledger,
            self.queue,
            owner="run",
            max_in_flight=1000,
            most=1000,
            lease_seconds=LEASE_SECONDS,
            max_attempts=RETRY.max_attempts,
        )

    def claim_by_hand(self, *ingestion_ids: UUID) -> list[Lease]:
        claims = self.ledger.claim_by_hand(ingestion_ids, owner="run", lease_seconds=LEASE_SECONDS)
        return [claim.outcome.lease for claim in claims if isinstance(claim.outcome, Claimed)]

    def line(
        self, report: Callable[[Outcome], None], *, concurrency: int = 8, lease_seconds: float = LEASE_SECONDS
    ) -> IngestionLine:
        tools = Tools(
            objects=self.objects,
            scratch=self.scratch,
            pages=self.pages,
            transcriber=self.transcriber,
            extractors=self.extractors,
            max_document_bytes=1000,
            quality_threshold=0.5,
            transcription_encoding=self.encoding,
            document_seconds=77,
        )
        settings = LineSettings(
            lease_seconds=lease_seconds, stage_seconds=self.stage_seconds, concurrency=concurrency, retry=RETRY
        )
        return IngestionLine(
            ledger=self.ledger,
            queue=self.queue,
            tools=tools,
            settings=settings,
            report=report,
            now=lambda: self.clock.now,
        )

    def carry(
        self,
        leases: Sequence[Lease] | None = None,
        selected: frozenset[Stage] = ALL,
        *,
        concurrency: int = 8,
        lease_seconds: float = LEASE_SECONDS,
    ) -> list[Outcome]:
        outcomes: list[Outcome] = []
        line = self.line(outcomes.append, concurrency=concurrency, lease_seconds=lease_seconds)
        asyncio.run(line.run(self.claim() if leases is None else leases, selected))
        return outcomes

    def view(self, ingestion_id: UUID) -> IngestionView:
        view = self.ledger.find(ingestion_id)
        assert view is not None
        return view

    def steal(self, ingestion_id: UUID) -> Lease:
        """Somebody else claims, as after a pause longer than the lease."""
        self.clock.move(LEASE_SECONDS + 1)
        message = Message("other", "other's handle", ingestion_id)
        (claim,) = self.ledger.claim([message], owner="other", lease_seconds=LEASE_SECONDS, max_attempts=3)
        assert isinstance(claim.outcome, Claimed)
        return claim.outcome.lease


class ThoughtfulTranscriber(FakeTranscriber):
    """Does something before it reads."""

    def __init__(self, thought: Callable[[], object]) -> None:
        super().__init__()
        self._thought = thought

    async def transcribe(self, bundle: Bundle) -> tuple[TranscribedPage, ...]:
        self._thought()
        return await super().transcribe(bundle)


class PreparerWithOnePlace(FakePagePreparer):
    """Works on one document at a time; the others wait for their turn, as for a worker."""

    def __init__(self, *, seconds: float) -> None:
        super().__init__()
        self._place = asyncio.Semaphore(1)
        self._seconds = seconds

    async def inspect(
        self, raw: RawDocument, document: Path, *, on_pages: Callable[[], None] | None = None
    ) -> tuple[PageMeasurement, ...]:
        with waiting_for_turn():
            await self._place.acquire()
        try:
            await asyncio.sleep(self._seconds)
            return await super().inspect(raw, document, on_pages=on_pages)
        finally:
            self._place.release()


class HangingTranscriber(FakeTranscriber):
    """Says when it was asked, and answers when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def transcribe(self, bundle: Bundle) -> tuple[TranscribedPage, ...]:
        self.asked.set()
        await self.may_answer.wait()
        return await super().transcribe(bundle)


class SlowTranscriber(FakeTranscriber):
    def __init__(self, *, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    async def transcribe(self, bundle: Bundle) -> tuple[TranscribedPage, ...]:
        await asyncio.sleep(self.seconds)
        return await super().transcribe(bundle)


class CrowdedTranscriber(FakeTranscriber):
    """Reads only when so many are inside, and counts whether there are ever more."""

    def __init__(self, crowd: int) -> None:
        super().__init__()
        self.inside = self.most_inside = 0
        self._crowd = asyncio.Barrier(crowd)

    async def transcribe(self, bundle: Bundle) -> tuple[TranscribedPage, ...]:
        self.inside += 1
        self.most_inside = max(self.inside, self.most_inside)
        async with asyncio.timeout(10), self._crowd:
            self.inside -= 1
        return await super().transcribe(bundle)


class Untouching(FakePagePreparer):
    """Finds nothing to treat."""

    async def treat(
        self, raw: RawDocument, document: Path, page: int, *, picture: Path, thoroughly: bool = False
    ) -> PageTreatment:
        treatment = await super().treat(raw, document, page, picture=picture, thoroughly=thoroughly)
        return treatment.model_copy(update={"steps": ()})


def redrive_silent(hall: Hall) -> None:
    """As the sweep does."""
    hall.queue.send(hall.ledger.find_silent(stale_after_seconds=600, limit=10))


def stages_of(outcomes: Sequence[Outcome], ingestion_id: UUID) -> list[Stage]:
    return [one.stage for one in outcomes if isinstance(one, StageFinished) and one.ingestion_id == ingestion_id]


def failures_of(outcomes: Sequence[Outcome]) -> list[IngestionFailed]:
    return [one for one in outcomes if isinstance(one, IngestionFailed)]


def test_an_ingestion_passes_every_stage_and_leaves_its_result() -> None:
    hall = Hall()
    ingestion_id = hall.submit("text", "scan", "crooked")
    outcomes = hall.carry()
    view = hall.view(ingestion_id)
    assert stages_of(outcomes, ingestion_id) == list(Stage)
    assert (view.status, view.valid_structured_data) == (IngestionStatus.COMPLETED, True)
    assert view.structured_data == {"schema": "invoice", **INVOICE}
    assert view.stage is Stage.QUALITY_VERDICT
    assert hall.queue.bodies == []
    assert hall.ledger.count_live_leases() == 0


def test_every_stage_leaves_its_artifact_and_the_row_points_at_them() -> None:
    hall = Hall()
    ingestion_id = hall.submit("scan", "crooked")
    outcomes = hall.carry()
    paths = hall.objects.list_paths(f"ingestions/{ingestion_id}")
    assert set(paths) >= {artifact_path(ingestion_id, stage) for stage in Stage}
    assert {one.artifact_path for one in outcomes if isinstance(one, StageFinished)} <= set(paths)
    view = hall.view(ingestion_id)
    assert view.preprocessed_file_path in paths
    assert view.transcription_file_path == artifact_path(ingestion_id, Stage.TRANSCRIPTION)
    assert view.transcription_quality_score == 0.9


def test_pages_with_text_are_not_read_again_and_all_come_in_order() -> None:
    hall = Hall()
    ingestion_id = hall.submit("scan", "text", "crooked", "text")
    hall.carry()
    transcription = get_artifact(hall.objects, ingestion_id, Stage.TRANSCRIPTION, Transcription)
    assert [(page.page, page.source) for page in transcription.pages] == [
        (1, "fake"),
        (2, "text_layer"),
        (3, "fake"),
        (4, "text_layer"),
    ]


def test_poor_quality_is_a_verdict_and_no_failure() -> None:
    hall = Hall(extractors=[FakeExtractor({"number": "R-7"})])
    ingestion_id = hall.submit()
    assert failures_of(hall.carry()) == []
    view = hall.view(ingestion_id)
    assert (view.status, view.needs_human_review) == (IngestionStatus.COMPLETED, True)


def test_the_first_extractor_with_something_to_say_is_heard() -> None:
    silent, speaking, never_asked = FakeExtractor(None), FakeExtractor(INVOICE), FakeExtractor({"number": "other"})
    hall = Hall(extractors=[silent, speaking, never_asked])
    ingestion_id = hall.submit()
    hall.carry()
    assert (hall.view(ingestion_id).structured_data or {})["number"] == "R-7"
    assert (len(silent.calls), len(speaking.calls), len(never_asked.calls)) == (1, 1, 0)


def test_when_no_extractor_has_anything_to_say_a_person_looks() -> None:
    hall = Hall(extractors=[FakeExtractor(None)])
    ingestion_id = hall.submit()
    hall.carry()
    view = hall.view(ingestion_id)
    assert (view.status, view.structured_data, view.needs_human_review) == (
        IngestionStatus.COMPLETED,
        {"schema": "invoice"},
        True,
    )


def test_the_work_on_each_document_has_its_own_allowance() -> None:
    seen: list[CpuAllowance] = []
    hall = Hall(transcriber=ThoughtfulTranscriber(lambda: seen.append(get_cpu_allowance())))
    hall.submit("scan", "scan")
    hall.submit("scan")
    hall.carry()
    assert [allowance.seconds for allowance in seen] == [77, 77, 77]
    assert len({id(allowance) for allowance in seen}) == 2


def test_the_failure_of_one_does_not_touch_its_neighbours() -> None:
    hall = Hall()
    before, bad, after = hall.submit(), hall.submit(content=b"%PDF-1.7 damaged"), hall.submit()
    outcomes = hall.carry()
    (failed,) = failures_of(outcomes)
    assert (failed.ingestion_id, failed.stage, failed.code) == (bad, Stage.PREPROCESSED_IMAGE, "DOCUMENT_DAMAGED")
    assert [hall.view(one).status for one in (before, bad, after)] == [
        IngestionStatus.COMPLETED,
        IngestionStatus.FAILED,
        IngestionStatus.COMPLETED,
    ]
    assert stages_of(outcomes, bad) == [Stage.RAW_DOCUMENT]


def test_what_is_permanent_fails_at_once_with_its_reason_and_its_message_goes() -> None:
    hall = Hall(pages=FakePagePreparer(failures=[DocumentDamaged("Page 3 is damaged.")]))
    ingestion_id = hall.submit()
    (failed,) = failures_of(hall.carry())
    assert failed.decision.gives_up
    view = hall.view(ingestion_id)
    assert (view.status, view.error_code, view.error_stage) == (
        IngestionStatus.FAILED,
        "DOCUMENT_DAMAGED",
        Stage.PREPROCESSED_IMAGE,
    )
    assert (view.error_message or "").startswith("Page 3 is damaged. Ask the sender")
    assert hall.queue.bodies == []


def test_what_is_recoverable_comes_again_and_then_succeeds() -> None:
    hall = Hall(transcriber=FakeTranscriber(failures=[ProviderUnavailable("away")]))
    ingestion_id = hall.submit()
    (failed,) = failures_of(hall.carry())
    wait = failed.decision.retry_after_seconds
    assert wait is not None
    assert (failed.stage, failed.code) == (Stage.TRANSCRIPTION, "PROVIDER_UNAVAILABLE")
    assert hall.view(ingestion_id).status is IngestionStatus.IN_PROGRESS
    assert wait <= hall.queue.hidden_seconds(str(ingestion_id)) < wait + 1
    assert hall.claim() == []
    hall.clock.move(wait + 1)
    assert failures_of(hall.carry()) == []
    view = hall.view(ingestion_id)
    assert (view.status, view.attempt_count, view.error_code) == (IngestionStatus.COMPLETED, 2, None)


def test_a_provider_that_asks_for_a_pause_gets_it() -> None:
    hall = Hall(transcriber=FakeTranscriber(failures=[RateLimited("slowly", retry_after_seconds=42)]))
    ingestion_id = hall.submit()
    hall.carry()
    assert hall.queue.hidden_seconds(str(ingestion_id)) == 42


def test_a_daily_quota_uses_up_no_attempt_and_is_waited_for_about_a_day() -> None:
    """The provider is asked every hour; when a day is over, the attempts count again."""
    hall = Hall(transcriber=FakeTranscriber(failures=[RateLimited("daily", retry_after_seconds=3600)] * 30))
    ingestion_id = hall.submit("scan")
    asked, attempts = 0, []
    while hall.view(ingestion_id).status is IngestionStatus.IN_PROGRESS:
        attempts += [failed.code for failed in failures_of(hall.carry())]
        asked += 1
        hall.clock.move(3601)
        redrive_silent(hall)
    assert (asked, attempts) == (23 + RETRY.max_attempts, ["RATE_LIMITED"] * RETRY.max_attempts)
    assert hall.view(ingestion_id).error_code == "RATE_LIMITED"


def test_after_a_quota_is_full_again_the_first_attempt_goes_on() -> None:
    hall = Hall(transcriber=FakeTranscriber(PRINTED, failures=[RateLimited("daily", retry_after_seconds=3600)] * 5))
    ingestion_id = hall.submit("scan")
    for _ in range(6):
        assert failures_of(hall.carry()) == []
        hall.clock.move(3601)
        redrive_silent(hall)
    view = hall.view(ingestion_id)
    assert (view.status, view.attempt_count) == (IngestionStatus.COMPLETED, 1)


def test_an_unknown_error_is_retried_as_often_as_any_and_keeps_its_text_to_itself(
    caplog: pytest.LogCaptureFixture,
) -> None:
    hall = Hall(extractors=[FakeExtractor(failures=[ValueError(f"secret {n}") for n in range(9)])])
    ingestion_id = hall.submit()
    seen = []
    while hall.view(ingestion_id).status is IngestionStatus.IN_PROGRESS:
        seen += failures_of(hall.carry())
        hall.clock.move(RETRY.max_delay_seconds)
    view = hall.view(ingestion_id)
    assert [failed.decision.gives_up for failed in seen] == [False, False, True]
    assert (view.status, view.error_code, view.attempt_count) == (IngestionStatus.FAILED, "UNKNOWN_ERROR", 3)
    assert "secret" not in f"{view.error_message}{[failed.message for failed in seen]}"
    assert "failed unexpectedly at extraction" in caplog.text
    assert hall.queue.bodies == []


def test_a_line_without_an_extractor_says_which_setting_is_missing() -> None:
    hall = Hall(extractors=[])
    hall.submit()
    (failed,) = failures_of(hall.carry())
    assert (failed.code, failed.stage) == (ConfigurationError.code, Stage.EXTRACTION)
    assert "ORCHA_EXTRACTOR" in failed.message


def test_what_comes_later_is_parked_without_a_lease_and_uses_up_no_attempt() -> None:
    later = FakeExtractor(INVOICE, failures=[Parked("The batch is not done.", check_after_seconds=90)])
    hall = Hall(extractors=[later])
    ingestion_id = hall.submit("scan")
    outcomes = hall.carry()
    assert failures_of(outcomes) == []
    assert stages_of(outcomes, ingestion_id) == [Stage.RAW_DOCUMENT, Stage.PREPROCESSED_IMAGE, Stage.TRANSCRIPTION]
    assert hall.ledger.count_live_leases() == 0
    assert hall.queue.bodies == []
    hall.clock.move(91)
    assert ring_silent(hall.ledger, hall.queue, stale_after_seconds=900, limit=10) == [ingestion_id]
    (lease,) = hall.claim()
    assert lease.attempt == 1
    hall.carry([lease])
    assert hall.view(ingestion_id).status is IngestionStatus.COMPLETED


def test_the_same_invoice_sent_again_is_for_a_person() -> None:
    hall = Hall()
    first = hall.submit()
    hall.carry()
    second = hall.submit()
    hall.carry()
    assert [hall.view(i).needs_human_review for i in (first, second)] == [False, True]


def test_providers_are_closed_when_the_line_has_ended() -> None:
    hall = Hall()
    hall.submit()
    hall.carry()
    assert isinstance(hall.transcriber, FakeTranscriber)
    assert hall.transcriber.is_closed


def test_a_later_attempt_does_not_pay_again_for_reading() -> None:
    hall = Hall(extractors=[FakeExtractor(INVOICE, failures=[ProviderUnavailable("away")])])
    transcriber = hall.transcriber
    assert isinstance(transcriber, FakeTranscriber)
    ingestion_id = hall.submit("scan")
    hall.carry()
    assert transcriber.calls == [(1,)]
    hall.clock.move(RETRY.max_delay_seconds)
    outcomes = hall.carry()
    assert transcriber.calls == [(1,)]
    assert stages_of(outcomes, ingestion_id) == list(Stage)
    assert hall.view(ingestion_id).status is IngestionStatus.COMPLETED


def test_a_person_who_asks_again_gets_everything_read_again() -> None:
    hall = Hall()
    transcriber = hall.transcriber
    assert isinstance(transcriber, FakeTranscriber)
    ingestion_id = hall.submit("scan")
    hall.carry()
    hall.carry(hall.claim_by_hand(ingestion_id))
    assert transcriber.calls == [(1,), (1,)]
    assert hall.view(ingestion_id).status is IngestionStatus.COMPLETED


def test_nothing_of_an_earlier_reading_is_left_beside_a_new_one() -> None:
    hall = Hall(transcriber=FakeTranscriber(PRINTED, confidences={"treated": 0.9, "scan": 0.4}))
    ingestion_id = hall.submit("scan", "crooked")
    hall.carry()
    folder = ingestion_folder(ingestion_id)
    assert {f"{folder}/preprocessed.pack", f"{folder}/second-picture-1.jpg"} <= set(hall.objects.list_paths(folder))
    hall.pages, hall.transcriber = Untouching(), FakeTranscriber(PRINTED)
    hall.carry(hall.claim_by_hand(ingestion_id))
    assert hall.objects.list_paths(folder) == sorted(artifact_path(ingestion_id, stage) for stage in Stage)
    assert hall.view(ingestion_id).preprocessed_file_path is None


def test_pages_that_took_several_calls_are_kept_no_longer_than_needed() -> None:
    hall = Hall(
        transcriber=FakeTranscriber(
            PRINTED, pages_per_call=15, bytes_per_call=60, failures=[None, ProviderUnavailable("away")]
        )
    )
    ingestion_id = hall.submit(*["scan"] * 4)
    hall.carry()
    folder = f"{ingestion_folder(ingestion_id)}/transcription-pages"
    assert len(hall.objects.list_paths(folder)) == 2
    hall.clock.move(RETRY.max_delay_seconds)
    hall.carry()
    assert hall.transcriber.calls == [(1, 2), (3, 4), (3, 4)]  # type: ignore[attr-defined]
    assert hall.objects.list_paths(folder) == []


@pytest.mark.parametrize("encoding", Encoding)
def test_the_row_points_at_the_transcription_in_its_encoding_and_a_later_attempt_finds_it(encoding: Encoding) -> None:
    hall = Hall(extractors=[FakeExtractor(INVOICE, failures=[ProviderUnavailable("away")])], encoding=encoding)
    ingestion_id = hall.submit("scan")
    hall.carry()
    path = artifact_path(ingestion_id, Stage.TRANSCRIPTION, encoding)
    assert hall.view(ingestion_id).transcription_file_path == path
    hall.clock.move(RETRY.max_delay_seconds)
    outcomes = hall.carry()
    assert [
        one.artifact_path for one in outcomes if isinstance(one, StageFinished) and "output" in one.artifact_path
    ] == [path]
    assert hall.transcriber.calls == [(1,)]  # type: ignore[attr-defined]
    assert hall.view(ingestion_id).status is IngestionStatus.COMPLETED


@pytest.mark.parametrize("first", range(1, len(Stage)))
def test_what_was_not_asked_for_is_loaded_and_not_done_again(first: int) -> None:
    hall = Hall()
    ingestion_id = hall.submit("scan")
    hall.carry()
    asked = list(Stage)[first:]
    pages, transcriber = hall.pages, hall.transcriber
    assert isinstance(pages, FakePagePreparer)
    assert isinstance(transcriber, FakeTranscriber)
    before = pages.calls.count("inspect"), len(transcriber.calls)
    outcomes = hall.carry(hall.claim_by_hand(ingestion_id), frozenset(asked))
    assert stages_of(outcomes, ingestion_id) == asked
    assert (pages.calls.count("inspect") - before[0], len(transcriber.calls) - before[1]) == (
        int(Stage.PREPROCESSED_IMAGE in asked),
        int(Stage.TRANSCRIPTION in asked),
    )
    assert hall.view(ingestion_id).status is IngestionStatus.COMPLETED


@pytest.mark.parametrize("last", range(len(Stage) - 1))
def test_without_the_verdict_the_ingestion_goes_back_to_what_it_was(last: int) -> None:
    hall = Hall()
    fresh, done = hall.submit(), hall.submit()
    hall.carry([lease for lease in hall.claim() if lease.ingestion_id == done])
    hall.clock.move(LEASE_SECONDS + 1)
    asked = list(Stage)[: last + 1]
    outcomes = hall.carry(hall.claim_by_hand(fresh, done), frozenset(asked))
    assert stages_of(outcomes, fresh) == stages_of(outcomes, done) == asked
    assert hall.view(fresh).status is IngestionStatus.IN_PROGRESS
    assert hall.view(done).status is IngestionStatus.COMPLETED
    assert hall.ledger.count_live_leases() == 0


def test_a_stage_without_what_comes_before_it_fails_and_says_so() -> None:
    hall = Hall()
    ingestion_id = hall.submit()
    (failed,) = failures_of(hall.carry(hall.claim_by_hand(ingestion_id), frozenset({Stage.EXTRACTION})))
    assert (failed.code, failed.stage) == ("ARTIFACT_MISSING", Stage.RAW_DOCUMENT)


def test_whoever_lost_the_lease_stops_silently_and_disturbs_nobody() -> None:
    new_owners: list[Lease] = []
    hall = Hall()
    ingestion_id = hall.submit("scan")
    hall.transcriber = ThoughtfulTranscriber(lambda: new_owners.append(hall.steal(ingestion_id)))
    (lease,) = hall.claim()
    outcomes = hall.carry([lease])
    assert failures_of(outcomes) == []
    assert stages_of(outcomes, ingestion_id) == [Stage.RAW_DOCUMENT, Stage.PREPROCESSED_IMAGE]
    view = hall.view(ingestion_id)
    assert (view.status, view.lease_owner, view.attempt_count) == (IngestionStatus.IN_PROGRESS, "other", 2)
    assert hall.queue.bodies == [str(ingestion_id)]
    hall.ledger.finish_stage(new_owners[0], Stage.TRANSCRIPTION, seconds=1)


def test_work_whose_lease_is_gone_is_stopped_by_the_heartbeat_while_its_neighbour_goes_on() -> None:
    hall = Hall(transcriber=HangingTranscriber())
    stolen, neighbour = hall.submit("scan"), hall.submit("text")
    leases = hall.claim()
    hall.steal(stolen)
    outcomes = hall.carry(leases, lease_seconds=0.05)
    assert failures_of(outcomes) == []
    assert hall.view(stolen).lease_owner == "other"
    assert hall.view(neighbour).status is IngestionStatus.COMPLETED


@pytest.mark.parametrize(("attempt_counts", "next_attempts"), [(False, [1, 1]), (True, [2, 1])])
def test_a_line_that_is_stopped_gives_back_what_it_did_not_finish(
    attempt_counts: bool, next_attempts: list[int]
) -> None:
    """What was never begun has lost no attempt, however the run ended."""
    transcriber = HangingTranscriber()
    hall = Hall(transcriber=transcriber)
    ids = [hall.submit("scan"), hall.submit("scan")]
    outcomes: list[Outcome] = []

    async def run_and_stop() -> None:
        line = hall.line(outcomes.append, concurrency=1)
        running = asyncio.create_task(line.run(hall.claim(), ALL))
        await transcriber.asked.wait()
        line.wind_down(grace_seconds=0, attempt_counts=attempt_counts)
        await running

    asyncio.run(run_and_stop())
    assert failures_of(outcomes) == []
    assert hall.ledger.count_live_leases() == 0
    assert {hall.view(one).status for one in ids} == {IngestionStatus.IN_PROGRESS}
    hall.transcriber = FakeTranscriber()
    assert [
        lease.attempt for lease in sorted(hall.claim(), key=lambda one: ids.index(one.ingestion_id))
    ] == next_attempts


def test_a_database_that_is_away_for_a_moment_costs_no_reading() -> None:
    away = StorageUnavailable("away")
    transcriber = FakeTranscriber(PRINTED, times_billed=1)
    hall = Hall(ledger={"holds": [away, away]}, transcriber=transcriber)
    ingestion_id = hall.submit("scan")
    assert failures_of(hall.carry()) == []
    assert hall.view(ingestion_id).status is IngestionStatus.COMPLETED
    assert len(transcriber.calls) == 1


def test_what_a_person_wants_read_anew_is_read_anew_by_the_attempts_that_follow_too() -> None:
    first, second = FakeTranscriber(PRINTED), FakeTranscriber(PRINTED)
    hall = Hall(transcriber=first)
    ingestion_id = hall.submit("scan")
    hall.carry()
    hall.transcriber = second
    hall.pages = FakePagePreparer(failures=[WorkerDied("before anything was read")])
    hall.carry(hall.claim_by_hand(ingestion_id))
    hall.clock.move(1000)
    ring_silent(hall.ledger, hall.queue, stale_after_seconds=500, limit=10)
    hall.carry()
    assert hall.view(ingestion_id).status is IngestionStatus.COMPLETED
    assert second.calls == [(1,)]


def test_an_earlier_reading_of_another_version_is_read_again() -> None:
    transcriber = FakeTranscriber(PRINTED)
    hall = Hall(transcriber=transcriber)
    ingestion_id = hall.submit("scan")
    hall.objects.put(artifact_path(ingestion_id, Stage.TRANSCRIPTION), b'{"pages": [], "from_the_future": 1}')
    assert failures_of(hall.carry()) == []
    assert transcriber.calls == [(1,)]


def test_waiting_for_a_turn_is_no_standstill() -> None:
    """Of many documents the last ones wait for longer than a stage may stand still."""
    hall = Hall(pages=PreparerWithOnePlace(seconds=0.05), stage_seconds=0.2)
    ids = [hall.submit("text") for _ in range(12)]
    assert failures_of(hall.carry()) == []
    assert {hall.view(one).status for one in ids} == {IngestionStatus.COMPLETED}


def test_what_has_begun_may_finish_within_the_grace_period_and_nothing_else_begins() -> None:
    transcriber = HangingTranscriber()
    hall = Hall(transcriber=transcriber)
    begun, waiting = hall.submit("scan"), hall.submit("scan")

    async def run_and_stop() -> None:
        line = hall.line(lambda _: None, concurrency=1)
        running = asyncio.create_task(line.run(hall.claim(), ALL))
        await transcriber.asked.wait()
        line.wind_down(grace_seconds=60, attempt_counts=False)
        transcriber.may_answer.set()
        await running

    asyncio.run(run_and_stop())
    assert hall.view(begun).status is IngestionStatus.COMPLETED
    assert hall.view(waiting).status is IngestionStatus.IN_PROGRESS
    assert hall.view(waiting).attempt_count == 0


def test_a_stage_in_which_nothing_moves_is_given_up() -> None:
    hall = Hall(transcriber=HangingTranscriber(), stage_seconds=0.05)
    stuck, neighbour = hall.submit("scan"), hall.submit("text")
    (failure,) = failures_of(hall.carry())
    assert (failure.ingestion_id, failure.stage, failure.code) == (stuck, Stage.TRANSCRIPTION, "STAGE_TIMED_OUT")
    assert not failure.decision.gives_up
    assert hall.view(neighbour).status is IngestionStatus.COMPLETED


def test_a_stage_that_moves_page_by_page_may_take_longer_than_its_limit() -> None:
    hall = Hall(transcriber=SlowTranscriber(seconds=0.1), stage_seconds=0.4)
    slow = hall.submit(*["scan"] * 6)
    assert failures_of(hall.carry()) == []
    assert hall.view(slow).status is IngestionStatus.COMPLETED


@pytest.mark.parametrize("concurrency", [1, 3])
def test_as_many_are_worked_on_at_once_as_allowed_and_no_more(concurrency: int) -> None:
    transcriber = CrowdedTranscriber(concurrency)
    hall = Hall(transcriber=transcriber)
    ids = [hall.submit("scan") for _ in range(6)]
    hall.carry(concurrency=concurrency)
    assert {hall.view(one).status for one in ids} == {IngestionStatus.COMPLETED}
    assert transcriber.most_inside == concurrency


@pytest.mark.parametrize("write", ["finish_stage", "complete"])
def test_a_moment_without_a_database_costs_no_attempt(write: str) -> None:
    hall = Hall(ledger={write: [StorageUnavailable("away")]})
    ingestion_id = hall.submit()
    assert failures_of(hall.carry()) == []
    assert hall.view(ingestion_id).status is IngestionStatus.COMPLETED
    assert hall.view(ingestion_id).attempt_count == 1


def test_an_ingestion_whose_result_cannot_be_written_is_tried_again() -> None:
    hall = Hall(ledger={"complete": [StorageUnavailable("away")] * 2})
    ingestion_id = hall.submit()
    (failed,) = failures_of(hall.carry(lease_seconds=0.1))
    assert (failed.stage, failed.code) == (Stage.QUALITY_VERDICT, "STORAGE_UNAVAILABLE")
    hall.clock.move(RETRY.max_delay_seconds)
    hall.carry()
    assert hall.view(ingestion_id).status is IngestionStatus.COMPLETED


@pytest.mark.parametrize("error", [StorageUnavailable("away"), LeaseLost("gone")])
def test_a_failure_that_cannot_even_be_written_down_leaves_the_lease_to_run_out(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    hall = Hall(
        ledger={"schedule_retry": [error] * 2}, transcriber=FakeTranscriber(failures=[ProviderUnavailable("away")])
    )
    ingestion_id, neighbour = hall.submit("scan"), hall.submit("text")
    with caplog.at_level(logging.WARNING):
        hall.carry(lease_seconds=0.1)
    assert "could not be recorded" in caplog.text
    assert hall.view(neighbour).status is IngestionStatus.COMPLETED
    hall.clock.move(LEASE_SECONDS + 1)
    assert [lease.attempt for lease in hall.claim()] == [2]
    assert hall.queue.bodies == [str(ingestion_id)]


def test_a_message_that_cannot_be_deleted_does_not_undo_the_result() -> None:
    hall = Hall(queue={"delete": [StorageUnavailable("away")]})
    ingestion_id = hall.submit()
    assert failures_of(hall.carry()) == []
    assert hall.view(ingestion_id).status is IngestionStatus.COMPLETED
    assert hall.queue.bodies == [str(ingestion_id)]
    hall.clock.move(LEASE_SECONDS + 1)
    assert hall.claim() == []
    assert hall.queue.bodies == []


def test_a_line_with_nothing_to_carry_ends() -> None:
    assert Hall().carry([]) == []
