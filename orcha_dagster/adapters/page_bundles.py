"""Pages put into one file for a transcriber, within what it takes in one call. Runs inside CPU workers.

A scan inside a PDF is best sent as it is: drawing it again costs time and sharpness. Pages that were treated, or whose
own text is not to be believed, go as pictures; the two kinds are not mixed in one file.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from orcha_dagster.adapters.page_pictures import PDF, load_page
from orcha_dagster.adapters.pdf_pages import cut_pages, pictures_to_pdf
from orcha_dagster.adapters.pictures.picture import encode_picture
from orcha_dagster.domain.errors import DocumentTooLarge
from orcha_dagster.interfaces.page_preparer import BundleFile
from orcha_dagster.interfaces.transcriber import BundleLimits

_AS_THEY_ARE = ("image/jpeg", "image/png")
_PDF_OVERHEAD_BYTES = 2_000  # per page, generously, of a PDF that holds pictures


def make_bundle(
    document: Path,
    media_type: str,
    pages: Sequence[int],
    *,
    pictures: Mapping[int, Path],
    drawn: Collection[int],
    limits: BundleLimits,
    max_pixels: int,
    bundled: Path,
) -> BundleFile:
    """The first of the pages, as many as fit and go together; written to `bundled` unless a file can go as it is."""
    pages = pages[: limits.pages if limits.takes_pdf else 1]
    if media_type == PDF and limits.takes_pdf:
        own = tuple(takewhile(lambda page: page not in pictures and page not in drawn, pages))
        if (cut := _cut(document, own, limits, bundled)) is not None:
            return cut
        pages = pages[: 1 if own else None]
    files = _picture_files(document, media_type, pages, pictures=pictures, drawn=drawn, limits=limits,
                           max_pixels=max_pixels)  # fmt: skip
    return _join(tuple(_that_fit(files, limits)), bundled)


def _cut(document: Path, pages: tuple[int, ...], limits: BundleLimits, bundled: Path) -> BundleFile | None:
    """Pages of a PDF as a PDF, fewer and fewer until they fit; None when not even one does."""
    while pages:
        content = cut_pages(document, pages)
        if len(content) <= limits.bytes:
            bundled.write_bytes(content)
            return BundleFile(bundled, PDF, pages)
        pages = pages[: len(pages) // 2]
    return None


def _picture_files(
    document: Path,
    media_type: str,
    pages: Sequence[int],
    *,
    pictures: Mapping[int, Path],
    drawn: Collection[int],
    limits: BundleLimits,
    max_pixels: int,
) -> Iterator[tuple[int, Path, str]]:
    """Page, file and media type; for as long as one follows the other without a page that goes as it is."""
    for number, page in enumerate(pages):
        if page in pictures:
            yield page, pictures[page], "image/jpeg"
        elif media_type in _AS_THEY_ARE and document.stat().st_size <= limits.bytes:
            yield page, document, media_type
        elif number == 0 or page in drawn or media_type != PDF:
            file = document.with_name(f"drawn-{page}.jpg")
            if not file.exists():
                picture, _, _ = load_page(document, media_type, page, max_pixels=max_pixels)
                file.write_bytes(encode_picture(picture))
            yield page, file, "image/jpeg"
        else:
            return


def _that_fit(files: Iterator[tuple[int, Path, str]], limits: BundleLimits) -> Iterator[tuple[int, Path, str]]:
    room = limits.bytes
    for number, (page, file, media_type) in enumerate(files):
        size = file.stat().st_size
        if number == 0 and size > room:
            raise DocumentTooLarge(f"The picture of page {page} has {size:,} bytes; one call takes {room:,}.")
        room -= size + _PDF_OVERHEAD_BYTES
        if number > 0 and room < 0:
            return
        yield page, file, media_type


def _join(files: tuple[tuple[int, Path, str], ...], bundled: Path) -> BundleFile:
    pages = tuple(page for page, _, _ in files)
    if len(files) == 1:
        _, file, media_type = files[0]
        return BundleFile(file, media_type, pages)
    bundled.write_bytes(pictures_to_pdf([file for _, file, _ in files]))
    return BundleFile(bundled, PDF, pages)
