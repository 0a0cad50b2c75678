"""On what machine a figure was measured: speed means nothing without it."""

import os
import platform

from orcha_dagster.domain.model import DomainModel


class Machine(DomainModel):
    cores: int
    system: str
    python: str
    load_before: float | None  # of everything on it; figures of a busy machine are not worth much


def describe_machine() -> Machine:
    return Machine(
        cores=os.cpu_count() or 1,
        system=platform.platform(terse=True),
        python=platform.python_version(),
        load_before=round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    )
