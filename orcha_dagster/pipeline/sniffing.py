"""What a file is, from its first bytes. Names lie; magic numbers seldom do."""

from orcha_dagster.domain.errors import DocumentUnsupported

HEAD_BYTES = 1024  # readers accept that much junk before a PDF's header, and senders rely on it
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
)
_HEIC_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")


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
    if b"%PDF-" in head[:HEAD_BYTES]:
        return "application/pdf"
    raise DocumentUnsupported("The file is empty." if not head else "The file is of no type that Orcha reads.")
