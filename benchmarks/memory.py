"""Peak memory of a step that has a hundred documents of five megabytes in hand."""

import os
from io import BytesIO

from PIL import Image, ImageDraw

from benchmarks.bench_stack import bench_stack
from benchmarks.definitions_choice import tools_environment
from benchmarks.provider_server import waiting_server
from benchmarks.screen import mark, say, show_table

TARGET_MEGABYTES = 600.0
_DOCUMENT_BYTES = 5_000_000
_PATIENCE_SECONDS = 300
_A4_AT_150_DPI = (1240, 1754)


def measure(*, quick: bool) -> dict[str, float]:
    count = 20 if quick else 100
    default = _carry(count, chosen={})
    at_once = _carry(count, chosen={"io_concurrency": count})
    rows = []
    for name, peaks in (("default settings", default), (f"ORCHA_IO_CONCURRENCY={count}", at_once)):
        step, run, workers = peaks["step"], peaks["run"], peaks["cpu worker"]
        reached = mark(step < TARGET_MEGABYTES)
        rows.append([name, f"{step:.0f}", f"{run:.0f}", f"{workers:.0f}", f"< {TARGET_MEGABYTES:.0f}", reached])
    show_table(
        f"Peak memory, {count} documents of {_DOCUMENT_BYTES / 1e6:.0f} MB in one run (MB)",
        ["", "step", "run's process", "largest CPU worker", "target for the step", ""],
        rows,
    )
    return {
        "memory_documents": count,
        "memory_step_mb": round(default["step"]),
        "memory_run_mb": round(default["run"]),
        "memory_step_all_at_once_mb": round(at_once["step"]),
    }


def _carry(count: int, *, chosen: dict[str, int]) -> dict[str, float]:
    """The largest peak of each kind of process."""
    with waiting_server() as url, bench_stack(chosen, tools_environment("real-pages", url)) as stack:
        carried = stack.carry(_large_documents(count), patience_seconds=_PATIENCE_SECONDS)
        peaks = {role: values[0] for role, values in stack.processes.peak_megabytes().items()}
    say(f"{count} documents took {carried.seconds:.1f} s.")
    return {"cpu worker": 0.0, **peaks}


def _large_documents(count: int) -> list[bytes]:
    """A page that a picture decoder reads, and after its end as many random bytes as are missing."""
    page = Image.new("L", _A4_AT_150_DPI, 255)
    draw = ImageDraw.Draw(page)
    for line in range(40):
        draw.text((100, 100 + 38 * line), f"Line {line} of a page that somebody may want to read", fill=0)
    encoded = BytesIO()
    page.save(encoded, format="PNG")
    picture = encoded.getvalue()
    return [picture + os.urandom(_DOCUMENT_BYTES - len(picture)) for _ in range(count)]
