from hypothesis import given
from hypothesis import strategies as st

from orcha_dagster.domain.compaction_plan import SizedFile, plan_compactions
from orcha_dagster.domain.compactions import FileKey

TARGET = 1000


def files(*sizes: int, case_id: int = 1, batch_id: int = 1) -> list[SizedFile]:
    return [
        SizedFile(FileKey(case_id, batch_id, f"{case_id}-{batch_id}-{number:03d}"), size)
        for number, size in enumerate(sizes)
    ]


def sizes_of(groups: list[tuple[SizedFile, ...]]) -> list[list[int]]:
    return [[file.byte_size for file in group] for group in groups]


def test_few_files_are_left_alone() -> None:
    assert plan_compactions(files(1, 1, 1), target_bytes=TARGET, fewest_files=4) == []
    assert sizes_of(plan_compactions(files(1, 1, 1, 1), target_bytes=TARGET, fewest_files=4)) == [[1, 1, 1, 1]]


def test_files_of_different_partitions_never_become_one() -> None:
    some = files(1, 1, 1, case_id=1) + files(1, 1, 1, case_id=2) + files(1, 1, 1, case_id=2, batch_id=2)
    groups = plan_compactions(some, target_bytes=TARGET, fewest_files=3)
    assert [{file.key[:2] for file in group} for group in groups] == [{(1, 1)}, {(2, 1)}, {(2, 2)}]


def test_a_file_that_is_large_enough_is_not_written_again() -> None:
    groups = plan_compactions(files(600, 1, 1, 1, 600), target_bytes=TARGET, fewest_files=2)
    assert sizes_of(groups) == [[1, 1, 1]]


def test_a_large_file_waits_until_the_small_ones_amount_to_something() -> None:
    assert sizes_of(plan_compactions(files(400, 1, 1, 1), target_bytes=TARGET, fewest_files=3)) == [[1, 1, 1]]
    assert sizes_of(plan_compactions(files(400, 50, 50, 50), target_bytes=TARGET, fewest_files=3)) == [
        [50, 50, 50, 400]
    ]


def test_a_group_does_not_grow_beyond_the_target() -> None:
    assert sizes_of(plan_compactions(files(*[400] * 6), target_bytes=TARGET, fewest_files=2)) == [[400, 400]] * 3


@given(st.lists(st.integers(1, 1200), max_size=60), st.integers(2, 9))
def test_no_file_is_planned_twice_and_none_of_the_large_ones(sizes: list[int], fewest: int) -> None:
    groups = plan_compactions(files(*sizes), target_bytes=TARGET, fewest_files=fewest)
    planned = [file for group in groups for file in group]
    assert len(planned) == len(set(planned))
    assert all(file.byte_size < TARGET // 2 for file in planned)
    assert all(len(group) >= fewest and sum(file.byte_size for file in group) <= TARGET for group in groups)


@given(st.lists(st.integers(1, 20), min_size=1, max_size=300))
def test_an_event_is_copied_only_a_handful_of_times(arriving: list[int]) -> None:
    """One small file after the other, compacted as soon as it is worth it."""
    present: list[SizedFile] = []
    copied = 0
    for number, size in enumerate(arriving):
        present.append(SizedFile(FileKey(1, 1, f"f{number}"), size))
        for group in plan_compactions(present, target_bytes=TARGET):
            whole = sum(file.byte_size for file in group)
            copied += whole
            present = [file for file in present if file not in group]
            present.append(SizedFile(FileKey(1, 1, f"c{number}"), whole))
    assert copied <= 5 * sum(arriving)
