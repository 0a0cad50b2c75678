"""Documents with their truth: a folder with a `manifest.json`. The format is described in `docs/evaluation.md`.

What the evaluation of reading needs is taken out here; the true fields of a document are `field_truth`.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.domain.model import DomainModel

MANIFEST = "manifest.json"
BROKEN = "broken"  # the kind of documents that nobody can read in full; how each ends is reported, not scored
LITERAL_FIELDS = ("total", "date")  # as printed, so that a reading either has them or not
_REMEDY = "docs/evaluation.md describes the folder, with an example."


class Truth(DomainModel):
    """What is printed on a document. Either half may be missing."""

    text: str | None = None
    fields: dict[str, str] = Field(default_factory=dict)  # of LITERAL_FIELDS, as printed


class LabelledDocument(DomainModel):
    path: str  # below the folder
    kind: str
    tier: str | None = None  # when the manifest tells; otherwise the kind and the reading do
    truth: Truth = Truth()  # empty: read, but not scored
    labels: dict[str, Any] = Field(default_factory=dict)  # the whole `ground_truth`, as the manifest has it


class Dataset(DomainModel):
    folder: Path
    documents: tuple[LabelledDocument, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(sorted({document.kind for document in self.documents}))

    def file_of(self, document: LabelledDocument) -> Path:
        return self.folder / document.path

    def only(self, kinds: Iterable[str] = (), *, limit: int | None = None) -> "Dataset":
        """Those of the kinds, all when none is named; of each kind at most `limit`, in the manifest's order."""
        wanted = set(kinds)
        if unknown := wanted.difference(self.kinds):
            raise ConfigurationError(
                f"No document is of kind {', '.join(sorted(unknown))}.", remedy=f"There are: {', '.join(self.kinds)}."
            )
        taken: dict[str, list[LabelledDocument]] = {}
        for document in self.documents:
            of_kind = taken.setdefault(document.kind, [])
            if (not wanted or document.kind in wanted) and (limit is None or len(of_kind) < limit):
                of_kind.append(document)
        chosen = {document.path for of_kind in taken.values() for document in of_kind}
        return self.model_copy(update={"documents": tuple(one for one in self.documents if one.path in chosen)})


class _Entry(BaseModel):
    """An entry as the manifest has it."""

    model_config = ConfigDict(extra="ignore")

    path: str
    kind: str
    tier: str | None = None
    ground_truth: dict[str, Any] | None = None


class _Manifest(BaseModel):
    model_config = ConfigDict(extra="ignore")

    files: tuple[_Entry, ...]


def load_dataset(folder: Path) -> Dataset:
    """Raises ConfigurationError for a folder without a manifest, and for a manifest that names what is not there."""
    manifest = folder / MANIFEST
    try:
        entries = _Manifest.model_validate_json(manifest.read_bytes()).files
    except FileNotFoundError as error:
        raise ConfigurationError(f"There is no {MANIFEST} in {folder}.", remedy=_REMEDY) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise ConfigurationError(f"{manifest} is wrong: {place}: {first['msg']}.", remedy=_REMEDY) from error
    missing = [entry.path for entry in entries if not (folder / entry.path).is_file()]
    if missing:
        raise ConfigurationError(
            f"{manifest} names {len(missing)} documents that are not there, such as {missing[0]}.", remedy=_REMEDY
        )
    return Dataset(folder=folder, documents=tuple(_to_document(folder, entry) for entry in entries))


def _to_document(folder: Path, entry: _Entry) -> LabelledDocument:
    labels = entry.ground_truth or {}
    return LabelledDocument(
        path=entry.path, kind=entry.kind, tier=entry.tier, truth=_to_truth(folder, labels), labels=labels
    )


def _to_truth(folder: Path, labels: dict[str, Any]) -> Truth:
    text = labels.get("text")
    if isinstance(full := labels.get("full"), str):
        text = _read_full_text(folder / full)
    # A label may differ from the print, because whoever labelled it corrected or completed it.
    not_printed = (labels.get("quality") or {}).get("not_literal_in_transcript") or ()
    fields = labels.get("fields") or {}
    return Truth(
        text=text if isinstance(text, str) else None,
        fields={
            name: fields[name]
            for name in LITERAL_FIELDS
            if isinstance(fields.get(name), str) and fields[name].strip() and name not in not_printed
        },
    )


def _read_full_text(file: Path) -> str:
    """Plain text, or JSON with the lines of the document under `transcript`."""
    try:
        content = file.read_text(encoding="utf-8")
        if file.suffix != ".json":
            return content
        return "\n".join(line["text"] for line in json.loads(content)["transcript"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"{file} is named as the full text of a document and cannot be read as one ({type(error).__name__}).",
            remedy=_REMEDY,
        ) from error
