"""The asset `quality_verdict`: accepted, or a person must look."""

import dagster as dg

from orcha_dagster.domain.stages import Stage
from orcha_dagster.domain.verdicts import Verdict

quality_verdict = dg.AssetSpec(
    Stage.QUALITY_VERDICT.value,
    deps=[Stage.EXTRACTION.value],
    group_name="ingestions",
    kinds={"json"},
    description="Every check's answer, and what they come to.",
)


def describe_quality_verdict(verdict: Verdict) -> dict[str, dg.MetadataValue]:
    rows = [
        f"| {check.name} | {'passed' if check.passed else '**failed**'} | {check.reason} |" for check in verdict.checks
    ]
    return {
        "outcome": dg.MetadataValue.text(verdict.outcome.value),
        "confidence": dg.MetadataValue.float(round(verdict.confidence, 4)),
        "why": dg.MetadataValue.text("; ".join(verdict.reasons) or "every check passed"),
        "checks": dg.MetadataValue.md("\n".join(["| check | answer | reason |", "|---|---|---|", *rows])),
    }
