"""Extractions written by hand, grounded, weighed and judged as the pipeline does it."""

from collections.abc import Mapping, Sequence
from datetime import date

from orcha_dagster.domain.earlier_documents import EarlierDocument
from orcha_dagster.domain.extractions import ExtractedField, Extraction, Row, Witness
from orcha_dagster.domain.schemas import CheckSettings, DocumentSchema
from orcha_dagster.domain.transcriptions import Transcription
from orcha_dagster.domain.verdicts import Check, Verdict
from orcha_dagster.pipeline.confidence import with_confidences
from orcha_dagster.pipeline.grounding import ground
from orcha_dagster.pipeline.judging.verdict import judge
from orcha_dagster.schemas import generic, invoice, receipt
from tests.fake_providers import transcription_of

TODAY = date(2026, 11, 3)
SCHEMAS = {"invoice": invoice.SCHEMA, "receipt": receipt.SCHEMA, "generic": generic.SCHEMA}
INVOICE = {
    "number": "R-1", "issue_date": "2026-11-01", "seller": "Acme Ltd", "currency": "EUR",
    "net": "100.00", "tax": "19.00", "gross": "119.00",
}  # fmt: skip
PRINTED = {
    "number": "Invoice No", "issue_date": "Invoice date", "seller": "Seller", "currency": "Currency",
    "net": "Net total", "tax": "VAT", "gross": "Total", "due_date": "Due date",
}  # fmt: skip


def printed(fields: Mapping[str, str]) -> list[str]:
    """A page that shows every field beside its label."""
    return [f"{PRINTED.get(name, name)} | {value}" for name, value in fields.items() if value.strip()]


def line_items(*rows: Sequence[str]) -> tuple[Row, ...]:
    """Rows of description, quantity, unit price and net."""
    names = ("description", "quantity", "unit_price", "net")
    return tuple({name: ExtractedField(value=value) for name, value in zip(names, row, strict=True)} for row in rows)


def judged(
    fields: Mapping[str, str],
    *,
    page: Sequence[str] | None = None,
    transcription: Transcription | None = None,
    schema: str | DocumentSchema = "invoice",
    quality: float = 1.0,
    tables: Mapping[str, tuple[Row, ...]] | None = None,
    witness: Mapping[str, str] | None = None,
    extractor: str = "test",
    earlier: Sequence[EarlierDocument] = (),
    is_complete: bool = True,
    checks: Mapping[str, CheckSettings] | None = None,
) -> Verdict:
    chosen = SCHEMAS[schema] if isinstance(schema, str) else schema
    if checks is not None:
        chosen = chosen.model_copy(update={"checks": dict(checks)})
    extraction = Extraction(
        schema_name=chosen.name,
        fields={name: ExtractedField(value=value) for name, value in fields.items()},
        tables=dict(tables or {}),
        extractor=extractor,
        extractor_version="1",
        witnesses=(Witness(extractor="rules", extractor_version="1", values=dict(witness)),) if witness else (),
        is_complete=is_complete,
    )
    if transcription is None:
        transcription = transcription_of(*(printed(fields) if page is None else page), quality_score=quality)
    weighed = with_confidences(ground(extraction, transcription), transcription)
    return judge(weighed, transcription, schema=chosen, today=TODAY, quality_threshold=0.8, earlier=earlier)


def failed(verdict: Verdict) -> list[str]:
    """The failed checks but for the one that only sums them up."""
    return [check.name for check in verdict.checks if not check.passed and check.name != "confident_enough"]


def find_check(verdict: Verdict, name: str) -> Check:
    return next(check for check in verdict.checks if check.name == name)
