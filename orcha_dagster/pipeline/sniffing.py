"""What a file is, from its first bytes. Names lie; magic numbers seldom do."""

from orcha_dagster.domain.errors import DocumentUnsupported

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
)
_PDF_HEADER_WITHIN = 1024  # readers accept that much junk before the header, and senders rely on it


def sniff_media_type(content: bytes) -> str:
    # Pictures first: a picture may speak of PDF in its description, a PDF does not begin like a picture.
    for magic, media_type in _MAGIC:
        if content.startswith(magic):
            return media_type
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    if b"%PDF-" in content[:_PDF_HEADER_WITHIN]:
        return "application/pdf"
    raise DocumentUnsupported("The file is empty." if not content else "The file is of no type that Orcha reads.")
