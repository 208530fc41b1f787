"""Expressions: the values of one cell as ordered assignments, each value once per offset, in the user's names."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from workbench.codegen.cell_code import CellCode, RootText
from workbench.codegen.gathers import OUTSIDE, Index, gather_code, note_bit
from workbench.codegen.index_range import lies_inside
from workbench.codegen.names import NameBook, offset_suffix
from workbench.codegen.reads import CELL, ROW, STRETCH, UNIFORM, Key, Offset, Reads, plus
from workbench.codegen.scope import Scope
from workbench.codegen.spelling import SUM, Text, literal, spell, type_name
from workbench.codegen.statement import Statement
from workbench.codegen.turns import CutTurns, Operand, Turns, nodes_of_loop, turns_of
from workbench.codegen.value_names import display_name, numbered_name
from workbench.errors import GraphError
from workbench.graph import (
    Arith,
    Broadcast,
    Extend,
    Fold,
    Gather,
    Imm,
    Join,
    Load,
    LoadIndex,
    LoadSize,
    Loop,
    Node,
    Rank,
    Reduce,
    Region,
    Replicate,
    Scan,
    Scatter,
    SegmentedReduce,
    Shift,
    StorageType,
    Store,
)
from workbench.graph.instructions import array_places, arrays_read, operands_in_cell, traits_of
from workbench.graph.spaces import axis_name
from workbench.planning.kernel_plan import Axes

_LONGEST = 88  # characters of an expression before a part of it gets a name of its own


def emit_cell(
    scope: Scope,
    computed: tuple[int, ...],
    read: tuple[int, ...],
    names: NameBook,
    numbered: dict[int, str] | None = None,
) -> CellCode:
    """Write the values of the roots at one cell: first those computed by their formulas, then those read from arrays.

    Of several results each is a name of its own, so that an assignment writes nothing before all is read.
    `numbered`: what `numbered_name` called values in this text so far.
    """
    return _Writer(scope, names, numbered={} if numbered is None else numbered).write(computed, read, local=True)


def emit_globals(scope: Scope, roots: tuple[int, ...], names: NameBook) -> CellCode:
    """Write Globals only; the result has no pointers and no row or cell statements. GraphError if one needs a cell."""
    code = _Writer(scope, names).write(roots, (), local=False)
    if code.cell or code.row:
        raise GraphError(
            f"nodes {roots} are to be Globals, but differ from cell to cell: {(*code.cell, *code.row)[0].text}",
            advice="Verify the graph before rendering it.",
        )
    return code


@dataclass(slots=True)
class _Writer:
    """State while one cell is written: texts of finished values, statements so far, names in use."""

    scope: Scope
    names: NameBook
    texts: dict[Key, Text] = field(default_factory=dict)
    inside: dict[Key, tuple[int, ...]] = field(default_factory=dict)  # nodes in a text that has no name yet
    uses: dict[Key, int] = field(default_factory=dict)
    levels: dict[Key, int] = field(default_factory=dict)
    along: dict[Key, frozenset[int]] = field(default_factory=dict)  # axes of the program along which a value differs
    statements: tuple[list[Statement], ...] = field(default_factory=lambda: ([], [], [], []))  # by how often they run
    indices: set[int] = field(default_factory=set)
    unnamed: set[Key] = field(default_factory=set)
    passed: dict[Key, set[int]] = field(default_factory=dict)  # Broadcasts and Shifts on the way to a value
    numbered: dict[int, str] = field(default_factory=dict)
    gathers: bool = False
    loops: dict[tuple[Region, tuple[Key, ...], tuple[int, ...]], Turns] = field(default_factory=dict)
    cuts: list[CutTurns] = field(default_factory=list)
    fixed: frozenset[Key] = frozenset()
    below: dict[Key, tuple[Key, ...]] = field(default_factory=dict)
    reads: Reads = field(init=False)

    def __post_init__(self) -> None:
        self.reads = Reads(self.scope, self.names, self._preferred_name)

    def write(self, computed: tuple[int, ...], read: tuple[int, ...], *, local: bool) -> CellCode:
        self.fixed = frozenset((root, self._here(root)) for root in computed)
        keys = [(root, self._here(root)) for root in (*computed, *read)]
        for key in self._order(keys):
            self._finish(key)
        for key in keys if local else ():
            is_outer = key in self.unnamed and self.levels[key] < CELL
            is_element = key not in self.fixed and key[0] not in self.scope.access
            if is_outer or (len(keys) > 1 and (key in self.unnamed or is_element)):
                self._assign(key)
        results = tuple(RootText(k[0], self.texts[k].text, self.inside[k]) for k in keys)
        uniform, row, stretch, cell = self.statements
        return CellCode(
            tuple(self.reads.arrays.values()),
            (*self.reads.stride_lines, *uniform),
            tuple(self.reads.pointers.values()),
            tuple(row),
            tuple(cell),
            results,
            self.gathers,
            tuple(self.cuts),
            tuple(self.reads.ahead.items()),
            tuple(stretch),
        )

    def _here(self, index: int) -> Offset:
        """The offset of the cell itself along the axes of a value."""
        node = self.scope.nodes[index]
        return (0,) * (node.space.rank if node.is_local and node.space is not None else self.scope.dim)

    def _is_read(self, key: Key) -> bool:
        return key[0] in self.scope.stored and key not in self.fixed

    def _is_word(self, index: int) -> bool:
        return self.scope.words is not None and self.scope.words.holds(index)

    def _order(self, roots: list[Key]) -> list[Key]:
        """All values needed, operands first, in an order that depends on the graph alone; counts uses and levels."""
        order: list[Key] = []
        seen: set[Key] = set()
        for root in roots:
            self.uses[root] = self.uses.get(root, 0) + 1
            stack: list[tuple[Key, bool]] = [(root, False)]
            while stack:
                key, ready = stack.pop()
                if ready:
                    order.append(key)
                    continue
                if key in seen:
                    continue
                seen.add(key)
                stack.append((key, True))
                for operand in (operands := () if self._is_read(key) else self._operands(key)):
                    self.uses[operand] = self.uses.get(operand, 0) + 1
                stack.extend((operand, False) for operand in reversed(operands))
        return order

    def _operands(self, key: Key) -> tuple[Key, ...]:
        """The values that one is made of, found once."""
        found = self.below.get(key)
        if found is None:
            found = self.below[key] = self._find_operands(key)
        return found

    def _find_operands(self, key: Key) -> tuple[Key, ...]:
        index, offset = key
        node = self.scope.nodes[index]
        if self._is_word(index) or self.scope.stretch.knows(index):
            return ()
        traits = traits_of(node.instruction)
        if traits.moves:
            offset = self._below(node, offset)
        elif traits.reads == "anywhere":  # and twice: where it lies, and whether that is inside
            return tuple(self._key(i, offset) for i in node.operands[1:]) * 2
        elif isinstance(node.instruction, Reduce):  # its finisher has left a number in its slot
            return ()
        elif traits.evaluated_in != "cells" and not traits.is_leaf:
            raise self._unstored(index)
        return tuple(self._key(i, offset) for i in operands_in_cell(node))

    def _key(self, index: int, offset: Offset) -> Key:
        """The value that is meant, past what only moves it; what is the same in every cell is known at offset 0."""
        passed: list[int] = []
        node = self.scope.nodes[index]
        while index not in self.scope.stored and traits_of(node.instruction).moves:
            passed.append(index)
            offset = self._below(node, offset)
            index = node.operands[0]
            node = self.scope.nodes[index]
        same = index not in self.scope.stored and (_is_same_everywhere(node) or self._is_word(index))
        key = (index, (0,) * self.scope.dim if same else offset)
        if passed:
            self.passed.setdefault(key, set()).update(passed)
        return key

    def _below(self, node: Node, offset: Offset) -> Offset:
        """Where the operand of a movement is needed for the value at an offset."""
        match node.instruction:
            case Shift(distance):
                return tuple(a - b for a, b in zip(offset, distance, strict=True))
            case Replicate():
                inner = self.scope.nodes[node.operands[0]].space
                positions = inner.positions_in(node.space) if inner is not None and node.space is not None else None
                assert positions is not None
                return tuple(offset[axis] for axis in positions)
            case _:
                return offset

    def _unstored(self, index: int) -> GraphError:
        node = self.scope.nodes[index]
        return GraphError(
            f"node {index} ({node.instruction}) must be read from an array, but the plan stores it in none",
            advice="Verify the plan before rendering it.",
        )

    def _finish(self, key: Key) -> None:
        """Make the text of one value; give it a name if it has one, is used again or would make a line too long."""
        index = key[0]
        node = self.scope.nodes[index]
        if self._is_read(key):
            extended = node.operands[:1] if isinstance(node.instruction, Extend) else ()
            inside = tuple(sorted({index, *extended, *self.passed.get(key, ())}))
            self.texts[key], self.levels[key] = self.reads.read(*key)
            self.inside[key], self.along[key] = inside, frozenset(self.scope.axes_of(index))
            if index in self.scope.access or self.levels[key] == ROW:
                self._assign(key)
            return
        operands = self._operands(key)
        # A leaf that no line below knows better may differ from cell to cell.
        same = _is_same_everywhere(node) or self._is_word(index)
        level = max([self.levels[o] for o in operands], default=UNIFORM if same else CELL)
        if index in self.scope.stretch.conditions:
            level = STRETCH
        is_choice = node.instruction == Arith("select")
        for operand in operands:  # what changes less often than this value is computed further out
            is_outer = self.levels[operand] < level
            # What is read at computed places is read before a choice: gcc has no vectors for reads under a condition.
            is_gathered = is_choice and isinstance(self.scope.nodes[operand[0]].instruction, Gather)
            if operand in self.unnamed and (is_outer or is_gathered):
                self._assign(operand)
        inside = tuple(sorted({index, *self.passed.get(key, ()), *(n for o in operands for n in self.inside[o])}))
        self.along[key] = frozenset().union(*(self.along[o] for o in operands))
        text = self._text(key, operands)
        if array_places(node.instruction):
            level = max(level, ROW)
        if isinstance(node.instruction, LoadIndex):
            axis = self.scope.axes_of(index)[node.instruction.axis]
            level, self.along[key] = self._index_level(axis), frozenset({axis})
        elif self.scope.stretch.knows(index):
            self.along[key] = frozenset({self.scope.inner})
        is_named = isinstance(node.instruction, Loop) and not self._is_word(index)  # by the lines of its loop
        traits = traits_of(node.instruction)
        self.texts[key], self.levels[key], self.inside[key] = text, level, () if is_named else inside
        if is_named or (traits.is_leaf and traits.is_free) or index in self.scope.stretch.conditions:
            return
        is_cell = isinstance(node.instruction, Gather) and bool(self.scope.access)  # read into a written type
        is_apart = isinstance(node.instruction, Arith) and node.instruction.operator in self.scope.apart
        is_used_again = self.uses.get(key, 0) > 1
        if is_cell or is_apart or node.names or is_used_again or len(text.text) > _LONGEST or "? " in text.text:
            self._assign(key)
        else:
            self.unnamed.add(key)

    def _text(self, key: Key, operands: tuple[Key, ...]) -> Text:
        index, offset = key
        node = self.scope.nodes[index]
        if self.scope.words is not None and self.scope.words.holds(index):
            return self._global_slot(self.scope.words.word(index), node.value_type)
        if index in self.scope.stretch.conditions:
            return Text(self.scope.stretch.conditions[index])
        if index in self.scope.stretch.moves:
            return self._neighbour(self.scope.stretch.moves[index])
        match node.instruction:
            case Imm(value):
                return literal(value, node.value_type)
            case Load() | Reduce() | LoadSize():
                return self._given(index)
            case LoadIndex(axis):
                return self._index(self.scope.axes_of(index)[axis], offset[axis])
            case Broadcast() | Shift() | Replicate():
                return self.texts[operands[0]]
            case Arith(operator):
                type_ = self.scope.nodes[node.operands[-1]].value_type
                texts = tuple(self.texts[o] for o in operands)
                return spell(operator, texts, type_, node.value_type, self.scope.target)
            case Loop(body, result):
                return Text(self._turns(index, body, operands).names[result])
            case Gather():
                return self._gathered(index, operands[: len(operands) // 2])
            case Store() | Extend() | Fold() | Scan() | SegmentedReduce() | Scatter() | Join() | Rank():
                raise self._unstored(index)

    def _turns(self, index: int, body: Region, operands: tuple[Key, ...]) -> Turns:
        """The loop that makes a value, written when the first of its values is needed."""
        node = self.scope.nodes[index]
        key, arrays = (body, operands, arrays_read(node)), array_places(node.instruction)
        if key not in self.loops:
            level = max([ROW] * bool(arrays) + [self.levels[o] for o in operands])
            in_cell = (Operand(self.texts[o].text, self.levels[o] == CELL) for o in operands)
            given = [self.reads.gathered(o) if k in arrays else next(in_cell) for k, o in enumerate(node.operands)]
            made = nodes_of_loop(self.scope.nodes, body, node.operands)
            inside = tuple(sorted({*made, *(n for o in operands for n in self.inside[o])}))
            together = level == CELL and self.scope.turns_together
            turns = turns_of(body, given, self.names, self.scope.target, inside, together=together)
            self.loops[key], self.gathers = turns, self.gathers or bool(arrays)
            if together:
                self.cuts.append(CutTurns(len(self.statements[level]), turns))
            else:
                along = frozenset().union(*(self.along[o] for o in operands))
                self.statements[level].extend(replace(turns.statement(line), along=along) for line in turns.lines())
        return self.loops[key]

    def _gathered(self, index: int, places: tuple[Key, ...]) -> Text:
        """The cell of an array that computed indices number; lines before say whether it lies inside."""
        node, name = self.scope.nodes[index], self._preferred_name(index)
        indices = tuple(self._index_of(index, k, p) for k, p in enumerate(places))
        level = max([ROW, *(self.levels[p] for p, i in zip(places, indices, strict=True) if not i.is_inside)])
        source = self.reads.gathered(node.operands[0])
        code = gather_code(source, node.spans, indices, self.names, name, stops=self.scope.stops)
        inside = tuple(sorted({index, *(n for p in places for n in self.inside[p])}))
        along = frozenset().union(*(self.along[p] for p in places))
        self.statements[level].extend(Statement(line, inside, along=along) for line in code.lines)
        self.gathers |= bool(code.lines)
        return code.value

    def _index_of(self, gather: int, number: int, place: Key) -> Index:
        """One of the indices; of a neighbour in the row it is known before the stretch whether it lies inside."""
        (index, offset), read = place, self.scope.nodes[self.scope.nodes[gather].operands[0]].space
        if read is None or any(offset):
            return Index(self.texts[place].text)
        extent = read.axes[number].extent
        if lies_inside(self.scope, index, extent):
            return Index(self.texts[place].text, is_inside=True)
        if index in self.scope.stretch.checked and self.scope.has_row_of(extent):
            is_inside, move = self.scope.stretch.checked[index]
            note = f"{OUTSIDE} |= uint64_t(!{is_inside}) << {note_bit(self.scope.nodes, gather)};"
            self.statements[STRETCH].append(Statement(note, (gather,), along=frozenset({self.scope.inner})))
            self.gathers = True
            return Index(self._neighbour(move).text, is_inside=True)
        return Index(self.texts[place].text)

    def _neighbour(self, move: str) -> Text:
        """The index of a neighbour in the row, by the name of its distance."""
        return Text(f"{self._index(self.scope.inner, 0).text} + {move}", SUM)

    def _assign(self, key: Key) -> None:
        index, offset = key
        node = self.scope.nodes[index]
        self.unnamed.discard(key)
        # Its row already has the plain name.
        is_pointer = self._is_read(key) and index not in self.scope.access and self.levels[key] == CELL
        suffix = "_here" if is_pointer else offset_suffix(offset, self._axes_of_local(index))
        name = self.names.claim(self._preferred_name(index) + suffix)
        text = f"const {type_name(node.value_type)} {name} = {self.texts[key].text};"
        self.statements[self.levels[key]].append(Statement(text, self.inside[key], along=self.along[key]))
        self.texts[key], self.inside[key] = Text(name), ()

    def _preferred_name(self, index: int) -> str:
        """The user's name, else a number."""
        return display_name(self.scope.nodes, index) or numbered_name(self.numbered, index)

    def _given(self, index: int) -> Text:
        """A number that the loop is given. An array is read by rows, its Load has no text."""
        node = self.scope.nodes[index]
        match node.instruction:
            case Load(name) if node.is_global:
                return self._global_slot(self.scope.statics[name], node.value_type)
            case Reduce():
                return self._global_slot(self.scope.reductions[index], node.value_type)
            case LoadSize(axis):
                return Text(f"shape.global_extents[{axis}]")
            case _:
                raise self._unstored(index)

    def _global_slot(self, slot: int, type_: StorageType) -> Text:
        return Text(f"read_global<{type_name(type_)}>(globals, {slot})")

    def _axes_of_local(self, index: int) -> Axes:
        return self.scope.axes_of(index) if self.scope.nodes[index].is_local else ()

    def _index_level(self, axis: int) -> int:
        return CELL if axis == self.scope.inner else ROW

    def _index(self, axis: int, offset: int) -> Text:
        """The global index along an axis of the program: of the cell along that which `i` counts, else of the row."""
        level = self._index_level(axis)
        name = f"index_{axis_name(axis)}"
        if axis not in self.indices:
            self.indices.add(axis)
            origin = f"shape.origin[{self.scope.loop_axes.index(axis)}]"
            text = f"const int64_t {name} = {origin} + {self.scope.index(axis)};"
            self.statements[level].append(Statement(text, (), along=frozenset({axis})))
        return plus(name, offset)


def _is_same_everywhere(node: Node) -> bool:
    """Whether a value without operands is one number for all cells."""
    return node.is_global or traits_of(node.instruction).uniform
