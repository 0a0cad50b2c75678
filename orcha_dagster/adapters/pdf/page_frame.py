"""Where something on a page is seen: 0 to 1 from the top left, crop box and /Rotate applied."""

from ctypes import byref, c_int
from typing import NamedTuple

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c
from numpy.typing import NDArray

_GRID = 1_000_000  # PDFium maps page coordinates to whole numbers, so the page is mapped onto a fine grid


class PageFrame(NamedTuple):
    """The page as a viewer shows it, and how to get there from the coordinates of its content."""

    width: float  # points
    height: float
    matrix: NDArray[np.float64]  # 2 x 3, page units to the page seen

    @property
    def aspect(self) -> float:
        return self.width / self.height

    def see_boxes(self, boxes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows of left, top, right, bottom, in page units, as they are seen."""
        turn, shift = self.matrix[:, :2], self.matrix[:, 2]
        corners = boxes.reshape(-1, 2, 2) @ turn.T + shift
        low, high = np.minimum(corners[:, 0], corners[:, 1]), np.maximum(corners[:, 0], corners[:, 1])
        return np.hstack([low, high])

    def see_unit_square(self, placement: NDArray[np.float64]) -> NDArray[np.float64]:
        """The four corners of a picture that is placed by this 3 x 3 matrix."""
        square = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
        return (square @ placement)[:, :2] @ self.matrix[:, :2].T + self.matrix[:, 2]


def frame_of(page: pdfium.PdfPage) -> PageFrame:
    width, height = page.get_size()
    width, height = max(width, 1.0), max(height, 1.0)
    step = max(width, height)
    origin = _seen_point(page, 0.0, 0.0)
    along_x = (_seen_point(page, step, 0.0) - origin) / step
    along_y = (_seen_point(page, 0.0, step) - origin) / step
    return PageFrame(width, height, np.column_stack([along_x, along_y, origin]))


def _seen_point(page: pdfium.PdfPage, x: float, y: float) -> NDArray[np.float64]:
    column, row = c_int(), c_int()
    pdfium_c.FPDF_PageToDevice(page, 0, 0, _GRID, _GRID, 0, x, y, byref(column), byref(row))
    return np.array([column.value / _GRID, row.value / _GRID])
