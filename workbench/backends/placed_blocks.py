"""Placed blocks: memory for arrays that begins at a given place in a page."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.backends.base import Array
from workbench.planning.layout import PAGE


@dataclass(frozen=True, slots=True)
class Block:
    """Aligned memory: `cells` is the part to use, `owner` keeps it alive."""

    owner: Array
    cells: Array


def placed_block(size: int, place: int = 0) -> Block:
    """Return a block of `size` bytes, untouched, that begins `place` bytes behind the start of a page."""
    owner: Array = np.empty(size + PAGE, np.uint8)
    shift = (place - owner.ctypes.data) % PAGE
    return Block(owner, owner[shift : shift + size])
