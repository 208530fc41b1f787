"""The text of double-double arithmetic: one function of C++ and CUDA for each sequence of `graph/extended.py`."""

from __future__ import annotations

from functools import cache

from workbench.codegen.spelling import Target, Text, call, literal, spell, type_name
from workbench.errors import GraphError
from workbench.graph.extended import DD, FMA, Sequence, from_scalar, sequences, to_scalar
from workbench.graph.instructions import Arith, Imm, Load
from workbench.graph.operators import REDUCTIONS
from workbench.graph.types import F64, TYPES, StorageType

HEADER = "stencil_extended.h"
"""Name of the file that texts with values of type dd include."""
SUMS_HEADER = "stencil_extended_sums.h"
"""Name of the file in templates/ that texts for the host include if they reduce such values."""

_BOTH = Target("cuda", "STENCIL_MATH ", wraps=False)  # one text that either compiler takes
_TOP = """\
// Double-double arithmetic: each function is one sequence of f64 operations (graph/extended.py, from which this text is
// made), the same on all backends.
#ifndef STENCIL_EXTENDED_H
#define STENCIL_EXTENDED_H

#include "stencil_prelude.h"

namespace stencil {

struct dd {
    double hi, lo;
};
"""
_COMBINE = """\
struct combine_dd_{operator} {{
    STENCIL_FUNCTION dd operator()(dd a, dd b) const {{ return dd_{operator}(a, b); }}
}};
"""
_LANES = """\
#ifdef STENCIL_CUDA_H
STENCIL_FUNCTION dd from_lane_above(dd value, int distance) {
    return dd{from_lane_above(value.hi, distance), from_lane_above(value.lo, distance)};
}
#endif
"""
_BOTTOM = """
}  // namespace stencil
#endif
"""


@cache
def extended_header() -> str:
    """The whole header: operators, casts from and to each scalar type, what reductions combine with, lanes of a warp.

    Text for a device includes it after "stencil_cuda.h".
    """
    operators = [_function(f"dd_{name}", sequence) for name, sequence in sequences().items()]
    casts = [text for type_ in TYPES for text in (_from(type_), _to(type_))]
    combined = [_COMBINE.format(operator=r.operator) for r in REDUCTIONS.values() if r.operator in sequences()]
    return "\n".join([_TOP, *operators, *casts, *combined, _LANES]) + _BOTTOM


def spell_extended(operator: str, operands: tuple[Text, ...], operand: StorageType, result: StorageType) -> Text:
    """The operator applied to values of type dd, or a cast to or from dd; `operand` is the type of the last operand."""
    if operator == "cast":
        return call(cast_to_dd(operand) if result == DD else cast_from_dd(result), operands)
    return call(function_name(operator), operands)


def literal_extended(hi: float, lo: float) -> Text:
    """A constant of exactly these bits."""
    return Text(f"dd{{{literal(hi, F64).text}, {literal(lo, F64).text}}}")


def function_name(operator: str) -> str:
    """What a text calls to apply an operator to values of type dd."""
    return f"dd_{operator}"


def cast_to_dd(source: StorageType) -> str:
    """What a text calls to cast a scalar type to dd."""
    return f"dd_from_{source}"


def cast_from_dd(target: StorageType) -> str:
    """What a text calls to cast dd to a scalar type."""
    return f"{target}_from_dd"


def _from(type_: StorageType) -> str:
    return _function(cast_to_dd(type_), from_scalar(type_))


def _to(type_: StorageType) -> str:
    return _function(cast_from_dd(type_), to_scalar(type_))


def _function(name: str, sequence: Sequence) -> str:
    """A function of pairs; every operation that is used more than once has a line of its own."""
    results = [sequence.nodes[i].value_type for i in sequence.results]
    returned = "dd" if len(results) > 1 else type_name(results[0])
    lines = [f"STENCIL_FUNCTION {returned} {name}({', '.join(_parameters(sequence))}) {{"]
    uses = [0] * len(sequence.nodes)
    for index in (*sequence.results, *(o for node in sequence.nodes for o in node.operands)):
        uses[index] += 1
    texts: list[Text] = []
    numbered = 0
    for index, node in enumerate(sequence.nodes):
        operands = tuple(texts[o] for o in node.operands)
        match node.instruction:
            case Imm(value):
                text = literal(value, node.value_type)
            case Load(parameter):
                text = Text(_component(parameter))
            case Arith("fma"):
                text = call(_BOTH.math + FMA, operands)
            case Arith(operator):
                last = sequence.nodes[node.operands[-1]].value_type
                text = spell(operator, operands, last, node.value_type, _BOTH)
            case other:
                raise GraphError(f"{other} inside a sequence", advice="Use constants, parameters and operators only.")
        if isinstance(node.instruction, Arith) and (uses[index] > 1 or len(text.text) > 60):
            numbered += 1
            lines.append(f"    const {type_name(node.value_type)} t{numbered} = {text.text};")
            text = Text(f"t{numbered}")
        texts.append(text)
    found = ", ".join(texts[i].text for i in sequence.results)
    return "\n".join([*lines, f"    return {f'dd{{{found}}}' if len(results) > 1 else found};", "}"]) + "\n"


def _parameters(sequence: Sequence) -> list[str]:
    """The operands: a pair for each hi that is followed by its lo."""
    types = {p.name.removesuffix("_hi"): p.type for p in sequence.parameters if not p.name.endswith("_lo")}
    pairs = {p.name.removesuffix("_hi") for p in sequence.parameters if p.name.endswith("_hi")}
    return [f"{'dd' if name in pairs else type_name(type_)} {name}" for name, type_ in types.items()]


def _component(parameter: str) -> str:
    operand, _, part = parameter.partition("_")
    return f"{operand}.{part}" if part else operand
