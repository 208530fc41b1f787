"""Uniforms: values that are the same in all cells, computed once a phase into words of the Globals block.

A block begins with the plan's slots; the table of the kernel that runs stands behind them, a word for each value that a
loop or a boundary rule of one of its steps uses. What no step changes is computed before a march, what changes with a
scalar before each step, what needs a Reduce of the step right after the finisher that it waits for. A table depends on
sizes and on the block that it stands in alone, so that several levels of a tile may each have a block of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from workbench.codegen.expressions import emit_globals
from workbench.codegen.names import RESERVED, NameBook
from workbench.codegen.scope import Scope
from workbench.codegen.spelling import type_name
from workbench.codegen.statement import Statement
from workbench.graph import Kernel, Load, LoadSize, Node, Reduce, StorageType
from workbench.graph.instructions import array_places, traits_of

When = Literal["march", "step", "finisher"]
_MARCH, _STEP, _FINISHERS = 0, 1, 2  # stages: before a march, before a step, after the first finishers and so on


@dataclass(frozen=True, slots=True)
class UniformWord:
    """A word of the Globals block behind the plan's slots: a node's value in its own type at the low end; dd has two.

    when: what it is computed before (a march, or each step) or after. after: the Reduce nodes that it needs, ascending.
    """

    index: int
    kernel: str
    node: int
    type: StorageType
    when: When
    after: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Uniforms:
    """The function that computes some words at one time; those before a march alone need the shape."""

    name: str = field(compare=False)
    when: When
    statements: tuple[Statement, ...]


def block_words(slots: int, words: tuple[UniformWord, ...]) -> int:
    """Words of a Globals block whose slots of the plan take `slots`; at least one."""
    return max([slots, 1, *(word.index + word.type.words for word in words)])


class UniformTable:
    """The table of one kernel: gives a value its word when a text first uses it.

    computed: the nodes that are the same in all cells and take arithmetic. changing: those that a scalar changes from
    step to step. used: those with words that were used since the caller last emptied it.
    """

    def __init__(self, kernel: Kernel, first: int) -> None:
        self.kernel = kernel
        self.words: dict[int, UniformWord] = {}
        self.used: dict[int, None] = {}
        self._free = first
        self._after: list[frozenset[int] | None] = []  # for each node the Reduce nodes it needs; None if cells differ
        for index, node in enumerate(kernel.nodes):
            self._after.append(self._needs(index, node))
        self.changing = self._changing()
        same = (index for index, needed in enumerate(self._after) if needed is not None)
        self.computed = frozenset(index for index in same if _takes_arithmetic(kernel.nodes[index]))

    def _needs(self, index: int, node: Node) -> frozenset[int] | None:
        if isinstance(node.instruction, Reduce):
            return frozenset({index})
        if not traits_of(node.instruction).is_same_where_operands_are or array_places(node.instruction):
            return frozenset() if node.is_global else None
        needed = [self._after[operand] for operand in node.operands]
        return frozenset().union(*(n for n in needed if n is not None)) if None not in needed else None

    def _changing(self) -> frozenset[int]:
        stored = {name for name, _ in self.kernel.stores()}
        found: set[int] = set()
        for index, node in enumerate(self.kernel.nodes):
            loads = isinstance(node.instruction, Load) and node.instruction.name in stored
            if self._after[index] is not None and (loads or not found.isdisjoint(node.operands)):
                found.add(index)
        return frozenset(found)

    def after(self, index: int) -> frozenset[int]:
        """The Reduce nodes that a value needs, which is the same in all cells."""
        found = self._after[index]
        assert found is not None
        return found

    def word(self, index: int) -> int:
        """Where a value lies in the Globals block."""
        self.used[index] = None
        if index not in self.words:
            type_ = self.kernel.nodes[index].value_type
            after = tuple(sorted(self.after(index)))
            number = self._free
            self._free += type_.words
            when: When = "finisher" if after else "step" if index in self.changing else "march"
            self.words[index] = UniformWord(number, self.kernel.name, index, type_, when, after)
        return self.words[index].index

    def in_order(self, wanted: Iterable[int]) -> tuple[int, ...]:
        """Values that have words, as these follow each other."""
        return tuple(sorted(wanted, key=lambda node: self.words[node].index))


def _takes_arithmetic(node: Node) -> bool:
    """Whether a value is worth a word; a pair has none, its parts have theirs."""
    return traits_of(node.instruction).is_elementwise and not node.value_type.is_pair


@dataclass(frozen=True, slots=True)
class LoopWords:
    """What loops and rules take from the table: all that takes arithmetic; `sizes`: sizes too, for other shapes."""

    table: UniformTable
    sizes: bool = False

    def holds(self, index: int) -> bool:
        """Whether the value is read from its word."""
        is_size = self.sizes and isinstance(self.table.kernel.nodes[index].instruction, LoadSize)
        return index in self.table.computed or is_size

    def word(self, index: int) -> int:
        """Its word."""
        return self.table.word(index)


@dataclass(frozen=True, slots=True)
class EarlierWords:
    """What a stage takes from the table: what is there since an earlier one, sizes too, for it gets no shape.

    `stages`: for each Reduce node the stage after its finisher.
    """

    table: UniformTable
    stages: Mapping[int, int]
    stage: int

    def holds(self, index: int) -> bool:
        """Whether the value is read from its word."""
        is_size = isinstance(self.table.kernel.nodes[index].instruction, LoadSize)
        return (is_size or index in self.table.computed) and stage_of(self.table, self.stages, index) < self.stage

    def word(self, index: int) -> int:
        """Its word."""
        return self.table.word(index)


def stage_of(table: UniformTable, stages: Mapping[int, int], index: int) -> int:
    """The earliest stage in which a value can be computed."""
    earliest = _STEP if index in table.changing else _MARCH
    return max((stages[reduction] for reduction in table.after(index)), default=earliest)


def later_uniforms(table: UniformTable, scope: Scope, finishers: Mapping[int, int]) -> dict[int, Uniforms]:
    """What is to be computed after finishers, of all that `table.used` names; earlier values it notes there.

    finishers: for each Reduce node the number of its finishers' launch in the step, from 1; so are the keys returned.
    Later ones come first, because they may use words that nothing else does.
    """
    found: dict[int, Uniforms] = {}
    stages = {node: number - 1 + _FINISHERS for node, number in finishers.items()}
    for number in sorted(set(finishers.values()), reverse=True):
        stage = number - 1 + _FINISHERS
        wanted = table.in_order(n for n in table.used if stage_of(table, stages, n) == stage)
        if wanted:
            found[number] = _uniforms(table, scope, EarlierWords(table, stages, stage), wanted, "finisher")
    return found


def step_uniforms(table: UniformTable, scope: Scope) -> Uniforms | None:
    """What is to be computed before each step, None if nothing is; before `march_uniforms`, whose words it may use."""
    wanted = table.in_order(node for node, word in table.words.items() if word.when == "step")
    return _uniforms(table, scope, EarlierWords(table, {}, _STEP), wanted, "step") if wanted else None


def march_uniforms(table: UniformTable, scope: Scope) -> Uniforms | None:
    """What is to be computed before a march, None if nothing is."""
    wanted = table.in_order(node for node, word in table.words.items() if word.when == "march")
    return _uniforms(table, scope, None, wanted, "march") if wanted else None


def _uniforms(
    table: UniformTable, scope: Scope, words: EarlierWords | None, wanted: tuple[int, ...], when: When
) -> Uniforms:
    scope = replace(scope, words=words)
    code = emit_globals(scope, wanted, NameBook(RESERVED))
    written = [
        Statement(
            f"write_global<{type_name(table.words[r.node].type)}>(globals, {table.words[r.node].index}, {r.text});",
            tuple(sorted({r.node, *r.nodes})),
        )
        for r in code.results
    ]
    return Uniforms("", when, (*code.uniform, *written))
