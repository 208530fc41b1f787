"""Reads the text form of a graph (`workbench.graph.text`) back."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from typing import Any, Literal, cast, get_args

from workbench.errors import GraphError
from workbench.graph.graph import Graph, Kernel
from workbench.graph.instructions import (
    PLAIN,
    Arith,
    Broadcast,
    Extend,
    Fold,
    Imm,
    Instruction,
    Load,
    Loop,
    Node,
    Parameter,
    Reduce,
    Region,
    Replicate,
    Scan,
    Scatter,
    SegmentedReduce,
    Store,
)
from workbench.graph.limits import Limits
from workbench.graph.line import LineReader
from workbench.graph.marks import NO_HINT, Allocation, Hint, Span
from workbench.graph.operators import OPERATORS
from workbench.graph.side_rules import RULES, SideRule
from workbench.graph.spaces import (
    GLOBAL,
    AffineExtent,
    Axis,
    ConstantExtent,
    Extent,
    MinimumExtent,
    NamedExtent,
    Space,
)
from workbench.graph.statics import Coordinate, Static, While
from workbench.graph.text import HEADER

BOUNDS = tuple(field.name for field in fields(Limits))


def parse(text: str, *, by_own_lines: bool = False) -> Graph:
    """Return the graph whose text it is. GraphError with the line number if the text is not one.

    by_own_lines: places are then the lines of this text, not those of the cell that it tells.
    """
    return _Parser(text, by_own_lines).graph()


class _Parser:
    """Collects the parts of a graph, top down; axes and regions stand before their first use."""

    def __init__(self, text: str, by_own_lines: bool) -> None:
        self.by_own_lines = by_own_lines
        lines = (LineReader(number, line) for number, line in enumerate(text.splitlines(), 1))
        self.lines = [line for line in lines if line.tokens]
        self.at = 0
        self.local = GLOBAL
        self.regions: dict[str, Region] = {}

    def graph(self) -> Graph:
        if not self.lines:
            raise GraphError("the text of the graph is empty", advice=f"Begin with the line: {HEADER} NAME.")
        name = self._named(HEADER)
        axes: list[Axis] = []
        while self._is("axis"):
            line = self._begin("axis")
            axes.append(self._axis(line))
            line.end()
        self.local = Space(tuple(axes))
        statics: list[Static] = []
        while self._is("static"):
            statics.append(self._static(self._begin("static")))
        while self._is("region"):
            self._region(self._begin("region"))
        kernels: list[Kernel] = []
        while self._is("kernel"):
            kernels.append(Kernel(self._named("kernel"), self._nodes(), self.local))
        loops: list[While] = []
        while self._is("while"):
            loops.append(self._while(self._begin("while")))
        coordinates: list[Coordinate] = []
        while self._is("coordinate"):
            coordinates.append(self._coordinate(self._begin("coordinate")))
        if self.at < len(self.lines):
            raise self.lines[self.at].error("the graph has ended, or its parts stand in another order")
        return Graph(name, self.local, tuple(statics), tuple(kernels), tuple(coordinates), loops=tuple(loops))

    def _is(self, word: str) -> bool:
        return self.at < len(self.lines) and self.lines[self.at].peek() == word

    def _begin(self, word: str) -> LineReader:
        line = self.lines[self.at]
        line.take(word)
        self.at += 1
        return line

    def _named(self, word: str) -> str:
        """The name on a line that has no more."""
        line = self._begin(word)
        name = line.name()
        line.end()
        return name

    def _axis(self, line: LineReader) -> Axis:
        name, kind = line.name(), line.take()
        if kind not in ("grid", "array"):
            raise line.error(f"grid or array expected, found {kind}")
        return Axis(name, self._extent(line), cast(Literal["grid", "array"], kind))

    def _extent(self, line: LineReader) -> Extent:
        word = line.peek()
        if word == "affine" and line.take():
            line.take("(")
            base = self._extent(line)
            line.take(",")
            scale = line.integer()
            line.take(",")
            offset = line.integer()
            line.take(")")
            return AffineExtent(base, scale, offset)
        if word == "minimum" and line.take():
            line.take("(")
            left = self._extent(line)
            line.take(",")
            right = self._extent(line)
            line.take(")")
            return MinimumExtent(left, right)
        return ConstantExtent(line.integer()) if re.fullmatch(r"-?\d+", word) else NamedExtent(line.name())

    def _space(self, line: LineReader) -> Space:
        if line.accept("global"):
            return GLOBAL
        if line.accept("local"):
            return self._some_axes(line) if line.peek() == "(" else self.local
        line.take("space")
        line.take("(")
        axes = [self._axis(line)]
        while line.accept(","):
            axes.append(self._axis(line))
        line.take(")")
        return Space(tuple(axes))

    def _some_axes(self, line: LineReader) -> Space:
        """The space of some of the graph's axes, by name."""
        known = {axis.name: axis for axis in self.local.axes}
        line.take("(")
        found: list[Axis] = []
        while not found or line.accept(","):
            name = line.name()
            if name not in known:
                raise line.error(f"one of the axes {', '.join(known)} expected, found {name}")
            found.append(known[name])
        line.take(")")
        return Space(tuple(found))

    def _static(self, line: LineReader) -> Static:
        name, role = line.name(), line.take()
        if role not in ("field", "scalar", "param"):
            raise line.error(f"field, scalar or param expected, found {role}")
        line.take(":")
        type_, space = line.type(), self._space(line)
        static = Static(
            name,
            cast(Literal["field", "scalar", "param"], role),
            type_,
            space,
            default=line.number_value() if line.accept("default") else None,
            unit=line.string() if line.accept("unit") else "",
            boundary=line.string() if line.accept("boundary") else "",
            face_axes=line.integers() if line.accept("faces") else (),
            group=line.name() if line.accept("group") else "",
            component=line.integers() if line.accept("component") else (),
            limits=Limits(*(line.number_value() if line.accept(bound) else None for bound in BOUNDS)),
            inner=line.accept("inner"),
            span=self._place(line),
        )
        line.end()
        return static

    def _place(self, line: LineReader) -> Span:
        place = line.span() if line.accept("at") else Span(0)
        return Span(line.number) if self.by_own_lines else place

    def _while(self, line: LineReader) -> While:
        loop = While(
            line.name(),
            line.name(),
            line.name(),
            line.name(),
            line.integer(),
            line.accept("ok"),
            self._place(line),
        )
        line.end()
        return loop

    def _region(self, line: LineReader) -> None:
        key = line.take()
        if not re.fullmatch("@[0-9]+", key):
            raise line.error(f"the number of a region expected, such as @0, found {key}")
        line.take("(")
        parameters: list[Parameter] = []
        while not line.accept(")"):
            if parameters:
                line.take(",")
            name = line.name()
            line.take(":")
            parameters.append(Parameter(name, line.type(), line.integer() if line.accept("axes") else 0))
        results = line.integers() if line.accept("results") else ()
        identity = None if results or (line.take("identity") and line.accept("none")) else line.constant()
        line.end()
        self.regions[key] = Region(tuple(parameters), self._nodes(), identity, results)

    def _coordinate(self, line: LineReader) -> Coordinate:
        axis, name = line.integer(), line.name()
        line.take("unit")
        unit = line.string()
        line.end()
        return Coordinate(axis, name, unit, self._nodes())

    def _nodes(self) -> tuple[Node, ...]:
        nodes: list[Node] = []
        while self.at < len(self.lines) and self.lines[self.at].peek().startswith("%"):
            line = self.lines[self.at]
            line.take(f"%{len(nodes)}")
            line.take("=")
            nodes.append(self._node(line))
            self.at += 1
        return tuple(nodes)

    def _node(self, line: LineReader) -> Node:
        instruction = self._instruction(line)
        operands: list[int] = []
        while line.peek().startswith("%"):
            word = line.take()
            if not word[1:].isdecimal():
                raise line.error(f"a node number expected, found {word}")
            operands.append(int(word[1:]))
        type_, space = (line.type(), self._space(line)) if line.accept(":") else (None, None)
        names: list[str] = []
        spans: list[Span] = []
        hint = NO_HINT
        if line.accept("#"):
            while line.peek() not in ("", "at", "hint"):
                names.append(line.name())
            if line.accept("at"):
                while line.peek() not in ("", "hint"):
                    spans.append(line.span())
            if line.accept("hint"):
                hint = self._hint(line)
        line.end()
        if self.by_own_lines:
            spans = [Span(line.number)]
        return Node(instruction, tuple(operands), type_, space, tuple(names), tuple(spans), hint)

    def _hint(self, line: LineReader) -> Hint:
        allocation = next((word for word in get_args(Allocation) if line.accept(word)), None)
        before, after = line.accept("sync_before"), line.accept("sync_after")
        line.take("line")
        return Hint(allocation, before, after, line.integer())

    def _instruction(self, line: LineReader) -> Instruction:  # one case for each instruction
        word = line.take()
        match word:
            case "imm":
                return Imm(line.number_value())
            case "load":
                name = line.name()
                return Load(name, line.names() if line.accept("along") else ())
            case "store":
                return Store(line.name())
            case "reduce" | "fold" | "scan" | "segments" | "scatter":
                return self._combining(word, line)
            case "loop":
                return Loop(self._named_region(line.take(), line), line.integer())
            case "broadcast" | "replicate":
                line.take("to")
                space = self._space(line)
                return Broadcast(space) if word == "broadcast" else Replicate(space)
            case "extend":
                sides: list[tuple[SideRule, SideRule]] = []
                while line.accept("("):
                    below = self._rule(line)
                    line.take(",")
                    sides.append((below, self._rule(line)))
                    line.take(")")
                return Extend(tuple(sides))
            case word if word in PLAIN:
                return self._plain(PLAIN[word], line)
            case operator if operator in OPERATORS:
                return Arith(operator)
            case _:
                raise line.error(f"unknown instruction {word}")

    def _combining(self, word: str, line: LineReader) -> Instruction:
        """An instruction with an operator, by its name or as a region above."""
        operator = self._named_region(key, line) if (key := line.take()).startswith("@") else key
        if word in ("segments", "scatter"):
            return SegmentedReduce(operator) if word == "segments" else Scatter(operator, line.accept("masked"))
        line.take("over")
        if word == "scan":
            return Scan(operator, line.integer(), line.accept("reverse"), line.accept("exclusive"))
        return Reduce(operator, line.integers()) if word == "reduce" else Fold(operator, line.integers())

    def _named_region(self, key: str, line: LineReader) -> Region:
        if key in self.regions:
            return self.regions[key]
        raise line.error(f"no region {key} stands above")

    def _plain(self, kind: type[Any], line: LineReader) -> Instruction:
        """An instruction of numbers; those with defaults may be missing at the end."""
        numbers = list[int | tuple[int, ...]]()
        for field in fields(kind):
            if field.default is not MISSING and not re.match(r"[-\d(]", line.peek()):
                break
            numbers.append(line.integer() if field.type == "int" else line.integers())
        made: Instruction = kind(*numbers)
        return made

    def _rule(self, line: LineReader) -> SideRule:
        word = line.take()
        if word not in RULES:
            raise line.error(f"unknown boundary rule {word}")
        numbers = line.integers() if line.peek() == "(" else ()
        try:
            return RULES[word](*numbers)
        except TypeError:
            raise line.error(f"{len(numbers)} numbers for the boundary rule {word}") from None
