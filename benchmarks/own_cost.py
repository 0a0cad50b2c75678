"""What Orcha itself costs per ingestion, with stages that do nothing; and what one run per ingestion would cost."""

from benchmarks.bench_stack import bench_stack, tiny_documents
from benchmarks.breakdown import show_where_the_time_goes
from benchmarks.definitions_choice import tools_environment
from benchmarks.screen import mark, show_table

TARGET_MILLISECONDS = 60.0
TARGET_RATIO = 60.0
_PATIENCE_SECONDS = 420


def measure(*, quick: bool) -> dict[str, float]:
    many, alone = (100, 4) if quick else (500, 8)
    together = _carry(many, chosen={})
    apart = _carry(alone, chosen={"ingestions_per_run": 1})
    ratio = apart / together
    show_table(
        "Orcha's own cost, empty stages",
        ["", "ingestions", "ms per ingestion", "target", ""],
        [
            [
                "many per run",
                str(many),
                f"{together:.1f}",
                f"≤ {TARGET_MILLISECONDS:.0f}",
                mark(together <= TARGET_MILLISECONDS),
            ],
            ["one run each", str(alone), f"{apart:.0f}", "", ""],
            ["times faster together", "", f"{ratio:.1f}", f"≥ {TARGET_RATIO:.0f}", mark(ratio >= TARGET_RATIO)],
        ],
    )
    return {
        "own_cost_ingestions": many,
        "own_cost_ms_per_ingestion": round(together, 1),
        "one_run_each_ms_per_ingestion": round(apart, 1),
        "many_per_run_times_faster": round(ratio, 1),
    }


def _carry(count: int, *, chosen: dict[str, int]) -> float:
    """Milliseconds per ingestion."""
    with bench_stack(chosen, tools_environment("instant")) as stack:
        carried = stack.carry(tiny_documents(count), patience_seconds=_PATIENCE_SECONDS)
        show_where_the_time_goes(stack, carried)
    return carried.seconds / count * 1000
