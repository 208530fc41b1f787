"""Garbage: Python's search for cycles waits while a program is traced, planned and written."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def kept_garbage() -> Iterator[None]:
    """Collect no cycles meanwhile: nearly all that is made is kept, and the search takes a twentieth of the time.

    Of several threads the first one that ends switches the collection on again.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
