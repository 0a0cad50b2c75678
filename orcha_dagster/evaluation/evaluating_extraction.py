"""`evaluate_extraction`: a folder of labelled documents in, a report out. How it is shown is not known here."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.domain.model import DomainModel
from orcha_dagster.evaluation.comparing import Comparison
from orcha_dagster.evaluation.dataset import Dataset, LabelledDocument
from orcha_dagster.evaluation.extraction import extract_document
from orcha_dagster.evaluation.extraction_scores import ExtractionScore, score_extraction
from orcha_dagster.evaluation.field_truth import FieldTruth, to_field_truth
from orcha_dagster.evaluation.figures import (
    FieldFigures,
    GroupFigures,
    RulesSpeed,
    field_figures,
    group_by,
    judged_fields,
    rules_speed,
    summarise_group,
)
from orcha_dagster.evaluation.machine import Machine, describe_machine
from orcha_dagster.evaluation.ranking import auroc
from orcha_dagster.evaluation.reading import TIMED_OUT, UNEXPECTED
from orcha_dagster.evaluation.reading_cache import ReadingCache
from orcha_dagster.evaluation.some_at_once import some_at_once
from orcha_dagster.evaluation.targets import Target, check_targets
from orcha_dagster.interfaces.transcriber import Transcriber
from orcha_dagster.pipeline.ingesting import Tools


@dataclass(frozen=True)
class ExtractionPlan:
    """How the documents are worked on."""

    extractor: str  # as it was asked for; who extracted each document is in its score
    only_visible: bool  # score only what a page shows
    at_once: int
    limit_seconds: float  # for one document


class ExtractionReport(DomainModel):
    """Everything that was found out, document by document and in sum."""

    extractor: str
    only_visible: bool
    transcriber: str
    machine: Machine
    versions: dict[str, str]  # of the extractors that had a say
    all: GroupFigures
    kinds: dict[str, GroupFigures]
    tiers: dict[str, GroupFigures]
    fields: dict[str, FieldFigures]
    fields_by_kind: dict[str, dict[str, FieldFigures]]
    field_auroc: float | None  # of the confidences of all fields together
    schema_right: int  # documents taken for what they are, of those where the manifest tells
    schema_labelled: int
    speed: RulesSpeed | None
    targets: tuple[Target, ...]
    left_out: dict[str, int]  # documents without true fields, by kind
    comparison: Comparison | None = None
    documents: tuple[ExtractionScore, ...]

    @property
    def has_defects(self) -> bool:
        return any(one.error_code in (TIMED_OUT, UNEXPECTED) for one in self.documents)


async def evaluate_extraction(
    dataset: Dataset,
    tools: Tools,
    plan: ExtractionPlan,
    *,
    cache: ReadingCache | None,
    on_document: Callable[[ExtractionScore], None],
) -> ExtractionReport:
    machine = describe_machine()
    truths = _truths(dataset, tools, plan)
    documents = [document for document in dataset.documents if document.path in truths]

    async def extract(document: LabelledDocument) -> ExtractionScore:
        file, truth = dataset.file_of(document), truths[document.path]
        outcome = await extract_document(file, tools, cache, limit_seconds=plan.limit_seconds)
        score = score_extraction(document, truth, outcome, tools.schemas)
        on_document(score)
        return score

    scores = await some_at_once(documents, extract, at_once=plan.at_once)
    left_out = Counter(document.kind for document in dataset.documents if document.path not in truths)
    return _report(scores, tools, plan, machine, left_out)


def documents_with_truth(dataset: Dataset, tools: Tools, plan: ExtractionPlan) -> int:
    return len(_truths(dataset, tools, plan))


def _truths(dataset: Dataset, tools: Tools, plan: ExtractionPlan) -> dict[str, FieldTruth]:
    truths = {
        document.path: to_field_truth(document, tools.schemas, only_visible=plan.only_visible)
        for document in dataset.documents
    }
    labelled = {path: truth for path, truth in truths.items() if not truth.is_empty}
    if not labelled:
        raise ConfigurationError(
            "No document of the folder has true fields.", remedy="docs/evaluation.md describes ground_truth.fields."
        )
    return labelled


def _name_and_version(transcriber: Transcriber) -> str:
    """Some versions begin with the name."""
    name, version = transcriber.name, transcriber.version
    return version if version.startswith(name) else f"{name} {version}"


def _report(
    scores: Sequence[ExtractionScore], tools: Tools, plan: ExtractionPlan, machine: Machine, left_out: Counter[str]
) -> ExtractionReport:
    told = [one for one in scores if one.expected_schema and one.schema_name]
    kinds = sorted({one.kind for one in scores})
    speed = rules_speed(scores)
    return ExtractionReport(
        extractor=plan.extractor,
        only_visible=plan.only_visible,
        transcriber=_name_and_version(tools.transcriber),
        machine=machine,
        versions={one.name: one.version for one in (*tools.extractors, *tools.witnesses)},
        all=summarise_group(scores),
        kinds=group_by(scores, lambda one: one.kind),
        tiers=group_by(scores, lambda one: one.tier),
        fields=field_figures(scores),
        fields_by_kind={kind: field_figures([one for one in scores if one.kind == kind]) for kind in kinds},
        field_auroc=auroc(judged_fields(field for one in scores for field in one.fields)),
        schema_right=sum(one.schema_name == one.expected_schema for one in told),
        schema_labelled=len(told),
        speed=speed,
        targets=check_targets(scores, speed),
        left_out=dict(sorted(left_out.items())),
        documents=tuple(scores),
    )
