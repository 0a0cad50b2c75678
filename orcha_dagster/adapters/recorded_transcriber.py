"""Answers of a transcriber kept in a folder, and a transcriber that gives them again. For tests and demonstrations of a
provider that costs money or is not there; it reads nothing itself.

    recorded.json               who answered, and what it takes in one call
    {SHA-256}-{page}.json       one page of the bundle with that content, from 1, as it was answered
"""

import asyncio
import hashlib
import os
from pathlib import Path

from pydantic import ValidationError

from orcha_dagster.domain.errors import ConfigurationError, PermanentError
from orcha_dagster.domain.model import DomainModel
from orcha_dagster.domain.transcriptions import TranscribedPage
from orcha_dagster.interfaces.transcriber import Bundle, BundleLimits, Transcriber

NAME = "recorded"


class RecordedProvider(DomainModel):
    """The transcriber whose answers these are. Its limits belong to them: other limits make other bundles."""

    name: str
    version: str
    pages_per_call: int
    bytes_per_call: int
    takes_pdf: bool


class RecordedTranscriber(Transcriber):
    name = NAME

    def __init__(self, folder: Path) -> None:
        try:
            provider = RecordedProvider.from_json_bytes(_provider_file(folder).read_bytes())
        except (OSError, ValidationError) as error:
            raise ConfigurationError(
                f"{folder} holds no recorded answers of a transcriber.",
                remedy="Name a folder that a RecordingTranscriber has written.",
            ) from error
        self.version = f"{provider.name} {provider.version}"
        self.limits = BundleLimits(
            pages=provider.pages_per_call, bytes=provider.bytes_per_call, takes_pdf=provider.takes_pdf
        )
        self._folder = folder

    async def transcribe(self, bundle: Bundle) -> tuple[TranscribedPage, ...]:
        return await asyncio.to_thread(self._find_answer, bundle)

    def _find_answer(self, bundle: Bundle) -> tuple[TranscribedPage, ...]:
        """Under this document's page numbers, which may be others than when it was recorded. Nobody bills it."""
        changed = {"source": self.name, "times_billed": 0}
        try:
            return tuple(
                TranscribedPage.from_json_bytes(file.read_bytes()).model_copy(update={**changed, "page": page})
                for file, page in zip(_page_files(self._folder, bundle), bundle.pages, strict=True)
            )
        except (OSError, ValidationError) as error:
            raise PermanentError(
                f"The answer for these {len(bundle.pages)} pages ({bundle.media_type}) was never recorded.",
                remedy="Record it with the transcriber of which the other answers are, or choose another transcriber.",
            ) from error


class RecordingTranscriber(Transcriber):
    """Passes every call on and keeps what is answered. Errors are passed on, too, and not kept."""

    def __init__(self, transcriber: Transcriber, folder: Path) -> None:
        self.name = transcriber.name
        self.version = transcriber.version
        self.limits = transcriber.limits
        self._transcriber = transcriber
        self._folder = folder

    async def transcribe(self, bundle: Bundle) -> tuple[TranscribedPage, ...]:
        pages = await self._transcriber.transcribe(bundle)
        await asyncio.to_thread(self._keep, bundle, pages)
        return pages

    def _keep(self, bundle: Bundle, pages: tuple[TranscribedPage, ...]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        for file, page in zip(_page_files(self._folder, bundle), pages, strict=True):
            _write(file, page)
        provider = RecordedProvider(
            name=self.name,
            version=self.version,
            pages_per_call=self.limits.pages,
            bytes_per_call=self.limits.bytes,
            takes_pdf=self.limits.takes_pdf,
        )
        _write(_provider_file(self._folder), provider)


def _provider_file(folder: Path) -> Path:
    return folder / "recorded.json"


def _page_files(folder: Path, bundle: Bundle) -> list[Path]:
    digest = hashlib.sha256(bundle.content).hexdigest()
    return [folder / f"{digest}-{place}.json" for place in range(1, len(bundle.pages) + 1)]


def _write(file: Path, model: DomainModel) -> None:
    """Whole or not at all, also when two calls keep the same answer at once."""
    unfinished = file.with_name(f"{file.name}.{os.urandom(4).hex()}")
    unfinished.write_bytes(model.to_json_bytes())
    unfinished.replace(file)
