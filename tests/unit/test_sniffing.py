"""What a file is, from its first bytes."""

import io
import time

import pytest
from PIL import Image

from orcha_dagster.domain.errors import DocumentUnsupported
from orcha_dagster.pipeline.sniffing import sniff_media_type


def picture(kind: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), "white").save(buffer, kind)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "WEBP"])
def test_a_picture_is_known_by_its_first_bytes(kind: str) -> None:
    assert sniff_media_type(picture(kind)) == f"image/{kind.lower()}"


def test_a_tiff_of_either_byte_order_is_a_tiff() -> None:
    assert sniff_media_type(b"MM\0*" + bytes(8)) == "image/tiff"
    assert sniff_media_type(b"II*\0" + bytes(8)) == "image/tiff"


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", b"\x1b%-12345X@PJL\r\n", b"\n" * 1000])
def test_a_pdf_may_have_some_junk_before_its_header(before: bytes) -> None:
    assert sniff_media_type(before + b"%PDF-1.7\n") == "application/pdf"


def test_a_header_deep_inside_makes_no_pdf() -> None:
    with pytest.raises(DocumentUnsupported):
        sniff_media_type(b"x" * 2000 + b"%PDF-1.7\n")


def test_a_picture_that_speaks_of_pdf_is_still_a_picture() -> None:
    described = picture("PNG")[:33] + b"\0\0\0\x1etEXtComment\0made from %PDF-1.7"
    assert sniff_media_type(described) == "image/png"


@pytest.mark.parametrize(
    "content",
    [b"x", b"PK\x03\x04word/document.xml", b"GIF89a", b"RIFF\x10\0\0\0WAVEfmt ", b"<html>", b"\x89PN", b"%PD", b"\xff"],
)
def test_anything_else_is_unsupported(content: bytes) -> None:
    with pytest.raises(DocumentUnsupported, match="no type"):
        sniff_media_type(content)


def test_an_empty_file_is_called_empty() -> None:
    with pytest.raises(DocumentUnsupported, match="empty"):
        sniff_media_type(b"")


UBL = '<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2">'
CII = '<rsm:CrossIndustryInvoice xmlns:rsm="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100">'


@pytest.mark.parametrize(
    "root",
    [UBL, CII, UBL.replace("Invoice", "CreditNote"), UBL.replace("<Invoice xmlns", "<u:Invoice xmlns:u"),
     "<rsm:CrossIndustryDocument>", "<?xml version='1.0'?>\n<!-- > no warranty < -->\n" + CII,
     f"<!--{'disclaimer ' * 600}-->{CII}"],
)  # fmt: skip
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_an_invoice_in_xml_is_known_by_its_root(root: str, encoding: str) -> None:
    assert sniff_media_type(root.encode(encoding)) == "application/xml"


@pytest.mark.parametrize(
    "other",
    ["<?xml version='1.0'?><order/>", "<Invoice>", "<Invoice xmlns='urn:acme:bill'>", f"<order>{UBL}",
     f"<!-- {CII} -->", f"<!DOCTYPE x [<!ENTITY a 'b'>]>{CII}", f"text {CII}", f"<!--{'never closed ' * 500}{CII}"],
)  # fmt: skip
def test_other_xml_is_unsupported(other: str) -> None:
    with pytest.raises(DocumentUnsupported, match="no type"):
        sniff_media_type(other.encode())


def test_a_head_full_of_comments_is_told_in_no_time() -> None:
    began = time.perf_counter()
    with pytest.raises(DocumentUnsupported):
        sniff_media_type(b"<!-- -->" * 2_000 + b"<!--")
    assert time.perf_counter() - began < 0.5
