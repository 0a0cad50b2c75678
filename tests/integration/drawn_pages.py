"""Pages of text drawn for tests, with flaws to order. Whole documents are drawn by `orcha_dagster.samples`."""

import io
from pathlib import Path

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from orcha_dagster.adapters.pictures.picture import Picture

SENTENCES = (
    "Delivered to the harbour office on Monday",
    "Twelve boxes of printing paper, white",
    "Payment is due within thirty days",
    "Please quote the number of this invoice",
    "Goods remain ours until they are paid for",
    "Questions? Telephone 020 7946 0123",
    "Subtotal before taxes and discount 418.50",
    "Value added tax at twenty percent 83.70",
    "Total amount to be transferred 502.20",
    "Thank you for your order, see you again",
)
WIDTH, HEIGHT = 900, 1100


def draw_page(
    rows: tuple[str, ...] = SENTENCES, *, ink: int = 0, paper: int = 255, skew: float = 0.0, size: int = 30
) -> Picture:
    """A page, turned clockwise by `skew` degrees."""
    image = Image.new("L", (WIDTH, HEIGHT), paper)
    draw = ImageDraw.Draw(image)
    for index, row in enumerate(rows):
        draw.text((120, 120 + 2 * size * index), row, fill=ink, font=ImageFont.load_default(size))
    turned = image.rotate(-skew, fillcolor=paper, resample=Image.Resampling.BICUBIC)
    return np.ascontiguousarray(np.asarray(turned.convert("RGB"))[:, :, ::-1])


def lay_on_table(page: Picture, *, table: int = 60) -> Picture:
    """A photo of the page from a little to one side."""
    height, width = page.shape[:2]
    photo_width, photo_height = int(width * 1.6), int(height * 1.5)
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    places = np.array([[0.24, 0.14], [0.78, 0.20], [0.84, 0.86], [0.18, 0.84]], np.float32)
    move = cv2.getPerspectiveTransform(corners, places * np.array([photo_width, photo_height], np.float32))
    photo = np.full((photo_height, photo_width, 3), table, np.uint8)
    size = (photo_width, photo_height)
    return np.asarray(cv2.warpPerspective(page, move, size, photo, borderMode=cv2.BORDER_TRANSPARENT), dtype=np.uint8)


def lie_turned(page: Picture, degrees: int) -> Picture:
    """The page as it looks when it lies turned clockwise."""
    return np.ascontiguousarray(np.rot90(page, -degrees // 90))


def save(path: Path, page: Picture, **options: object) -> Path:
    """In the format that the name says."""
    Image.fromarray(page[:, :, ::-1]).save(path, **options)  # type: ignore[arg-type]
    return path


def to_jpeg(page: Picture) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(page[:, :, ::-1]).save(buffer, "JPEG", quality=92)
    return buffer.getvalue()
