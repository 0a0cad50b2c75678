"""Which file of the status log took the place of which, and since when that counts for readers."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from pydantic import AwareDatetime, ConfigDict, Field, field_serializer

from orcha_dagster.domain.model import DomainModel

# A reader that lists files and reads compactions at different moments finds, for this long, both the old and the new.
EFFECT_AFTER = timedelta(minutes=5)
# Longer than any reader works with the files it found.
REPLACED_FILES_STAY = timedelta(hours=1)

COMPACTED_PREFIX = "c-"  # of file names; without an effective compaction that names it, such a file does not count


class FileKey(NamedTuple):
    """A name alone is not enough: a flush gives its files in all partitions the same."""

    case_id: int
    batch_id: int
    name: str


class Compaction(DomainModel):
    """A line of `compactions/{number}.jsonl`: one file took the place of others of its partition."""

    model_config = ConfigDict(populate_by_name=True)

    file: str  # its name
    case_id: int = Field(alias="caseid")
    batch_id: int = Field(alias="batchid")
    replaces: tuple[str, ...]
    committed_at: AwareDatetime = Field(alias="committedAt")

    @field_serializer("committed_at")
    def _write_utc(self, moment: datetime) -> str:
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    @property
    def key(self) -> FileKey:
        return FileKey(self.case_id, self.batch_id, self.file)

    @property
    def replaced_keys(self) -> list[FileKey]:
        return [FileKey(self.case_id, self.batch_id, name) for name in self.replaces]

    def is_effective(self, now: datetime) -> bool:
        return self.committed_at + EFFECT_AFTER <= now

    def may_delete_replaced(self, now: datetime) -> bool:
        return self.committed_at + REPLACED_FILES_STAY <= now

    def to_line(self) -> bytes:
        return self.model_dump_json(by_alias=True).encode() + b"\n"


def parse_lines(raw: bytes) -> list[Compaction]:
    return [Compaction.model_validate_json(line) for line in raw.splitlines() if line]


def is_compacted(name: str) -> bool:
    return name.startswith(COMPACTED_PREFIX)


def find_visible(files: Iterable[FileKey], compactions: Iterable[Compaction], *, now: datetime) -> set[FileKey]:
    """A plain file counts until it is replaced, a compacted one from its commit's effect until it is replaced."""
    effective = [compaction for compaction in compactions if compaction.is_effective(now)]
    named = {compaction.key for compaction in effective}
    replaced = {key for compaction in effective for key in compaction.replaced_keys}
    return {key for key in files if key not in replaced and (key in named or not is_compacted(key.name))}
