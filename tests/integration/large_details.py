"""A process that writes events with large details into files of the log, or merges such files, and tells what memory it
took.

python -m tests.integration.large_details encode FOLDER
python -m tests.integration.large_details merge FOLDER
"""

import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from orcha_dagster.adapters.parquet.encoder import ParquetLogEncoder

EVENTS = 150_000
DETAIL_BYTES = 4_000


class Rows(io.RawIOBase):
    """CSV as the journal gives it, made while it is read."""

    def __init__(self, count: int) -> None:
        self._lines = (_line(number) for number in range(count))
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        self._rest = self._rest or next(self._lines, b"")
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


def _line(number: int) -> bytes:
    # Half of it is the same in every event, so that compression has something to do.
    detail = os.urandom(DETAIL_BYTES // 4).hex() + "x" * (DETAIL_BYTES // 2)
    moment = f"2026-01-01 {number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}+00"
    return f'1,1,{number},,WARNING,"{{""a"":""{detail}""}}",SUCCESS,,{moment},{moment},test,,1,\n'.encode()


def encode(folder: Path, events: int = EVENTS) -> Iterator[Path]:
    for encoded in ParquetLogEncoder().encode(io.BufferedReader(Rows(events), 1_000_000), folder):
        yield encoded.file


def peak_bytes() -> int:
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    what, target = sys.argv[1], Path(sys.argv[2])
    if what == "encode":
        assert len(list(encode(target))) == 1
    else:
        assert ParquetLogEncoder().merge(sorted(target.glob("*.parquet")), target / "merged") == EVENTS
    sys.stdout.write(str(peak_bytes()))
