"""Matrices: the sparse product by lengths of rows, for matrices like the fourteen of McDonell's table 6.4.

Their numbers of rows, columns and elements are those of the table; lengths of rows and places of elements are drawn,
because the files are not here. Columns lie around the diagonal, as of meshes, or anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.random import Generator

from workbench.commands.bench.accelerate.others import jax
from workbench.commands.bench.accelerate.row import Call, Case, ProgramRow, alone
from workbench.commands.bench.accelerate.rows import sparse_others
from workbench.programs.sparse_product import sparse_product

_BAND = 0.02  # of the columns, on either side of the diagonal
_SMALLER = 1000  # times, of rows and columns, for inputs of a few elements


@dataclass(frozen=True, slots=True)
class _Matrix:
    """A row of table 6.4.

    each: elements of a row, the mean. lengths: all rows alike, anything up to twice the mean, or many short rows and
    few long ones (a geometric law). band: whether columns lie around the diagonal.
    """

    name: str
    rows: int
    columns: int
    each: int
    lengths: Literal["equal", "uneven", "geometric"] = "uneven"
    band: bool = True


_MATRICES = (
    _Matrix("Dense", 2000, 2000, 2000, "equal", band=False),
    _Matrix("Protein", 36_000, 36_000, 60),
    _Matrix("FEM/Spheres", 83_000, 83_000, 37),
    _Matrix("FEM/Cantilever", 62_000, 62_000, 33),
    _Matrix("Wind tunnel", 128_000, 128_000, 46),  # as its elements and rows say; the table's 27 is a slip
    _Matrix("FEM/Harbour", 47_000, 47_000, 50),
    _Matrix("QCD", 49_000, 49_000, 39, "equal"),
    _Matrix("FEM/Ship", 141_000, 141_000, 28),
    _Matrix("Economics", 207_000, 207_000, 6),
    _Matrix("Epidemiology", 526_000, 526_000, 4, "equal"),
    _Matrix("FEM/Accelerator", 121_000, 121_000, 11),
    _Matrix("Circuit", 171_000, 171_000, 6, "geometric"),
    _Matrix("Webbase", 1_000_000, 1_000_000, 3, "geometric", band=False),
    _Matrix("LP (railways)", 4000, 1_100_000, 2633, band=False),
)


def _case(matrix: _Matrix, draw: Generator, smaller: int) -> Case:
    rows, columns = max(matrix.rows // smaller, 2), max(matrix.columns // smaller, 3 * min(matrix.each, 10))
    each = min(matrix.each, columns // 3) if smaller > 1 else matrix.each
    match matrix.lengths:
        case "equal":
            lengths = np.full(rows, each, np.int32)
        case "uneven":
            lengths = draw.integers(1, 2 * each, rows, dtype=np.int32)
        case "geometric":
            lengths = draw.geometric(1 / each, rows).astype(np.int32)
    count = int(lengths.sum())
    if matrix.band:
        reach = max(int(_BAND * columns), each)
        diagonal = np.repeat(np.arange(rows) * columns // rows, lengths)
        places = (diagonal + draw.integers(-reach, reach + 1, count)) % columns
    else:
        places = draw.integers(0, columns, count)
    given = lengths, places.astype(np.int32), draw.random(count), draw.random(columns)

    def others() -> dict[str, Call]:
        owner = np.repeat(np.arange(rows, dtype=np.int32), lengths)
        return {**sparse_others(*given), **jax("sparse_product", owner, *given[1:], rows=rows)}

    size = f"{rows:,} x {columns:,}, {count:,} elements, {count / rows:.0f} a row"
    return Case(size, **alone(sparse_product, given), others=others, tolerance=1e-12)


def _flops(case: Case) -> float:
    """Two for each element."""
    return 2.0 * float(case.called[0][1][2].size)


MATRICES = tuple(
    ProgramRow(
        each.name, each.name, partial(_case, each), ((_SMALLER,), (1,), (1,)), lambda smaller: 1 / smaller, _flops
    )
    for each in _MATRICES
)
