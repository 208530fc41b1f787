"""Turns: the text of a loop that each cell makes for itself, of one cell, or of many cells side by side under masks.

No compiler makes vectors of a loop inside of a loop over cells when each cell ends after turns of its own. So a loop of
a CPU is cut where cells turn: what is before is computed for a block of cells into lanes, all lanes turn together until
none goes on, and what is behind takes the lanes up. The turns of one lane are those of the cell alone, to the bit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

from workbench.codegen.gathers import GatheredArray, Index, gather_code
from workbench.codegen.names import NameBook
from workbench.codegen.spelling import TargetLanguage, Text, literal, spell, type_name
from workbench.codegen.statement import Statement, declared_in, words_in
from workbench.errors import GraphError
from workbench.graph import Arith, Gather, Imm, Load, Loop, Node, Region, StorageType

_LANE_BYTES = 128
"""Of a value in all lanes: two to four vectors, which stay in registers and hide what an operation waits for."""
ASKED, GOES = "asked", "goes"
"""The variables that say whether a lane is asked if it goes on, and whether it makes the turn."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a cell: its C++ type, its name, and what it begins with."""

    type: str
    name: str
    start: str


@dataclass(frozen=True, slots=True)
class Turns:
    """One loop: what it carries and reads, the most turns, and a turn: what says whether it is made, and what it makes.

    read: what the body reads besides and differs from cell to cell, the most turns among them if these do. mark: the
    nodes that the loop computes. notes: whether its lines note places outside of arrays.
    """

    carried: tuple[Variable, ...]
    read: tuple[Variable, ...]
    most: str
    asking: tuple[str, ...]
    goes: str
    making: tuple[str, ...]
    following: tuple[str, ...]
    mark: Statement
    notes: bool = False

    def statement(self, text: str) -> Statement:
        """A line of the loop."""
        return replace(self.mark, text=text)

    @property
    def most_differs(self) -> bool:
        """Whether cells may make different numbers of turns at most."""
        return any(variable.name == self.most for variable in self.read)

    @property
    def asks(self) -> str:
        """What says whether a lane goes on."""
        return f"(turn < {self.most}) & ({self.goes})" if self.most_differs else f"{self.goes}"

    @property
    def asked(self) -> str:
        """What says whether a lane that is active is asked."""
        return f"turn < {self.most} ? 1 : 0" if self.most_differs else "1"

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that hold what the loop ends with."""
        return tuple(variable.name for variable in self.carried)

    def lines(self) -> tuple[str, ...]:
        """The loop of one cell."""
        following = zip(self.carried, self.following, strict=True)
        return (
            *(f"const {v.type} {v.name} = {v.start};" for v in self.read),
            *(f"{v.type} {v.name} = {v.start};" for v in self.carried),
            f"for (int64_t turn = 0; turn < {self.most}; ++turn) {{",
            *(f"    {line}" for line in self.asking),
            f"    if (!({self.goes})) break;",
            *(f"    {line}" for line in self.making),
            *(f"    const {v.type} next_{v.name} = {text};" for v, text in following),
            *(f"    {v.name} = next_{v.name};" for v in self.carried),
            "}",
        )


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand of a loop as text; is_cell: it differs from cell to cell."""

    text: str
    is_cell: bool


def turns_of(
    body: Region,
    operands: Iterable[Operand | GatheredArray],
    names: NameBook,
    target: TargetLanguage,
    nodes: tuple[int, ...] = (),
    *,
    together: bool = False,
    mask: str = "",
) -> Turns:
    """Write a loop on operands that are texts: the most turns, what each value begins with, what is read besides.

    together: cells turn side by side, under masks. mask: of a loop in a turn of such cells, which of them make it.
    """
    most, *others = operands
    assert isinstance(most, Operand)
    sources = {p.name: o for p, o in zip(body.parameters, others, strict=True) if isinstance(o, GatheredArray)}
    numbers = [(p, o) for p, o in zip(body.parameters, others, strict=True) if isinstance(o, Operand)]
    count = len(body.results) - 1
    variables = [
        Variable(
            type_name(parameter.type),
            names.claim(parameter.name) if number < count or operand.is_cell else "",
            operand.text,
        )
        for number, (parameter, operand) in enumerate(numbers)
    ]
    inside = {p.name: v.name or v.start for (p, _), v in zip(numbers, variables, strict=True)}
    writer = _BodyWriter(body, inside, sources, names, target, ASKED if together else mask)
    goes = writer.text(body.results[0])
    asking = tuple(writer.lines)
    writer.mask = GOES if together else mask
    following = tuple(writer.text(result) for result in body.results[1:])
    making = tuple(writer.lines[len(asking) :])
    read = [v for v in variables[count:] if v.name]
    if most.is_cell:
        read.append(Variable("int64_t", names.claim("most"), most.text))
    bound = read[-1].name if most.is_cell else most.text
    mark = Statement("", nodes)
    return Turns(tuple(variables[:count]), tuple(read), bound, asking, goes, making, following, mark, bool(sources))


def nodes_of_loop(nodes: tuple[Node, ...], body: Region, operands: tuple[int, ...]) -> tuple[int, ...]:
    """Return the nodes that are values of one loop."""
    loops = [(index, node) for index, node in enumerate(nodes) if node.operands == operands]
    return tuple(i for i, node in loops if isinstance(node.instruction, Loop) and node.instruction.body == body)


class _BodyWriter:
    """The nodes of a body as lines, each when it is first needed."""

    def __init__(
        self,
        body: Region,
        parameters: dict[str, str],
        sources: dict[str, GatheredArray],
        names: NameBook,
        target: TargetLanguage,
        mask: str,
    ) -> None:
        self.body, self.parameters, self.names, self.target = body, parameters, names, target
        self.sources, self.mask = sources, mask
        self.lines: list[str] = []
        self.texts: dict[int, Text] = {}
        self.loops: dict[tuple[Region, tuple[int, ...]], Turns] = {}

    def text(self, root: int) -> str:
        """The text of a node, after the lines of what it needs; those above stand first."""
        needed, waiting = {root}, [root]
        while waiting:
            for operand in self.body.nodes[waiting.pop()].operands:
                if operand not in needed:
                    needed.add(operand)
                    waiting.append(operand)
        for index in sorted(needed - set(self.texts)):
            self.texts[index] = self._made(index)
        return self.texts[root].text

    def _made(self, index: int) -> Text:
        node = self.body.nodes[index]
        match node.instruction:
            case Imm(value):
                return literal(value, node.value_type)
            case Load(name):
                return Text(self.parameters.get(name, ""))  # an array has no text
            case Gather():
                return self._gathered(index, node)
            case Arith(operator):
                type_ = self.body.nodes[node.operands[-1]].value_type
                texts = tuple(self.texts[i] for i in node.operands)
                return self._named(index, spell(operator, texts, type_, node.value_type, self.target), node.value_type)
            case Loop(body, result):
                return Text(self._inner(body, node.operands).names[result])
            case _:
                raise GraphError(f"{node.instruction} inside a loop", advice="Use constants, parameters and operators.")

    def _named(self, index: int, text: Text, type_: StorageType) -> Text:
        names = self.body.nodes[index].names
        name = self.names.claim(names[0] if names else f"v{index}")
        self.lines.append(f"const {type_name(type_)} {name} = {text.text};")
        return Text(name)

    def _gathered(self, index: int, node: Node) -> Text:
        """The element of an array, after the lines that say whether it lies inside."""
        array, *places = node.operands
        source = self._source(array)
        assert source is not None
        indices = tuple(Index(self.texts[place].text) for place in places)
        preferred = node.names[0] if node.names else f"v{index}"
        code = gather_code(source, node.spans, indices, self.names, preferred, mask=self.mask)
        self.lines += code.lines
        return self._named(index, code.value, node.value_type)

    def _source(self, index: int) -> GatheredArray | None:
        """The array that a node of the body is, None for a number."""
        instruction = self.body.nodes[index].instruction
        return self.sources.get(instruction.name) if isinstance(instruction, Load) else None

    def _inner(self, body: Region, operands: tuple[int, ...]) -> Turns:
        """A loop inside of a turn."""
        key = (body, operands)
        if key not in self.loops:
            given = [self._source(i) or Operand(self.texts[i].text, is_cell=False) for i in operands]
            self.loops[key] = turns_of(body, given, self.names, self.target, mask=self.mask)
            self.lines += self.loops[key].lines()
        return self.loops[key]


@dataclass(frozen=True, slots=True)
class CutTurns:
    """A loop that cuts the statements of a cell: it stands before number `at` of them."""

    at: int
    turns: Turns


@dataclass(frozen=True, slots=True)
class LoopStage:
    """What a block of cells computes between two loops: variables loaded from lanes, lines, variables stored, a loop.

    taken, put: (type, name) of those loaded and stored. turns: None behind the last loop. mask: the type of the mask of
    lanes that go on. root: the variable whose reciprocal square root is computed next, in a loop that is split there.
    """

    taken: tuple[tuple[str, str], ...]
    cell: tuple[Statement, ...]
    put: tuple[tuple[str, str], ...]
    turns: Turns | None
    mask: str = ""
    root: str = ""


def stages_of(cuts: tuple[CutTurns, ...], statements: tuple[Statement, ...]) -> tuple[LoopStage, ...]:
    """Cut the statements of a cell at its loops; each stage takes up what earlier ones have declared and it uses."""
    borders = [0, *(cut.at for cut in cuts), len(statements)]
    parts = [statements[low:high] for low, high in pairwise(borders)]
    loops = [*(cut.turns for cut in cuts), None]
    used = [_words(part, turns) for part, turns in zip(parts, loops, strict=True)]
    known: dict[str, str] = {}
    stages: list[LoopStage] = []
    for number, (part, turns) in enumerate(zip(parts, loops, strict=True)):
        taken = tuple((type_, name) for name, type_ in known.items() if name in used[number])
        declared = declared_in(part)
        later = frozenset().union(*used[number + 1 :])
        put = tuple((type_, name) for name, type_ in declared.items() if name in later)
        known.update({name: type_ for type_, name in put})
        if turns is not None:
            known.update({v.name: v.type for v in turns.carried if v.name in later})
        stages.append(LoopStage(taken, part, put, turns, _mask(turns)))
    return tuple(stages)


def lane_count(stages: tuple[LoopStage, ...]) -> int:
    """Return how many cells lie side by side: fewer where some loop carries numbers of 8 bytes."""
    return _LANE_BYTES // (8 if any(stage.mask == "int64_t" for stage in stages) else 4)


def _words(part: tuple[Statement, ...], turns: Turns | None) -> frozenset[str]:
    texts = [s.text for s in part]
    if turns is not None:
        texts += [v.start for v in (*turns.carried, *turns.read)]
        texts += [*turns.asking, turns.goes, *turns.making, *turns.following, turns.most]
    return words_in(texts)


def _mask(turns: Turns | None) -> str:
    """The type of a lane's mask: as wide as the values, because compilers then make vectors of one length."""
    if turns is None:
        return ""
    return "int64_t" if any(v.type in ("double", "int64_t", "uint64_t") for v in turns.carried) else "int32_t"
