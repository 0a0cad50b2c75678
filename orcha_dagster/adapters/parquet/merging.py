"""Many files of the log as one stream of rows in its order. Each is sorted already, so a piece of each is enough."""

from collections import deque
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from orcha_dagster.adapters.parquet.schema import SCHEMA, SORT_ORDER

_BATCH_ROWS = 512  # of every file that is open; a detail may have many kilobytes
_BUFFER_BYTES = 1_000_000  # without it, whole columns of a row group are read at once
_MOMENT, _EVENT_ID = (SCHEMA.get_field_index(name) for name, _ in SORT_ORDER)


def read_merged(files: Sequence[Path]) -> Iterator[pa.Table]:
    """A file is opened when the rows have come to its time, and closed after its last one."""
    to_come = deque(sorted((moment, file) for file in files if (moment := _find_first_moment(file)) is not None))
    sources: list[_Source] = []
    while sources or to_come:
        if not sources:
            sources.append(_Source(to_come.popleft()[1]))
        edge = min(source.last_key for source in sources)
        while to_come and to_come[0][0] <= edge.moment:
            sources.append(_Source(to_come.popleft()[1]))
            edge = min(edge, sources[-1].last_key)
        pieces = [rows for source in sources if (rows := source.take_up_to(edge)).num_rows]
        yield pa.Table.from_batches(pieces, SCHEMA).sort_by(list(SORT_ORDER))
        sources = [source for source in sources if source.has_rows]


class _Key(NamedTuple):
    moment: int  # microseconds since 1970
    event_id: int


class _Source:
    """An open file: a batch of its rows, and how many of them were taken. There are some left until its end."""

    def __init__(self, file: Path) -> None:
        self._batches = _read(file)
        self._begin(next(self._batches))

    def _begin(self, rows: pa.RecordBatch) -> None:
        self._rows = rows
        self._taken = 0
        self._moments: np.ndarray = rows.column(_MOMENT).cast(pa.int64()).to_numpy()
        self._ids: np.ndarray = rows.column(_EVENT_ID).to_numpy()
        self.last_key = _Key(int(self._moments[-1]), int(self._ids[-1]))

    @property
    def has_rows(self) -> bool:
        return bool(self._taken < self._rows.num_rows)

    def take_up_to(self, edge: _Key) -> pa.RecordBatch:
        until = self._rows.num_rows if self.last_key <= edge else max(self._find_end(edge), self._taken)
        rows = self._rows.slice(self._taken, until - self._taken)
        self._taken = until
        if not self.has_rows and (following := next(self._batches, None)) is not None:
            self._begin(following)
        return rows

    def _find_end(self, edge: _Key) -> int:
        first, end = (int(np.searchsorted(self._moments, edge.moment, side)) for side in ("left", "right"))
        return first + int(np.searchsorted(self._ids[first:end], edge.event_id, "right"))


def _read(file: Path) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(file, buffer_size=_BUFFER_BYTES) as opened:
        for batch in opened.iter_batches(_BATCH_ROWS, columns=SCHEMA.names, use_threads=False):
            if batch.num_rows:
                yield batch.cast(SCHEMA)


def _find_first_moment(file: Path) -> int | None:
    """None: there is no row in it."""
    metadata = pq.read_metadata(file)
    if not metadata.num_rows:
        return None
    moment: datetime = metadata.row_group(0).column(_MOMENT).statistics.min
    return int(np.datetime64(moment.replace(tzinfo=None), "us").astype("int64"))
