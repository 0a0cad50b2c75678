"""Fields from the invoice XML inside a PDF, or from an XML invoice by itself. What the pages show is not looked at."""

from orcha_dagster.adapters.einvoice.invoice_data import InvoiceData, Values
from orcha_dagster.adapters.einvoice.reading import read_embedded_invoice, read_invoice_file
from orcha_dagster.domain.extractions import ExtractedField, Extraction, Row
from orcha_dagster.interfaces.cpu_pool import CpuPool
from orcha_dagster.interfaces.extractor import ExtractionRequest, Extractor

SCHEMA_NAME = "invoice"
# Pages are taken for these by their words, and the data inside knows better. Schemas of users have fields of their own.
_MISTAKEN_FOR = frozenset({"receipt", "generic"})


class EInvoiceExtractor(Extractor):
    name = "e-invoice"
    version = "2"

    def __init__(self, pool: CpuPool) -> None:
        self._pool = pool

    async def extract(self, request: ExtractionRequest) -> Extraction | None:
        data = await self._read(request) if _may_answer(request) else None
        if data is None:
            return None
        return Extraction(
            schema_name=SCHEMA_NAME,
            schema_reason="The document holds an e-invoice.",
            fields=_to_row(data.fields),
            tables={
                "taxes": tuple(_to_row(row) for row in data.taxes),
                "line_items": tuple(_to_row(row) for row in data.line_items),
            },
            extractor=self.name,
            extractor_version=self.version,
            is_complete=data.is_complete,
        )

    async def _read(self, request: ExtractionRequest) -> InvoiceData | None:
        if request.raw.is_pdf:
            return await self._pool.run(read_embedded_invoice, request.document)
        if request.raw.media_type == "application/xml":
            return await self._pool.run(read_invoice_file, request.document)
        return None


def _may_answer(request: ExtractionRequest) -> bool:
    is_mistaken = request.schema.name in _MISTAKEN_FOR and not request.is_schema_chosen
    return request.schema.name == SCHEMA_NAME or is_mistaken


def _to_row(values: Values) -> Row:
    return {name: ExtractedField(value=value) for name, value in values.items()}
