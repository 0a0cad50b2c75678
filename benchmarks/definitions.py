"""What the code server of a benchmark's stack loads: Orcha's definitions with other providers in them.

Which ones, and where those that wait ask, is in the environment (`definitions_choice`).
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from benchmarks.bench_settings import BenchSettings
from benchmarks.definitions_choice import PROVIDER_VARIABLE, TOOLS_VARIABLE
from benchmarks.simulated_tools import (
    InstantExtractor,
    InstantPages,
    InstantTranscriber,
    SlowExtractor,
    SlowTranscriber,
    provider_client,
)
from orcha_dagster.definitions import build_definitions
from orcha_dagster.interfaces.object_store import ObjectStore
from orcha_dagster.pipeline.ingesting import Tools
from orcha_dagster.resources.providers import ProvidersResource


class InstantProviders(ProvidersResource):
    """Nothing in the stages takes time."""

    @contextmanager
    def open_tools(self, objects: ObjectStore) -> Iterator[Tools]:
        with super().open_tools(objects) as tools:
            yield replace(
                tools, pages=InstantPages(), transcriber=InstantTranscriber(), extractors=(InstantExtractor(),)
            )


class SlowProviders(ProvidersResource):
    """Transcription and extraction wait for a server; pages cost nothing."""

    @contextmanager
    def open_tools(self, objects: ObjectStore) -> Iterator[Tools]:
        client = provider_client(os.environ[PROVIDER_VARIABLE])
        with super().open_tools(objects) as tools:
            yield replace(
                tools,
                pages=InstantPages(),
                transcriber=SlowTranscriber(client),
                extractors=(SlowExtractor(client),),
            )


class RealPagesSlowProviders(ProvidersResource):
    """Pages are looked at for real, in the CPU pool; transcription and extraction wait for a server."""

    @contextmanager
    def open_tools(self, objects: ObjectStore) -> Iterator[Tools]:
        client = provider_client(os.environ[PROVIDER_VARIABLE])
        with super().open_tools(objects) as tools:
            yield replace(tools, transcriber=SlowTranscriber(client), extractors=(SlowExtractor(client),))


PROVIDERS: dict[str, type[ProvidersResource]] = {
    "instant": InstantProviders,
    "slow": SlowProviders,
    "real-pages": RealPagesSlowProviders,
}

defs = build_definitions(BenchSettings(), providers=PROVIDERS[os.environ.get(TOOLS_VARIABLE, "instant")])
