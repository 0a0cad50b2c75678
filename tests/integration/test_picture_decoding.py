"""Picture files through real decoders: what comes out, what it took, and what is refused."""

import struct
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageOps
from pillow_heif import register_heif_opener

from orcha_dagster.adapters.pictures import decoding
from orcha_dagster.adapters.pictures.decoding import count_pages, decode_page
from orcha_dagster.adapters.pictures.picture import Picture
from orcha_dagster.domain.errors import DocumentDamaged, DocumentTooLarge, DocumentUnsupported
from tests.integration.drawn_pages import HEIGHT, SENTENCES, WIDTH, draw_page, save

MAX_PIXELS = 50_000_000
ORIENTATION = 0x0112


def pages_of_grey(path: Path, *greys: int, **options: object) -> Path:
    first, *others = [Image.new("L", (60, 40), grey) for grey in greys]
    first.save(path, "TIFF", save_all=True, append_images=others, **options)
    return path


def chain_of_directories(path: Path, count: int, *, last_leads_to: int = 0) -> Path:
    """A TIFF whose directories hold no picture, one after another."""
    size = 2 + 12 + 4
    content = bytearray(b"II*\0" + struct.pack("<L", 8))
    for number in range(count):
        following = 8 + (number + 1) * size if number + 1 < count else last_leads_to
        content += struct.pack("<HHHLLL", 1, 256, 3, 1, 60, following)
    path.write_bytes(bytes(content))
    return path


def assert_like(picture: Picture, expected: Picture) -> None:
    assert picture.shape == expected.shape
    assert np.abs(picture.astype(int) - expected).mean() < 2


@pytest.mark.parametrize(
    ("name", "media_type", "steps"),
    [
        ("page.jpg", "image/jpeg", []),
        ("page.png", "image/png", []),
        ("page.webp", "image/webp", ["converted"]),
        ("page.tiff", "image/tiff", ["converted"]),
        ("page.heic", "image/heic", ["converted"]),
    ],
)
def test_every_format_gives_the_same_page(tmp_path: Path, name: str, media_type: str, steps: list[str]) -> None:
    register_heif_opener()
    page = draw_page()
    picture, resolution, taken = decode_page(save(tmp_path / name, page), media_type, 1, max_pixels=MAX_PIXELS)
    assert_like(picture, page)
    assert (resolution, taken) == (None, steps)


def test_colours_come_as_blue_green_red(tmp_path: Path) -> None:
    path = tmp_path / "blue.png"
    Image.new("RGB", (4, 4), (10, 20, 200)).save(path)
    picture, _, _ = decode_page(path, "image/png", 1, max_pixels=MAX_PIXELS)
    assert picture[0, 0].tolist() == [200, 20, 10]


def test_what_is_transparent_lies_on_white(tmp_path: Path) -> None:
    path = tmp_path / "letterhead.png"
    Image.new("RGBA", (4, 4), (0, 0, 0, 0)).save(path)
    picture, _, steps = decode_page(path, "image/png", 1, max_pixels=MAX_PIXELS)
    assert picture.min() == 255
    assert steps == ["laid_on_white"]


def test_sixteen_bits_of_grey_become_eight(tmp_path: Path) -> None:
    path = tmp_path / "deep.png"
    Image.fromarray(np.full((4, 4), 128 << 8, np.uint16)).save(path)
    picture, _, _ = decode_page(path, "image/png", 1, max_pixels=MAX_PIXELS)
    assert picture[0, 0].tolist() == pytest.approx([128] * 3, abs=1)


@pytest.mark.parametrize("orientation", range(2, 9))
@pytest.mark.parametrize(("name", "media_type"), [("photo.jpg", "image/jpeg"), ("photo.tiff", "image/tiff")])
def test_a_photo_is_turned_as_its_camera_noted(tmp_path: Path, name: str, media_type: str, orientation: int) -> None:
    image = Image.fromarray(draw_page(SENTENCES[:4])[:500, :800, ::-1])
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    image.save(tmp_path / name, exif=exif)
    image.getexif()[ORIENTATION] = orientation
    expected = np.asarray(ImageOps.exif_transpose(image))[:, :, ::-1]
    picture, _, steps = decode_page(tmp_path / name, media_type, 1, max_pixels=MAX_PIXELS)
    assert_like(picture, expected)
    assert "turned_upright" in steps


def test_resolutions_that_programs_make_up_are_not_believed(tmp_path: Path) -> None:
    page = draw_page()
    resolutions = []
    for dpi in (300, 200, 96, 72, 1):
        path = save(tmp_path / f"{dpi}.jpg", page, dpi=(dpi, dpi))
        resolutions.append(decode_page(path, "image/jpeg", 1, max_pixels=MAX_PIXELS)[1])
    assert resolutions == [300.0, 200.0, None, None, None]


def test_a_coarse_fax_is_stretched_until_its_dots_are_square(tmp_path: Path) -> None:
    flat = Image.fromarray(draw_page()).resize((WIDTH, HEIGHT // 2))
    flat.save(tmp_path / "fax.tiff", dpi=(204, 102))
    picture, resolution, steps = decode_page(tmp_path / "fax.tiff", "image/tiff", 1, max_pixels=MAX_PIXELS)
    assert picture.shape[:2] == (HEIGHT, WIDTH)
    assert (resolution, steps) == (204.0, ["converted", "stretched"])


@pytest.mark.parametrize("name", ["huge.jpg", "huge.png"])
def test_a_picture_larger_than_needed_is_shrunk(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "MAX_KEPT_PIXELS", WIDTH * HEIGHT // 3)
    path = save(tmp_path / name, draw_page(), dpi=(300, 300))
    media_type = "image/jpeg" if name.endswith("jpg") else "image/png"
    picture, resolution, steps = decode_page(path, media_type, 1, max_pixels=MAX_PIXELS)
    assert picture.shape[:2] == (HEIGHT // 2, WIDTH // 2)
    assert steps == ["shrunk"]
    assert resolution == pytest.approx(150, abs=1)


def test_a_picture_over_the_limit_is_refused_before_it_is_decoded(tmp_path: Path) -> None:
    path = save(tmp_path / "page.png", draw_page())
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(DocumentTooLarge):
        decode_page(path, "image/png", 1, max_pixels=1000)


def test_a_page_of_a_tiff_over_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "two.tiff"
    Image.new("L", (10, 10)).save(path, save_all=True, append_images=[Image.new("L", (500, 500))])
    assert decode_page(path, "image/tiff", 1, max_pixels=10_000)[0].shape == (10, 10, 3)
    with pytest.raises(DocumentTooLarge):
        decode_page(path, "image/tiff", 2, max_pixels=10_000)


@pytest.mark.parametrize("keep", [0.0, 0.01, 0.5, 0.95])
@pytest.mark.parametrize(("name", "media_type"), [("a.jpg", "image/jpeg"), ("a.png", "image/png")])
def test_a_cut_off_picture_is_damaged(tmp_path: Path, name: str, media_type: str, keep: float) -> None:
    path = save(tmp_path / name, draw_page())
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * keep)])
    with pytest.raises(DocumentDamaged):
        decode_page(path, media_type, 1, max_pixels=MAX_PIXELS)


def test_a_file_of_another_format_is_damaged_not_guessed_at(tmp_path: Path) -> None:
    path = save(tmp_path / "a.png", draw_page())
    for media_type in ("image/jpeg", "image/webp", "image/tiff", "image/heic"):
        with pytest.raises(DocumentDamaged):
            decode_page(path, media_type, 1, max_pixels=MAX_PIXELS)
    with pytest.raises(DocumentUnsupported):
        decode_page(path, "image/gif", 1, max_pixels=MAX_PIXELS)


@pytest.mark.parametrize("options", [{}, {"compression": "tiff_lzw"}, {"compression": "jpeg"}, {"big_tiff": True}])
def test_the_pages_of_a_tiff_come_in_order(tmp_path: Path, options: dict[str, object]) -> None:
    path = pages_of_grey(tmp_path / "stack.tiff", 10, 120, 240, **options)
    assert count_pages(path, "image/tiff", max_pages=5) == 3
    greys = [decode_page(path, "image/tiff", page, max_pixels=MAX_PIXELS)[0][20, 30, 0] for page in (1, 2, 3)]
    assert greys == pytest.approx([10, 120, 240], abs=3)


def test_a_page_that_a_document_does_not_have_is_damage(tmp_path: Path) -> None:
    path = pages_of_grey(tmp_path / "stack.tiff", 10, 120)
    with pytest.raises(DocumentDamaged):
        decode_page(path, "image/tiff", 3, max_pixels=MAX_PIXELS)
    with pytest.raises(DocumentDamaged):
        decode_page(save(tmp_path / "a.jpg", draw_page()), "image/jpeg", 2, max_pixels=MAX_PIXELS)


def test_a_thumbnail_in_a_tiff_is_not_a_page(tmp_path: Path) -> None:
    path = tmp_path / "scan.tiff"
    small = Image.new("L", (20, 20), 10)
    small.encoderinfo = {"tiffinfo": {254: 1}}
    Image.new("L", (60, 40), 200).save(path, save_all=True, append_images=[small, Image.new("L", (60, 40), 90)])
    assert count_pages(path, "image/tiff", max_pages=5) == 2
    assert decode_page(path, "image/tiff", 2, max_pixels=MAX_PIXELS)[0][0, 0, 0] == 90


def test_a_tiff_with_too_many_pages_is_refused(tmp_path: Path) -> None:
    path = pages_of_grey(tmp_path / "stack.tiff", *[9] * 4)
    assert count_pages(path, "image/tiff", max_pages=4) == 4
    with pytest.raises(DocumentTooLarge):
        count_pages(path, "image/tiff", max_pages=3)


def test_a_tiff_whose_pages_run_in_a_circle_is_damaged(tmp_path: Path) -> None:
    path = chain_of_directories(tmp_path / "loop.tiff", 3, last_leads_to=8)
    with pytest.raises(DocumentDamaged):
        count_pages(path, "image/tiff", max_pages=100)
    with pytest.raises(DocumentDamaged):
        decode_page(path, "image/tiff", 90, max_pixels=MAX_PIXELS)


def test_a_tiff_that_ends_before_its_last_page_is_damaged(tmp_path: Path) -> None:
    path = chain_of_directories(tmp_path / "cut.tiff", 3, last_leads_to=100_000)
    with pytest.raises(DocumentDamaged):
        count_pages(path, "image/tiff", max_pages=100)


def test_a_hundred_thousand_directories_take_no_time(tmp_path: Path) -> None:
    path = chain_of_directories(tmp_path / "long.tiff", 100_000)
    began = time.monotonic()
    with pytest.raises(DocumentTooLarge):
        count_pages(path, "image/tiff", max_pages=1000)
    with pytest.raises(DocumentDamaged):
        decode_page(path, "image/tiff", 900, max_pixels=MAX_PIXELS)  # its directory holds no picture
    assert time.monotonic() - began < 5


def test_pictures_that_are_no_tiff_are_one_page_also_when_they_move(tmp_path: Path) -> None:
    path = tmp_path / "waving.webp"
    Image.new("L", (30, 30), 40).save(path, save_all=True, append_images=[Image.new("L", (30, 30), 220)])
    assert count_pages(path, "image/webp", max_pages=5) == 1
    picture, _, _ = decode_page(path, "image/webp", 1, max_pixels=MAX_PIXELS)
    assert picture[0, 0, 0] == pytest.approx(40, abs=4)
