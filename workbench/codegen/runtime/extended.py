"""The text of double-double: one function of C++ and CUDA for each sequence of `graph/extended*.py`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import cache

from workbench.codegen.runtime import elementary
from workbench.codegen.runtime.sums_by_fma import sums_by_fma
from workbench.codegen.spelling import (
    QUICK,
    UNARY,
    TargetLanguage,
    Text,
    call,
    cast_from_dd,
    cast_to_dd,
    literal,
    spell,
    type_name,
)
from workbench.errors import GraphError
from workbench.graph.extended import from_scalar, sequences, to_scalar
from workbench.graph.extended_functions import FUNCTIONS, function_sequences
from workbench.graph.instructions import Arith, Imm, Load
from workbench.graph.sequences import Sequence
from workbench.graph.types import DD, TYPES, StorageType
from workbench.planning.plan import Plan

HEADER = "stencil_extended.h"
"""Name of the file that texts with values of type dd include."""
SUMS_HEADER = "stencil_extended_sums.h"
"""Name of the file that texts for the host include if they reduce such values."""
QUICK_HEADER = "stencil_extended_quick.h"
"""Name of the file with operators that do nothing on overflow, for the host."""

FUNCTIONS_HEADER = "stencil_extended_functions.h"
"""Name of the file that texts with exp, log, sin or cos of such values include."""

_BOTH = TargetLanguage("cuda", "STENCIL_MATH ", wraps=False)  # one text that either compiler takes
_TOP = """\
// Double-double arithmetic: each function is one sequence of f64 operations (graph/extended.py, from which this text is
// made), the same on all backends.
#ifndef STENCIL_EXTENDED_H
#define STENCIL_EXTENDED_H

#include "stencil_prelude.h"

namespace stencil {

struct alignas(16) dd {
    double hi, lo;

    dd() = default;
    STENCIL_FUNCTION dd(double hi, double lo) : hi(hi), lo(lo) {}
    STENCIL_FUNCTION explicit dd(double x) : hi(x), lo(0.0) {}  // of whole numbers below 2^53 too
    dd(const dd&) = default;
    // By parts, because gcc has no vectors for loops that move a whole struct.
    STENCIL_FUNCTION dd& operator=(const dd& other) {
        hi = other.hi;
        lo = other.lo;
        return *this;
    }
};
template <> struct is_float<dd> {
    static constexpr bool value = true;
};

// a + b by the units that multiply. The bits are the same: a * 1.0 is exact, and the sum is rounded once.
STENCIL_FUNCTION double by_fma(double a, double b) {
#if defined(__x86_64__) && defined(__FMA__) && !defined(STENCIL_CUDA_H)
    return STENCIL_MATH fma(a, 1.0, b);
#else
    return a + b;
#endif
}
"""
_NOTATION = """\
// What reductions and boundary rules write, which are templates of the type.
STENCIL_FUNCTION dd operator+(dd a, dd b) { return dd_add(a, b); }
STENCIL_FUNCTION dd operator-(dd a, dd b) { return dd_subtract(a, b); }
STENCIL_FUNCTION dd operator*(dd a, dd b) { return dd_multiply(a, b); }
STENCIL_FUNCTION dd operator-(dd a) { return dd_negative(a); }
STENCIL_FUNCTION dd minimum(dd a, dd b) { return dd_minimum(a, b); }
STENCIL_FUNCTION dd maximum(dd a, dd b) { return dd_maximum(a, b); }
"""
_DEVICE = """\
#ifdef STENCIL_CUDA_H
STENCIL_FUNCTION dd from_lane_above(dd value, int distance) {
    return dd{from_lane_above(value.hi, distance), from_lane_above(value.lo, distance)};
}
template <> STENCIL_FUNCTION dd read_global<dd>(array<const uint64_t> globals, int slot) {
    const double hi = read_global<double>(globals, slot), lo = read_global<double>(globals, slot + 1);
    return dd{hi, lo};
}
template <> STENCIL_FUNCTION void write_global<dd>(array<uint64_t> globals, int slot, dd value) {
    write_global(globals, slot, value.hi);
    write_global(globals, slot + 1, value.lo);
}
#endif
"""
_BOTTOM = """
}  // namespace stencil
#endif
"""


@cache
def extended_header() -> str:
    """The whole header: operators, casts from and to each scalar type, and what templates of the type write.

    Text for a device includes it after "stencil_cuda.h" and gets lanes of a warp and words of the Globals block.
    """
    operators = [_function(f"dd_{name}", sequence) for name, sequence in sequences().items() if name != "fma"]
    casts = [text for type_ in TYPES for text in (_from(type_), _to(type_))]
    return "\n".join([_TOP, *operators, *casts, _NOTATION, _DEVICE]) + _BOTTOM


@cache
def functions_header() -> str:
    """exp, log, sin and cos."""
    top = [
        "// Functions of double-double: each is one sequence of f64 operations (graph/extended_functions.py), the same",
        "// on all backends.",
        "#ifndef STENCIL_EXTENDED_FUNCTIONS_H",
        "#define STENCIL_EXTENDED_FUNCTIONS_H",
        "",
        f'#include "{elementary.HEADER}"',
        f'#include "{HEADER}"',
        "",
        "namespace stencil {",
        "",
    ]
    functions = (_on_two_units(f"dd_{name}", each) for name, each in function_sequences().items())
    return "\n".join([*top, *functions]) + _BOTTOM


@cache
def quick_header() -> str:
    """Operators whose result, where it is finite, is that of the sequence; where it would not be, hi is not finite."""
    top = [
        "// Double-double operators without what overflow asks for: the same where a result is finite. What is not",
        "// finite stays so through all of them. Made from graph/extended.py.",
        "#ifndef STENCIL_EXTENDED_QUICK_H",
        "#define STENCIL_EXTENDED_QUICK_H",
        "",
        f'#include "{HEADER}"',
        "",
        "namespace stencil {",
        "",
    ]
    functions = (_on_two_units(f"quick_{name}", _unchecked(sequences()[name])) for name in QUICK)
    return "\n".join([*top, *functions]) + _BOTTOM


def _unchecked(sequence: Sequence) -> Sequence:
    """The pair that the sequence finds before it looks whether that is finite, and nothing else."""
    chosen = [sequence.nodes[index] for index in sequence.results]
    looks = {sequence.nodes[each.operands[0]].instruction for each in chosen}
    if any(each.instruction != Arith("select") for each in chosen) or looks != {Arith("isfinite")}:
        raise GraphError("a sequence does not end with a look whether it is finite", advice="Leave it out of QUICK.")
    results = tuple(each.operands[1] for each in chosen)
    needed: list[int] = []
    waiting = list(results)
    while waiting:
        index = waiting.pop()
        if index not in needed:
            needed.append(index)
            waiting += sequence.nodes[index].operands
    order = {index: number for number, index in enumerate(sorted(needed))}
    nodes = tuple(
        replace(sequence.nodes[index], operands=tuple(order[o] for o in sequence.nodes[index].operands))
        for index in order
    )
    return replace(sequence, nodes=nodes, results=tuple(order[index] for index in results))


def extends(plan: Plan) -> bool:
    """Whether a plan's text needs the header: a param, a scalar or a value has type dd."""
    values = (node.type for kernel in plan.graph.kernels for node in kernel.nodes)
    return any(type_ == DD for type_ in (*values, *(static.type for static in plan.graph.statics)))


def has_functions(plan: Plan) -> bool:
    """Whether a plan's text needs the header of functions."""
    return extends(plan) and elementary.calls(plan.graph, FUNCTIONS)


def _from(type_: StorageType) -> str:
    return _function(cast_to_dd(type_), from_scalar(type_))


def _to(type_: StorageType) -> str:
    return _function(cast_from_dd(type_), to_scalar(type_))


def _on_two_units(name: str, sequence: Sequence) -> str:
    """With sums by fma. Not for the operators of the first header: gcc makes no vectors of the folds that use them."""
    return _function(name, sequence, sums_by_fma(sequence))


def _function(name: str, sequence: Sequence, by_fma: Collection[int] = ()) -> str:
    """A function of pairs; every operation that is used more than once has a line of its own.

    by_fma: the nodes of sums that are written as fma.
    """
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
            case Arith(operator) if index in by_fma:
                text = _sum_by_fma(operator, operands)
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


def _sum_by_fma(operator: str, operands: tuple[Text, ...]) -> Text:
    first, second = operands
    if operator == "subtract":
        second = Text(f"-{second.within(UNARY + 1)}", UNARY)
    return call("by_fma", (first, second))


def _parameters(sequence: Sequence) -> list[str]:
    """The operands: a pair for each hi that is followed by its lo."""
    types = {p.name.removesuffix("_hi"): p.type for p in sequence.parameters if not p.name.endswith("_lo")}
    pairs = {p.name.removesuffix("_hi") for p in sequence.parameters if p.name.endswith("_hi")}
    return [f"{'dd' if name in pairs else type_name(type_)} {name}" for name, type_ in types.items()]


def _component(parameter: str) -> str:
    operand, _, part = parameter.partition("_")
    return f"{operand}.{part}" if part else operand
