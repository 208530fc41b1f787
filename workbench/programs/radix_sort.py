"""Radix sort: keys of 32 bits with a payload, stable, four bits a pass (McDonell 2015, §6.9; Merrill, Grimshaw 2011).

A key's place is the number of keys of smaller digits, of keys of its digit in rows above, and of those before it in its
row. The last are 16 counts of 8 bits, eight in a word, which one scan of each row adds side by side.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.array_function import collective
from workbench.language import add, generate, scan, scatter, where

ROW = 240
"""Keys of one row; at most 255, so that a count has 8 bits."""
_BITS, _DIGITS = 4, 16
_LARGEST = np.uint32(2**32 - 1)


@collective
def by_digit(keys: Any, payload: Any, shift: Any) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """Keys (u32) and payload in the order of one digit, the four bits from `shift` on; equal digits keep their order.

    Both have n elements, a multiple of ROW; returns fresh arrays of their types.
    """
    rows_of_keys, rows_of_payload = keys.reshape(-1, ROW), payload.reshape(-1, ROW)
    digit = ((rows_of_keys >> shift) & (_DIGITS - 1)).astype("i64")
    one = 1 << (8 * (digit & 7))
    words = [where((digit >> 3) == word, one, 0) for word in range(_DIGITS // 8)]
    before = _of_digit([scan(add, word, axis=1, exclusive=True) for word in words], digit)
    counts = _of_digit([np.sum(word, axis=1)[None, :] for word in words], generate(_DIGITS, lambda d: d)[:, None])
    begins = scan(add, counts.reshape(-1), exclusive=True)  # digit by digit, in each row by row
    row = generate(digit.shape, lambda i, j: i)
    places = begins[digit * digit.shape[0] + row] + before
    nothing = generate(keys.shape, lambda i: 0)
    empty = nothing.astype("u32"), nothing.astype(payload.dtype)
    return scatter(None, empty, places, (rows_of_keys, rows_of_payload))


def radix_sort(
    keys: NDArray[np.uint32], payload: NDArray[Any], **how: object
) -> tuple[NDArray[np.uint32], NDArray[Any]]:
    """Keys in ascending order and the payload of each; equal keys keep their order. Eight calls of one program.

    keys: u32, of shape (n,); payload: any numbers, as many. how: backend=, threads= as of `by_digit`. Returns fresh
    arrays. What n lacks to whole rows is filled with the largest key, behind all others.
    """
    count, lacking = len(keys), -len(keys) % ROW
    if lacking:
        keys = np.concatenate((keys, np.full(lacking, _LARGEST)))
        payload = np.concatenate((payload, np.zeros(lacking, payload.dtype)))
    for shift in range(0, 32, _BITS):
        keys, payload = by_digit(keys, payload, shift, **how)
    return keys[:count], payload[:count]


def _of_digit(words: list[Any], digit: Any) -> Any:  # noqa: ANN401  # values while a function is traced
    """The count of a digit in two words of eight counts."""
    low, high = words
    return (where((digit >> 3) == 0, low, high) >> (8 * (digit & 7))) & 255
