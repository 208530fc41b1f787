"""Vectors: which loops may compute cells side by side in vectors, and shift neighbours along the row in registers.

Such loops read neighbours along the rows of a plane, and only add, subtract, multiply and divide floats of one
type: compilers have these operators for vectors, with the bits that they have for numbers. `stencil_vectors.h` says
where that is faster, and computes cell by cell elsewhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from workbench.codegen.loops import Sweep, VectorRows
from workbench.codegen.statement import declared_in, words_in
from workbench.planning.far_rows import fewest_neighbours

FARTHEST = 7
"""Cells to the farthest neighbour along the row: fewer than any vector holds."""

_DECLARATION = re.compile(r"const (float|double) (\w+) = (.*);")
_RESULT = re.compile(r"(\w+)\[i\] = (.*);")
_COMMENT = re.compile(r"/\*.*?\*/")
_READ = re.compile(r"(\w+)\[i(?: ([+-] \d+))?\]")
_NUMBER = re.compile(r"(?<![\w.])(?:0x[\da-f.]+p[+-]?\d+|\d+\.\d*(?:e[+-]?\d+)?)(f?)(?![\w.])")
_OPERATORS = frozenset(" ()+-*/")
_PLANES = re.compile(r"row\.start ([+-]) (?:(\d+) \* )?shape\.strides\[0\]")


def in_vectors(sweep: Sweep) -> Sweep:
    """The loop with rows and statements that serve numbers and vectors of them; itself if it is none of these loops."""
    vectors = _vector_rows(sweep)
    if vectors is None:
        return sweep
    pointers = tuple(
        replace(
            each,
            type=f"ShiftedCells<{vectors.type}>"
            if each.name in vectors.rows
            else f"Cells<{each.type.removesuffix('*')}>",
        )
        for each in sweep.pointers
    )
    cell = tuple(replace(each, text=_DECLARATION.sub(r"const auto \2 = \3;", each.text)) for each in sweep.cell)
    return replace(sweep, pointers=pointers, cell=cell, vectors=vectors)


def _vector_rows(sweep: Sweep) -> VectorRows | None:
    """The type of all numbers and the rows whose neighbours are read; None if something else is done."""
    types = {each.type.removeprefix("const ").removesuffix("*") for each in sweep.pointers}
    if (
        sweep.rank < 2
        or sweep.partials
        or sweep.stages
        or sweep.rolls
        or len(types) != 1
        or not types <= {"float", "double"}
    ):
        return None
    (type_,) = types
    rows = {each.name for each in sweep.pointers}
    given = {name for name, declared in declared_in((*sweep.uniform, *sweep.row)).items() if declared == type_}
    differing: set[str] = set()  # values of the cell that are not the same in all cells
    neighbours: dict[tuple[str, int], None] = {}
    for statement in sweep.cell:
        declared, result = _DECLARATION.fullmatch(statement.text), _RESULT.fullmatch(statement.text)
        if declared is not None and declared[1] == type_:
            formula = declared[3]
        elif result is not None:
            formula = result[2]
        else:
            return None
        reads = _reads(formula, type_, rows, given | differing)
        if reads is None:
            return None
        differs = bool(reads) or not words_in([formula]).isdisjoint(differing)
        if declared is not None:
            (differing if differs else given).add(declared[2])
        elif not differs:  # a vector is not set to a number
            return None
        neighbours.update(dict.fromkeys(read for read in reads if read[1]))
    counts = Counter(row for row, _ in neighbours)
    if max(counts.values(), default=0) < fewest_neighbours(sweep.rank):
        return None
    if any(abs(cells) > FARTHEST for _, cells in neighbours):
        return None
    return VectorRows(type_, tuple(counts), _far_rows(sweep))


def _far_rows(sweep: Sweep) -> tuple[str, ...]:
    """Of loops over planes: the rows of results, and of each array those that lie the most planes away on each side."""
    if sweep.rank < 3:
        return ()
    farthest: dict[tuple[str, str], tuple[int, str]] = {}
    for pointer in sweep.pointers:
        if move := _PLANES.fullmatch(pointer.move):
            side = pointer.array, move[1]
            farthest[side] = max(farthest.get(side, (0, "")), (int(move[2] or 1), pointer.name))
    results = (each.name for each in sweep.pointers if not each.type.startswith("const "))
    return (*results, *(name for _, name in farthest.values()))


def _reads(formula: str, type_: str, rows: Collection[str], known: Collection[str]) -> list[tuple[str, int]] | None:
    """Which cells of which rows a formula reads; None if there is more in it than sums and products of one type."""
    formula = _COMMENT.sub("", formula)
    reads = [(m[1], int((m[2] or "0").replace(" ", ""))) for m in _READ.finditer(formula)]
    rest = _READ.sub("", formula)
    suffixes = {m[1] for m in _NUMBER.finditer(rest)}
    rest = _NUMBER.sub("", rest)
    names = words_in([rest])
    for name in names:
        rest = re.sub(rf"\b{name}\b", "", rest)
    is_known = names <= set(known) and {row for row, _ in reads} <= set(rows)
    is_typed = suffixes <= {"f" if type_ == "float" else ""}
    return reads if is_known and is_typed and set(rest) <= _OPERATORS else None
