"""The small pieces HTML is made of. Whatever comes from a document is escaped here, and only here."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple


class Markup(str):
    """Text that is HTML already; anything else is escaped when it becomes part of some."""

    __slots__ = ()


Content = Markup | str | float | None


def text(content: Content) -> Markup:
    if isinstance(content, Markup):
        return content
    return Markup(escape("" if content is None else str(content)))


def join(contents: Iterable[Content]) -> Markup:
    return Markup("".join(text(content) for content in contents))


def element(name: str, *contents: Content, **attributes: str | float | None) -> Markup:
    """`class_` is class; an underscore inside a name is a hyphen."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{written}>{join(contents)}</{name}>")


class Column(NamedTuple):
    title: str
    is_number: bool = True


def table(columns: Sequence[Column], rows: Iterable[Sequence[Content]], *, class_: str | None = None) -> Markup:
    """Numbers stand to the right, so that their digits can be compared. The first column names the row."""
    sides = ["number" if column.is_number else None for column in columns]
    head = [element("th", column.title, class_=side) for column, side in zip(columns, sides, strict=True)]
    body = [
        element(
            "tr",
            *(
                element("td" if place else "th", cell, class_=side)
                for place, (cell, side) in enumerate(zip(row, sides, strict=True))
            ),
        )
        for row in rows
    ]
    whole = element("table", element("thead", element("tr", *head)), element("tbody", *body), class_=class_)
    return element("div", whole, class_="wide")


def counted(count: int, thing: str) -> str:
    """1 row, 2 rows."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def percent(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{100 * value:.{digits}f} %"


def number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
