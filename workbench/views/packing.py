"""Packing: codes of a picture in few bytes. Smaller messages reach a page sooner and fill its memory later."""

from __future__ import annotations

import numpy as np

from workbench.views.field import Codes

try:
    from isal.isal_zlib import compress  # zlib's result in a quarter of the time
except ImportError:  # not installed, or no wheel for this processor
    from zlib import compress

LEAST_CELLS = 16_384  # of a picture that is worth the time
LEAST_GAIN = 0.75  # a body that shrinks less goes as it is
FASTEST = 1  # level of compression
RAW = -15  # window bits: a raw deflate stream, without header and checksum


def pack(codes: Codes) -> bytes | None:
    """A raw deflate stream (RFC 1951) of the differences to the row above, modulo 256; None if that gains little.

    codes: (rows, columns), in C order. Neighbours differ little, so the differences compress well (the filter "Up" of
    PNG, section 9.2). The other half is labextension/src/field/unpacking.ts.
    """
    if codes.size < LEAST_CELLS:
        return None
    flat, columns = codes.reshape(-1), codes.shape[1]
    differences = np.empty_like(flat)
    differences[:columns] = flat[:columns]
    np.subtract(flat[columns:], flat[:-columns], out=differences[columns:])
    packed = compress(differences.data, FASTEST, RAW)
    return packed if len(packed) < LEAST_GAIN * codes.size else None
