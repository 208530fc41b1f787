"""Packing: codes of a picture in few bytes. Smaller messages reach a page sooner and fill its memory later."""

from __future__ import annotations

import numpy as np

from workbench.views.field.summary import Codes

try:
    from isal.isal_zlib import compress  # zlib's result in a quarter of the time
except ImportError:  # not installed, or no wheel for this processor
    from zlib import compress

LEAST_CELLS = 16_384  # of a picture that is worth the time
LEAST_GAIN = 0.75  # a body that shrinks less goes as it is
FASTEST = 1  # level of compression
RAW = -15  # window bits: a raw deflate stream, without header and checksum
ZERO = 7  # the half byte of a difference of 0; 0 to 14 are -7 to 7
FAR = 15  # the half byte of any other difference, which follows as a byte of its own


def pack(codes: Codes) -> bytes | None:
    """A raw deflate stream (RFC 1951) of the differences between neighbours, modulo 256; None if that gains little.

    codes: (rows, columns), in C order; the neighbour of a cell is the one before it in memory, of the first one 0.
    Differences are half bytes, of the first half of all cells the lower ones and of the second half the upper ones,
    because neighbours in the stream then often repeat. Behind them come the differences that are far, each as a byte,
    in order. Half as many bytes take half the time to compress. Unpacked by labextension/src/field/unpacking.ts.
    """
    if codes.size < LEAST_CELLS:
        return None
    flat, half = codes.reshape(-1), (codes.size + 1) // 2
    steps = np.empty(2 * half, np.uint8)
    steps[0], steps[-1] = flat[0], 0  # the last one may belong to no cell
    np.subtract(flat[1:], flat[:-1], out=steps[1 : codes.size])
    steps += np.uint8(ZERO)
    far = steps[steps >= FAR] if steps.max() >= FAR else steps[:0]
    if half + far.size >= LEAST_GAIN * codes.size:
        return None
    body = np.empty(half + far.size, np.uint8)
    np.subtract(far, np.uint8(ZERO), out=body[half:])
    np.minimum(steps, np.full_like(steps, FAR), out=steps)  # of two arrays it takes a tenth of the time
    np.multiply(steps[half:], np.uint8(16), out=body[:half])
    body[:half] |= steps[:half]
    packed = compress(body.data, FASTEST, RAW)
    return packed if len(packed) < LEAST_GAIN * codes.size else None
