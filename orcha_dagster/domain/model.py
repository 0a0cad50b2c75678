"""The frozen base of every domain model, and how a model becomes an artifact and back."""

from typing import Self

from pydantic import BaseModel, ConfigDict

from orcha_dagster.domain.edn_reading import read_edn
from orcha_dagster.domain.edn_writing import write_edn


class DomainModel(BaseModel):
    """Immutable and strict about unknown fields, so that a typo in an artifact is an error and not a silence.

    Numbers are numbers: JSON has no way to write infinity, so what is infinite could not be read back.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def to_json_bytes(self) -> bytes:
        return self.model_dump_json(indent=1).encode()

    @classmethod
    def from_json_bytes(cls, raw: bytes) -> Self:
        return cls.model_validate_json(raw)

    def to_edn_bytes(self) -> bytes:
        return write_edn(self.model_dump())

    @classmethod
    def from_edn_bytes(cls, raw: bytes) -> Self:
        """Raises EdnError for what is not EDN and ValidationError for EDN of something else; both are ValueErrors."""
        return cls.model_validate(read_edn(raw))
