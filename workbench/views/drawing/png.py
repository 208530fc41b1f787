"""Pixels as images and PNG files, by pillow."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL.Image import Image

Bytes = NDArray[np.uint8]


def indexed_image(codes: Bytes, table: bytes) -> Image:
    """An image of one byte a pixel, shape (rows, columns), and the table's colours (three bytes each)."""
    from PIL import Image

    rows, columns = codes.shape
    image = Image.frombytes("P", (columns, rows), np.ascontiguousarray(codes).tobytes())
    image.putpalette(table)
    return image


def encode_png(codes: Bytes, table: bytes) -> bytes:
    """A PNG file of an indexed image."""
    return _file(indexed_image(codes, table))


def encode_rgb(colours: Bytes) -> bytes:
    """A PNG file of true colours, shape (rows, columns, 3)."""
    from PIL import Image

    return _file(Image.fromarray(np.ascontiguousarray(colours)))


def _file(image: Image) -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()
