"""Is the status log complete, fresh and able to keep up? Questions with an answer, a figure and what to do."""

from collections.abc import Sequence
from dataclasses import dataclass

from orcha_dagster.domain.flushes import Backlog, FinishedFlush
from orcha_dagster.domain.model import DomainModel
from orcha_dagster.interfaces.event_journal import EventJournal

_FLUSHES_LOOKED_AT = 10
_MOST_CONTRADICTIONS = 50


@dataclass(frozen=True)
class HealthLimits:
    freshness_seconds: float = 300.0  # age of the oldest event that is not in the log
    error_share: float = 0.05  # of events that could not be converted
    busy_share: float = 0.9  # of the time that is spent flushing


class HealthCheck(DomainModel):
    name: str
    passed: bool
    value: float  # what was measured
    words: str  # what that means
    remedy: str = ""  # when it failed
    examples: tuple[str, ...] = ()


def check_health(
    journal: EventJournal, limits: HealthLimits | None = None, *, of_everything: bool = False
) -> list[HealthCheck]:
    """`of_everything`: ask about every ingestion there is, not only about those of late."""
    limits = limits or HealthLimits()
    flushes = journal.list_finished_flushes(limit=_FLUSHES_LOOKED_AT)
    segments = None if of_everything else [segment for flush in flushes for segment in flush.segments]
    return [
        check_freshness(journal.look(), limits),
        check_delivery(flushes),
        check_conversions(flushes, limits),
        check_throughput(flushes, limits),
        check_ledger(journal, segments),
    ]


def check_freshness(backlog: Backlog, limits: HealthLimits) -> HealthCheck:
    return HealthCheck(
        name="freshness",
        passed=backlog.age_seconds <= limits.freshness_seconds,
        value=round(backlog.age_seconds, 1),
        words=f"The oldest of {backlog.event_count} events that are not in the log is {backlog.age_seconds:.0f} s old.",
        remedy="Look whether the sensor status_log_backlog runs and at the last runs of flush_status_log; "
        "`orcha status-log flush` flushes by hand. A transaction that never ends holds its events back, too.",
    )


def check_delivery(flushes: Sequence[FinishedFlush]) -> HealthCheck:
    """What the journal holds of flushed segments, against what was written."""
    recorded = sum(flush.recorded_count for flush in flushes)
    delivered = sum(flush.event_count + flush.error_count for flush in flushes)
    ratio = delivered / recorded if recorded else 1.0
    wrong = [flush for flush in flushes if flush.event_count + flush.error_count != flush.recorded_count]
    return HealthCheck(
        name="delivery_ratio",
        passed=not wrong,
        value=round(ratio, 6),
        words=f"{delivered} of {recorded} events of the last {len(flushes)} flushes were delivered.",
        remedy="Events of a flushed segment were added or deleted by hand, or files were written of fewer than there "
        "are: compare with `orcha status-log verify`, and see docs/operations.md on flushing a segment again.",
        examples=tuple(f"flush {flush.id}" for flush in wrong),
    )


def check_files(journal: EventJournal, *, logged_count: int) -> HealthCheck:
    """What the files hold, against what all flushes together put there. Not while one is under way."""
    flushed = journal.count_flushed()
    return HealthCheck(
        name="files",
        passed=logged_count == flushed,
        value=float(logged_count - flushed),
        words=f"The files hold {logged_count} events, and {flushed} were put there.",
        remedy="Fewer: files were deleted, or the log lies in another object store than before. More: the database was "
        "restored to an older state, and what it forgot was flushed again; eventId tells the repeats.",
    )


def check_conversions(flushes: Sequence[FinishedFlush], limits: HealthLimits) -> HealthCheck:
    errors = sum(flush.error_count for flush in flushes)
    share = errors / max(sum(flush.event_count + flush.error_count for flush in flushes), 1)
    return HealthCheck(
        name="failed_conversions",
        passed=share <= limits.error_share,
        value=round(share, 4),
        words=f"{errors} events of the last {len(flushes)} flushes could not be converted.",
        remedy="They lie below errors/ in the object store, by what is wrong with them. An unknown event type is "
        "usually written by a newer version: bring all processes to the same one.",
    )


def check_throughput(flushes: Sequence[FinishedFlush], limits: HealthLimits) -> HealthCheck:
    """The share of the time that is spent flushing; at 1 the log falls behind."""
    busy = _find_busy_share(flushes)
    return HealthCheck(
        name="throughput",
        passed=busy <= limits.busy_share,
        value=round(busy, 3),
        words=f"Flushing takes {100 * busy:.0f} % of the time.",
        remedy="Flush less often and more at once (ORCHA_STATUS_LOG_FLUSH_SECONDS), or give the database and the "
        "object store more speed.",
    )


def _find_busy_share(flushes: Sequence[FinishedFlush]) -> float:
    """Without the first, whose rest before it is not known."""
    if len(flushes) < 2:
        return 0.0
    newest, oldest = flushes[0], flushes[-1]
    whole = (newest.finished_at - oldest.finished_at).total_seconds()
    return sum(flush.seconds for flush in flushes[:-1]) / whole if whole > 0 else 0.0


def check_ledger(journal: EventJournal, segments: Sequence[int] | None) -> HealthCheck:
    found = journal.list_contradictions(segments, limit=_MOST_CONTRADICTIONS)
    more = " or more" if len(found) == _MOST_CONTRADICTIONS else ""
    return HealthCheck(
        name="ledger",
        passed=not found,
        value=float(len(found)),
        words=f"Status and history of {len(found)}{more} ingestions do not fit together.",
        remedy="Somebody changed the database by hand, or it was restored in part. `orcha show ID` tells both sides; "
        "`orcha retry ID` brings an ingestion back into order.",
        examples=tuple(f"{one.ingestion_id} ({one.status or 'no row'}): {one.problem}" for one in found),
    )
