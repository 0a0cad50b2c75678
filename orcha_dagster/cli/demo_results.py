"""What came of the samples, beside what should have."""

from collections.abc import Sequence

from orcha_dagster.cli.screen import console, key_fields, outcome_words, plain_table, seconds_words
from orcha_dagster.domain.ingestions import IngestionStatus, IngestionView
from orcha_dagster.domain.verdicts import Outcome
from orcha_dagster.samples.sample import Sample

_COMPARED_FIELDS = ("number", "issue_date", "currency", "net", "tax", "gross")


def find_differences(sample: Sample, view: IngestionView) -> list[str]:
    """Everything that is not as the sample's truth says."""
    found = []
    if view.status != sample.expected_status:
        found.append(f"status {view.status}, expected {sample.expected_status}")
    if view.error_code != sample.expected_error_code:
        found.append(f"error {view.error_code}, expected {sample.expected_error_code}")
    if _outcome(view) != sample.expected_outcome:
        found.append(f"verdict {_outcome(view)}, expected {sample.expected_outcome}")
    if sample.expected_status == IngestionStatus.COMPLETED:
        data = view.structured_data or {}
        found += [
            f"{name} {data.get(name)}, expected {sample.fields[name]}"
            for name in _COMPARED_FIELDS
            if name in sample.fields and data.get(name) != sample.fields[name]
        ]
    return found


def print_results(
    samples: Sequence[Sample], views: Sequence[IngestionView], differences: Sequence[Sequence[str]]
) -> None:
    table = plain_table("", ["", "document", "stage reached", "verdict", "seconds", "why", "key fields"])
    for sample, view, found in zip(samples, views, differences, strict=True):
        why = view.error_code or ""
        table.add_row(
            "[red]✗[/]" if found else "[green]✓[/]",
            sample.path.name,
            view.stage or "none",
            outcome_words(view),
            seconds_words(view),
            "; ".join([why, *found]).strip("; "),
            key_fields(view.structured_data),
        )
    console.print(table, "")


def _outcome(view: IngestionView) -> Outcome | None:
    if view.status is not IngestionStatus.COMPLETED:
        return None
    return Outcome.ACCEPTED if view.valid_structured_data else Outcome.NEEDS_REVIEW
