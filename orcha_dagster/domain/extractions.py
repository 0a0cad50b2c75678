"""The fields taken from a document, each with the place it was read."""

from orcha_dagster.domain.model import DomainModel
from orcha_dagster.domain.transcriptions import Box


class ExtractedField(DomainModel):
    """A value in its normal form (ISO dates, plain decimals, ISO currencies) and where it came from."""

    value: str
    page: int | None = None  # None when it was not read from a page (e-invoice XML)
    box: Box | None = None
    text: str | None = None  # as printed


class Extraction(DomainModel):
    """What stage `extraction` leaves behind. Artifact `extraction.json`.

    Field names of `invoice` and `receipt`: number, issue_date, seller, buyer, currency, net, tax, gross.
    """

    schema_name: str  # "invoice", "receipt" or "generic"
    fields: dict[str, ExtractedField]
    extractor: str
    extractor_version: str
    model: str | None = None  # only when a model was asked
    input_tokens: int = 0
    output_tokens: int = 0

    def find_value(self, name: str) -> str | None:
        field = self.fields.get(name)
        return field.value if field else None

    def to_structured_data(self) -> dict[str, object]:
        """What goes into the database: the plain values, without their places."""
        return {"schema": self.schema_name, **{name: field.value for name, field in sorted(self.fields.items())}}
