"""What every PagePreparer promises, asked of the fake and of the local one; at the end what only TIFFs can show."""

import asyncio
import io
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar
from uuid import UUID

import pytest
from fpdf import FPDF
from PIL import Image, ImageDraw, ImageFont

from orcha_dagster.adapters.page_preparer import LocalPagePreparer
from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.errors import DocumentDamaged, DocumentEncrypted, DocumentTooLarge
from orcha_dagster.domain.pages import PageTreatment
from orcha_dagster.interfaces.page_preparer import PagePreparer
from tests.fake_providers import FakePagePreparer, InlineCpuPool, fake_document

MAX_PAGES = 6
MAX_PIXELS = 1_000_000
T = TypeVar("T")


class Bench:
    """A preparer, and how the documents that it opens are written."""

    def __init__(self, preparer: PagePreparer, write: Callable[..., bytes]) -> None:
        self.preparer = preparer
        self.write = write

    def prepare(self, content: bytes) -> tuple[tuple[PageTreatment, ...], dict[int, bytes]]:
        return run(self.preparer.prepare(raw_of(content), content))

    def picture_of(self, content: bytes, page: int) -> bytes:
        return run(self.preparer.picture_of(raw_of(content), content, page))


@pytest.fixture(params=["fake", "local"])
def bench(request: pytest.FixtureRequest) -> Bench:
    if request.param == "fake":
        return Bench(FakePagePreparer(max_pages=MAX_PAGES), fake_document)
    return Bench(local_preparer(), write_pdf)


def local_preparer() -> LocalPagePreparer:
    return LocalPagePreparer(InlineCpuPool(), max_pages=MAX_PAGES, max_page_pixels=MAX_PIXELS)


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def raw_of(content: bytes, media_type: str = "application/pdf") -> RawDocument:
    return RawDocument(
        document_id=UUID(int=1), file_path="a", media_type=media_type, byte_size=len(content), sha256="0" * 64
    )


def write_pdf(*kinds: str) -> bytes:
    """A PDF of pages that are each `text`, `scan` or `crooked`, or one that is `locked`."""
    document = FPDF(unit="pt", format=(300, 300))
    document.set_font("Helvetica", size=9)
    for number, kind in enumerate(kinds, start=1):
        document.add_page()
        if kind == "text":
            document.text(20, 40, f"text of page {number}, long enough to be believed")
        else:
            document.image(draw(skew=4 if kind == "crooked" else 0), x=0, y=0, w=300, h=300)
    if "locked" in kinds:
        document.set_encryption(owner_password="owner", user_password="secret")
    return bytes(document.output())


def draw(*, skew: float = 0, text: str = "Lines of dark text") -> Image.Image:
    image = Image.new("L", (600, 600), 255)
    for row in range(9):
        ImageDraw.Draw(image).text((100, 90 + 45 * row), text, fill=0, font=ImageFont.load_default(28))
    return image.rotate(-skew, fillcolor=255, resample=Image.Resampling.BICUBIC)


def write_tiff(*pages: Image.Image, **options: Any) -> bytes:
    buffer = io.BytesIO()
    first, *others = pages
    first.save(buffer, "TIFF", save_all=True, append_images=others, **options)
    return buffer.getvalue()


def test_every_page_comes_once_and_in_order(bench: Bench) -> None:
    treatments, _ = bench.prepare(bench.write("text", "scan", "crooked", "text"))
    assert [treatment.measurement.page for treatment in treatments] == [1, 2, 3, 4]
    assert [treatment.measurement.has_text_layer for treatment in treatments] == [True, False, False, True]


def test_only_a_page_that_needs_it_is_treated_and_each_says_why(bench: Bench) -> None:
    treatments, _ = bench.prepare(bench.write("text", "scan", "crooked"))
    assert [treatment.steps for treatment in treatments] == [(), (), ("deskewed",)]
    assert all(treatment.reason for treatment in treatments)


def test_there_are_pictures_of_the_treated_pages_and_of_no_other(bench: Bench) -> None:
    _, pictures = bench.prepare(bench.write("crooked", "text", "crooked", "scan"))
    assert sorted(pictures) == [1, 3]
    assert all(pictures.values())


def test_a_document_without_anything_to_treat_has_no_pictures(bench: Bench) -> None:
    assert bench.prepare(bench.write("text", "scan"))[1] == {}


def test_the_text_layer_is_read_from_the_pages_named(bench: Bench) -> None:
    pages = run(bench.preparer.read_text_layer(bench.write("text", "scan", "text"), [1, 3]))
    assert [(page.page, page.source) for page in pages] == [(1, "text_layer"), (3, "text_layer")]
    for page in pages:
        assert page.lines[0].text.startswith(f"text of page {page.page}")
        assert all(line.confidence == 1 for line in page.lines)


def test_each_page_has_a_picture_of_its_own(bench: Bench) -> None:
    content = bench.write("scan", "crooked")
    first, second = bench.picture_of(content, 1), bench.picture_of(content, 2)
    assert first
    assert second
    assert first != second


@pytest.mark.parametrize("count", [1, 2, 3])
def test_what_is_packed_is_unpacked_in_its_order(bench: Bench, count: int) -> None:
    _, pictures = bench.prepare(bench.write(*["crooked"] * count))
    extension, packed = run(bench.preparer.pack([pictures[page] for page in sorted(pictures)]))
    assert extension.isalnum()
    assert len(run(bench.preparer.unpack(packed))) == count


@pytest.mark.parametrize("content", [b"", b"%PDF-1.7 and then nothing"])
def test_a_document_that_cannot_be_opened_is_damaged(bench: Bench, content: bytes) -> None:
    with pytest.raises(DocumentDamaged):
        bench.prepare(content)


def test_a_document_with_a_password_is_encrypted(bench: Bench) -> None:
    with pytest.raises(DocumentEncrypted):
        bench.prepare(bench.write("locked"))


def test_as_many_pages_as_allowed_are_prepared_and_one_more_is_too_large(bench: Bench) -> None:
    assert len(bench.prepare(bench.write(*["text"] * MAX_PAGES))[0]) == MAX_PAGES
    with pytest.raises(DocumentTooLarge):
        bench.prepare(bench.write(*["text"] * (MAX_PAGES + 1)))


def test_packed_pictures_keep_their_sizes_and_are_jpegs_again() -> None:
    preparer = local_preparer()
    pictures = []
    for side in (200, 300, 400):
        buffer = io.BytesIO()
        Image.new("RGB", (side, side), "white").save(buffer, "JPEG")
        pictures.append(buffer.getvalue())
    extension, packed = run(preparer.pack(pictures))
    assert extension == "tiff"
    unpacked = [Image.open(io.BytesIO(picture)) for picture in run(preparer.unpack(packed))]
    assert [(image.format, image.size) for image in unpacked] == [("JPEG", (side, side)) for side in (200, 300, 400)]


def test_a_picture_is_a_document_of_one_page() -> None:
    buffer = io.BytesIO()
    draw().save(buffer, "PNG")
    content = buffer.getvalue()
    treatments, pictures = run(local_preparer().prepare(raw_of(content, "image/png"), content))
    assert (len(treatments), pictures) == (1, {})
    assert run(local_preparer().picture_of(raw_of(content, "image/png"), content, 1)) == content


@pytest.mark.parametrize("compression", [None, "group4", "tiff_lzw"])
def test_no_page_of_a_fax_is_lost(compression: str | None) -> None:
    pages = [Image.new("1", (200 + 10 * number, 300), 1) for number in range(3)]
    content = write_tiff(*pages, compression=compression)
    treatments, pictures = run(local_preparer().prepare(raw_of(content, "image/tiff"), content))
    assert [(t.measurement.page, t.measurement.width) for t in treatments] == [(1, 200), (2, 210), (3, 220)]
    assert all(t.steps == ("converted",) for t in treatments)
    assert [Image.open(io.BytesIO(pictures[page])).size for page in (1, 2, 3)] == [(200, 300), (210, 300), (220, 300)]


def test_a_tiff_with_more_pages_than_allowed_is_too_large() -> None:
    content = write_tiff(*[Image.new("1", (20, 20), 1)] * (MAX_PAGES + 1))
    with pytest.raises(DocumentTooLarge):
        run(local_preparer().prepare(raw_of(content, "image/tiff"), content))


def test_a_later_page_over_the_limit_is_refused_before_it_is_decoded() -> None:
    content = write_tiff(Image.new("1", (20, 20), 1), Image.new("1", (2000, 2000), 1))
    with pytest.raises(DocumentTooLarge):
        run(local_preparer().prepare(raw_of(content, "image/tiff"), content))


def test_a_thumbnail_in_a_tiff_is_not_a_page() -> None:
    page, thumbnail = Image.new("L", (200, 300), 255), Image.new("L", (20, 30), 255)
    thumbnail.encoderinfo = {"tiffinfo": {254: 1}}
    content = write_tiff(page, thumbnail)
    treatments, _ = run(local_preparer().prepare(raw_of(content, "image/tiff"), content))
    assert [treatment.measurement.width for treatment in treatments] == [200]


@pytest.mark.parametrize("keep", [0, 8, 200])
def test_a_cut_off_tiff_is_damaged(keep: int) -> None:
    content = write_tiff(draw(), draw())[:keep]
    with pytest.raises(DocumentDamaged):
        run(local_preparer().prepare(raw_of(content, "image/tiff"), content))
