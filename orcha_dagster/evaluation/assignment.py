"""Which row of one list is which of another: the pairs whose likenesses add up to the most. Rows are numbers here."""

from collections.abc import Sequence


def assign(likeness: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Pairs of row and column, each at most once, as many as the shorter side has; in the order of rows.

    Kuhn's method with potentials: the rows come one after the other, and each may push earlier ones to other columns.
    """
    if not likeness or not likeness[0]:
        return []
    if len(likeness) > len(likeness[0]):
        turned = [list(column) for column in zip(*likeness, strict=True)]
        return sorted((row, column) for column, row in assign(turned))
    return _assign_rows(likeness)


def _assign_rows(likeness: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """At most as many rows as columns. Row and column 0 are placeholders, so both count from 1."""
    rows, columns = len(likeness), len(likeness[0])
    row_potential, column_potential = [0.0] * (rows + 1), [0.0] * (columns + 1)
    row_of = [0] * (columns + 1)
    for row in range(1, rows + 1):
        row_of[0] = row
        came_from = _find_path(likeness, row_of, row_potential, column_potential)
        column = came_from.pop(-1)
        while column:
            row_of[column] = row_of[came_from[column]]
            column = came_from[column]
    return sorted((row_of[column] - 1, column - 1) for column in range(1, columns + 1) if row_of[column])


def _find_path(
    likeness: Sequence[Sequence[float]], row_of: list[int], row_potential: list[float], column_potential: list[float]
) -> dict[int, int]:
    """The column before each column on the cheapest way to a free one, which stands under -1."""
    columns = len(column_potential) - 1
    distance = [float("inf")] * (columns + 1)
    came_from, done, column = {}, {0}, 0
    while row_of[column]:
        row, step, nearest = row_of[column], float("inf"), 0
        for other in range(1, columns + 1):
            if other in done:
                continue
            cost = -likeness[row - 1][other - 1] - row_potential[row] - column_potential[other]
            if cost < distance[other]:
                distance[other], came_from[other] = cost, column
            if distance[other] < step:
                step, nearest = distance[other], other
        for other in range(columns + 1):
            if other in done:
                row_potential[row_of[other]] += step
                column_potential[other] -= step
            else:
                distance[other] -= step
        column = nearest
        done.add(column)
    came_from[-1] = column
    return came_from
