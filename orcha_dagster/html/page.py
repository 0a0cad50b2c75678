"""A report as one HTML page: it opens anywhere, asks the network for nothing, and runs no script."""

from orcha_dagster.html.elements import Content, element, text
from orcha_dagster.html.style import STYLE

# Nothing but what is in the page itself, even if a document held words that a browser takes for more than words.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def write_page(title: str, *contents: Content, style: str = "") -> str:
    """`style` is added to the one of all reports."""
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{text(title)}</title><style>{STYLE}{style}</style>"
    )
    body = element("body", element("h1", title), *contents)
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>{body}</html>\n'
