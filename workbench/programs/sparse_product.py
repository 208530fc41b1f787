"""Sparse product: a matrix by its rows (CSR) times a vector; a gather, a product and sums of segments in one loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.array_function import collective
from workbench.language import add, fold_segments


@collective
def sparse_product(lengths: Any, columns: Any, values: Any, x: Any) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """The product of a sparse matrix and a vector, an array with one element a row (McDonell 2015, §6.9).

    lengths: how many elements each row has, whole numbers. columns: of each element, from 0. values: of each element,
    row by row. x: the vector. A RunError tells of a column that x does not have, and of lengths that do not fit.
    """
    return fold_segments(add, values * x[columns], lengths)


def rows_of(matrix: Any) -> tuple[Any, Any, Any]:  # noqa: ANN401  # of SciPy, which need not be there
    """The lengths, columns and values of a matrix in SciPy's form csr, as `sparse_product` takes them."""
    return np.diff(matrix.indptr), matrix.indices, matrix.data
