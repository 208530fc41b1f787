"""Roots: the statements of a cell, split at reciprocal square roots, which are computed for a block of cells at a time.

Compilers do not vectorise the estimates that processors have of them, so a loop over cells ends there, stores
what later ones need, and a function computes the roots of all its cells.
"""

from __future__ import annotations

import re
from dataclasses import replace

from workbench.codegen.statement import Statement, declared_in, words_in
from workbench.codegen.turns import LoopStage

ROOT = "rsqrt"
_TAKEN = re.compile(r"const (float|double) (\w+) = reciprocal_sqrt\((.*)\);")


def stages_at_roots(statements: tuple[Statement, ...]) -> tuple[LoopStage, ...]:
    """Split the statements of a cell at its roots, whose operands are stored; () if there is no root."""
    parts: list[list[Statement]] = [[]]
    roots: list[tuple[str, str]] = []
    for statement in statements:
        found = _TAKEN.fullmatch(statement.text)
        if found is None:
            parts[-1].append(statement)
            continue
        parts[-1].append(replace(statement, text=f"const {found[1]} {found[2]} = {found[3]};"))
        roots.append((found[1], found[2]))
        parts.append([])
    if not roots:
        return ()
    used = [words_in(each.text for each in part) for part in parts]
    known: dict[str, str] = {}
    made: list[LoopStage] = []
    for number, part in enumerate(parts):
        taken = tuple((type_, name) for name, type_ in known.items() if name in used[number])
        later = frozenset[str]().union(*used[number + 1 :])
        root = roots[number] if number < len(roots) else ("", "")
        put = tuple((type_, name) for name, type_ in declared_in(part).items() if name in later or name == root[1])
        known.update({name: type_ for type_, name in put})
        made.append(LoopStage(taken, tuple(part), put, None, root=root[1]))
    return tuple(made)
