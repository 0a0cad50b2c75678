"""What became of one document: its fields beside the truth, its verdict, and what it cost."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import StrEnum

from pydantic import Field

from orcha_dagster.domain.model import DomainModel
from orcha_dagster.domain.schemas import DocumentSchema
from orcha_dagster.domain.transcriptions import TEXT_LAYER, PictureRead
from orcha_dagster.domain.verdicts import Outcome
from orcha_dagster.evaluation.dataset import LabelledDocument
from orcha_dagster.evaluation.extraction import WasExtracted
from orcha_dagster.evaluation.field_matching import Match, ValueKind, value_kinds
from orcha_dagster.evaluation.field_scores import FieldScore, TableScore, match_values, score_fields, score_tables
from orcha_dagster.evaluation.field_truth import FieldTruth
from orcha_dagster.evaluation.reading import WasNotRead
from orcha_dagster.evaluation.scores import tier_of


class End(StrEnum):
    """Verdict and truth. Only documents with a critical field in their truth have one."""

    ACCEPTED_RIGHT = "accepted-right"
    ACCEPTED_WRONG = "accepted-wrong"  # the number that matters
    REVIEW_RIGHT = "review-right"
    REVIEW_WRONG = "review-wrong"
    FAILED = "failed"  # an error: no verdict


class ExtractionScore(DomainModel):
    path: str
    kind: str
    tier: str
    sha256: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    pages: int = 0
    expected_schema: str | None = None
    schema_name: str | None = None
    schema_reason: str = ""
    extractor: str | None = None
    extractor_version: str | None = None
    model: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    cost_usd: Decimal = Decimal(0)
    reading_seconds: float = 0.0
    seconds: float = 0.0
    rules_cpu_seconds: float | None = None
    fields: tuple[FieldScore, ...] = ()
    tables: dict[str, TableScore] = Field(default_factory=dict)
    witnesses: dict[str, dict[str, Match]] = Field(default_factory=dict)  # by extractor, then by field
    outcome: Outcome | None = None
    confidence: float | None = None
    failed_checks: dict[str, str] = Field(default_factory=dict)  # name and reason
    is_right: bool | None = None  # every critical field with a truth is; None when none has one
    treated_pages: dict[int, bool] = Field(default_factory=dict)  # read from a treated picture; True: thoroughly so

    @property
    def end(self) -> End | None:
        if self.is_right is None:
            return None
        if self.outcome is None:
            return End.FAILED
        if self.outcome is Outcome.ACCEPTED:
            return End.ACCEPTED_RIGHT if self.is_right else End.ACCEPTED_WRONG
        return End.REVIEW_RIGHT if self.is_right else End.REVIEW_WRONG

    @property
    def wrong_fields(self) -> tuple[FieldScore, ...]:
        return tuple(field for field in self.fields if not field.match.is_right)


def score_extraction(
    document: LabelledDocument,
    truth: FieldTruth,
    outcome: WasExtracted | WasNotRead,
    schemas: Mapping[str, DocumentSchema],
) -> ExtractionScore:
    """Of a document that could not be read, no field was found: that is its score."""
    if isinstance(outcome, WasNotRead):
        schema = schemas.get(truth.schema_name or "")
        fields = score_fields(truth, {}, {}, critical_fields(truth, schema))
        return ExtractionScore(
            path=document.path,
            kind=document.kind,
            tier=tier_of(document, carries_text=False),
            error_code=outcome.code,
            error_message=outcome.message,
            expected_schema=truth.schema_name,
            seconds=outcome.seconds,
            fields=fields,
            tables=score_tables(truth, None, {}),
            is_right=_is_right(fields),
        )
    return _score_verdict(document, truth, outcome, schemas)


def critical_fields(truth: FieldTruth, schema: DocumentSchema | None) -> Sequence[str]:
    """Those of the schema that the document truly has; of one without critical fields, all that have a truth."""
    return schema.critical_fields if schema and schema.critical_fields else tuple(truth.fields)


def _score_verdict(
    document: LabelledDocument, truth: FieldTruth, outcome: WasExtracted, schemas: Mapping[str, DocumentSchema]
) -> ExtractionScore:
    extraction, verdict, pages = outcome.extraction, outcome.verdict, outcome.transcription.pages
    kinds = _kinds(schemas, extraction.schema_name)
    schema = schemas[truth.schema_name or extraction.schema_name]
    fields = score_fields(truth, extraction.fields, kinds, critical_fields(truth, schema))
    return ExtractionScore(
        path=document.path,
        kind=document.kind,
        tier=tier_of(document, carries_text=all(page.source == TEXT_LAYER for page in pages)),
        sha256=outcome.raw.sha256,
        pages=len(pages),
        expected_schema=truth.schema_name,
        schema_name=extraction.schema_name,
        schema_reason=extraction.schema_reason,
        extractor=extraction.extractor,
        extractor_version=extraction.extractor_version,
        model=extraction.model,
        input_tokens=extraction.input_tokens,
        output_tokens=extraction.output_tokens,
        cached_input_tokens=extraction.cached_input_tokens,
        cost_usd=extraction.cost_usd,
        reading_seconds=outcome.reading_seconds,
        seconds=outcome.seconds,
        rules_cpu_seconds=outcome.rules_cpu_seconds,
        fields=fields,
        tables=score_tables(truth, extraction, kinds),
        witnesses={one.extractor: match_values(truth, one.values, kinds) for one in extraction.witnesses},
        outcome=verdict.outcome,
        confidence=verdict.confidence,
        failed_checks={check.name: check.reason for check in verdict.checks if not check.passed},
        is_right=_is_right(fields),
        treated_pages={
            page.page: page.picture_path is not None for page in pages if page.picture is PictureRead.TREATED
        },
    )


def _kinds(schemas: Mapping[str, DocumentSchema], name: str) -> dict[str, ValueKind]:
    """Of every schema, because a document may have been taken for something else; its own comes first."""
    kinds: dict[str, ValueKind] = {}
    for schema in (*schemas.values(), schemas[name]):
        kinds |= value_kinds(schema)
    return kinds


def _is_right(fields: Sequence[FieldScore]) -> bool | None:
    critical = [field.match.is_right for field in fields if field.is_critical]
    return all(critical) if critical else None
