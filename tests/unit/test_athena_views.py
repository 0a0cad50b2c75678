"""The views of the log on Athena: they parse there, and transcribed to DuckDB they say what the log says."""

import json
import random
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import duckdb
import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

from orcha_dagster.adapters.obstore_objects import ObstoreObjects
from orcha_dagster.adapters.parquet.schema import SCHEMA
from orcha_dagster.adapters.parquet.writing import LogFileWriter
from orcha_dagster.analysis.asking import ask
from orcha_dagster.analysis.athena_tables import LOG_FILES, LogTables
from orcha_dagster.analysis.athena_views import Statement, list_statements, list_views, select_events
from orcha_dagster.analysis.named_questions import NAMES, TIMELINE, get_question
from orcha_dagster.analysis.opening import open_log
from orcha_dagster.domain.compactions import Compaction
from orcha_dagster.domain.status_log import COMPACTIONS, partition_folder
from orcha_dagster.pipeline.log_files import find_visible_files
from tests.fake_storage import FakeObjectStore

STATEMENTS = list_statements(LogTables(), database="orcha")
INGESTION = UUID(int=7)
EVENTS = [
    ("INGESTION_QUEUED", "SUCCESS", {"file_name": "a.pdf", "bytes": 9}),
    ("INGESTION_STARTED", "SUCCESS", {}),
    ("STAGE_FINISHED", "SUCCESS", {"stage": "transcription", "seconds": 1.5, "pages": 2, "cost_usd": 0.003}),
    ("RETRY_SCHEDULED", "ERROR", {"code": "RATE_LIMITED", "stage": "extraction", "after_seconds": 5}),
    ("INGESTION_STARTED", "SUCCESS", {}),
    ("STAGE_FINISHED", "SUCCESS", {"stage": "extraction", "seconds": 2, "input_tokens": 90, "output_tokens": 8}),
    ("INGESTION_COMPLETED", "SUCCESS", {"accepted": True, "seconds": 4.0}),
]
# Of the three ingestions in the log; the last one has not ended.
EVENT_COUNTS = (len(EVENTS), len(EVENTS), len(EVENTS) - 1)


def parse(sql: str) -> exp.Expression:
    (statement,) = sqlglot.parse(sql, dialect="athena")
    assert statement is not None
    return statement


def to_duckdb(sql: str) -> str:
    return parse(sql).sql("duckdb", unsupported_level=sqlglot.ErrorLevel.RAISE)


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with closing(duckdb.connect(config={"TimeZone": "UTC", "autoinstall_known_extensions": "false"})) as opened:
        yield opened


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.name)
def test_athena_understands_every_statement(statement: Statement) -> None:
    parsed = parse(statement.sql)
    assert isinstance(parsed, exp.Create | exp.Alter)  # and not a Command: what sqlglot does not know
    assert parse(parsed.sql("athena")) == parsed


@pytest.mark.parametrize("name", NAMES)
def test_athena_understands_every_named_question(name: str) -> None:
    assert isinstance(parse(get_question(name).about(INGESTION)), exp.Query)


def test_every_question_is_a_view_except_those_about_one_ingestion() -> None:
    assert [view.name for view in list_views()] == ["events", *(name for name in NAMES if name != TIMELINE)]


def test_a_view_comes_after_what_it_asks() -> None:
    known: set[str] = set()
    for statement in STATEMENTS:
        parsed = parse(statement.sql)
        own = {cte.alias for cte in parsed.find_all(exp.CTE)}
        asked = (
            {table.name for table in parsed.expression.find_all(exp.Table)} if parsed.args.get("expression") else set()
        )
        assert asked <= known | own
        known.add(statement.name)


@pytest.mark.parametrize("seed", range(25))
def test_the_view_counts_exactly_the_files_that_are_visible(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path, seed: int
) -> None:
    chance, now, objects = random.Random(seed), datetime.now(UTC), FakeObjectStore()
    names = [*(f"f-{n}.parquet" for n in range(4)), *(f"c-{n}.parquet" for n in range(4))]
    folders = [(case, batch) for case in (-1, 0, 17) for batch in (0, 170)]
    paths = [f"{partition_folder(*folder)}/{name}" for folder in folders for name in names if chance.random() < 0.8]
    lines = [
        Compaction(
            file=chance.choice(names[4:]),
            case_id=(folder := chance.choice(folders))[0],
            batch_id=folder[1],
            replaces=tuple(chance.sample(names, chance.randrange(4))),
            # Never so near to the moment of effect that the time the test takes matters.
            committed_at=now - timedelta(seconds=chance.choice([-3600, 0, 120, 420, 3600, 100_000])),
        )
        for _ in range(chance.randrange(12))
    ]
    for path in paths:
        objects.put(path, b"rows")
    objects.put(f"{COMPACTIONS}/1.jsonl", b"".join(line.to_line() for line in lines))
    (tmp_path / "1.jsonl").write_bytes(b"".join(line.to_line() for line in lines))

    put_compactions(connection, tmp_path)
    connection.execute('CREATE TABLE log_files ("$path" VARCHAR)')
    connection.executemany("INSERT INTO log_files VALUES (?)", [[f"s3://bucket/prefix/{path}"] for path in paths])
    counted = connection.execute(to_duckdb(select_paths())).fetchall()

    assert sorted(path for (path,) in counted) == [
        f"s3://bucket/prefix/{file.path}" for file in sorted(find_visible_files(objects, now=now), key=lambda f: f.path)
    ]


def test_the_views_say_what_the_questions_say_of_the_log(connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    folder = tmp_path / "objects"
    objects = ObstoreObjects(folder.as_uri())
    write_log(objects, tmp_path)
    put_views(connection, folder)
    with open_log(objects, url=folder.as_uri(), cache_folder=tmp_path / "cache", now=datetime.now(UTC)) as log:
        assert ask(log, "SELECT eventId FROM events").num_rows == sum(EVENT_COUNTS)
        for view in list_views():
            expected = ask(log, "FROM events" if view.name == "events" else get_question(view.name).sql)
            assert comparable(connection.table(view.name).to_arrow_table()) == comparable(expected), view.name
            assert expected.num_rows > 0, view.name


def test_no_view_has_a_moment_with_a_zone_because_athena_can_keep_none(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    write_log(ObstoreObjects((tmp_path / "objects").as_uri()), tmp_path)
    put_views(connection, tmp_path / "objects")
    types = {view.name: {str(kind) for kind in connection.table(view.name).types} for view in list_views()}
    assert all("TIMESTAMP" in kinds for name, kinds in types.items() if name in ("events", "in_flight", "states"))
    assert [name for name, kinds in types.items() if "TIMESTAMP WITH TIME ZONE" in kinds] == []


def put_views(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """On tables as Athena has them: times without a zone, and the path of every row."""
    put_compactions(connection, folder / COMPACTIONS)
    files = connection.read_parquet(f"{folder}/statuses/**/*.parquet", filename=True, hive_partitioning=True)
    files.project("""
        * REPLACE (CAST("timestamp" AS TIMESTAMP) AS "timestamp", CAST(recordedAt AS TIMESTAMP) AS recordedAt)
          RENAME (filename AS "$path")""").to_view(LOG_FILES)
    for view in list_views():
        connection.execute(to_duckdb(view.sql))


def put_compactions(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Typed as the table is on Athena."""
    types = {"file": "VARCHAR", "caseid": "INT", "batchid": "INT", "replaces": "VARCHAR[]", "committedAt": "VARCHAR"}
    connection.read_json(f"{folder}/*.jsonl", format="newline_delimited", columns=types).to_view(COMPACTIONS)


def select_paths() -> str:
    """The view's own words, asked for the path instead of the columns."""
    parsed = parse(select_events())
    assert isinstance(parsed, exp.Select)
    return parsed.select('"$path"', append=False, dialect="athena").sql("athena")


def write_log(objects: ObstoreObjects, folder: Path) -> None:
    """Three ingestions of two cases. A compaction has taken effect, and the files that it replaced are still there; of
    another one there is the file and no more."""
    rows = [to_rows(UUID(int=n), first_id=100 * n)[:count] for n, count in enumerate(EVENT_COUNTS, 1)]
    write_file(objects, folder, f"{partition_folder(1, 0)}/f-1.parquet", [rows[0]])
    write_file(objects, folder, f"{partition_folder(1, 0)}/f-2.parquet", [rows[1]])
    write_file(objects, folder, f"{partition_folder(1, 0)}/c-1.parquet", rows[:2])
    write_file(objects, folder, f"{partition_folder(2, 5)}/f-2.parquet", [rows[2]])
    write_file(objects, folder, f"{partition_folder(2, 5)}/c-9.parquet", [rows[2]])
    line = Compaction(
        file="c-1.parquet",
        case_id=1,
        batch_id=0,
        replaces=("f-1.parquet", "f-2.parquet"),
        committed_at=datetime.now(UTC) - timedelta(minutes=6),
    )
    objects.put(f"{COMPACTIONS}/1.jsonl", line.to_line())


def to_rows(ingestion_id: UUID, *, first_id: int) -> pa.Table:
    begun, document_id = datetime(2026, 5, 4, 12, first_id // 100, tzinfo=UTC), uuid4()
    rows = [
        {
            "eventId": first_id + place,
            "jobId": str(ingestion_id),
            "eventType": kind,
            "eventDetail": json.dumps(detail),
            "status": status,
            "documentId": str(document_id),
            "timestamp": begun + timedelta(seconds=place),
            "recordedAt": begun + timedelta(seconds=place),
            "source": "run:1",
            "exhibitIds": ["A-1"] if place else None,
            "attempt": 1 + (place > 3),
            "runId": "1",
        }
        for place, (kind, status, detail) in enumerate(EVENTS)
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def write_file(objects: ObstoreObjects, folder: Path, path: str, tables: list[pa.Table]) -> None:
    beside = folder / "file.parquet"
    with LogFileWriter(beside) as writer:
        for table in tables:
            writer.write(table)
    objects.put_file(path, beside)


def comparable(table: pa.Table) -> list[str]:
    """In any order; a moment is a moment with or without its zone; when something is expected depends on the clock."""
    rows = [
        {name: value.replace(tzinfo=None) if isinstance(value, datetime) else value for name, value in row.items()}
        for row in table.select([name for name in table.column_names if name != "expected_at"]).to_pylist()
    ]
    return sorted(json.dumps(row, default=str, sort_keys=True) for row in rows)
