"""The ledger for Dagster's side."""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from orcha_dagster.adapters.postgres.ledger import PostgresLedger
from orcha_dagster.interfaces.ledger import IngestionLedger


class LedgerResource(dg.ConfigurableResource[None]):
    """PostgreSQL with the documents and ingestions."""

    database_url: str

    @contextmanager
    def open_ledger(self) -> Iterator[IngestionLedger]:
        ledger = PostgresLedger(self.database_url)
        try:
            yield ledger
        finally:
            ledger.close()
