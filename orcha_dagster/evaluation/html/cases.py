"""One document of the report: its pages with the places of its fields, and what was expected and found."""

import base64
from collections.abc import Iterator, Mapping

from orcha_dagster.evaluation.extraction_scores import End, ExtractionScore
from orcha_dagster.evaluation.field_matching import Match
from orcha_dagster.evaluation.field_scores import FieldScore
from orcha_dagster.html.elements import Column, Content, Markup, element, join, number, table

_END_CLASSES = {
    End.ACCEPTED_WRONG: "bad",
    End.FAILED: "bad",
    End.REVIEW_WRONG: "doubtful",
    End.REVIEW_RIGHT: "doubtful",
    End.ACCEPTED_RIGHT: "good",
}
_ROWS_SHOWN = 8  # wrong rows of a table


def show_case(one: ExtractionScore, views: Mapping[int, bytes]) -> Markup:
    pictures = [_show_page(one, page, picture) for page, picture in sorted(views.items())]
    return element(
        "article",
        element("h3", one.path, " ", _badge(one)),
        element("p", _about(one), class_="note"),
        element(
            "div",
            element("div", *pictures, class_="pages"),
            element("div", _show_fields(one), _show_rows(one), _show_checks(one), class_="facts"),
            class_="case",
        ),
    )


def _badge(one: ExtractionScore) -> Markup:
    end = one.end
    return element("span", end or "not judged", class_=f"badge {_END_CLASSES[end] if end else ''}")


def _about(one: ExtractionScore) -> str:
    if one.error_code:
        return f"{one.kind} · {one.tier} · {one.error_code}: {one.error_message}"
    parts = [
        one.kind,
        one.tier,
        f"{one.pages} pages" if one.pages != 1 else "1 page",
        f"schema {one.schema_name} ({one.schema_reason})",
        f"extractor {one.extractor} {one.extractor_version}",
        f"confidence {number(one.confidence)}",
    ]
    return " · ".join(parts)


def _show_page(one: ExtractionScore, page: int, picture: bytes) -> Markup:
    data = base64.b64encode(picture).decode()
    image = element("img", src=f"data:image/jpeg;base64,{data}", alt=f"Page {page} of {one.path}")
    boxes = join(_boxes(one, page))
    return element(
        "figure", element("div", image, boxes, class_="page"), element("figcaption", f"page {page} of {one.pages}")
    )


def _boxes(one: ExtractionScore, page: int) -> Iterator[Markup]:
    for field in one.fields:
        if field.page == page and field.box is not None:
            box = field.box
            place = (
                f"left:{100 * box.left:.2f}%;top:{100 * box.top:.2f}%;"
                f"width:{100 * (box.right - box.left):.2f}%;height:{100 * (box.bottom - box.top):.2f}%"
            )
            words = f"{field.name}: {field.found}"
            yield element(
                "span", element("b", field.name), class_=f"box {_class_of(field.match)}", style=place, title=words
            )


def _show_fields(one: ExtractionScore) -> Markup:
    columns = (Column("field", False), Column("expected", False), Column("found", False), Column("confidence"))
    return table(columns, (_field_row(field) for field in _worst_first(one)), class_="fields")


def _worst_first(one: ExtractionScore) -> list[FieldScore]:
    return sorted(one.fields, key=lambda field: (field.match.is_right, not field.is_critical))


def _field_row(field: FieldScore) -> tuple[Content, ...]:
    found = element("span", field.found or "nothing", class_=_class_of(field.match), title=field.match.value)
    name = element("span", field.name, element("abbr", " *", title="critical")) if field.is_critical else field.name
    expected = field.expected
    if field.is_label_doubtful:
        remark = element("abbr", " (not printed so)", title="The manifest says that the label differs from the print")
        return name, element("span", expected, remark), found, number(field.confidence, 2)
    return name, expected, found, number(field.confidence, 2)


def _show_rows(one: ExtractionScore) -> Markup:
    parts: list[Markup] = []
    for name, scored in one.tables.items():
        wrong = [row for row in scored.rows if not row.match.is_right]
        parts.append(
            element("p", f"{name}: {scored.right_rows} of {len(scored.rows)} rows right, {scored.found_rows} found")
        )
        cells = [cell for row in wrong[:_ROWS_SHOWN] for cell in row.cells if not cell.match.is_right]
        if cells:
            columns = (Column("cell", False), Column("expected", False), Column("found", False), Column("confidence"))
            parts.append(table(columns, (_field_row(cell) for cell in cells), class_="fields"))
    return join(parts)


def _show_checks(one: ExtractionScore) -> Markup:
    if not one.failed_checks:
        return Markup(element("p", "Every check passed.", class_="note") if not one.error_code else "")
    items = [element("li", element("b", name), f": {reason}") for name, reason in one.failed_checks.items()]
    return element("div", element("p", "Failed checks:"), element("ul", *items))


def _class_of(match: Match) -> str:
    return "right" if match.is_right else ("similar" if match is Match.SIMILAR else "wrong")
