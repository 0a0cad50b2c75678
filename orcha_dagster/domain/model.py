"""The frozen base of every domain model, and how a model becomes an artifact and back."""

from typing import Self

from pydantic import BaseModel, ConfigDict


class DomainModel(BaseModel):
    """Immutable and strict about unknown fields, so that a typo in an artifact is an error and not a silence."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def to_json_bytes(self) -> bytes:
        return self.model_dump_json(indent=1).encode()

    @classmethod
    def from_json_bytes(cls, raw: bytes) -> Self:
        return cls.model_validate_json(raw)
