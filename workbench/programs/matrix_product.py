"""Matrix product: replicated rows times replicated columns, folded; no array of three axes is made."""

from __future__ import annotations

from typing import Any

from workbench.array_function import collective


@collective
def matrix_product(a: Any, b: Any) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """The product of a matrix of shape (m, k) and one of shape (k, n), an array of shape (m, n) of their type.

    Each element is the sum over k in the canonical order of a Fold, so it has the same bits everywhere.
    """
    return a @ b
