"""The ledgers that the suites run on."""

from collections.abc import Iterator

import pytest

from orcha_dagster.adapters.postgres.ledger import PostgresLedger
from tests.contract.ledger_under_test import LedgerUnderTest, move_everything_back
from tests.fake_storage import FakeClock, FakeLedger


@pytest.fixture(params=["fake", "postgres"])
def book(request: pytest.FixtureRequest) -> Iterator[LedgerUnderTest]:
    if request.param == "fake":
        clock = FakeClock()
        yield LedgerUnderTest(FakeLedger(clock), clock.move)
        return
    database_url = request.getfixturevalue("database_url")
    ledger = PostgresLedger(database_url, max_connections=2)
    yield LedgerUnderTest(ledger, lambda seconds: move_everything_back(database_url, seconds))
    ledger.close()


@pytest.fixture
def postgres(database_url: str) -> Iterator[LedgerUnderTest]:
    ledger = PostgresLedger(database_url, max_connections=2)
    yield LedgerUnderTest(ledger, lambda seconds: move_everything_back(database_url, seconds))
    ledger.close()
