"""Pictures taken apart again, and fields to draw."""

import struct
import zlib

import numpy as np

from workbench.run.snapshots import Snapshot
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
    return summarise(Snapshot("u", values, {}, 0), plain_axes(values.shape))
