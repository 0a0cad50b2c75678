"""Two evaluations of the same documents, and what a group of documents comes to."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.domain.verdicts import Outcome
from orcha_dagster.evaluation.comparing import Baseline, Change, compare, load_baseline
from orcha_dagster.evaluation.extraction_scores import End, ExtractionScore
from orcha_dagster.evaluation.field_matching import Match
from orcha_dagster.evaluation.field_scores import FieldScore, RowScore, TableScore
from orcha_dagster.evaluation.figures import field_figures, rules_speed, summarise_group
from orcha_dagster.evaluation.targets import check_targets
from orcha_dagster.evaluation.worst_cases import choose_worst


def scored(
    number: int = 1,
    *,
    is_right: bool | None = True,
    accepted: bool | None = True,
    confidence: float = 0.8,
    gross: Match | None = None,
    kind: str = "receipt",
    extractor: str = "rules",
    sha256: str | None = None,
    rows: Sequence[Match] = (),
    witness: dict[str, Match] | None = None,
) -> ExtractionScore:
    match = gross or (Match.EXACT if is_right else Match.WRONG)
    table = TableScore(rows=tuple(RowScore(cells=(), match=row) for row in rows), found_rows=len(rows))
    return ExtractionScore(
        path=f"{number}.png",
        kind=kind,
        tier="clean",
        sha256=sha256 or f"hash {number}",
        pages=2,
        expected_schema="invoice" if "invoice" in kind else "receipt",
        schema_name="receipt",
        extractor=extractor,
        rules_cpu_seconds=0.01 * number,
        fields=(
            FieldScore(name="gross", expected="1", found=None, match=match, is_critical=True, confidence=confidence),
        ),
        tables={"line_items": table} if rows else {},
        witnesses={"rules": witness} if witness else {},
        outcome=None if accepted is None else Outcome.ACCEPTED if accepted else Outcome.NEEDS_REVIEW,
        confidence=None if accepted is None else confidence,
        error_code="DOCUMENT_DAMAGED" if accepted is None else None,
        is_right=is_right,
    )


def baseline_of(scores: Sequence[ExtractionScore]) -> Baseline:
    """As it comes back from a file."""
    written = json.dumps({"documents": [one.model_dump(mode="json") for one in scores], "later": "unknown"})
    return Baseline.model_validate_json(written)


def test_six_documents_that_are_right_now_make_a_field_better() -> None:
    before = [scored(number, is_right=number > 6) for number in range(1, 11)]
    now = [scored(number) for number in range(1, 11)]
    comparison = compare(baseline_of(before), now)
    gross = comparison.fields["gross"]
    assert (gross.documents, gross.before, gross.now, gross.better, gross.worse) == (10, 0.4, 1.0, 6, 0)
    assert gross.change is comparison.right_fields.change is comparison.right_documents.change is Change.BETTER
    assert compare(baseline_of(now), before).fields["gross"].change is Change.WORSE


def test_five_changes_are_inconclusive() -> None:
    before = [scored(number, is_right=number > 5) for number in range(1, 11)]
    assert compare(baseline_of(before), [scored(n) for n in range(1, 11)]).fields["gross"].change is Change.INCONCLUSIVE


def test_fewer_accepted_but_wrong_are_better() -> None:
    before = [scored(number, is_right=False, accepted=True) for number in range(1, 8)]
    now = [scored(number, is_right=False, accepted=False) for number in range(1, 8)]
    figure = compare(baseline_of(before), now).accepted_wrong
    assert (figure.before, figure.now, figure.better, figure.change) == (1.0, 0.0, 7, Change.BETTER)


def test_rows_are_compared_document_by_document() -> None:
    before = [scored(number, rows=[Match.WRONG, Match.EXACT]) for number in range(1, 8)]
    now = [scored(number, rows=[Match.EXACT, Match.EXACT]) for number in range(1, 8)]
    figure = compare(baseline_of(before), now).tables["line_items"]
    assert (figure.before, figure.now, figure.change) == (1.0, 2.0, Change.BETTER)


def test_only_the_same_documents_are_compared() -> None:
    before = [scored(1), scored(2), scored(3, sha256="another content")]
    comparison = compare(baseline_of(before), [scored(1), scored(3), scored(4)])
    assert (comparison.paired, comparison.only_now, comparison.only_before) == (1, 2, 2)
    with pytest.raises(ConfigurationError, match="No document"):
        compare(baseline_of([scored(9)]), [scored(1)])


def test_a_file_that_is_no_report_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text('{"words": []}', encoding="utf-8")
    with pytest.raises(ConfigurationError, match="is not a report"):
        load_baseline(file)
    with pytest.raises(ConfigurationError):
        load_baseline(tmp_path / "away.json")


def test_verdict_and_truth_make_the_end_of_a_document() -> None:
    assert scored(is_right=True, accepted=True).end is End.ACCEPTED_RIGHT
    assert scored(is_right=False, accepted=True).end is End.ACCEPTED_WRONG
    assert scored(is_right=True, accepted=False).end is End.REVIEW_RIGHT
    assert scored(is_right=False, accepted=False).end is End.REVIEW_WRONG
    assert scored(is_right=False, accepted=None).end is End.FAILED
    assert scored(is_right=None).end is None


def test_a_group_says_how_many_of_the_accepted_are_wrong() -> None:
    group = summarise_group(
        [
            *(scored(number, confidence=0.9) for number in range(1, 9)),
            scored(9, is_right=False, confidence=0.7),
            scored(10, is_right=False, accepted=False, confidence=0.2),
            scored(11, is_right=False, accepted=None),
            scored(12, is_right=None),
        ]
    )
    assert (group.documents, group.judged, group.accepted) == (12, 11, 9)
    assert group.accepted_wrong == pytest.approx(1 / 9)
    assert group.acceptance == pytest.approx(9 / 11)
    assert group.auroc == 1.0
    assert group.accepted_wrong_interval is not None
    assert group.accepted_wrong_interval.low < 1 / 9 < group.accepted_wrong_interval.high
    assert group.errors == {"DOCUMENT_DAMAGED": 1}


def test_precision_counts_what_was_found_and_recall_what_is_true() -> None:
    matches = [Match.EXACT, Match.NORMALISED, Match.SIMILAR, Match.WRONG, Match.MISSING]
    gross = field_figures([scored(number, gross=match) for number, match in enumerate(matches)])["gross"]
    assert (gross.labelled, gross.found, gross.exact, gross.right, gross.similar) == (5, 4, 1, 2, 3)
    assert (gross.precision, gross.recall) == (0.5, 0.4)
    assert gross.f1 == pytest.approx(2 * 0.5 * 0.4 / 0.9)


def test_rows_that_belong_to_no_true_row_lower_precision() -> None:
    one = scored(rows=[Match.EXACT, Match.WRONG])
    more = one.model_copy(
        update={"tables": {"line_items": TableScore(rows=one.tables["line_items"].rows, found_rows=4)}}
    )
    rows = field_figures([more])["line_items"]
    assert (rows.recall, rows.precision) == (0.5, 0.25)


def test_the_speed_is_of_pages_not_of_documents() -> None:
    speed = rules_speed([scored(1), scored(3)])
    assert speed is not None
    assert (speed.pages, speed.mean, speed.median, speed.slowest) == (4, 10.0, 10.0, 15.0)
    assert rules_speed([]) is None


def test_the_worst_are_those_that_were_accepted_with_confidence_though_wrong() -> None:
    scores = [
        scored(1, is_right=False, accepted=False),
        scored(2, is_right=False, accepted=None),
        scored(3, is_right=False, confidence=0.6),
        scored(4, is_right=False, confidence=0.9),
        scored(5),
    ]
    assert [one.path for one in choose_worst(scores, 9)] == ["4.png", "3.png", "2.png", "1.png"]
    assert len(choose_worst(scores, 2)) == 2


def test_targets_are_reached_missed_or_not_measured() -> None:
    scores = [scored(number, is_right=number != 1) for number in range(1, 11)]
    targets = {one.name: one for one in check_targets(scores, rules_speed(scores))}
    assert (targets["receipts: gross"].value, targets["receipts: gross"].reached) == (0.9, True)
    assert targets["accepted but wrong, of the accepted"].reached is False
    assert targets["accepted, of all"].reached is True
    assert targets["rules and verdict"].reached is False  # 27.5 ms for each page
    assert targets["receipts: seller"].reached is None
    assert targets["e-invoices: all fields, by their XML"].reached is None


def test_what_rules_said_as_a_witness_counts_for_the_pages_of_e_invoices() -> None:
    one = scored(kind="einvoice_pdf", extractor="e-invoice", witness={"gross": Match.WRONG, "number": Match.EXACT})
    targets = {target.name: target.value for target in check_targets([one], None)}
    assert targets["e-invoices: all fields, by their XML"] == 1.0
    assert targets["the same pages by rules alone: gross"] == 0.0
    assert targets["the same pages by rules alone: number"] == 1.0


def test_an_e_invoice_that_could_not_be_read_counts_against_its_target() -> None:
    failed = scored(kind="einvoice_pdf", is_right=False, accepted=None).model_copy(update={"extractor": None})
    targets = {target.name: target.value for target in check_targets([failed], None)}
    assert targets["e-invoices: all fields, by their XML"] == 0.0
