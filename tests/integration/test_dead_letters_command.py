"""`orcha dead-letters` from the command line to PostgreSQL and the queue server."""

import hashlib
import json
import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import psycopg
import pytest

from orcha_dagster.adapters.postgres.ledger import PostgresLedger
from orcha_dagster.cli.main import run
from orcha_dagster.cli.screen import console
from orcha_dagster.domain.documents import Document


class Answer(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Orcha:
    """The command with its settings, and what lies behind it."""

    def __init__(
        self,
        sqs: Any,
        queue_url: str,
        database_url: str,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        self.ledger = PostgresLedger(database_url)
        self._sqs, self._url, self._database_url = sqs, queue_url, database_url
        self._monkeypatch, self._capsys = monkeypatch, capsys
        monkeypatch.setattr(console, "width", 160)
        monkeypatch.setenv("ORCHA_QUEUE_URL", queue_url)
        monkeypatch.setenv("ORCHA_DATABASE_URL", database_url)

    def dead_letters(self, *arguments: str) -> Answer:
        self._monkeypatch.setattr(sys, "argv", ["orcha", "dead-letters", *arguments])
        with pytest.raises(SystemExit) as ended:
            run()
        return Answer(int(ended.value.code or 0), *self._capsys.readouterr())

    def put(self, body: object) -> str:
        return str(self._sqs.send_message(QueueUrl=f"{self._url}-dead", MessageBody=str(body))["MessageId"])

    def add(self, file_name: str = "a.pdf") -> UUID:
        document_id, ingestion_id = uuid4(), uuid4()
        document = Document(
            id=document_id,
            file_name=file_name,
            file_path=f"documents/{document_id}.pdf",
            byte_size=1,
            sha256=hashlib.sha256(b"a").hexdigest(),
            case_id=1,
            batch_id=1,
        )
        self.ledger.add(document, ingestion_id)
        return ingestion_id

    def add_failed(self, file_name: str = "b.pdf") -> UUID:
        ingestion_id = self.add(file_name)
        (claim,) = self.ledger.claim_by_hand([ingestion_id], owner="run:x", lease_seconds=60)
        self.ledger.fail(claim.outcome.lease, code="DOCUMENT_DAMAGED", message="x", stage=None)  # type: ignore[union-attr]
        return ingestion_id

    def waiting(self) -> list[str]:
        answer = self._sqs.receive_message(QueueUrl=self._url, MaxNumberOfMessages=10, VisibilityTimeout=0)
        return sorted(message["Body"] for message in answer.get("Messages", []))

    def dead(self) -> list[str]:
        """What anybody can receive at this moment."""
        answer = self._sqs.receive_message(QueueUrl=f"{self._url}-dead", MaxNumberOfMessages=10, VisibilityTimeout=0)
        return sorted(message["Body"] for message in answer.get("Messages", []))

    def rejected(self) -> list[tuple[str, str]]:
        query = "SELECT detail->>'body', detail->>'reason' FROM status_event WHERE event_type = 'MESSAGE_REJECTED'"
        with psycopg.connect(self._database_url) as connection:
            return connection.execute(query).fetchall()


@pytest.fixture
def orcha(
    sqs_client: Any,
    redriving_queue_url: str,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Orcha]:
    orcha = Orcha(sqs_client, redriving_queue_url, database_url, monkeypatch, capsys)
    yield orcha
    orcha.ledger.close()


def words(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_without_dead_letters_the_list_says_so(orcha: Orcha) -> None:
    assert orcha.dead_letters("list") == Answer(0, "No dead letters.\n", "")
    assert orcha.dead_letters("list", "--json").json == {"dead_letters": [], "total": 0}


def test_the_list_shows_what_became_of_each_and_changes_nothing(orcha: Orcha) -> None:
    unfinished, failed, unknown = orcha.add("[bold].pdf"), orcha.add_failed(), uuid4()
    bodies = sorted([str(unfinished), str(failed), str(unknown), "[red]\nhello"])
    for body in bodies:
        orcha.put(body)
    answer = orcha.dead_letters("list")
    assert answer.code == 0
    shown = words(answer.out)
    for expected in (
        f"{unfinished} [bold].pdf in-progress",
        f"{failed} b.pdf failed DOCUMENT_DAMAGED",
        f"{unknown} unknown ingestion",
        r"'[red]\nhello' names no ingestion",
    ):
        assert expected in shown
    assert orcha.dead() == bodies
    assert orcha.waiting() == []


def test_the_list_as_json_has_every_word_of_it(orcha: Orcha) -> None:
    failed = orcha.add_failed()
    message_id = orcha.put(failed)
    (letter,) = orcha.dead_letters("list", "--json").json["dead_letters"]
    assert letter.pop("sent_at").endswith("+00:00")
    assert letter == {
        "id": str(failed),
        "message_id": message_id,
        "body": str(failed),
        "receive_count": 1,
        "situation": "failed ingestion",
        "document": "b.pdf",
        "status": "failed",
        "error_code": "DOCUMENT_DAMAGED",
        "advice": "drop it; to do it again, materialize its partition",
    }


def test_the_list_says_when_there_are_more(orcha: Orcha) -> None:
    for _ in range(3):
        orcha.put(uuid4())
    answer = orcha.dead_letters("list", "--limit", "2")
    assert "Not shown: about 1." in answer.out
    assert len(orcha.dead()) == 3


def test_a_chosen_one_goes_back_to_the_queue(orcha: Orcha) -> None:
    chosen, other = orcha.add(), orcha.add()
    for one in (chosen, other):
        orcha.put(one)
    assert orcha.dead_letters("redrive", str(chosen)) == Answer(0, f"{chosen}  redriven\n", "")
    assert orcha.waiting() == [str(chosen)]
    assert orcha.dead() == [str(other)]


def test_a_named_one_that_is_finished_or_not_there_is_told_and_the_exit_code_is_1(orcha: Orcha) -> None:
    failed, nobody = orcha.add_failed(), uuid4()
    orcha.put(failed)
    answer = orcha.dead_letters("redrive", str(failed), str(nobody))
    assert answer.code == 1
    assert f"{failed}  left: failed ingestion, there is nothing to ring for; drop it" in answer.out
    assert f"{nobody}  not there" in answer.out
    assert orcha.dead() == [str(failed)]


def test_all_that_may_go_back_go_back_and_what_is_left_is_told(orcha: Orcha) -> None:
    unfinished, failed = orcha.add(), orcha.add_failed()
    for one in (unfinished, failed):
        orcha.put(one)
    answer = orcha.dead_letters("redrive", "--all", "--json")
    assert answer.code == 0
    assert [one["id"] for one in answer.json["redriven"]] == [str(unfinished)]
    assert [one["id"] for one in answer.json["left"]] == [str(failed)]
    assert orcha.waiting() == [str(unfinished)]
    assert orcha.dead() == [str(failed)]


def test_dropping_deletes_and_the_history_keeps_it(orcha: Orcha) -> None:
    failed = orcha.add_failed()
    orcha.put(failed)
    message_id = orcha.put("hello")
    answer = orcha.dead_letters("drop", str(failed), message_id)
    assert answer.code == 0
    assert sorted(answer.out.split("\n")) == sorted(["", f"{failed}  dropped", f"{message_id}  dropped"])
    assert orcha.dead() == []
    assert sorted(orcha.rejected()) == sorted(
        [
            (str(failed), "dead letter, dropped by hand: failed ingestion"),
            ("hello", "dead letter, dropped by hand: names no ingestion"),
        ]
    )


def test_an_unfinished_one_is_dropped_only_by_force(orcha: Orcha) -> None:
    unfinished = orcha.add()
    orcha.put(unfinished)
    refused = orcha.dead_letters("drop", str(unfinished))
    assert refused.code == 1
    assert "the sweep would ring for it again" in refused.out
    assert orcha.dead() == [str(unfinished)]
    assert orcha.dead_letters("drop", "--all").code == 0
    assert orcha.dead() == [str(unfinished)]
    assert orcha.dead_letters("drop", "--all", "--force").code == 0
    assert orcha.dead() == []


@pytest.mark.parametrize("command", ["redrive", "drop"])
@pytest.mark.parametrize("arguments", [[], ["--all", "6f0c3b1e-9e0f-4d6f-8a9e-0d5a2f3b4c5d"]])
def test_neither_names_nor_all_or_both_is_refused_before_anything_is_touched(
    orcha: Orcha, command: str, arguments: list[str]
) -> None:
    orcha.put("hello")
    answer = orcha.dead_letters(command, *arguments)
    assert answer.code == 2
    assert "or say --all" in answer.err
    assert orcha.dead() == ["hello"]


def test_a_queue_without_a_dead_letter_queue_is_exit_code_2_with_the_remedy(
    orcha: Orcha, queue_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORCHA_QUEUE_URL", queue_url)
    answer = orcha.dead_letters("list")
    assert (answer.code, answer.out) == (2, "")
    assert "has no dead-letter queue" in answer.err
    assert "RedrivePolicy" in answer.err


def test_a_queue_that_is_away_is_exit_code_2(orcha: Orcha, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORCHA_QUEUE_URL", "http://127.0.0.1:9/000000000000/orcha")
    answer = orcha.dead_letters("list")
    assert answer.code == 2
    assert "STORAGE_UNAVAILABLE" in answer.err
