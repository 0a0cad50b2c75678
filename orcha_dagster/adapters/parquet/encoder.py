"""The status log's files as Parquet: one for each partition of a flush, or one in the place of many."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa

from orcha_dagster.adapters.parquet.csv_rows import PARTITION_NAMES, read_rows
from orcha_dagster.adapters.parquet.merging import read_merged
from orcha_dagster.adapters.parquet.schema import SCHEMA
from orcha_dagster.adapters.parquet.writing import LogFileWriter
from orcha_dagster.interfaces.log_encoder import EncodedFile, LogEncoder

# About 128 MB: what compaction aims at, too.
MOST_ROWS_PER_FILE = 4_000_000


class ParquetLogEncoder(LogEncoder):
    def __init__(self, *, most_rows_per_file: int = MOST_ROWS_PER_FILE) -> None:
        self._most_rows = most_rows_per_file

    def encode(self, rows: BinaryIO, folder: Path) -> Iterator[EncodedFile]:
        """One file is open at a time, since the rows come sorted by partition."""
        open_file: _OpenFile | None = None
        for piece in self._pieces(rows):
            if open_file is not None and not open_file.takes(piece, self._most_rows):
                yield open_file.close()
                open_file = _OpenFile.after(open_file, piece, folder)
            elif open_file is None:
                open_file = _OpenFile(piece.partition, 0, folder)
            open_file.writer.write(piece.rows)
        if open_file is not None:
            yield open_file.close()

    def merge(self, files: Sequence[Path], target: Path) -> int:
        with LogFileWriter(target) as writer:
            for rows in read_merged(files):
                writer.write(rows)
        return writer.row_count

    def _pieces(self, rows: BinaryIO) -> Iterator["_Piece"]:
        """Rows of one partition each, never more than fit into a file."""
        for batch in read_rows(rows):
            for start, end in pairwise(_find_boundaries(batch)):
                partition = _Partition(*(batch.column(name)[start].as_py() for name in PARTITION_NAMES))
                own = batch.slice(start, end - start).select(SCHEMA.names).cast(SCHEMA)
                for first in range(0, own.num_rows, self._most_rows):
                    yield _Piece(partition, own.slice(first, self._most_rows))


class _Partition(NamedTuple):
    case_id: int
    batch_id: int


class _Piece(NamedTuple):
    partition: _Partition
    rows: pa.RecordBatch


class _OpenFile:
    def __init__(self, partition: _Partition, part: int, folder: Path) -> None:
        self.partition = partition
        self.part = part
        self._file = folder / f"{partition.case_id}-{partition.batch_id}-{part}.parquet"
        self.writer = LogFileWriter(self._file)

    @classmethod
    def after(cls, earlier: "_OpenFile", piece: _Piece, folder: Path) -> "_OpenFile":
        """The next part of the same partition, or the first of another."""
        part = earlier.part + 1 if earlier.partition == piece.partition else 0
        return cls(piece.partition, part, folder)

    def takes(self, piece: _Piece, most_rows: int) -> bool:
        return self.partition == piece.partition and self.writer.row_count + piece.rows.num_rows <= most_rows

    def close(self) -> EncodedFile:
        self.writer.close()
        return EncodedFile(*self.partition, self.part, self._file, self.writer.row_count)


def _find_boundaries(batch: pa.RecordBatch) -> list[int]:
    """Where a partition begins, and the end."""
    changes = np.zeros(max(batch.num_rows - 1, 0), dtype=bool)
    for name in PARTITION_NAMES:
        values = batch.column(name).to_numpy()
        changes |= values[1:] != values[:-1]
    return [0, *(np.flatnonzero(changes) + 1).tolist(), batch.num_rows] if batch.num_rows else []
