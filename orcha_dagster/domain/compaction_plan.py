"""Which files of a partition are worth being made into one."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from orcha_dagster.domain.compactions import FileKey

FEWEST_FILES = 8  # fewer are left alone: what they cost a reader is less than what it costs to write them again
# A file joins those that are smaller than it only if they amount to a fair part of it. So a large file is not written
# again for every few small ones, and an event is copied a handful of times in its life.
_LARGEST_RATIO = 4


class SizedFile(NamedTuple):
    key: FileKey
    byte_size: int


def plan_compactions(
    files: Iterable[SizedFile], *, target_bytes: int, fewest_files: int = FEWEST_FILES
) -> list[tuple[SizedFile, ...]]:
    """Groups of files that become one each; a group is of one partition and about `target_bytes` at the most."""
    by_partition = groupby(sorted(files), key=lambda file: file.key[:2])
    small = ([file for file in group if file.byte_size < target_bytes // 2] for _, group in by_partition)
    return [group for files in small for group in _plan_partition(files, target_bytes, fewest_files)]


def _plan_partition(files: Sequence[SizedFile], target_bytes: int, fewest_files: int) -> list[tuple[SizedFile, ...]]:
    groups: list[tuple[SizedFile, ...]] = []
    group: list[SizedFile] = []
    size = 0
    for file in sorted(files, key=lambda file: (file.byte_size, file.key)):
        if group and (size + file.byte_size > target_bytes or file.byte_size > _LARGEST_RATIO * size):
            groups.append(tuple(group))
            group, size = [], 0
        group.append(file)
        size += file.byte_size
    groups.append(tuple(group))
    return [group for group in groups if len(group) >= fewest_files]
