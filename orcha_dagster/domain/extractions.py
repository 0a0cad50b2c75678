"""The fields taken from a document, each with the place it was read and how far it can be trusted."""

from collections.abc import Iterator, Mapping
from decimal import Decimal

from pydantic import Field

from orcha_dagster.domain.model import DomainModel
from orcha_dagster.domain.transcriptions import Box


class ExtractedField(DomainModel):
    """A value in its normal form (ISO dates, plain decimals, ISO currencies) and where it came from."""

    value: str
    page: int | None = None  # None when it was found on no page: an e-invoice's XML, or ungrounded
    box: Box | None = None
    text: str | None = None  # the words as printed
    match: float | None = None  # how well the words say the value, 0 to 1; None when nobody looked
    confidence: float | None = None  # 0 to 1, computed from match, reading and agreement; never asked of a model


Row = dict[str, ExtractedField]  # one row of a table by column name


class Witness(DomainModel):
    """What another extractor found in the same document: its agreement makes a value surer."""

    extractor: str
    extractor_version: str
    values: dict[str, str]  # normal forms by field name


class Extraction(DomainModel):
    """What stage `extraction` leaves behind. Artifact `extraction.json`.

    Field and table names are those of its schema (`orcha_dagster/schemas`).
    """

    schema_name: str
    schema_reason: str = ""  # why this schema: chosen at submit, or what in the text spoke for it
    fields: dict[str, ExtractedField]
    tables: dict[str, tuple[Row, ...]] = Field(default_factory=dict)
    extractor: str
    extractor_version: str
    witnesses: tuple[Witness, ...] = ()
    is_complete: bool = True  # False: the extractor itself says that something was cut off
    model: str | None = None  # only when a model was asked
    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    cost_usd: Decimal = Decimal(0)

    def find_value(self, name: str) -> str | None:
        field = self.fields.get(name)
        return field.value if field else None

    def rows(self, table: str) -> tuple[Row, ...]:
        return self.tables.get(table, ())

    def all_fields(self) -> Iterator[tuple[str, ExtractedField]]:
        """Also those of tables, named like `line_items[2].quantity`, rows from 1."""
        yield from self.fields.items()
        for table, rows in self.tables.items():
            for number, row in enumerate(rows, start=1):
                for name, field in row.items():
                    yield f"{table}[{number}].{name}", field

    def to_structured_data(self) -> dict[str, object]:
        """What goes into the database: the plain values, without their places."""
        return {"schema": self.schema_name, **_values(self.fields), **{t: [_values(r) for r in rows] for t, rows in
                self.tables.items()}}  # fmt: skip


def _values(fields: Mapping[str, ExtractedField]) -> dict[str, str]:
    return {name: field.value for name, field in sorted(fields.items())}
