"""What became of each document, and what that says about its group. Pure; who read the documents is not known here.

Every document belongs to a kind, which its manifest tells, and to a tier, which says how hard it is to read: what the
manifest says if it does, else `broken` and `degraded` by the kind, `born-digital` when every page carries its text
itself, and `clean` for all others.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from statistics import mean

from pydantic import Field

from orcha_dagster.domain.model import DomainModel
from orcha_dagster.domain.transcriptions import PictureRead
from orcha_dagster.evaluation.dataset import BROKEN, LabelledDocument, Truth
from orcha_dagster.evaluation.reading import WasNotRead, WasRead
from orcha_dagster.evaluation.text_metrics import TextScore, is_printed, score_text

# Character error rates that differ by less are the same: another picture of the same page moves a comma or two.
SAME_WITHIN = 0.005


class Effect(StrEnum):
    """What preprocessing did to the reading of a document, by its character error rate."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"


class ChangedPage(DomainModel):
    page: int
    steps: tuple[str, ...]  # of the treatment before the first reading; empty when only a poor reading led to one
    reason: str
    picture: PictureRead  # the one whose reading was kept
    quality_score: float
    rejected_quality_score: float | None


class DocumentScore(DomainModel):
    path: str
    kind: str
    tier: str
    seconds: float
    error_code: str | None = None
    error_message: str | None = None
    pages: int = 0
    text_layer_pages: int = 0
    characters: int = 0  # read
    quality_score: float | None = None
    changed_pages: tuple[ChangedPage, ...] = ()
    score: TextScore | None = None  # None without a truth to compare with
    score_without_preprocessing: TextScore | None = None
    printed_fields: dict[str, bool] = Field(default_factory=dict)  # which of the labelled values the text holds
    printed_fields_without_preprocessing: dict[str, bool] = Field(default_factory=dict)
    effect: Effect | None = None  # None when nothing was changed or there is no text to compare with


class GroupScore(DomainModel):
    """Means over the documents of a group that have a truth; None where none has."""

    documents: int
    pages: int
    scored: int
    errors: dict[str, int]  # by code
    character_error_rate: float | None
    character_error_rate_without_preprocessing: float | None
    word_recall: float | None
    word_recall_without_preprocessing: float | None
    word_precision: float | None
    recall_without_spacing: float | None
    fields: dict[str, float]  # share of the documents with such a label in whose text it stands
    changed_pages: int
    effects: dict[Effect, int]  # of documents with a changed page and a truth
    seconds_per_page: float | None


def score_document(document: LabelledDocument, outcome: WasRead | WasNotRead) -> DocumentScore:
    """Of a document that could not be read, nothing of what is printed on it was read: that is its score."""
    if isinstance(outcome, WasNotRead):
        return DocumentScore(
            path=document.path,
            kind=document.kind,
            tier=tier_of(document, carries_text=False),
            seconds=outcome.seconds,
            error_code=outcome.code,
            error_message=outcome.message,
            score=_score(document.truth, ""),
            score_without_preprocessing=_score(document.truth, ""),
            printed_fields=_printed(document.truth, ""),
            printed_fields_without_preprocessing=_printed(document.truth, ""),
        )
    text, plain = outcome.transcription.text, outcome.without_preprocessing.text
    with_layer = sum(page.measurement.has_text_layer for page in outcome.preprocessed.pages)
    pages = outcome.preprocessed.page_count
    score, plain_score = _score(document.truth, text), _score(document.truth, plain)
    return DocumentScore(
        path=document.path,
        kind=document.kind,
        tier=tier_of(document, carries_text=with_layer == pages),
        seconds=outcome.seconds,
        pages=pages,
        text_layer_pages=with_layer,
        characters=len(text),
        quality_score=outcome.transcription.quality_score,
        changed_pages=_changed_pages(outcome),
        score=score,
        score_without_preprocessing=plain_score,
        printed_fields=_printed(document.truth, text),
        printed_fields_without_preprocessing=_printed(document.truth, plain),
        effect=_effect(score, plain_score) if outcome.changed_pages and score and plain_score else None,
    )


def summarise(scores: Sequence[DocumentScore]) -> GroupScore:
    read = [one.score for one in scores if one.score is not None]
    plain = [one.score_without_preprocessing for one in scores if one.score_without_preprocessing is not None]
    pages = sum(one.pages for one in scores)
    seconds = sum(one.seconds for one in scores if one.error_code is None)
    return GroupScore(
        documents=len(scores),
        pages=pages,
        scored=len(read),
        errors=dict(sorted(Counter(one.error_code for one in scores if one.error_code is not None).items())),
        character_error_rate=_mean(one.character_error_rate for one in read),
        character_error_rate_without_preprocessing=_mean(one.character_error_rate for one in plain),
        word_recall=_mean(one.word_recall for one in read),
        word_recall_without_preprocessing=_mean(one.word_recall for one in plain),
        word_precision=_mean(one.word_precision for one in read),
        recall_without_spacing=_mean(one.recall_without_spacing for one in read),
        fields=_share_printed(scores),
        changed_pages=sum(len(one.changed_pages) for one in scores),
        effects=Counter(one.effect for one in scores if one.effect is not None),
        seconds_per_page=seconds / pages if pages else None,
    )


def tier_of(document: LabelledDocument, *, carries_text: bool) -> str:
    """`carries_text`: every page has its text in itself."""
    if document.tier:
        return document.tier
    if document.kind == BROKEN:
        return BROKEN
    if document.kind.startswith("degraded"):
        return "degraded"
    return "born-digital" if carries_text else "clean"


def _changed_pages(outcome: WasRead) -> tuple[ChangedPage, ...]:
    treatments = {page.measurement.page: page for page in outcome.preprocessed.pages}
    read = {page.page: page for page in outcome.transcription.pages}
    return tuple(
        ChangedPage(
            page=page,
            steps=treatments[page].steps,
            reason=treatments[page].reason,
            picture=read[page].picture,
            quality_score=read[page].quality_score,
            rejected_quality_score=read[page].rejected_quality_score,
        )
        for page in outcome.changed_pages
    )


def _effect(score: TextScore, without_preprocessing: TextScore) -> Effect:
    gain = without_preprocessing.character_error_rate - score.character_error_rate
    if abs(gain) < SAME_WITHIN:
        return Effect.SAME
    return Effect.BETTER if gain > 0 else Effect.WORSE


def _score(truth: Truth, text: str) -> TextScore | None:
    return None if truth.text is None else score_text(truth.text, text)


def _printed(truth: Truth, text: str) -> dict[str, bool]:
    return {name: is_printed(value, text) for name, value in truth.fields.items()}


def _share_printed(scores: Sequence[DocumentScore]) -> dict[str, float]:
    names = {name for one in scores for name in one.printed_fields}
    return {
        name: mean(one.printed_fields[name] for one in scores if name in one.printed_fields) for name in sorted(names)
    }


def _mean(values: Iterable[float]) -> float | None:
    listed = list(values)
    return mean(listed) if listed else None
