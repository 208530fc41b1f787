"""PNG files of pixels, by the standard library alone."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


def encode_png(codes: Bytes, table: bytes) -> bytes:
    """An indexed PNG: one byte a pixel, the table's colours (three bytes each)."""
    rows, columns = codes.shape
    return _file(columns, rows, 3, _chunk(b"PLTE", table), np.ascontiguousarray(codes))


def encode_rgb(colours: Bytes) -> bytes:
    """A PNG of true colours, shape (rows, columns, 3)."""
    rows, columns, _ = colours.shape
    return _file(columns, rows, 2, b"", np.ascontiguousarray(colours).reshape(rows, -1))


def _file(columns: int, rows: int, colour_type: int, extra: bytes, lines: Bytes) -> bytes:
    header = struct.pack(">IIBBBBB", columns, rows, 8, colour_type, 0, 0, 0)
    unfiltered = np.hstack([np.zeros((rows, 1), np.uint8), lines])  # each line begins with its filter: none
    body = zlib.compress(unfiltered.tobytes(), 6)
    signature = b"\x89PNG\r\n\x1a\n"
    return signature + _chunk(b"IHDR", header) + extra + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
