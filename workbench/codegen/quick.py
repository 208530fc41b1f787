"""Quick: a second version of the statements of a cell of type dd, without the handling of overflow.

What is not finite stays so through sums and products of dd: the result is then the same f64 operation, whose hi is not
finite either, and the sequences make NaN of it. So a test of the results of a cell for finiteness finds every
overflow and every operand that is not finite; only such a cell is computed again by the full sequences.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from workbench.codegen.cell_code import CellCode
from workbench.codegen.spelling import QUICK
from workbench.codegen.statement import Statement, words_in
from workbench.codegen.turns import LoopStage, stages_of
from workbench.graph.instructions import Node
from workbench.graph.types import DD
from workbench.planning.kernel_plan import Subkernel

_OPERATION = re.compile(rf"\bdd_({'|'.join(QUICK)})\(")
_KEEPS = {"dd_negative", "dd_from_f64", "dd_from_f32", *(f"dd_{name}" for name in QUICK)}
"""Functions whose result is not finite if an operand is not."""
_STORED = re.compile(r"(\w+)\[i\] = (.*);")


def stages_of_cells(
    nodes: Sequence[Node],
    subkernel: Subkernel,
    code: CellCode,
    statements: tuple[Statement, ...],
    outputs: Sequence[str],
    rolls: bool,
) -> tuple[LoopStage, ...]:
    """Cut at loops that cells make; of a loop that stores dd alone once more, without what overflow asks for.

    rolls: the loop runs together with others and writes to buffers.
    """
    if code.cuts:
        return stages_of(code.cuts, statements)
    types = {nodes[home.node].value_type for home in subkernel.outputs}
    plain = not subkernel.reductions and not code.gathers
    in_place = rolls or not {h.slot for h in subkernel.reads}.isdisjoint(h.slot for h in subkernel.outputs)
    return quick_stages(statements, outputs, in_place) if plain and types == {DD} else ()


def quick_stages(statements: tuple[Statement, ...], outputs: Collection[str], in_place: bool) -> tuple[LoopStage, ...]:
    """One stage, which ends with the look at what is stored in `outputs`, all of type dd; () where it is not enough.

    in_place: an output lies where something that is read does, so results are put down in lanes until the look is done.
    """
    texts = [each.text for each in statements]
    functions = {word for word in words_in(texts) if word.startswith("dd_") or word.endswith("_from_dd")}
    stored = [_STORED.fullmatch(text) for text in texts]
    found = [match[1] for match in stored if match is not None and match[1] in outputs]
    whole = sorted(found) == sorted(outputs) and not any(
        "?" in text or ".hi" in text or ".lo" in text for text in texts
    )
    if not whole or not functions <= _KEEPS or not any(map(_OPERATION.search, texts)):
        return ()
    made: list[Statement] = []
    looks: list[str] = []
    for statement, match in zip(statements, stored, strict=True):
        text, place = statement.text, ""
        if match is not None:
            place = f"quick.{match[1]}[lane]" if in_place else f"{match[1]}[i]"
            text = f"{place} = {match[2]};"
            looks.append(f"not_finite({place}.hi)")
        made.append(replace(statement, text=_OPERATION.sub(r"quick_\1(", text)))
    nodes = tuple(sorted({node for each in made for node in each.nodes}))
    made.append(Statement(f"return {' | '.join(looks)};", nodes))
    return (LoopStage((), tuple(made), tuple(("dd", name) for name in found) if in_place else (), None),)
