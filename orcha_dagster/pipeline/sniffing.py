"""What a file is, from its first bytes. Names lie; magic numbers seldom do."""

import re

from orcha_dagster.domain.errors import DocumentUnsupported

HEAD_BYTES = 16_384  # of XML: the invoices of one standards body begin with 6 kB of disclaimer
PDF_HEADER_BYTES = 1024  # readers accept that much junk before a PDF's header, and senders rely on it
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
)
_HEIC_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
# Comments and instructions may stand before the root; a document type may not, because no e-invoice has one. Each is
# taken whole and for good, or a head full of them takes time without end.
_XML_ROOT = re.compile(
    r"\ufeff?\s*(?>(?:<!--.*?-->|<\?.*?\?>)\s*)*+<(?:[\w.-]+:)?(?P<name>[A-Za-z]\w*)(?P<attributes>[\s/>][^>]*)",
    re.DOTALL,
)
_CII_ROOTS = frozenset({"CrossIndustryInvoice", "CrossIndustryDocument"})
_UBL_ROOTS = frozenset({"Invoice", "CreditNote"})  # also of many others, so their namespace must speak for them
_NAMESPACES = re.compile(r"urn:oasis:names:specification:ubl:|urn:un:unece:uncefact:")


def sniff_media_type(head: bytes) -> str:
    """`head`: the first HEAD_BYTES of the file, or all of it."""
    # Pictures first: a picture may speak of PDF in its description, a PDF does not begin like a picture.
    for magic, media_type in _MAGIC:
        if head.startswith(magic):
            return media_type
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[4:8] == b"ftyp" and head[8:12] in _HEIC_BRANDS:
        return "image/heic"
    if b"%PDF-" in head[:PDF_HEADER_BYTES]:
        return "application/pdf"
    if _is_invoice_xml(head[:HEAD_BYTES]):
        return "application/xml"
    raise DocumentUnsupported("The file is empty." if not head else "The file is of no type that Orcha reads.")


def _is_invoice_xml(head: bytes) -> bool:
    """Whether the root is that of an e-invoice. Other XML is of no use to anybody here."""
    encoding = "utf-16" if head.startswith(_UTF_16_MARKS) else "utf-8"
    root = _XML_ROOT.match(head.decode(encoding, errors="replace"))
    if root is None:
        return False
    has_namespace = _NAMESPACES.search(root["attributes"]) is not None
    return root["name"] in _CII_ROOTS or (root["name"] in _UBL_ROOTS and has_namespace)
