"""docs/status-events.md: its made parts are what the code would write now, and what it promises can be run."""

import re
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orcha_dagster.adapters.parquet.schema import SCHEMA
from orcha_dagster.analysis.athena_views import list_views
from orcha_dagster.analysis.status_events_page import fill_page
from orcha_dagster.domain.compactions import Compaction
from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.domain.status_events import EventType
from orcha_dagster.settings import PROJECT_FOLDER

PAGE = PROJECT_FOLDER / "docs" / "status-events.md"


def test_the_page_is_what_the_code_would_write() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == fill_page(page), "Run scripts/docs."


def test_the_command_writes_the_made_parts_and_nothing_else(tmp_path: Path) -> None:
    page, copy = PAGE.read_text(encoding="utf-8"), tmp_path / "page.md"
    copy.write_text(page.replace("| `caseid` | `int` |", "| `caseid` | `text` |"), encoding="utf-8")
    module = "orcha_dagster.analysis.status_events_page"
    subprocess.run([sys.executable, "-m", module, str(copy)], check=True, cwd=PROJECT_FOLDER)
    assert copy.read_text(encoding="utf-8") == page


def test_a_page_that_lost_a_part_is_not_written() -> None:
    with pytest.raises(ConfigurationError, match="views"):
        fill_page(PAGE.read_text(encoding="utf-8").replace("made by scripts/docs: views", ""))


def test_the_page_tells_every_type_of_event() -> None:
    page = PAGE.read_text(encoding="utf-8")
    groups = {
        group for names in re.findall(r"((?:`[A-Z]+_…`(?:, )?)+) \(", page) for group in re.findall("[A-Z]+", names)
    }
    assert groups == {"JOB", "BATCH", "DOCUMENT", "TASK", "WORKER", "IMPORT"}
    told = set(re.findall(r"`([A-Z]+_?[A-Z]*)`", page))
    for kind in EventType:
        group, _, word = kind.partition("_")
        assert kind in told or (group in groups and word in told), kind


def test_duckdb_runs_the_view_as_it_stands_on_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.now(UTC)
    for name, event_id in (("f-1", 1), ("f-2", 2), ("c-1", 1), ("c-2", 2)):
        write_event(tmp_path / "statuses" / "caseid=17" / "batchid=3" / f"{name}.parquet", event_id)
    lines = [to_line("1", now - timedelta(minutes=6)), to_line("2", now)]
    (tmp_path / "compactions").mkdir()
    (tmp_path / "compactions" / "1.jsonl").write_bytes(b"".join(lines))
    (snippet,) = re.findall(r"```sql\n(CREATE MACRO.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    with closing(duckdb.connect(config={"autoinstall_known_extensions": "false"})) as connection:
        connection.execute(snippet)
        connection.execute(list_views()[0].sql)
        found = connection.sql("SELECT eventId, caseid, batchid FROM events ORDER BY eventId").fetchall()
        assert found == [(1, 17, 3), (2, 17, 3)]
        assert len(connection.sql("FROM log_files").fetchall()) == 4


def write_event(file: Path, event_id: int) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    values = {"eventId": event_id, "eventType": "WARNING", "eventDetail": "{}", "status": "SUCCESS", "source": "x"}
    moments = {"timestamp": datetime.now(UTC), "recordedAt": datetime.now(UTC)}
    pq.write_table(pa.Table.from_pylist([values | moments], schema=SCHEMA), file)


def to_line(number: str, committed_at: datetime) -> bytes:
    return Compaction(
        file=f"c-{number}.parquet",
        case_id=17,
        batch_id=3,
        replaces=(f"f-{number}.parquet",),
        committed_at=committed_at,
    ).to_line()
