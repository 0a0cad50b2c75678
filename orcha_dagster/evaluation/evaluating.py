"""`evaluate_reading`: a folder of labelled documents in, a report out. Figures are made elsewhere, shown elsewhere."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from orcha_dagster.domain.errors import DocumentUnsupported
from orcha_dagster.domain.model import DomainModel
from orcha_dagster.evaluation.dataset import BROKEN, Dataset, LabelledDocument
from orcha_dagster.evaluation.machine import Machine, describe_machine
from orcha_dagster.evaluation.reading import TIMED_OUT, UNEXPECTED, read_document
from orcha_dagster.evaluation.scores import DocumentScore, GroupScore, score_document, summarise
from orcha_dagster.evaluation.some_at_once import some_at_once
from orcha_dagster.evaluation.speed import ScanSpeed, TextSpeed, measure_scans, measure_text
from orcha_dagster.evaluation.worker_memory import WorkerMemory
from orcha_dagster.pipeline.ingesting import Tools

_PACKAGES = ("orcha-dagster", "rapidocr", "onnxruntime", "opencv-python-headless", "pypdfium2")


@dataclass(frozen=True)
class Plan:
    """How much is done at once, and for how long."""

    workers: int
    limit_seconds: float  # for one document
    speed_pages: int | None = None  # measure how fast scans and text are read, on about so many scans; None: do not
    documents_at_once: int = 25  # while speed is measured, as the pipeline has them


class Report(DomainModel):
    """Everything that was found out, document by document and in sum."""

    transcriber: str
    transcriber_version: str
    quality_threshold: float
    workers: int
    machine: Machine
    versions: dict[str, str]
    all: GroupScore
    tiers: dict[str, GroupScore]
    kinds: dict[str, GroupScore]
    left_out: dict[str, int]  # kinds of files that are no documents Orcha reads, and how many
    worker_peak_bytes: int
    scan_speed: ScanSpeed | None = None
    text_speed: TextSpeed | None = None
    documents: tuple[DocumentScore, ...]

    @property
    def has_defects(self) -> bool:
        """No document may hang or meet an error that nobody foresaw, however broken it is."""
        return any(one.error_code in (TIMED_OUT, UNEXPECTED) for one in self.documents)


async def evaluate_reading(
    dataset: Dataset, tools: Tools, plan: Plan, *, on_document: Callable[[DocumentScore], None]
) -> Report:
    machine, memory = describe_machine(), WorkerMemory()

    async def read(document: LabelledDocument) -> DocumentScore:
        outcome = await read_document(dataset.file_of(document), tools, limit_seconds=plan.limit_seconds)
        score = score_document(document, outcome)
        on_document(score)
        return score

    try:
        with memory.watching():
            everything = await some_at_once(dataset.documents, read, at_once=plan.workers)
        scores = [one for one in everything if not _is_foreign(one)]
        scans, texts = await _measure_speed(dataset, scores, tools, plan) if plan.speed_pages else (None, None)
    finally:
        await tools.transcriber.close()
    return Report(
        transcriber=tools.transcriber.name,
        transcriber_version=tools.transcriber.version,
        quality_threshold=tools.quality_threshold,
        workers=plan.workers,
        machine=machine,
        versions={package: version(package) for package in _PACKAGES},
        all=summarise(scores),
        tiers=_group(scores, lambda one: one.tier),
        kinds=_group(scores, lambda one: one.kind),
        left_out=dict(sorted(Counter(one.kind for one in everything if _is_foreign(one)).items())),
        worker_peak_bytes=memory.peak_bytes,
        scan_speed=scans,
        text_speed=texts,
        documents=tuple(scores),
    )


async def _measure_speed(
    dataset: Dataset, scores: Sequence[DocumentScore], tools: Tools, plan: Plan
) -> tuple[ScanSpeed | None, TextSpeed | None]:
    whole = [one for one in scores if one.error_code is None and one.kind != BROKEN]
    scans = [dataset.folder / path for path in choose_scans(whole, pages=plan.speed_pages or 0)]
    texts = [dataset.folder / one.path for one in whole if one.pages == one.text_layer_pages]
    return (
        await measure_scans(scans, tools, processes=plan.workers, at_once=plan.documents_at_once),
        await measure_text(texts, tools, at_once=plan.documents_at_once),
    )


def choose_scans(scores: Sequence[DocumentScore], *, pages: int) -> list[str]:
    """Documents with about so many pages to be read from pictures, evenly from the whole: a folder is often sorted."""
    scans = [one for one in scores if one.pages > one.text_layer_pages]
    total = sum(one.pages - one.text_layer_pages for one in scans)
    chosen: list[str] = []
    passed = taken = 0
    for one in scans:
        passed += one.pages - one.text_layer_pages
        if taken * total < passed * min(pages, total):
            chosen.append(one.path)
            taken += one.pages - one.text_layer_pages
    return chosen


def _is_foreign(score: DocumentScore) -> bool:
    """A folder may hold files for other purposes. Of one that is broken on purpose, being refused is the result."""
    return score.kind != BROKEN and score.error_code == DocumentUnsupported.code and score.score is None


def _group(scores: Sequence[DocumentScore], name_of: Callable[[DocumentScore], str]) -> dict[str, GroupScore]:
    names = sorted({name_of(one) for one in scores})
    return {name: summarise([one for one in scores if name_of(one) == name]) for name in names}
