"""What the simulated model says. It is no model: it reads the fenced text as anybody could who has only the request,
and has the rules find the fields in it. Tests bring answers of their own."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import UUID

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.transcriptions import TEXT_LAYER, Box, Line, TranscribedPage, Transcription
from orcha_dagster.interfaces.extractor import ExtractionRequest
from orcha_dagster.rules.rules_extractor import RulesExtractor
from orcha_dagster.schemas.loading import BUILT_IN

# The text of a request becomes an object in the asked form; a string is sent as it is.
AnswerMessage = Callable[[dict[str, Any]], Awaitable[dict[str, Any] | str]]

_FENCE = re.compile(r"\[\[document ([0-9a-f]+)\]\]\n(.*)\n\[\[end of document \1\]\]", re.DOTALL)
_COLUMNS, _ROWS = 110, 80
_NO_DOCUMENT = RawDocument(document_id=UUID(int=0), file_path="", media_type="text/plain", byte_size=0, sha256="")


def user_texts(request: dict[str, Any]) -> list[str]:
    content = request["messages"][-1]["content"]
    return [content] if isinstance(content, str) else [block.get("text", "") for block in content]


def fenced_pages(request: dict[str, Any]) -> dict[int, dict[int, str]]:
    """The rows by page and number, as they were fenced."""
    found = next((match for text in user_texts(request) if (match := _FENCE.fullmatch(text))), None)
    pages: dict[int, dict[int, str]] = {}
    for line in found[2].split("\n") if found else ():
        if line.startswith("== page "):
            pages[int(line.removeprefix("== page "))] = {}
        else:
            number, _, text = line.partition("| ")
            pages[max(pages)][int(number)] = text
    return pages


async def answer_by_rules(request: dict[str, Any]) -> dict[str, Any]:
    pages = fenced_pages(request)
    wanted = _wanted(request)
    schema = BUILT_IN["invoice" if "buyer" in wanted["fields"] else "receipt"]
    extraction = await RulesExtractor().extract(
        ExtractionRequest(_NO_DOCUMENT, Path(), _transcription(pages), schema)  # the rules look at the text only
    )
    if extraction is None:
        return {"fields": [], "rows": []}
    fields = [
        {"name": name, "value": field.value, "page": field.page or min(pages), "row": 1, "quote": field.text or ""}
        for name, field in extraction.fields.items()
        if name in wanted["fields"]
    ]
    rows = [
        {"table": table, "page": next((cell.page for cell in row.values() if cell.page), min(pages)), "row": number,
         "cells": [{"column": column, "value": cell.value} for column, cell in row.items()
                   if column in wanted["columns"]]}
        for table, table_rows in extraction.tables.items() if table in wanted["tables"]
        for number, row in enumerate(table_rows, start=1)
    ]  # fmt: skip
    return {"fields": fields, "rows": rows}


def _wanted(request: dict[str, Any]) -> dict[str, list[str]]:
    """The names that the form of the answer allows."""
    form = request["output_config"]["format"]["schema"]["properties"]
    row = form["rows"]["items"]["properties"]
    return {
        "fields": form["fields"]["items"]["properties"]["name"].get("enum", []),
        "tables": row["table"].get("enum", []),
        "columns": row["cells"]["items"]["properties"]["column"].get("enum", []),
    }


def _transcription(pages: dict[int, dict[int, str]]) -> Transcription:
    read = tuple(
        TranscribedPage(page=page, lines=_lines(rows), source=TEXT_LAYER, quality_score=1.0)
        for page, rows in pages.items()
    )
    return Transcription(pages=read, provider=TEXT_LAYER, provider_version="1", quality_score=1.0)


def _lines(rows: dict[int, str]) -> tuple[Line, ...]:
    """Back to places: the text keeps the columns of the page, and rows lie one below the other."""
    height = 1 / max(_ROWS, *rows, 1)
    lines = []
    for number, text in rows.items():
        for part in re.finditer(r"\S+(?: \S+)*", text):
            box = Box(left=min(1.0, part.start() / _COLUMNS), top=(number - 1) * height,
                      right=min(1.0, part.end() / _COLUMNS), bottom=(number - 0.2) * height)  # fmt: skip
            lines.append(Line(text=part[0], box=box, confidence=1.0))
    return tuple(lines)
