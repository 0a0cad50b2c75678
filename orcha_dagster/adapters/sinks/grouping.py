"""Many entries as few calls: every service has a limit of count and one of size."""

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def group_by_size(entries: Sequence[T], *, most: int, most_bytes: int, size: Callable[[T], int]) -> list[list[T]]:
    """In the same order. An entry that is too large by itself is a group by itself."""
    groups: list[list[T]] = []
    room = 0
    for entry in entries:
        needed = size(entry)
        if not groups or len(groups[-1]) == most or needed > room:
            groups.append([])
            room = most_bytes
        groups[-1].append(entry)
        room -= needed
    return groups
