"""What can go wrong at a simulated provider, and when. How each fault looks on the wire is the server's business."""

import random
from collections import deque
from dataclasses import dataclass
from enum import StrEnum


class FaultKind(StrEnum):
    """Of Document AI."""

    RATE_LIMIT = "rate-limit"
    QUOTA = "quota"  # the day's
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"
    HANG = "hang"  # no answer ever: the caller's deadline must end it
    PERMISSION = "permission"
    NOT_FOUND = "not-found"  # the processor
    DAMAGED = "damaged"  # the document, whatever it is
    CUT_ANSWER = "cut-answer"  # the last page is missing
    SURPLUS_ANSWER = "surplus-answer"  # the last page comes twice
    RESET = "reset"  # the connection breaks, with every call on it


@dataclass(frozen=True)
class Fault:
    kind: StrEnum  # one of the kinds that its provider knows
    retry_after_seconds: float | None = None  # what a rate limit asks for, if anything


class Faults:
    """May be changed at any time, also while calls are under way."""

    def __init__(self, *, seed: int = 0) -> None:
        self._queued: deque[Fault | None] = deque()
        self._chances: dict[StrEnum, float] = {}
        self._random = random.Random(seed)  # noqa: S311  (which call fails is to be repeatable, not secret)

    def queue(self, *faults: Fault | StrEnum | None) -> None:
        """One for each of the next calls, in their order; None lets one pass."""
        self._queued.extend(Fault(fault) if isinstance(fault, StrEnum) else fault for fault in faults)

    def set_chance(self, kind: StrEnum, probability: float) -> None:
        """Of every call that has no fault queued for it."""
        self._chances[kind] = probability

    def clear(self) -> None:
        self._queued.clear()
        self._chances.clear()

    def next(self) -> Fault | None:
        if self._queued:
            return self._queued.popleft()
        for kind, probability in self._chances.items():
            if self._random.random() < probability:
                return Fault(kind)
        return None
