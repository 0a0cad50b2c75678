"""Document schemas: what a kind of document holds, what of it is indispensable, and how its verdict is reached."""

from typing import Any

from pydantic import Field

from orcha_dagster.domain.model import DomainModel


class CheckSettings(DomainModel):
    """How much one check counts in the verdict of a schema."""

    weight: float = 1.0  # in the verdict's confidence
    decides: bool = True  # a failure alone sends the document to a person
    threshold: float | None = None  # of checks that measure something


class DocumentSchema(DomainModel):
    """One kind of document. Built in, or dropped into the schemas folder by a user."""

    name: str  # "invoice"
    title: str
    json_schema: dict[str, Any]  # of the plain values, as `Extraction.to_structured_data` gives them
    critical_fields: tuple[str, ...]  # without one of these a person must look
    tables: tuple[str, ...] = ()  # names of the fields that are lists of rows
    keywords: tuple[str, ...] = ()  # words that speak for this schema when nobody chose one
    checks: dict[str, CheckSettings] = Field(
        default_factory=dict
    )  # by check name; those not named have default settings
    accept_confidence: float = 0.5  # a verdict less sure than this is for a person

    def settings_of(self, check: str) -> CheckSettings:
        return self.checks.get(check, CheckSettings())

    @property
    def field_names(self) -> tuple[str, ...]:
        return tuple(name for name in self.json_schema.get("properties", {}) if name not in self.tables)
