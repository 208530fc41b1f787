"""Radix sort: keys of 32 bits with a payload, stable, eight bits a pass (McDonell 2015, §6.9; Knuth, TAOCP 5.2.5)."""

from __future__ import annotations

from typing import Any

from workbench.array_function import collective
from workbench.language import generate, ranks, scatter

_BITS = 8


def by_digit(keys: Any, payload: Any, shift: int) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """Keys and payload in the order of one digit, the eight bits from `shift` on; equal digits keep their order."""
    places = ranks(keys >> shift, bits=_BITS)
    nothing = generate(keys.shape, lambda i: 0)
    empty = nothing.astype(keys.dtype), nothing.astype(payload.dtype)
    return scatter(None, empty, places, (keys, payload))


@collective
def radix_sort(keys: Any, payload: Any) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """Keys in ascending order and the payload of each; equal keys keep their order. One call, four passes.

    keys: u32, of shape (n,); payload: any numbers, as many. backend= and threads= as of any call. Returns fresh arrays.
    """
    for shift in range(0, 32, _BITS):
        keys, payload = by_digit(keys, payload, shift)
    return keys, payload
