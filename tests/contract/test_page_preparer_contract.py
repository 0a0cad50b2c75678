"""What every PagePreparer promises, asked of the fake and of the local one; at the end what real files show."""

import asyncio
import io
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import pytest
from fpdf import FPDF
from PIL import Image, ImageDraw, ImageFont

from orcha_dagster.adapters.page_preparer import LocalPagePreparer
from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.errors import DocumentDamaged, DocumentEncrypted, DocumentTooLarge
from orcha_dagster.domain.pages import PageMeasurement, PageTreatment
from orcha_dagster.interfaces.page_preparer import PagePreparer
from orcha_dagster.interfaces.transcriber import Bundle, BundleLimits
from tests.fake_providers import FakePagePreparer, InlineCpuPool, fake_document

MAX_PAGES = 6
MAX_PIXELS = 1_000_000
PICTURES = BundleLimits(pages=1, bytes=1_000_000, takes_pdf=False)
FIFTEEN = BundleLimits(pages=15, bytes=1_000_000, takes_pdf=True)
T = TypeVar("T")


class Bench:
    """A preparer before one document of a certain kind."""

    def __init__(self, preparer: PagePreparer, write: Callable[..., bytes], folder: Path) -> None:
        self.preparer = preparer
        self.folder = folder
        self._write = write
        self._media_type = "application/pdf"
        self._document = folder / "document"

    def lay(self, *kinds: str) -> None:
        self.lay_bytes(self._write(*kinds))

    def lay_bytes(self, content: bytes, media_type: str = "application/pdf") -> None:
        self._document.write_bytes(content)
        self._media_type = media_type

    @property
    def raw(self) -> RawDocument:
        return RawDocument(
            document_id=UUID(int=1), file_path="a", media_type=self._media_type, byte_size=1, sha256="0" * 64
        )

    def inspect(self) -> tuple[PageMeasurement, ...]:
        return run(self.preparer.inspect(self.raw, self._document))

    def picture(self, page: int) -> Path:
        return self.folder / f"{page}.jpg"

    def treat(self, page: int, *, thoroughly: bool = False) -> PageTreatment:
        return run(
            self.preparer.treat(self.raw, self._document, page, picture=self.picture(page), thoroughly=thoroughly)
        )

    def read_text_layer(self, *pages: int) -> Any:
        return run(self.preparer.read_text_layer(self.raw, self._document, pages))

    def bundle(self, *pages: int, limits: BundleLimits = PICTURES, drawn: tuple[int, ...] = ()) -> Bundle:
        """With the pictures that treatments have left."""
        pictures = {page: self.picture(page) for page in pages if self.picture(page).exists()}
        file = self.folder / "bundle"
        bundled = run(
            self.preparer.bundle(
                self.raw, self._document, pages, pictures=pictures, drawn=drawn, limits=limits, file=file
            )
        )
        bundle = bundled.load()
        assert bundled.byte_size == len(bundle.content)
        return bundle


@pytest.fixture(params=["fake", "local"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    if request.param == "fake":
        return Bench(FakePagePreparer(max_pages=MAX_PAGES), fake_document, tmp_path)
    return Bench(local_preparer(), write_pdf, tmp_path)


@pytest.fixture
def local(tmp_path: Path) -> Bench:
    return Bench(local_preparer(), write_pdf, tmp_path)


def local_preparer() -> LocalPagePreparer:
    return LocalPagePreparer(InlineCpuPool(), max_pages=MAX_PAGES, max_page_pixels=MAX_PIXELS)


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


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


def write_picture(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def look_at(picture: Path) -> tuple[str | None, tuple[int, int]]:
    with Image.open(picture) as image:
        return image.format, image.size


def write_tiff(*pages: Image.Image, **options: Any) -> bytes:
    first, *others = pages
    return write_picture(first, "TIFF", save_all=True, append_images=others, **options)


def test_every_page_comes_once_and_in_order_and_says_whether_it_carries_its_text(bench: Bench) -> None:
    bench.lay("text", "scan", "crooked", "text")
    measurements = bench.inspect()
    assert [page.page for page in measurements] == [1, 2, 3, 4]
    assert [page.has_text_layer for page in measurements] == [True, False, False, True]


def test_only_a_page_that_needs_it_is_treated_and_each_says_why(bench: Bench) -> None:
    bench.lay("scan", "crooked")
    straight, crooked = bench.treat(1), bench.treat(2)
    assert (straight.steps, crooked.steps) == ((), ("deskewed",))
    assert straight.reason
    assert crooked.reason
    assert [straight.measurement.page, crooked.measurement.page] == [1, 2]


def test_there_are_pictures_of_the_treated_pages_and_of_no_other(bench: Bench) -> None:
    bench.lay("crooked", "scan")
    bench.treat(1)
    bench.treat(2)
    assert bench.picture(1).stat().st_size > 0
    assert not bench.picture(2).exists()


def test_the_text_layer_is_read_from_the_pages_named(bench: Bench) -> None:
    bench.lay("text", "scan", "text")
    pages = bench.read_text_layer(1, 3)
    assert [(page.page, page.source) for page in pages] == [(1, "text_layer"), (3, "text_layer")]
    for page in pages:
        assert page.lines[0].text.startswith(f"text of page {page.page}")
        assert all(line.confidence == 1 for line in page.lines)


def test_whoever_wants_pictures_gets_one_page_at_a_time(bench: Bench) -> None:
    bench.lay("scan", "crooked")
    bundle = bench.bundle(1, 2)
    assert (bundle.pages, bundle.media_type) == ((1,), "image/jpeg")
    assert bundle.content
    assert bundle.content != bench.bundle(2).content


def test_whoever_takes_many_pages_gets_them_in_one_file(bench: Bench) -> None:
    bench.lay("scan", "scan", "scan")
    bundle = bench.bundle(1, 3, limits=FIFTEEN)
    assert (bundle.pages, bundle.media_type) == ((1, 3), "application/pdf")


def test_no_bundle_has_more_pages_than_one_call_takes(bench: Bench) -> None:
    bench.lay("scan", "scan", "scan")
    assert bench.bundle(1, 2, 3, limits=BundleLimits(pages=2, bytes=1_000_000, takes_pdf=True)).pages == (1, 2)


def test_a_treated_page_goes_as_its_picture(bench: Bench) -> None:
    bench.lay("crooked")
    bench.treat(1)
    assert bench.bundle(1).content == bench.picture(1).read_bytes()


@pytest.mark.parametrize("count", [1, 2, 3])
def test_what_is_packed_is_unpacked_in_its_order(bench: Bench, count: int) -> None:
    bench.lay(*["crooked"] * count)
    pictures = [bench.picture(page) for page in range(1, count + 1)]
    for page in range(1, count + 1):
        bench.treat(page)
    packed = bench.folder / "packed"
    assert run(bench.preparer.pack(pictures, packed)).isalnum()
    unpacked = [bench.folder / f"unpacked-{page}" for page in range(count)]
    run(bench.preparer.unpack(packed, unpacked))
    assert all(picture.stat().st_size > 0 for picture in unpacked)


@pytest.mark.parametrize("content", [b"", b"%PDF-1.7 and then nothing"])
def test_a_document_that_cannot_be_opened_is_damaged(bench: Bench, content: bytes) -> None:
    bench.lay_bytes(content)
    with pytest.raises(DocumentDamaged):
        bench.inspect()


def test_a_document_with_a_password_is_encrypted(bench: Bench) -> None:
    bench.lay("locked")
    with pytest.raises(DocumentEncrypted):
        bench.inspect()


def test_as_many_pages_as_allowed_are_prepared_and_one_more_is_too_large(bench: Bench) -> None:
    bench.lay(*["text"] * MAX_PAGES)
    assert len(bench.inspect()) == MAX_PAGES
    bench.lay(*["text"] * (MAX_PAGES + 1))
    with pytest.raises(DocumentTooLarge):
        bench.inspect()


def test_packed_pictures_keep_their_sizes_and_are_jpegs_again(local: Bench) -> None:
    sizes = (200, 300, 400)
    pictures = [local.folder / f"{side}.jpg" for side in sizes]
    for side, picture in zip(sizes, pictures, strict=True):
        picture.write_bytes(write_picture(Image.new("RGB", (side, side), "white"), "JPEG"))
    packed = local.folder / "packed"
    assert run(local.preparer.pack(pictures, packed)) == "tiff"
    for picture in pictures:
        picture.unlink()
    run(local.preparer.unpack(packed, pictures))
    assert [look_at(picture) for picture in pictures] == [("JPEG", (side, side)) for side in sizes]


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_picture_is_a_document_of_one_page_and_goes_as_it_is(local: Bench, kind: str) -> None:
    content = write_picture(draw(), kind)
    local.lay_bytes(content, f"image/{kind.lower()}")
    assert [page.has_text_layer for page in local.inspect()] == [False]
    assert local.treat(1).steps == ()
    for limits in (PICTURES, FIFTEEN):
        assert local.bundle(1, limits=limits) == Bundle(content, f"image/{kind.lower()}", (1,))


def test_a_picture_that_readers_do_not_take_is_converted(local: Bench) -> None:
    local.lay_bytes(write_picture(draw(), "WEBP", lossless=True), "image/webp")
    treatment = local.treat(1)
    assert (treatment.steps, treatment.conversions) == ((), ("converted",))
    assert look_at(local.picture(1)) == ("JPEG", (600, 600))
    assert local.bundle(1).media_type == "image/jpeg"


def test_a_treated_page_shows_itself_before_and_after(local: Bench) -> None:
    local.lay("crooked", "scan")
    thumbnails = local.treat(1).thumbnails
    assert thumbnails is not None
    assert thumbnails.before != thumbnails.after
    assert local.treat(2).thumbnails is None


def test_the_pages_of_a_bundle_are_those_asked_for(local: Bench) -> None:
    local.lay("text", "scan", "text")
    local.lay_bytes(local.bundle(3, 1, limits=FIFTEEN).content)
    texts = [page.lines[0].text for page in local.read_text_layer(1, 2)]
    assert [text.split(",")[0] for text in texts] == ["text of page 3", "text of page 1"]


def test_a_page_to_be_drawn_loses_its_text_and_is_not_mixed_with_others(local: Bench) -> None:
    local.lay("text", "text", "text")
    bundle = local.bundle(1, 2, 3, limits=FIFTEEN, drawn=(1, 2))
    assert bundle.pages == (1, 2)
    assert local.bundle(3, 2, limits=FIFTEEN, drawn=(2,)).pages == (3,)
    local.lay_bytes(bundle.content)
    assert [page.has_text_layer for page in local.inspect()] == [False, False]


def test_pages_that_do_not_fit_together_come_in_several_bundles(local: Bench) -> None:
    local.lay("crooked", "crooked", "crooked")
    for page in (1, 2, 3):
        local.treat(page)
    room = local.picture(1).stat().st_size + local.picture(2).stat().st_size + 10_000
    limits = BundleLimits(pages=15, bytes=room, takes_pdf=True)
    bundle = local.bundle(1, 2, 3, limits=limits)
    assert bundle.pages == (1, 2)
    assert len(bundle.content) <= room


def test_a_page_that_fits_into_no_call_is_too_large(local: Bench) -> None:
    local.lay("scan")
    with pytest.raises(DocumentTooLarge):
        local.bundle(1, limits=BundleLimits(pages=15, bytes=100, takes_pdf=True))


@pytest.mark.parametrize("compression", [None, "group4", "tiff_lzw"])
def test_no_page_of_a_fax_is_lost(local: Bench, compression: str | None) -> None:
    pages = [Image.new("1", (200 + 10 * number, 300), 1) for number in range(3)]
    local.lay_bytes(write_tiff(*pages, compression=compression), "image/tiff")
    assert [page.page for page in local.inspect()] == [1, 2, 3]
    treatments = [local.treat(page) for page in (1, 2, 3)]
    assert [treatment.measurement.width for treatment in treatments] == [200, 210, 220]
    assert {(treatment.steps, treatment.conversions) for treatment in treatments} == {((), ("converted",))}
    assert [look_at(local.picture(page))[1] for page in (1, 2, 3)] == [(200, 300), (210, 300), (220, 300)]
    bundle = local.bundle(1, 2, 3, limits=FIFTEEN)
    assert (bundle.pages, bundle.media_type) == ((1, 2, 3), "application/pdf")


def test_a_tiff_with_more_pages_than_allowed_is_too_large(local: Bench) -> None:
    local.lay_bytes(write_tiff(*[Image.new("1", (20, 20), 1)] * (MAX_PAGES + 1)), "image/tiff")
    with pytest.raises(DocumentTooLarge):
        local.inspect()


def test_a_later_page_over_the_limit_is_refused_before_it_is_decoded(local: Bench) -> None:
    local.lay_bytes(write_tiff(Image.new("1", (20, 20), 1), Image.new("1", (2000, 2000), 1)), "image/tiff")
    with pytest.raises(DocumentTooLarge):
        local.treat(2)


def test_a_thumbnail_in_a_tiff_is_not_a_page(local: Bench) -> None:
    page, thumbnail = Image.new("L", (200, 300), 255), Image.new("L", (20, 30), 255)
    thumbnail.encoderinfo = {"tiffinfo": {254: 1}}
    local.lay_bytes(write_tiff(page, thumbnail), "image/tiff")
    assert len(local.inspect()) == 1
    assert local.treat(1).measurement.width == 200


@pytest.mark.parametrize("keep", [0, 8, 200])
def test_a_cut_off_tiff_is_damaged(local: Bench, keep: int) -> None:
    local.lay_bytes(write_tiff(draw(), draw())[:keep], "image/tiff")
    with pytest.raises(DocumentDamaged):  # at the latest when a page is taken
        [local.treat(page.page) for page in local.inspect()]
