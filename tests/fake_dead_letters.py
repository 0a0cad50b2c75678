"""A fake of the dead-letter queue, in memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from orcha_dagster.domain.messages import DeadLetter
from orcha_dagster.interfaces.dead_letters import DeadLetters
from tests.fake_storage import Failures, FakeClock, Recorder


@dataclass
class StoredLetter:
    body: str
    sent_at: datetime
    visible_at: datetime
    receive_count: int = 10
    receipt_handle: str = ""  # of the last look; earlier ones are outdated


class FakeDeadLetters(DeadLetters):
    """Never waits."""

    def __init__(self, clock: FakeClock | None = None, *, failures: Failures | None = None) -> None:
        self.clock = clock or FakeClock()
        self._recorder = Recorder(failures)
        self._letters: dict[str, StoredLetter] = {}

    @property
    def calls(self) -> list[str]:
        return self._recorder.calls

    @property
    def bodies(self) -> list[str]:
        """Of every letter that was not deleted, hidden or not."""
        return [letter.body for letter in self._letters.values()]

    @property
    def hidden_bodies(self) -> list[str]:
        return [letter.body for letter in self._letters.values() if letter.visible_at > self.clock.now]

    def put(self, body: str) -> str:
        """As the queue does after too many receives; the message's id."""
        message_id = str(uuid4())
        self._letters[message_id] = StoredLetter(body, sent_at=self.clock.now, visible_at=self.clock.now)
        return message_id

    def receive(self, limit: int, *, hidden_seconds: int, wait_seconds: int) -> list[DeadLetter]:
        with self._recorder.call("receive"):
            visible = [item for item in self._letters.items() if item[1].visible_at <= self.clock.now]
            for _, letter in visible[:limit]:
                letter.receipt_handle = f"handle-{uuid4()}"
                letter.visible_at = self.clock.in_seconds(hidden_seconds)
                letter.receive_count += 1
            return [
                DeadLetter(message_id, letter.receipt_handle, letter.body, letter.receive_count, letter.sent_at)
                for message_id, letter in visible[:limit]
            ]

    def show_again(self, receipt_handles: Sequence[str]) -> None:
        with self._recorder.call("show_again"):
            for letter in self._letters.values():
                if letter.receipt_handle in receipt_handles:
                    letter.visible_at = self.clock.now

    def delete(self, receipt_handles: Sequence[str]) -> None:
        with self._recorder.call("delete"):
            kept = {key: one for key, one in self._letters.items() if one.receipt_handle not in receipt_handles}
            self._letters = kept

    def count(self) -> int:
        with self._recorder.call("count"):
            return len(self._letters)
