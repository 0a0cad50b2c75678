"""Pictures of pages in one file: a TIFF that others can show, in which every page is the JPEG that it was."""

import asyncio
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from orcha_dagster.adapters.pictures import packing
from orcha_dagster.adapters.pictures.packing import pack_pictures, unpack_pictures
from orcha_dagster.adapters.pictures.picture import encode_picture
from orcha_dagster.adapters.process_pool import ProcessPool
from orcha_dagster.domain.errors import DocumentDamaged, DocumentTooLarge

A4_AT_300 = (3508, 2480, 3)


def draw(file: Path, *, height: int, width: int) -> Path:
    colours = np.random.default_rng(height).integers(0, 255, (6, 6, 3), np.uint8)
    file.write_bytes(encode_picture(np.asarray(cv2.resize(colours, (width, height)), np.uint8)))
    return file


def draw_with_pillow(file: Path, mode: str, *, subsampling: int) -> Path:
    Image.linear_gradient("L").resize((90, 70)).convert(mode).save(file, "JPEG", subsampling=subsampling)
    return file


@pytest.fixture
def pictures(tmp_path: Path) -> list[Path]:
    return [
        draw(tmp_path / "upright.jpg", height=351, width=249),
        draw(tmp_path / "wide.jpg", height=100, width=400),
        draw_with_pillow(tmp_path / "grey.jpg", "L", subsampling=0),
        *(draw_with_pillow(tmp_path / f"sampled-{kind}.jpg", "RGB", subsampling=kind) for kind in (0, 1, 2)),
    ]


def test_every_page_comes_back_byte_for_byte(pictures: list[Path], tmp_path: Path) -> None:
    packed = tmp_path / "packed"
    assert pack_pictures(pictures, packed) == "tiff"
    unpacked = [tmp_path / f"unpacked-{number}" for number in range(len(pictures))]
    unpack_pictures(packed, unpacked)
    assert [file.read_bytes() for file in unpacked] == [file.read_bytes() for file in pictures]


def test_others_see_the_same_pages(pictures: list[Path], tmp_path: Path) -> None:
    packed = tmp_path / "packed"
    pack_pictures(pictures, packed)
    with Image.open(packed) as image:
        assert image.n_frames == len(pictures)
        for frame, picture in enumerate(pictures):
            image.seek(frame)
            with Image.open(picture) as alone:
                assert np.array_equal(np.asarray(image.convert("RGB")), np.asarray(alone.convert("RGB")))


def test_a_hundred_pages_take_no_more_memory_than_a_few(tmp_path: Path) -> None:
    """Decoded, they would take 2.6 GB."""
    page = tmp_path / "page.jpg"
    page.write_bytes(encode_picture(np.full(A4_AT_300, 255, np.uint8)))
    packed, unpacked = tmp_path / "packed", [tmp_path / f"unpacked-{number}" for number in range(100)]

    async def pack_and_unpack() -> None:
        pool = ProcessPool(1, worker_bytes=300_000_000)
        try:
            await pool.run(pack_pictures, [page] * 100, packed)
            await pool.run(unpack_pictures, packed, unpacked)
        finally:
            pool.close()

    asyncio.run(pack_and_unpack())
    assert {file.read_bytes() for file in unpacked} == {page.read_bytes()}


def test_more_than_a_tiff_can_hold_is_too_large(pictures: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "_MOST_BYTES", 1000)
    with pytest.raises(DocumentTooLarge):
        pack_pictures(pictures, pictures[0].with_name("packed"))


def test_what_is_no_jpeg_is_damaged(pictures: list[Path], tmp_path: Path) -> None:
    pictures[1].write_bytes(b"\x89PNG")
    with pytest.raises(DocumentDamaged):
        pack_pictures(pictures, tmp_path / "packed")
