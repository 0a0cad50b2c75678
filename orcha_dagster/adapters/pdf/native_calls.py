"""PDFium's questions about characters and objects, asked thousands of times for a page. Only how to ask them.

pypdfium2 checks and converts every argument, which doubles the price of a call. Here handles are plain addresses, and
answers are written straight into numpy arrays.
"""

from collections import deque
from collections.abc import Callable, Iterable
from ctypes import CFUNCTYPE, c_float, c_int, c_uint, c_void_p, cast
from itertools import repeat
from typing import Any

import numpy as np
import pypdfium2.raw as pdfium_c
from numpy.typing import NDArray

_FILL_MODES_UNSEEN = (pdfium_c.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium_c.FPDF_TEXTRENDERMODE_CLIP)


def _plain(function: Any, result: Any, *arguments: Any) -> Callable[..., Any]:
    address = cast(function, c_void_p).value
    if address is None:
        raise RuntimeError(f"PDFium does not offer {function}.")
    return CFUNCTYPE(result, *arguments)(address)


_get_unicode = _plain(pdfium_c.FPDFText_GetUnicode, c_uint, c_void_p, c_int)
_get_loose_box = _plain(pdfium_c.FPDFText_GetLooseCharBox, c_int, c_void_p, c_int, c_void_p)
_get_angle = _plain(pdfium_c.FPDFText_GetCharAngle, c_float, c_void_p, c_int)
_get_text_object = _plain(pdfium_c.FPDFText_GetTextObject, c_void_p, c_void_p, c_int)
_get_render_mode = _plain(pdfium_c.FPDFTextObj_GetTextRenderMode, c_int, c_void_p)
_get_fill_colour = _plain(
    pdfium_c.FPDFText_GetFillColor, c_int, c_void_p, c_int, c_void_p, c_void_p, c_void_p, c_void_p
)
_get_object = _plain(pdfium_c.FPDFPage_GetObject, c_void_p, c_void_p, c_int)
_get_kind = _plain(pdfium_c.FPDFPageObj_GetType, c_int, c_void_p)


def address_of(handle: Any) -> int:
    """The plain address behind one of pypdfium2's handles."""
    address = cast(handle, c_void_p).value
    if address is None:
        raise ValueError("This handle is closed.")
    return address


def character_codes(textpage: int, count: int) -> NDArray[np.uint32]:
    return np.fromiter(map(_get_unicode, repeat(textpage), range(count)), np.uint32, count)


def character_boxes(textpage: int, count: int) -> NDArray[np.float64]:
    """Left, top, right and bottom of each character in page units, as high as its font and not as its ink."""
    boxes = np.zeros((count, 4), np.float32)
    start = boxes.ctypes.data
    size = boxes.strides[0]
    _exhaust(map(_get_loose_box, repeat(textpage), range(count), range(start, start + size * count, size)))
    return boxes.astype(np.float64)


def character_angles(textpage: int, indices: Iterable[int]) -> NDArray[np.float64]:
    """In which direction the text at each character runs, in degrees clockwise."""
    return np.degrees(np.fromiter(map(_get_angle, repeat(textpage), indices), np.float64))


def characters_never_drawn(textpage: int, indices: Iterable[int]) -> NDArray[np.bool_]:
    """Which characters a viewer can select and nobody can see."""
    modes: dict[int | None, bool] = {None: False}  # text that no object stands behind was made up by PDFium
    unseen: list[bool] = []
    for index in indices:
        text_object = _get_text_object(textpage, index)
        if text_object not in modes:
            modes[text_object] = _get_render_mode(text_object) in _FILL_MODES_UNSEEN
        unseen.append(modes[text_object])
    return np.array(unseen, np.bool_)


def character_colours(textpage: int, indices: Iterable[int]) -> NDArray[np.uint32]:
    """Red, green, blue and opacity (0 to 255) that each character is filled with; black where PDFium does not say."""
    indices = list(indices)
    colours = np.zeros((len(indices), 4), np.uint32)
    colours[:, 3] = 255
    start = colours.ctypes.data
    size = colours.strides[0]
    for place, index in zip(range(start, start + size * len(indices), size), indices, strict=True):
        _get_fill_colour(textpage, index, place, place + 4, place + 8, place + 12)
    return colours


def object_kinds(page: int, count: int) -> list[tuple[int, int]]:
    """The address and the kind of each object on a page."""
    objects = map(_get_object, repeat(page), range(count))
    return [(each, _get_kind(each)) for each in objects if each]


def _exhaust(calls: Iterable[object]) -> None:
    deque(calls, maxlen=0)
