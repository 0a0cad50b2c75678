"""What every check is given, and what it answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import NamedTuple

from orcha_dagster.domain.earlier_documents import EarlierDocument
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.schemas import CheckSettings, DocumentSchema
from orcha_dagster.domain.transcriptions import Transcription
from orcha_dagster.pipeline.matching.page_index import PageIndex

# Of checks that a schema does not name.
_DEFAULTS = {
    # A tax number that is wrong on the paper is the seller's mistake, not ours.
    "tax_id_checksum": CheckSettings(weight=0.1, decides=False),
    # These must be seen by a person, but say little about the critical fields, which the confidence is about.
    "list_complete": CheckSettings(weight=0.2),
    "lines_add_up": CheckSettings(weight=0.3),
    "taxes_add_up": CheckSettings(weight=0.3),
    "iban_checksum": CheckSettings(weight=0.3),
}


class Finding(NamedTuple):
    """The answer of one check, before the schema says how much it counts."""

    name: str
    passed: bool
    reason: str
    value: float | None = None
    fields: tuple[str, ...] = ()  # those a failure casts doubt on


@dataclass(frozen=True)
class Case:
    extraction: Extraction
    transcription: Transcription
    schema: DocumentSchema
    today: date
    quality_threshold: float
    earlier: Sequence[EarlierDocument] = ()

    @cached_property
    def pages(self) -> tuple[PageIndex, ...]:
        return tuple(PageIndex(page) for page in self.transcription.pages)

    def settings_of(self, check: str) -> CheckSettings:
        return self.schema.checks.get(check) or _DEFAULTS.get(check) or self.schema.settings_of(check)

    def threshold_of(self, check: str, default: float) -> float:
        threshold = self.settings_of(check).threshold
        return default if threshold is None else threshold
