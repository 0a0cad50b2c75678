"""The pictures and drawings a page is made of: how large, and where. Their pixels are never touched here."""

import math
from collections.abc import Iterator
from ctypes import byref, c_uint, cast
from dataclasses import dataclass

import cv2
import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c
from numpy.typing import NDArray

from orcha_dagster.adapters.pdf.native_calls import address_of, object_kinds
from orcha_dagster.adapters.pdf.page_frame import PageFrame

# A picture that claims more is not decoded: A3 at 1,200 dpi has 280 million.
MAX_PICTURE_PIXELS = 300_000_000
# A picture is decoded as often as it is placed; so much takes about ten seconds.
MAX_PIXELS_IN_ALL = 3_000_000_000

# Forms may hold forms, and a hostile file nests them for ever.
_MAX_DEPTH = 4
_MAX_OBJECTS = 20_000
_WHOLE_PAGE = 0.8  # scanners leave margins
_FAIR_SHARE = 0.25
_COVER_CELLS = 100  # the page as a grid of so many cells each way

_Handle = pdfium_c.FPDF_PAGEOBJECT


@dataclass(frozen=True)
class PlacedPicture:
    width: int  # pixels
    height: int
    corners: NDArray[np.float64]  # four points; 0 to 1 as the page is seen

    @property
    def pixels(self) -> int:
        return self.width * self.height

    def square_inches(self, frame: PageFrame) -> float:
        first, second, third, _ = self.corners * (frame.width / 72, frame.height / 72)
        return math.dist(first, second) * math.dist(second, third)

    def dots_per_inch(self, frame: PageFrame) -> float:
        """Pixels for each inch of the page, the mean of both directions."""
        area = self.square_inches(frame)
        return math.sqrt(self.pixels / area) if area > 0 else 0.0


@dataclass(frozen=True)
class PageObjects:
    pictures: tuple[PlacedPicture, ...]
    drawings: int  # lines, areas and shadings

    def enormous_picture(self) -> PlacedPicture | None:
        """One that is too large to be decoded, or with which all together are; by what they claim."""
        total = 0
        for picture in self.pictures:
            total += picture.pixels
            if picture.pixels > MAX_PICTURE_PIXELS or total > MAX_PIXELS_IN_ALL:
                return picture
        return None

    def cover(self) -> float:
        """The share of the page that pictures cover, 0 to 1."""
        if not self.pictures:
            return 0.0
        return float(self._cover_map().mean())

    def scan_resolution(self, frame: PageFrame) -> float | None:
        """Dots per inch of a page that is nothing but pictures; None for any other.

        A scan may come in strips, or as letters of a high resolution on paper of a low one. So it is the highest that
        a fair share of what is covered has: not that of a logo.
        """
        if self.cover() < _WHOLE_PAGE:
            return None
        resolutions = sorted(
            ((picture.dots_per_inch(frame), picture.square_inches(frame)) for picture in self.pictures), reverse=True
        )
        enough = _FAIR_SHARE * sum(area for _, area in resolutions)
        for resolution, area in resolutions:
            enough -= area
            if enough <= 0:
                return resolution or None
        return None

    def lie_under(self, boxes: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether a picture lies where the middle of each box is."""
        middles = (boxes[:, :2] + boxes[:, 2:]) / 2
        cells = np.clip((middles * _COVER_CELLS).astype(int), 0, _COVER_CELLS - 1)
        covered: NDArray[np.bool_] = self._cover_map()[cells[:, 1], cells[:, 0]] > 0
        return covered

    def _cover_map(self) -> NDArray[np.uint8]:
        covered = np.zeros((_COVER_CELLS, _COVER_CELLS), np.uint8)
        for picture in self.pictures:
            # Far outside is as good as just outside, and does not overflow.
            corners = np.clip(picture.corners, -10, 10) * _COVER_CELLS
            cv2.fillConvexPoly(covered, np.round(corners).astype(np.int32), 1)
        return covered


def objects_of(page: pdfium.PdfPage, frame: PageFrame) -> PageObjects:
    pictures: list[PlacedPicture] = []
    drawings = 0
    count = min(max(0, pdfium_c.FPDFPage_CountObjects(page)), _MAX_OBJECTS)
    for handle, kind, placement in _walk(object_kinds(address_of(page), count), np.eye(3), _MAX_DEPTH):
        if kind == pdfium_c.FPDF_PAGEOBJ_IMAGE:
            pictures.append(_placed_picture(handle, placement, frame))
        elif kind in (pdfium_c.FPDF_PAGEOBJ_PATH, pdfium_c.FPDF_PAGEOBJ_SHADING):
            drawings += 1
        if len(pictures) + drawings >= _MAX_OBJECTS:
            break
    return PageObjects(tuple(pictures), drawings)


def _walk(
    objects: list[tuple[int, int]], placement: NDArray[np.float64], depth: int
) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
    """Every object that is no form, with the place of the form that holds it."""
    for handle, kind in objects:
        if kind != pdfium_c.FPDF_PAGEOBJ_FORM:
            yield handle, kind, placement
        elif depth:
            form = cast(handle, _Handle)
            count = min(max(0, pdfium_c.FPDFFormObj_CountObjects(form)), _MAX_OBJECTS)
            inner = [pdfium_c.FPDFFormObj_GetObject(form, index) for index in range(count)]
            kinds = [(address_of(each), pdfium_c.FPDFPageObj_GetType(each)) for each in inner if each]
            yield from _walk(kinds, _placement_of(handle) @ placement, depth - 1)


def _placed_picture(handle: int, placement: NDArray[np.float64], frame: PageFrame) -> PlacedPicture:
    width, height = c_uint(), c_uint()
    pdfium_c.FPDFImageObj_GetImagePixelSize(cast(handle, _Handle), byref(width), byref(height))
    return PlacedPicture(width.value, height.value, frame.see_unit_square(_placement_of(handle) @ placement))


def _placement_of(handle: int) -> NDArray[np.float64]:
    matrix = pdfium_c.FS_MATRIX(1, 0, 0, 1, 0, 0)
    pdfium_c.FPDFPageObj_GetMatrix(cast(handle, _Handle), byref(matrix))
    return np.array([[matrix.a, matrix.b, 0.0], [matrix.c, matrix.d, 0.0], [matrix.e, matrix.f, 1.0]])
