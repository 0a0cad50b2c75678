"""Which documents a person should look at first."""

from collections.abc import Iterable

from orcha_dagster.evaluation.extraction_scores import End, ExtractionScore

_ORDER = (End.ACCEPTED_WRONG, End.FAILED, End.REVIEW_WRONG, End.ACCEPTED_RIGHT, End.REVIEW_RIGHT, None)


def choose_worst(scores: Iterable[ExtractionScore], count: int) -> list[ExtractionScore]:
    """What was accepted though wrong, the surest first; then failures, then wrong ones in review, then the rest that
    has a wrong field."""
    wrong = [one for one in scores if one.wrong_fields or one.error_code]
    return sorted(wrong, key=_badness)[:count]


def _badness(one: ExtractionScore) -> tuple[int, float, str]:
    return _ORDER.index(one.end), -(one.confidence or 0.0), one.path
