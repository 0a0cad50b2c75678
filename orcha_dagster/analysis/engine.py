"""Who answers a question: DuckDB on this machine, or Athena. The text of the question is the same for both."""

from contextlib import AbstractContextManager
from typing import Protocol

import pyarrow as pa


class Engine(Protocol):
    def ask(self, sql: str) -> pa.Table:
        """The whole answer. An OrchaError says in one sentence what is wrong with the question."""

    def ask_piecewise(self, sql: str) -> AbstractContextManager[pa.RecordBatchReader]:
        """For answers that may be larger than memory; reading on may raise the same errors."""
