"""How a file of the status log is written, by the flush and by compaction. Which rows go into it is theirs to say.

Readable by DuckDB and by Athena (engine 3): data pages of version 1, delta encodings of integers only.
"""

from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from orcha_dagster.adapters.parquet.schema import SCHEMA, SORT_ORDER

# Large enough for dictionaries to pay, small enough to skip what a question does not need; often 40 MB in memory.
ROW_GROUP_ROWS = 131_072
# What waits for its group is in memory, so rows with large details make smaller groups.
_ROW_GROUP_BYTES = 64_000_000

_DICTIONARY_COLUMNS = ["jobId", "eventType", "status", "documentId", "source", "attempt", "runId"]
_ENCODINGS = {
    "eventId": "DELTA_BINARY_PACKED",
    "timestamp": "DELTA_BINARY_PACKED",
    "recordedAt": "DELTA_BINARY_PACKED",
}
# A row group's ids of ingestions and documents; above the limit a column falls back to writing each id each time.
_DICTIONARY_BYTES = 8_000_000
_ZSTD_LEVEL = 3


class LogFileWriter:
    """Takes rows in the schema and the order of the log, in pieces of any size, and makes row groups of them.

    The file is complete after `close`, or when it was used as a context and that ended without an error.
    """

    def __init__(self, file: Path) -> None:
        self.row_count = 0
        self._file = file
        self._writer: pq.ParquetWriter | None = None
        self._pieces: list[pa.Table] = []
        self._waiting_rows = 0
        self._waiting_bytes = 0

    def __enter__(self) -> Self:
        return self

    def write(self, rows: pa.Table | pa.RecordBatch) -> None:
        piece = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
        self.row_count += piece.num_rows
        self._pieces.append(piece)
        self._waiting_rows += piece.num_rows
        self._waiting_bytes += piece.nbytes
        while self._waiting_rows >= ROW_GROUP_ROWS:
            self._write_group(ROW_GROUP_ROWS)
        if self._waiting_bytes >= _ROW_GROUP_BYTES:
            self._write_group(self._waiting_rows)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        elif self._writer is not None:
            self._writer.close()

    def close(self) -> None:
        if self._waiting_rows or self._writer is None:
            self._write_group(self._waiting_rows)
        if self._writer is not None:
            self._writer.close()

    def _write_group(self, row_count: int) -> None:
        waiting = pa.concat_tables(self._pieces) if self._pieces else SCHEMA.empty_table()
        group = waiting.slice(0, row_count)
        if self._writer is None:
            self._writer = _open_writer(self._file, group)
        self._writer.write_table(group, row_group_size=ROW_GROUP_ROWS)
        rest = waiting.slice(row_count)
        self._pieces = [rest] if rest.num_rows else []
        self._waiting_rows, self._waiting_bytes = rest.num_rows, rest.nbytes


def _open_writer(file: Path, first_group: pa.Table) -> pq.ParquetWriter:
    return pq.ParquetWriter(
        file,
        SCHEMA,
        compression="zstd",
        compression_level=_ZSTD_LEVEL,
        use_dictionary=_DICTIONARY_COLUMNS,
        column_encoding=_ENCODINGS,
        dictionary_pagesize_limit=_DICTIONARY_BYTES,
        write_statistics=True,
        data_page_version="1.0",
        sorting_columns=pq.SortingColumn.from_ordering(SCHEMA, SORT_ORDER),
        # One ingestion's events are found without reading the row groups that have none of them.
        bloom_filter_options={"jobId": {"ndv": max(pc.count_distinct(first_group["jobId"]).as_py(), 1), "fpp": 0.01}},
    )
