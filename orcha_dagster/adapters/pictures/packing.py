"""Several JPEGs as one file and back. One alone stays what it is; more become a TIFF, which viewers page through."""

import contextlib
import io
import shutil
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

_QUALITY = 92


def pack_pictures(pictures: Sequence[Path], packed: Path) -> str:
    """Write one file and return its extension."""
    if len(pictures) == 1:
        shutil.copyfile(pictures[0], packed)
        return "jpg"
    with contextlib.ExitStack() as opened:
        first, *others = [opened.enter_context(Image.open(picture)) for picture in pictures]
        first.save(packed, format="TIFF", save_all=True, append_images=others, compression="jpeg", quality=_QUALITY)
    return "tiff"


def unpack_pictures(packed: Path, pictures: Sequence[Path]) -> None:
    """Write the pictures in their order to the paths given."""
    with Image.open(packed) as image:
        if image.format == "JPEG":
            shutil.copyfile(packed, pictures[0])
            return
        for frame, picture in enumerate(pictures):
            image.seek(frame)
            encoded = io.BytesIO()
            image.convert("RGB").save(encoded, format="JPEG", quality=_QUALITY)
            picture.write_bytes(encoded.getvalue())
