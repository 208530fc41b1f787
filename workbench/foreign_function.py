"""Foreign functions: what another library computes in the middle of a function of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.backends.registry import REFERENCE, SHOWN, backend_names, row_of
from workbench.errors import BackendError, FieldError
from workbench.frontend.foreign import Foreign


def foreign(native: Callable[..., Any], fallback: Callable[..., Any], *, backend: str = SHOWN) -> Foreign:
    """A function that another library computes: `solve = wb.foreign(np.linalg.solve, eliminated)`.

    It is called in functions under `@wb.collective`, with arrays, numbers and constants by position. fallback: the same
    in the words of such functions, or a foreign function itself; it says what the results mean, their types and their
    shapes, and runs on all backends but one. backend: the one on which the native is called, between two programs: with
    arrays of NumPy that it only reads, on a GPU with those of CuPy. It returns fresh arrays of the fallback's types
    and shapes. What no result of the function needs is not called. Raises FieldError for what is no function,
    BackendError for a backend that calls none.
    """
    for what, given in (("native", native), ("fallback", fallback)):
        if not callable(given):
            raise FieldError(f"the {what} of a foreign function is {given!r}", advice="Give a function.")
    if row_of(backend).name == REFERENCE:
        others = ", ".join(name for name in backend_names() if name != REFERENCE)
        raise BackendError(
            f"{REFERENCE!r} calls no natives: it runs fallbacks, which say what results mean",
            advice=f"Use one of: {others}.",
        )
    return Foreign(native, fallback, backend, row_of(backend).device != row_of(SHOWN).device)
