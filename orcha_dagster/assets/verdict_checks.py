"""The checks of the verdict as Dagster's asset checks: one answer per check and run, over all ingestions it carried.

Dagster knows checks of single partitions too, but tells them one by one: nineteen for each ingestion would cost more
than everything else that Dagster is told. The answer for one ingestion is in the metadata of its own partition.
"""

from collections.abc import Iterator, Mapping
from uuid import UUID

import dagster as dg

from orcha_dagster.domain.ingestions import IngestionStatus
from orcha_dagster.domain.stages import Stage
from orcha_dagster.domain.verdicts import Check, Verdict
from orcha_dagster.interfaces.ledger import IngestionLedger
from orcha_dagster.interfaces.object_store import ObjectStore
from orcha_dagster.pipeline.artifacts import find_artifact
from orcha_dagster.pipeline.judging.check_names import CHECK_NAMES

_MOST_ROWS = 50
_NEWEST = 100
_DESCRIPTIONS = {
    "schema_valid": "Every value has the form that its schema demands.",
    "critical_fields_present": "No field is missing that the schema calls critical.",
    "extraction_complete": "The extractor said all it had to say.",
    "grounded": "Critical values stand on the page.",
    "reading_quality": "The pages were read well enough.",
    "totals_add_up": "Net and tax make gross.",
    "lines_add_up": "The rows make the net total.",
    "taxes_add_up": "The rates make the tax total.",
    "amount_due": "Gross less what was paid is what is due.",
    "payment_adds_up": "What was handed over less the change is what was to pay.",
    "dates_plausible": "No date lies too far away.",
    "dates_ordered": "Nothing is due before it was issued.",
    "iban_checksum": "The check digits of the IBAN fit.",
    "tax_id_checksum": "The check digits of tax numbers fit.",
    "currency_known": "The currency is one.",
    "list_complete": "No row of the page is missing in the list.",
    "extractor_agreement": "Extractors do not contradict each other.",
    "duplicate_of_earlier": "No earlier document has the same seller, number and total.",
    "confident_enough": "All of it together is sure enough.",
}

verdict_checks = [
    dg.AssetCheckSpec(name, asset=Stage.QUALITY_VERDICT.value, description=_DESCRIPTIONS[name]) for name in CHECK_NAMES
]


def load_verdicts(
    context: dg.AssetExecutionContext, ledger: IngestionLedger, objects: ObjectStore
) -> dict[UUID, Verdict]:
    """For checks that are executed by themselves: of the partitions named, else of the newest ingestions."""
    has_partitions = context.has_partition_key or context.has_partition_key_range
    ids = [UUID(key) for key in context.partition_keys] if has_partitions else _newest(ledger)
    found = {i: find_artifact(objects, i, Stage.QUALITY_VERDICT, Verdict) for i in ids}
    return {i: verdict for i, verdict in found.items() if verdict is not None}


def _newest(ledger: IngestionLedger) -> list[UUID]:
    return [view.id for view in ledger.list_recent(limit=_NEWEST) if view.status is IngestionStatus.COMPLETED]


def evaluate_checks(verdicts: Mapping[UUID, Verdict], selected: frozenset[str]) -> Iterator[dg.AssetCheckResult]:
    """One result for each selected check, if there was any verdict to take it from."""
    for name in CHECK_NAMES:
        if name in selected and verdicts:
            answers = {i: check for i, verdict in verdicts.items() for check in verdict.checks if check.name == name}
            yield _to_result(name, answers)


def _to_result(name: str, answers: Mapping[UUID, Check]) -> dg.AssetCheckResult:
    failed = {ingestion_id: check for ingestion_id, check in answers.items() if not check.passed}
    rows = [f"| {ingestion_id} | {_cell(check.reason)} |" for ingestion_id, check in list(failed.items())[:_MOST_ROWS]]
    metadata: dict[str, dg.MetadataValue] = {
        "asked": dg.MetadataValue.int(len(answers)),
        "failed": dg.MetadataValue.int(len(failed)),
    }
    if rows:
        metadata["ingestions"] = dg.MetadataValue.md("\n".join(["| ingestion | why |", "|---|---|", *rows]))
    return dg.AssetCheckResult(
        passed=not failed,
        asset_key=dg.AssetKey(Stage.QUALITY_VERDICT.value),
        check_name=name,
        # A document for a person is not a fault of the pipeline.
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{len(failed)} of {len(answers)} ingestions failed it." if failed else None,
        metadata=metadata,
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
