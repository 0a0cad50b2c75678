"""Transcriptions kept in a folder, so that a second evaluation of the same documents needs no OCR."""

import hashlib
from importlib.metadata import version
from pathlib import Path

from orcha_dagster.domain.transcriptions import Transcription
from orcha_dagster.interfaces.transcriber import Transcriber


class ReadingCache:
    """By the document's bytes and by all that decides how they are read: another reader never gets its answers."""

    def __init__(self, folder: Path, transcriber: Transcriber, *, quality_threshold: float) -> None:
        reader = f"{transcriber.name} {transcriber.version} {quality_threshold} {version('orcha-dagster')}"
        self._ending = f"{hashlib.sha256(reader.encode()).hexdigest()[:12]}.json"
        self._folder = folder

    def find(self, sha256: str) -> Transcription | None:
        try:
            return Transcription.from_json_bytes(self._file(sha256).read_bytes())
        except (FileNotFoundError, ValueError):  # a file of an older Orcha is as good as none
            return None

    def keep(self, sha256: str, transcription: Transcription) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        arriving = self._file(sha256).with_suffix(".arriving")
        arriving.write_bytes(transcription.to_json_bytes())
        arriving.rename(self._file(sha256))

    def _file(self, sha256: str) -> Path:
        return self._folder / f"{sha256}-{self._ending}"
