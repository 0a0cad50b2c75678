"""E-invoices inside real PDFs, whatever else those carry."""

import asyncio
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from uuid import UUID

import pytest
from fpdf import FPDF
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, NameObject

from orcha_dagster.adapters.einvoice.attachments import MAX_ATTACHMENTS
from orcha_dagster.adapters.einvoice.extractor import EInvoiceExtractor
from orcha_dagster.adapters.einvoice.reading import read_embedded_invoice
from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.schemas import DocumentSchema
from orcha_dagster.interfaces.extractor import ExtractionRequest
from orcha_dagster.samples.drawing import draw_einvoice
from orcha_dagster.schemas import generic, invoice, receipt
from tests.einvoices import CII, FIELDS, LINE_ITEMS, UBL
from tests.fake_providers import InlineCpuPool, transcription_of

OTHER = CII.replace("RE-118", "RE-119")
Attached = tuple[str, str | bytes]


@pytest.fixture
def pdf_with(tmp_path: Path) -> Callable[..., Path]:
    def write(*attached: Attached) -> Path:
        writer = _writer()
        for name, content in attached:
            writer.add_attachment(name, content.encode() if isinstance(content, str) else content)
        path = tmp_path / "document.pdf"
        writer.write(path)
        return path

    return write


def _writer() -> PdfWriter:
    drawn = FPDF()
    drawn.add_page()
    return PdfWriter(clone_from=PdfReader(BytesIO(bytes(drawn.output()))))


def number_in(document: Path) -> str | None:
    data = read_embedded_invoice(document)
    return data.fields["number"] if data else None


def test_the_xml_in_a_hybrid_invoice_says_what_the_page_says(tmp_path: Path) -> None:
    sample = draw_einvoice(tmp_path / "facture.pdf")
    data = read_embedded_invoice(sample.path)
    assert data is not None
    assert {name: data.fields.get(name) for name in sample.fields} == sample.fields
    assert len(data.line_items) == 6


@pytest.mark.parametrize(
    "name", ["factur-x.xml", "ZUGFeRD-invoice.xml", "xrechnung.xml", "UBL-Invoice-2.1.xml", "a.dat"]
)
def test_an_invoice_is_known_by_its_content_under_any_name(name: str, pdf_with: Callable[..., Path]) -> None:
    data = read_embedded_invoice(pdf_with((name, UBL)))
    assert data is not None
    assert data.fields == FIELDS
    assert data.line_items == LINE_ITEMS


def test_the_name_of_the_standard_decides_among_several(pdf_with: Callable[..., Path]) -> None:
    assert number_in(pdf_with(("old.xml", OTHER), ("factur-x.xml", CII), ("note.pdf", b"%PDF-1.7"))) == "RE-118"


def test_several_that_differ_under_other_names_are_none(pdf_with: Callable[..., Path]) -> None:
    assert number_in(pdf_with(("one.xml", CII), ("two.xml", OTHER))) is None


def test_a_name_of_the_standard_on_something_else_is_passed_over(pdf_with: Callable[..., Path]) -> None:
    assert number_in(pdf_with(("factur-x.xml", "<order/>"), ("mine.xml", CII))) == "RE-118"


def test_an_associated_file_that_is_missing_in_the_tree_of_names_is_found(tmp_path: Path) -> None:
    writer = _writer()
    attached = writer.add_attachment("factur-x.xml", CII.encode())
    root = writer.root_object
    root[NameObject("/AF")] = ArrayObject([writer._add_object(attached.pdf_object)])
    del root["/Names"]
    path = tmp_path / "document.pdf"
    writer.write(path)
    assert number_in(path) == "RE-118"


def test_a_pdf_without_attachments_has_no_invoice(pdf_with: Callable[..., Path]) -> None:
    assert number_in(pdf_with()) is None


def test_only_so_many_attachments_are_looked_at(pdf_with: Callable[..., Path]) -> None:
    many = [(f"{index:03}.txt", "x") for index in range(MAX_ATTACHMENTS + 1)]
    assert number_in(pdf_with(*many, ("zz.xml", CII))) is None


@pytest.mark.parametrize(
    "content", [b"", b"%PDF-1.7 broken", b"%PDF-1.7\n1 0 obj\n<</Names 1 0 R>>\nendobj\ntrailer<</Root 1 0 R>>"]
)
def test_a_damaged_pdf_has_no_invoice(content: bytes, tmp_path: Path) -> None:
    document = tmp_path / "damaged.pdf"
    document.write_bytes(content)
    assert number_in(document) is None


def extract(
    document: Path, media_type: str, schema: DocumentSchema = invoice.SCHEMA, *, is_chosen: bool = False
) -> Extraction | None:
    raw = RawDocument(document_id=UUID(int=1), file_path="a", media_type=media_type, byte_size=1, sha256="0" * 64)
    request = ExtractionRequest(raw, document, transcription_of(), schema, is_schema_chosen=is_chosen)
    return asyncio.run(EInvoiceExtractor(InlineCpuPool()).extract(request))


def test_the_extractor_gives_fields_and_tables_without_places(tmp_path: Path) -> None:
    document = tmp_path / "invoice.xml"
    document.write_text(UBL, encoding="utf-8")
    extraction = extract(document, "application/xml")
    assert extraction is not None
    assert extraction.find_value("gross") == "238.00"
    assert [row["description"].value for row in extraction.rows("line_items")] == ["Bohrer"]
    assert all(field.page is None for _, field in extraction.all_fields())
    assert extraction.cost_usd == 0


def test_a_picture_and_a_users_own_schema_are_not_its_business(tmp_path: Path) -> None:
    document = tmp_path / "invoice.xml"
    document.write_text(UBL, encoding="utf-8")
    own = DocumentSchema(name="order", title="Order", json_schema={}, critical_fields=())
    assert extract(document, "image/png") is None
    assert extract(document, "application/xml", own) is None


@pytest.mark.parametrize("schema", [receipt.SCHEMA, generic.SCHEMA])
def test_a_page_is_only_taken_for_something_else_until_somebody_chose(schema: DocumentSchema, tmp_path: Path) -> None:
    document = tmp_path / "invoice.xml"
    document.write_text(UBL, encoding="utf-8")
    found = extract(document, "application/xml", schema)
    assert found is not None
    assert found.schema_name == "invoice"
    assert extract(document, "application/xml", schema, is_chosen=True) is None
    assert extract(document, "application/xml", is_chosen=True) is not None
