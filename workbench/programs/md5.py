"""MD5 of many short texts at once (RFC 1321; McDonell 2015, §6.11): 64 steps of one map, and the first text that fits.

The map is traced from Python's own loop over the steps, so it is one formula of 64 steps for each text.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.array_function import collective
from workbench.language import fold, generate, minimum, rotate_left

MOST_BYTES = 55
"""The longest text that fits one block."""
_START = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)
_TURNS = ((7, 12, 17, 22), (5, 9, 14, 20), (4, 11, 16, 23), (6, 10, 15, 21))
_ADDED = tuple(int(abs(np.sin(step + 1.0)) * 2**32) for step in range(64))


@collective
def digests(words: Any) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """The digest of each text: four u32 arrays of length n. words: u32, of shape (16, n), as `blocks` makes them."""
    return _digests(words)


@collective
def first_match(words: Any, digest: Any) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """The number of the first text with this digest, an array of four u32; n if there is none."""
    found = _digests(words)
    fits = (found[0] == digest[0]) & (found[1] == digest[1]) & (found[2] == digest[2]) & (found[3] == digest[3])
    count = words.shape[1]
    return fold(minimum, np.where(fits, generate(count, lambda text: text), count))


def _digests(words: Any) -> tuple[Any, Any, Any, Any]:  # noqa: ANN401  # traced
    a, b, c, d = (np.uint32(number) + 0 * words[0] for number in _START)
    start = a, b, c, d
    for step in range(64):
        turn = step // 16
        if turn == 0:
            mixed, place = (b & c) | (~b & d), step
        elif turn == 1:
            mixed, place = (d & b) | (~d & c), (5 * step + 1) % 16
        elif turn == 2:
            mixed, place = b ^ c ^ d, (3 * step + 5) % 16
        else:
            mixed, place = c ^ (b | ~d), (7 * step) % 16
        total = a + mixed + _ADDED[step] + words[place]
        by = _TURNS[turn][step % 4]
        a, b, c, d = d, b + rotate_left(total, by), b, c
    return start[0] + a, start[1] + b, start[2] + c, start[3] + d


def blocks(texts: Sequence[bytes]) -> Any:  # noqa: ANN401  # u32, shape (16, n)
    """The padded block of each text, u32 words of shape (16, n), so that neighbours lie side by side.

    Raises ValueError for a text of more than 55 bytes.
    """
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    if len(texts) and lengths.max() > MOST_BYTES:
        raise ValueError(f"a text has {lengths.max()} bytes: give texts of at most {MOST_BYTES}")
    padded = np.zeros((len(texts), 64), np.uint8)
    joined = np.frombuffer(b"".join(texts), np.uint8)
    rows = np.repeat(np.arange(len(texts)), lengths)
    places = np.arange(len(joined)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    padded[rows, places] = joined
    padded[np.arange(len(texts)), lengths] = 0x80
    words = padded.view("<u4")
    words[:, 14] = 8 * lengths
    return np.ascontiguousarray(words.T)


def words_of(digest: str) -> Any:  # noqa: ANN401  # u32, shape (4,)
    """A digest of 32 hexadecimal digits as the array that `first_match` takes."""
    return np.frombuffer(bytes.fromhex(digest), "<u4")


def text_of(words: Sequence[Any]) -> str:
    """Four numbers as a digest of 32 hexadecimal digits."""
    return struct.pack("<4I", *map(int, words)).hex()
