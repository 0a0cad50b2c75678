"""What every object store does, on the fake and on a folder through obstore; at the end what only a folder can show,
and what only a bucket can."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from uuid import uuid4

import pytest

from orcha_dagster.adapters.obstore_objects import ObstoreObjects
from orcha_dagster.domain.errors import ConfigurationError, StorageUnavailable
from orcha_dagster.interfaces.object_store import ObjectStore, StoredObject
from tests.fake_storage import FakeObjectStore


@pytest.fixture(params=["fake", "folder"])
def objects(request: pytest.FixtureRequest) -> ObjectStore:
    if request.param == "fake":
        return FakeObjectStore()
    return ObstoreObjects(request.getfixturevalue("object_store_url"))


@pytest.mark.parametrize("content", [b"", b"x", b"\0\xff" * 1000, b"large" * 200_000])
def test_what_was_put_is_found_byte_by_byte(objects: ObjectStore, content: bytes) -> None:
    objects.put("ingestions/1/verdict.json", content)
    assert objects.find("ingestions/1/verdict.json") == content


@pytest.mark.parametrize("content", [b"", b"x", bytes(range(256)) * 200_000], ids=["empty", "small", "many pieces"])
def test_a_file_is_put_byte_by_byte_and_replaces_what_was_there(
    objects: ObjectStore, content: bytes, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(content)
    objects.put("statuses/a.parquet", b"older")
    objects.put_file("statuses/a.parquet", tmp_path / "file")
    assert objects.find("statuses/a.parquet") == content
    assert objects.list_paths("statuses") == ["statuses/a.parquet"]


def test_what_is_put_as_new_is_written_once(objects: ObjectStore) -> None:
    assert objects.put_new("compactions/1.jsonl", b"first")
    assert not objects.put_new("compactions/1.jsonl", b"second")
    assert objects.find("compactions/1.jsonl") == b"first"
    assert objects.list_paths("compactions") == ["compactions/1.jsonl"]


def test_of_many_that_put_the_same_new_object_one_wins(objects: ObjectStore) -> None:
    start = threading.Barrier(8)
    winners: list[bytes] = []

    def put(content: bytes) -> None:
        start.wait()
        if objects.put_new("compactions/1.jsonl", content):
            winners.append(content)

    threads = [threading.Thread(target=put, args=(bytes([worker]) * 1000,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert winners == [objects.find("compactions/1.jsonl")]


@pytest.mark.parametrize("path", ["a", "a/b.json", "a/b/c/d.json"])
def test_nothing_is_found_where_nothing_was_put(objects: ObjectStore, path: str) -> None:
    assert objects.find(path) is None
    objects.put(f"{path}x", b"x")
    assert objects.find(path) is None


@pytest.mark.parametrize("content", [b"", b"a", bytes(range(256)) * 10_000])
def test_what_was_put_is_fetched_into_a_file(objects: ObjectStore, content: bytes, tmp_path: Path) -> None:
    objects.put("documents/a.pdf", content)
    assert objects.fetch("documents/a.pdf", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == content


def test_nothing_is_fetched_where_nothing_was_put(objects: ObjectStore, tmp_path: Path) -> None:
    assert not objects.fetch("documents/a.pdf", tmp_path / "file")
    assert not (tmp_path / "file").exists()


def test_a_folder_is_not_an_object(objects: ObjectStore) -> None:
    objects.put("a/b/c.json", b"x")
    assert objects.find("a/b") is None


def test_a_second_put_replaces_the_first(objects: ObjectStore) -> None:
    objects.put("a.json", b"the first one, and longer")
    objects.put("a.json", b"second")
    assert objects.find("a.json") == b"second"


def test_what_was_deleted_is_gone_and_its_neighbours_stay(objects: ObjectStore) -> None:
    objects.put("a/1.json", b"x")
    objects.put("a/2.json", b"x")
    objects.delete("a/1.json")
    assert objects.list_paths("a") == ["a/2.json"]
    assert objects.find("a/1.json") is None


def test_deleting_nothing_is_not_an_error(objects: ObjectStore) -> None:
    objects.delete("a/1.json")
    objects.put("a/1.json", b"x")
    objects.delete("a/1.json")
    objects.delete("a/1.json")


@pytest.mark.parametrize("path", ["documents/Rechnung für März.pdf", "documents/a b+c%20d#e.pdf", "documents/☃.pdf"])
def test_a_name_in_any_script_is_a_name(objects: ObjectStore, path: str) -> None:
    objects.put(path, b"x")
    assert objects.find(path) == b"x"
    assert objects.list_paths("documents") == [path]


def test_paths_are_listed_sorted_and_from_all_depths(objects: ObjectStore) -> None:
    for path in ("i/2/b.json", "i/1/deep/er.json", "i/2/a.json", "other/x.json"):
        objects.put(path, b"x")
    assert objects.list_paths("i") == ["i/1/deep/er.json", "i/2/a.json", "i/2/b.json"]
    assert objects.list_paths("i/") == objects.list_paths("i")
    assert objects.list_paths("i/2") == ["i/2/a.json", "i/2/b.json"]


def test_a_prefix_is_a_folder_and_not_the_beginning_of_a_name(objects: ObjectStore) -> None:
    objects.put("i/1/a.json", b"x")
    objects.put("i/10/a.json", b"x")
    assert objects.list_paths("i/1") == ["i/1/a.json"]


def test_objects_are_listed_like_paths_and_with_their_sizes(objects: ObjectStore) -> None:
    for path, content in (("i/2/b", b"four"), ("i/10/a", b""), ("other/x", b"x")):
        objects.put(path, content)
    assert objects.list_objects("i") == [StoredObject("i/10/a", 0), StoredObject("i/2/b", 4)]
    assert objects.list_objects("nowhere") == []


def test_an_empty_folder_lists_nothing(objects: ObjectStore) -> None:
    assert objects.list_paths("nowhere") == []


@pytest.mark.parametrize("path", ["../outside", "a/../../outside", ".."])
def test_no_path_leads_outside(objects: ObjectStore, path: str) -> None:
    with pytest.raises(StorageUnavailable):
        objects.put(path, b"x")
    with pytest.raises(StorageUnavailable):
        objects.put_new(path, b"x")
    with pytest.raises(StorageUnavailable):
        objects.find(path)


def test_threads_that_write_at_once_do_not_disturb_each_other(objects: ObjectStore) -> None:
    start = threading.Barrier(8)

    def write(worker: int) -> None:
        start.wait()
        for number in range(10):
            objects.put(f"w/{worker}/{number}", bytes([worker, number]))

    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = {path: objects.find(path) for path in objects.list_paths("w")}
    assert found == {f"w/{w}/{n}": bytes([w, n]) for w in range(8) for n in range(10)}


def test_whoever_reads_while_it_is_replaced_sees_one_whole_version(object_store_url: str) -> None:
    objects = ObstoreObjects(object_store_url)
    versions = {bytes([letter]) * 300_000 for letter in b"abcd"}
    objects.put("a", min(versions))
    done = threading.Event()
    seen: set[bytes | None] = set()

    def read() -> None:
        while not done.is_set():
            seen.add(objects.find("a"))

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(10):
        for version in versions:
            objects.put("a", version)
    done.set()
    reader.join()
    assert seen <= versions


def test_nothing_is_created_before_the_first_call(tmp_path: Path) -> None:
    folder = tmp_path / "not yet"
    objects = ObstoreObjects(folder.as_uri())
    assert not folder.exists()
    objects.put("a", b"x")
    assert (folder / "a").read_bytes() == b"x"


def test_a_put_leaves_no_scratch_behind(tmp_path: Path) -> None:
    objects = ObstoreObjects(tmp_path.as_uri())
    for content in (b"1", b"2"):
        objects.put("a/b", content)
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")] == ["a", "a/b"]


def test_a_folder_that_cannot_be_one_is_storage_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    objects = ObstoreObjects((tmp_path / "file" / "below").as_uri())
    with pytest.raises(StorageUnavailable):
        objects.put("a", b"x")
    with pytest.raises(StorageUnavailable):
        objects.find("a")
    with pytest.raises(StorageUnavailable):
        objects.list_paths("a")


def test_an_object_where_a_folder_should_be_is_storage_unavailable(object_store_url: str) -> None:
    objects = ObstoreObjects(object_store_url)
    objects.put("a", b"x")
    with pytest.raises(StorageUnavailable):
        objects.put("a/b", b"x")


@pytest.mark.parametrize("url", ["", "/srv/orcha", "ftp://host/folder", "bucket/prefix"])
def test_a_url_of_no_store_is_a_wrong_setting(url: str) -> None:
    with pytest.raises(ConfigurationError, match="ORCHA_OBJECT_STORE"):
        ObstoreObjects(url).find("a")


def test_two_stores_are_two_folders(tmp_path: Path) -> None:
    one, other = (ObstoreObjects((tmp_path / name).as_uri()) for name in ("one", "other"))
    one.put("a", uuid4().bytes)
    assert other.find("a") is None


@contextmanager
def bucket_that_loses_answers() -> Iterator[str]:
    """S3 as far as a create-only PUT and a GET go. The first PUT of each object is done, and then answered with 500."""
    contents: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.headers["If-None-Match"] == "*"
            status = 412 if self.path in contents else 500
            contents.setdefault(self.path, body)
            self.answer(status, b"")

        def do_GET(self) -> None:
            self.answer(200, contents[self.path])

        def answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("ETag", '"1"')
            self.send_header("Last-Modified", "Mon, 04 May 2026 12:00:00 GMT")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_whoever_wrote_a_new_object_in_a_call_whose_answer_was_lost_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with bucket_that_loses_answers() as address:
        for name, value in {
            "AWS_ENDPOINT_URL": address,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "eu-central-1",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
        }.items():
            monkeypatch.setenv(name, value)
        objects = ObstoreObjects("s3://bucket/log")
        assert objects.put_new("compactions/1.jsonl", b"ours")
        assert not objects.put_new("compactions/1.jsonl", b"of another")
        assert objects.find("compactions/1.jsonl") == b"ours"
