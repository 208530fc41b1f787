"""The text of elementary functions: one function of C++ and CUDA for each of `graph/elementary.py` and each type."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from functools import cache

from workbench.codegen.spelling import (
    COMPARED,
    UNARY,
    TargetLanguage,
    Text,
    call,
    elementary_name,
    literal,
    spell,
    type_name,
)
from workbench.graph import Arith, Graph, Node, StorageType
from workbench.graph.elementary import SEQUENCES
from workbench.graph.region import region_in
from workbench.graph.types import BOOL, F32, F64, U32, U64

HEADER = "stencil_elementary.h"
"""Name of the file that texts with such functions include."""

_BOTH = TargetLanguage("cuda", "STENCIL_MATH ", wraps=False)  # one text that either compiler takes
_AS_WIDE = {F32: U32, F64: U64, U32: F32, U64: F64}
_LONGEST = 60  # characters of an expression before it gets a line of its own
_TOP = """\
// Elementary functions: each is one sequence of operations (graph/elementary.py, from which this text is made), the
// same on all backends.
#ifndef STENCIL_ELEMENTARY_H
#define STENCIL_ELEMENTARY_H

#include "stencil_prelude.h"

namespace stencil {

STENCIL_FUNCTION uint32_t bits_of(float a) { return from_bits<uint32_t>(a); }
STENCIL_FUNCTION uint64_t bits_of(double a) { return from_bits<uint64_t>(a); }
"""
_BOTTOM = """
}  // namespace stencil
#endif
"""


@cache
def elementary_header() -> str:
    """The whole header."""
    functions = [_function(operator, type_) for operator in SEQUENCES for type_ in (F32, F64)]
    return "\n".join([_TOP, *functions]) + _BOTTOM


def is_elementary(graph: Graph) -> bool:
    """Whether a graph's text needs the header: an operator, one inside of a region too, is one of its functions."""
    return calls(graph, SEQUENCES)


def calls(graph: Graph, operators: Container[str], type_: StorageType | None = None) -> bool:
    """Whether a graph has one of these operators (of this type), one inside of a region too."""
    return any(_calls(kernel.nodes, operators, type_) for kernel in graph.kernels)


def _calls(nodes: tuple[Node, ...], operators: Container[str], type_: StorageType | None) -> bool:
    for node in nodes:
        instruction = node.instruction
        if isinstance(instruction, Arith) and instruction.operator in operators and type_ in (None, node.type):
            return True
        region = region_in(node.instruction)
        if region is not None and _calls(region.nodes, operators, type_):
            return True
    return False


# ---- writing a function ---------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Draft:
    """Operations so far, each as (operator, operands, type); how often each is used, and what is a constant's text."""

    operations: list[tuple[str, tuple[int, ...], StorageType]] = field(default_factory=list)
    constants: dict[int, Text] = field(default_factory=dict)

    def add(self, operator: str, operands: tuple[_Written, ...], type_: StorageType) -> _Written:
        row = (operator, tuple(o.index for o in operands), type_)
        if row not in self.operations:
            self.operations.append(row)
        return _Written(self, self.operations.index(row), type_)

    def constant(self, value: float, type_: StorageType) -> _Written:
        made = self.add(f"constant {value!r}", (), type_)
        self.constants[made.index] = literal(value, type_)
        return made


@dataclass(frozen=True, slots=True, eq=False)
class _Written:
    """A value of a sequence (`graph.elementary.SequenceValue`) that becomes text."""

    draft: _Draft
    index: int
    type: StorageType

    def _with(self, operator: str, *others: _Written | float, type_: StorageType | None = None) -> _Written:
        operands = (self, *(o if isinstance(o, _Written) else self.number(o) for o in others))
        return self.draft.add(operator, operands, type_ or operands[-1].type)

    def number(self, value: float) -> _Written:
        return self.draft.constant(value, self.type)

    def __add__(self, other: _Written | float) -> _Written:
        return self._with("add", other)

    def __sub__(self, other: _Written | float) -> _Written:
        return self._with("subtract", other)

    def __mul__(self, other: _Written | float) -> _Written:
        return self._with("multiply", other)

    def __truediv__(self, other: _Written | float) -> _Written:
        return self._with("divide", other)

    def __and__(self, other: int) -> _Written:
        return self._with("bitwise_and", other)

    def __or__(self, other: int) -> _Written:
        return self._with("bitwise_or", other)

    def __rshift__(self, count: int) -> _Written:
        return self._with("shift_right", count)

    def __lshift__(self, count: int) -> _Written:
        return self._with("shift_left", count)

    def __lt__(self, other: _Written | float) -> _Written:
        return self._with("less", other, type_=BOOL)

    def __gt__(self, other: _Written | float) -> _Written:
        return self._with("greater", other, type_=BOOL)

    def __ge__(self, other: _Written | float) -> _Written:
        return self._with("greater_equal", other, type_=BOOL)

    def equals(self, other: _Written | float) -> _Written:
        return self._with("equal", other, type_=BOOL)

    def choose(self, yes: _Written, no: _Written) -> _Written:
        return self._with("select", yes, no)

    def absolute(self) -> _Written:
        return self._with("absolute")

    def with_sign_of(self, other: _Written) -> _Written:
        return self._with("copysign", other)

    def bits(self) -> _Written:
        return self._with("bits", type_=_AS_WIDE[self.type])

    def from_bits(self) -> _Written:
        return self._with("from_bits", type_=_AS_WIDE[self.type])


def _function(operator: str, type_: StorageType) -> str:
    """A function; every operation that is used more than once has a line of its own."""
    draft = _Draft()
    result = SEQUENCES[operator](draft.add("x", (), type_))
    name = type_name(type_)
    lines = [f"STENCIL_FUNCTION {name} {elementary_name(operator)}({name} x) {{"]
    uses = [0] * len(draft.operations)
    for index in (o for _, operands, _ in draft.operations for o in operands):
        uses[index] += 1
    texts: list[Text] = []
    numbered = 0
    for index, (done, operands, made) in enumerate(draft.operations):
        text = draft.constants.get(index) or _text(draft, texts, done, operands, made)
        if operands and index != result.index and (uses[index] > 1 or len(text.text) > _LONGEST or done == "select"):
            numbered += 1
            lines.append(f"    const {type_name(made)} t{numbered} = {text.text};")
            text = Text(f"t{numbered}")
        texts.append(text)
    return "\n".join([*lines, f"    return {texts[result.index].text};", "}"]) + "\n"


def _text(draft: _Draft, texts: list[Text], done: str, operands: tuple[int, ...], made: StorageType) -> Text:
    given = tuple(texts[o] for o in operands)
    match done:
        case "x":
            return Text("x")
        case "bits":
            return call("bits_of", given)
        case "from_bits":
            return call(f"from_bits<{type_name(made)}>", given)
        case "shift_right" | "shift_left":  # by a constant below the width, which needs no question
            symbol = ">>" if done == "shift_right" else "<<"
            return Text(f"{given[0].within(UNARY)} {symbol} {draft.constants[operands[1]].text}", COMPARED)
        case _:
            return spell(done, given, draft.operations[operands[-1]][2], made, _BOTH)
