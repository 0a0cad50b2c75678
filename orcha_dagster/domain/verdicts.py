"""The judgement on an extraction. Poor quality is a verdict, not an exception."""

from enum import StrEnum

from orcha_dagster.domain.model import DomainModel


class Outcome(StrEnum):
    ACCEPTED = "accepted"
    NEEDS_REVIEW = "needs_review"


class Check(DomainModel):
    """One named question put to the result."""

    name: str
    passed: bool
    reason: str  # for the reviewer: what was compared with what
    value: float | None = None  # what was measured, of checks that measure
    decides: bool = True  # whether a failure alone sends the document to a person
    fields: tuple[str, ...] = ()  # the fields it casts doubt on, when it failed


class Verdict(DomainModel):
    """What stage `quality_verdict` leaves behind. Artifact `verdict.json`."""

    outcome: Outcome
    checks: tuple[Check, ...]
    confidence: float = 1.0  # 0 to 1: how sure it is that every critical field is right; it ranks documents

    @property
    def is_accepted(self) -> bool:
        return self.outcome is Outcome.ACCEPTED

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(check.reason for check in self.checks if not check.passed)
