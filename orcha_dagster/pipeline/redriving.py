"""What a person can do about dead letters: look at them, send them back to the queue, or drop them.

Sent back one by one even when all are meant: StartMessageMoveTask of SQS would also bring back those that nobody needs,
and not every server that speaks SQS has it.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from orcha_dagster.domain.ingestions import IngestionStatus, IngestionView
from orcha_dagster.domain.messages import DeadLetter
from orcha_dagster.interfaces.dead_letters import DeadLetters
from orcha_dagster.interfaces.ledger import IngestionLedger
from orcha_dagster.interfaces.message_queue import MessageQueue

_LOOK_SECONDS = 30  # hidden while being listed; a killed `list` is over after that
_WORK_SECONDS = 300  # hidden while being worked through, so that none comes twice
_ROUND = 100


class Situation(StrEnum):
    """What the ledger knows about a dead letter; decides what may become of it."""

    MALFORMED = "names no ingestion"
    UNKNOWN = "unknown ingestion"
    UNFINISHED = "unfinished ingestion"
    COMPLETED = "completed ingestion"
    FAILED = "failed ingestion"
    CANCELLED = "cancelled ingestion"


_BY_STATUS = {
    IngestionStatus.IN_PROGRESS: Situation.UNFINISHED,
    IngestionStatus.COMPLETED: Situation.COMPLETED,
    IngestionStatus.FAILED: Situation.FAILED,
    IngestionStatus.CANCELLED: Situation.CANCELLED,
}
_ADVICE = {
    Situation.MALFORMED: "drop it, and find out who sent it",
    Situation.UNKNOWN: "drop it, and find out who sent it",
    Situation.UNFINISHED: "redrive it, or wait for the sweep",
    Situation.COMPLETED: "drop it",
    Situation.FAILED: "drop it; to do it again, materialize its partition",
    Situation.CANCELLED: "drop it",
}


class ExaminedLetter(NamedTuple):
    """A dead letter beside the ingestion that it names, if there is one."""

    letter: DeadLetter
    ingestion: IngestionView | None

    @property
    def id(self) -> str:
        """What people call it: its ingestion's id, or its message's when it names none."""
        return str(self.letter.ingestion_id or self.letter.message_id)

    @property
    def situation(self) -> Situation:
        if self.ingestion is not None:
            return _BY_STATUS[self.ingestion.status]
        return Situation.MALFORMED if self.letter.ingestion_id is None else Situation.UNKNOWN

    @property
    def advice(self) -> str:
        return _ADVICE[self.situation]

    def is_named(self, name: str) -> bool:
        return name.lower() in {self.id.lower(), self.letter.message_id.lower()}


class Listed(NamedTuple):
    letters: list[ExaminedLetter]
    total: int  # about; more than were listed when there are more, or when somebody else looks at some


class Handled(NamedTuple):
    done: list[ExaminedLetter]
    refused: list[ExaminedLetter]
    missing: list[str]  # names that no dead letter has


def list_dead_letters(
    dead_letters: DeadLetters, ledger: IngestionLedger, *, limit: int, wait_seconds: int = 1
) -> Listed:
    """Of what the queue gives, the oldest first. One more is received than listed, to know whether there are more."""
    received = _each_once(dead_letters.receive(limit + 1, hidden_seconds=_LOOK_SECONDS, wait_seconds=wait_seconds))
    try:
        total = max(dead_letters.count(), len(received))
        examined = _examine(received, ledger)
    finally:
        dead_letters.show_again([letter.receipt_handle for letter in received])
    return Listed(sorted(examined, key=lambda one: one.letter.sent_at)[:limit], total)


def redrive(
    dead_letters: DeadLetters,
    ledger: IngestionLedger,
    queue: MessageQueue,
    *,
    names: Sequence[str] | None,
    wait_seconds: int = 1,
) -> Handled:
    """Ring again for the named ones, or all, whose ingestion is unfinished; the others have nothing to be rung for.

    Sent first and deleted after: dying in between leaves a message too many, which the claim sorts out, never one too
    few.
    """

    def send_back(letters: Sequence[ExaminedLetter]) -> None:
        ids = list(dict.fromkeys(one.ingestion.id for one in letters if one.ingestion is not None))
        ledger.record_rung(ids)
        queue.send(ids)

    allowed = frozenset({Situation.UNFINISHED})
    return _handle(dead_letters, ledger, names, allowed, send_back, wait_seconds)


def drop(
    dead_letters: DeadLetters,
    ledger: IngestionLedger,
    *,
    names: Sequence[str] | None,
    force: bool,
    wait_seconds: int = 1,
) -> Handled:
    """Delete the named ones, or all; those of unfinished ingestions only by force, as the sweep rings for them anyway.

    Each is kept in the history first: dying in between tells it twice rather than never.
    """

    def record(letters: Sequence[ExaminedLetter]) -> None:
        for one in letters:
            ledger.reject_messages([one.letter.body], f"dead letter, dropped by hand: {one.situation}")

    allowed = frozenset(Situation) if force else frozenset(Situation) - {Situation.UNFINISHED}
    return _handle(dead_letters, ledger, names, allowed, record, wait_seconds)


def _handle(
    dead_letters: DeadLetters,
    ledger: IngestionLedger,
    names: Sequence[str] | None,
    allowed: Collection[Situation],
    act: Callable[[Sequence[ExaminedLetter]], None],
    wait_seconds: int,
) -> Handled:
    """Act on what is meant and allowed, then delete it. Everything else is shown again, whatever happens."""
    done: list[ExaminedLetter] = []
    refused: list[ExaminedLetter] = []
    kept: dict[str, str] = {}  # receipt handles by message, newest last
    try:
        for letters in _rounds(dead_letters, kept, wait_seconds):
            meant = [
                one for one in _examine(letters, ledger) if names is None or any(one.is_named(name) for name in names)
            ]
            acted_on = [one for one in meant if one.situation in allowed]
            if acted_on:
                act(acted_on)
                dead_letters.delete([one.letter.receipt_handle for one in acted_on])
            for one in acted_on:
                del kept[one.letter.message_id]
            done += acted_on
            refused += [one for one in meant if one.situation not in allowed]
    finally:
        if kept:
            dead_letters.show_again(list(kept.values()))
    missing = [name for name in names or () if not any(one.is_named(name) for one in (*done, *refused))]
    return Handled(done, refused, missing)


def _rounds(dead_letters: DeadLetters, kept: dict[str, str], wait_seconds: int) -> Iterator[list[DeadLetter]]:
    """Every dead letter once. Ends when no more come, or only such as were kept before and are visible again."""
    while True:
        received = dead_letters.receive(_ROUND, hidden_seconds=_WORK_SECONDS, wait_seconds=wait_seconds)
        fresh = [letter for letter in _each_once(received) if letter.message_id not in kept]
        kept.update({letter.message_id: letter.receipt_handle for letter in received})
        if fresh:
            yield fresh
        if not fresh or len(received) < _ROUND:
            return


def _each_once(letters: Sequence[DeadLetter]) -> list[DeadLetter]:
    """SQS may deliver one twice in a moment; only its last handle counts."""
    newest: Mapping[str, DeadLetter] = {letter.message_id: letter for letter in letters}
    return list(newest.values())


def _examine(letters: Sequence[DeadLetter], ledger: IngestionLedger) -> list[ExaminedLetter]:
    ids = {letter.ingestion_id for letter in letters if letter.ingestion_id is not None}
    known = {view.id: view for view in ledger.list_by_ids(list(ids))} if ids else {}
    return [
        ExaminedLetter(letter, None if letter.ingestion_id is None else known.get(letter.ingestion_id))
        for letter in letters
    ]
