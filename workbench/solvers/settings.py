"""Settings: the whole numbers by which one asks for a solver, its dimensions and its order, checked alike in all."""

from __future__ import annotations

from collections.abc import Container

import numpy as np

from workbench.errors import StencilError
from workbench.language import HIGHEST_ACCURACY, MOST_DIMENSIONS

ANY_DIMENSIONS = range(1, MOST_DIMENSIONS + 1)
EVEN_ORDERS = range(2, HIGHEST_ACCURACY + 1, 2)
LOW_ORDERS = (1, 2)


def need_dimensions(dim: object, allowed: Container[int] = ANY_DIMENSIONS, reason: str = "") -> int:
    """The number of dimensions, if it is one of those `allowed`; `reason` says why there are no others.

    Raises StencilError that names the value.
    """
    found = _whole(dim)
    if found is None or found not in allowed:
        why = f": {reason}" if reason and found is not None else " is no number of dimensions"
        advice = "Use dim 1, 2 or 3." if 3 in allowed else "Use dim 1 or 2."
        raise StencilError(f"dim={dim!r}{why}", advice=advice)
    return found


def need_even_order(order: object) -> int:
    """The order of centred differences. Raises StencilError for what is none, or is higher than they have weights."""
    found = _whole(order)
    if found is None or found not in EVEN_ORDERS:
        raise StencilError(
            f"order={order!r} is no order of centred differences", advice=f"Use 2, 4, 6, ... up to {HIGHEST_ACCURACY}."
        )
    return found


def need_low_order(order: object) -> int:
    """The order of a solver with reconstructed faces, 1 or 2. Raises StencilError for others."""
    found = _whole(order)
    if found is None or found not in LOW_ORDERS:
        raise StencilError(f"order={order!r} is unknown", advice="Use 1 or 2.")
    return found


def _whole(given: object) -> int | None:
    """A whole number of Python or NumPy; None for anything else, truths and floats such as 2.0 too."""
    return int(given) if isinstance(given, int | np.integer) and not isinstance(given, bool) else None
