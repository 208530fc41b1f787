"""Pictures: the PNG is read back with another program's rules."""

import struct
import zlib

import numpy as np

from workbench.run.snapshots import Snapshot
from workbench.views.field.palettes import colour_table
from workbench.views.field.picture import encode_png, line_pixels
from workbench.views.field.summary import plain_axes, summarise


def decode(png):
    """(colour type, pixels of shape (rows, columns, channels)) of a PNG without filters and interlacing."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + data)
        chunks[kind] = data
        at += 12 + length
    columns, rows, depth, colour_type = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert depth == 8
    channels = {2: 3, 3: 1}[colour_type]
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(rows, 1 + channels * columns)
    assert not lines[:, 0].any()
    return chunks, lines[:, 1:].reshape(rows, columns, channels)


def summary_of(values):
    return summarise(Snapshot("u", values, {}, 0, 0), plain_axes(values.shape))


def test_indexed_png_keeps_codes_and_table():
    codes = np.arange(12, dtype=np.uint8).reshape(3, 4)
    chunks, pixels = decode(encode_png(codes, colour_table("cividis")))
    assert chunks[b"PLTE"] == colour_table("cividis")
    assert np.array_equal(pixels[:, :, 0], codes)


def test_line_is_drawn_through_its_points():
    codes, _ = line_pixels(summary_of(np.linspace(0, 1, 64)))
    assert codes.any(axis=0).all()
    assert codes[:, 0].argmax() > codes[:, -1].argmax()


def test_line_of_many_cells_is_no_wider_than_a_screen_and_keeps_a_peak():
    values = np.zeros(100_000)
    values[50_001] = 1.0
    codes, _ = line_pixels(summary_of(values))
    assert codes.shape[1] <= 1024
    assert codes[2].any()


def test_line_of_nan_is_empty():
    codes, _ = line_pixels(summary_of(np.full(9, np.nan)))
    assert not codes.any()
