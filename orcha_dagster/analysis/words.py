"""Figures as people read them, the same on the screen and on the page."""

from datetime import datetime
from typing import Any


def count_words(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def seconds_words(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:,.1f} h" if seconds < 172_800 else f"{seconds / 86_400:,.1f} days"


def money_words(usd: float | None) -> str:
    if usd is None:
        return "–"
    if usd >= 1000:
        return f"{usd:,.0f} USD"
    return f"{usd:.2f} USD" if usd >= 1 or usd == 0 else f"{usd:.4f} USD"


def share_words(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def moment_words(moment: datetime | None) -> str:
    return "–" if moment is None else moment.strftime("%Y-%m-%d %H:%M:%S")


def cell_words(column: str, value: Any) -> str:
    """By what the column's name says its values are."""
    if value is None:
        return "–"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d") if column == "day" else moment_words(value)
    if column.endswith("_seconds"):
        return seconds_words(float(value))
    if column.endswith("_share"):
        return share_words(float(value))
    if column.endswith("_usd") or column.startswith("usd_"):
        return money_words(float(value))
    if isinstance(value, int) and not column.endswith("id"):
        return count_words(value)
    return str(value)
