"""Grows one random kernel: random moves through the builder, then a store for each value that nothing uses."""

import math
from dataclasses import dataclass

import numpy as np

from tests.kit.random_loops import random_body
from workbench.graph import (
    GLOBAL,
    OPERATORS,
    REDUCTIONS,
    TYPES,
    Arith,
    Extend,
    Fixed,
    KernelBuilder,
    Load,
    Mirror,
    Neumann,
    Node,
    Outflow,
    Parameter,
    Periodic,
    Prescribed,
    Reflect,
    Region,
    Span,
    Static,
    Undefined,
    Wall,
)
from workbench.graph.operators import PAIR_RULES, accepts
from workbench.graph.operators import identity as identity_of
from workbench.graph.types import BOOL, DD, F32, F64, I32, I64, U8

EXACT = tuple(row for row in OPERATORS.values() if row.ulp == 0 and row.name not in PAIR_RULES)
COMMON_TYPES = (F64, F64, F64, F64, F32, F32, F32, I32, I64, U8, BOOL, *TYPES)
WITH_PAIRS = (DD, DD, DD, DD, DD, F64, F64, F32, I32, I64, BOOL, *TYPES)
FLOATS = (0.0, -0.0, 1.0, 0.5, -2.0, 3.0, 0.25, -1.5, 1e-3, 7.0, math.inf, math.nan)


@dataclass(frozen=True)
class Facts:
    """What a Local may be used for. total: it may be read outside the domain. plain: it depends on no field's cells."""

    total: bool
    plain: bool


def constant(rng, type_):
    """A constant that the type holds exactly."""
    if type_ == BOOL:
        return rng.random() < 0.5
    if type_.is_record:
        return rng.choice(FLOATS)
    if type_.is_float:
        return type_.numpy.type(rng.choice(FLOATS)).item()
    info = np.iinfo(type_.numpy)
    return rng.choice((0, 1, 2, 3, 5, 7, max(-1, int(info.min)), int(info.min), int(info.max)))


def default(rng, type_):
    """A constant that equals itself, so that two graphs with it are equal."""
    value = constant(rng, type_)
    return value if value == value else 0.5


class Maker:
    """Grows one kernel by random moves, then stores what nothing has used.

    here: the space of the Locals that the move at hand takes and makes. types: those of new values, by their weight.
    """

    def __init__(self, rng, space, statics, size, types=COMMON_TYPES):
        self.types = types
        self.rng, self.space, self.statics, self.size = rng, space, list(statics), size
        self.here = space
        self.builder = KernelBuilder(space, statics)
        self.facts = {}  # Locals
        self.globals = []
        self.used = set()
        self.shifts = 0

    # -- the kernel

    def kernel(self, name):
        b, rng = self.builder, self.rng
        for static in self.statics:
            index = b.load(static.name)
            self.keep(index, Facts(False, False)) if static.role == "field" else self.keep_global(index)
        moves = (
            *self.further_moves(),
            (self.arithmetic, 10),
            (self.shifted, 5),
            (self.casted, 2),
            (self.reduced, 1),
            (self.broadcasted, 2),
            (self.global_arithmetic, 2),
            (self.indexed, 1),
            (self.sized, 1),
            (self.extended, 1),
            (self.looped, 1),
        )
        while len(b) < self.size:
            move = rng.choices([m for m, _ in moves], [w for _, w in moves])[0]
            self.here = self.some_space()
            made = move()
            if made is not None and rng.random() < 0.3:
                b.annotate(made, name=f"v{made}", span=Span(made + 1, rng.randint(0, 9), 10))
        self.store_all()
        return b.finish(name)

    def further_moves(self):
        """Rows of (move, weight) beside the others."""
        return ()

    def some_space(self):
        """Where the next move takes place."""
        return self.space

    def space_of(self, index):
        return self.builder.node(index).space

    def keep(self, index, facts):
        self.facts[index] = facts
        return index

    def keep_global(self, index):
        if index not in self.globals:
            self.globals.append(index)
        return index

    def type_of(self, index):
        return self.builder.node(index).type

    def local(self, type_=None, plain=False):
        """A Local, of the type if one is given; later values are likelier, and those that nothing has used yet."""
        here = (i for i in self.facts if self.space_of(i) == self.here)
        found = [i for i in here if (self.facts[i].plain or not plain) and type_ in (None, self.type_of(i))]
        if not found:
            return self.keep(self.builder.imm(constant(self.rng, type_ or F64), type_ or F64, self.here), Facts(1, 1))
        weights = [(3 if i not in self.used else 1) * (1 + n / len(found)) for n, i in enumerate(found)]
        return self.rng.choices(found, weights)[0]

    def a_global(self, type_=None):
        found = [i for i in self.globals if type_ in (None, self.type_of(i))]
        if not found or self.rng.random() < 0.2:
            type_ = type_ or self.rng.choice(self.types)
            return self.keep_global(self.builder.imm(constant(self.rng, type_), type_))
        return self.rng.choice(found)

    def joint(self, operands):
        facts = [self.facts[i] for i in operands]
        return Facts(all(f.total for f in facts), all(f.plain for f in facts))

    # -- moves; each returns the new value, or None

    def arithmetic(self):
        row = self.rng.choice(EXACT)
        anchor = self.local()
        type_ = self.type_of(anchor)
        if row.name == "cast":
            return self.casted()
        if not accepts(row, type_):
            type_ = self.rng.choice([t for t in self.types if accepts(row, t)])
            anchor = self.cast_local(anchor, type_)
        operands = [anchor, *(self.local(type_) for _ in range(row.arity - 1))]
        if row.rule == "select":
            operands[0] = self.cast_local(self.local(), BOOL) if self.rng.random() < 0.3 else self.local(BOOL)
            operands[1] = anchor
        if row.arity == 2 and self.rng.random() < 0.5:
            operands.reverse()
        self.used.update(operands)
        return self.keep(self.builder.arith(row.name, *operands), self.joint(operands))

    def looped(self):
        rng, b = self.rng, self.builder
        starts, read = [[self.local() for _ in range(rng.randint(*n))] for n in ((1, 3), (0, 2))]
        five = self.keep(b.imm(5, I64, self.here), Facts(True, True))
        turns = self.local() if rng.random() < 0.3 else self.keep(b.imm(8, I64, self.here), Facts(True, True))
        most = (self.cast_local(turns, I64), five)
        operands = (self.keep(b.arith("remainder", *most), self.joint(most)), *starts, *read)
        types = (map(self.type_of, each) for each in (starts, read))
        body = random_body(rng, *map(tuple, types), lambda type_: constant(rng, type_))
        self.used.update(operands)
        return [self.keep(b.loop(body, k, operands), self.joint(operands)) for k in range(len(starts))][-1]

    def cast_local(self, index, type_):
        made = self.builder.cast(index, type_)
        if made != index:
            self.used.add(index)
            self.keep(made, self.facts[index])
        return made

    def casted(self):
        return self.cast_local(self.local(), self.rng.choice(self.types))

    def offset(self):
        reach = self.rng.choice((1, 1, 1, 2, 2, 3, 4))
        offset = [self.rng.randint(-reach, reach) if self.rng.random() < 0.6 else 0 for _ in range(self.here.rank)]
        if not any(offset):
            offset[self.rng.randrange(len(offset))] = self.rng.choice((-reach, reach))
        return offset

    def shifted(self):
        if self.shifts >= 8:
            return None
        self.shifts += 1
        index = self.local()
        if self.facts[index].total and self.rng.random() < 0.9:
            self.used.add(index)
            return self.keep(self.builder.shift(index, self.offset()), self.facts[index])
        if self.rng.random() < 0.1:
            return self.one_sided(index)
        extended = self.extend(index)
        for _ in range(self.rng.randint(1, 2)):
            self.used.add(extended)
            made = self.keep(self.builder.shift(extended, self.offset()), self.facts[extended])
        return made

    def one_sided(self, index):
        """A read through an Extend that has no rule at the sides that are not read."""
        if isinstance(self.builder.node(index).instruction, Extend):
            return None
        offset = [abs(o) for o in self.offset()]
        operands = [self.boundary_value(self.type_of(index))]
        rule = self.rng.choice(
            (Outflow(), Prescribed(1))
        )  # a reflection may cross a short domain and need the other side
        sides = [(rule, Undefined()) for _ in offset]
        if self.rng.random() < 0.5:
            sides, offset = [(b, a) for a, b in sides], [-o for o in offset]
        if rule == Outflow():
            operands = []
        made = self.builder.shift(self.builder.extend(index, sides, operands), offset)
        self.used.update([index, *operands])
        return self.keep(made, Facts(False, self.facts[index].plain))

    def extended(self):
        return self.extend(self.local())

    def extend(self, index):
        rng, type_ = self.rng, self.type_of(index)
        operands, sides = [], []

        def operand():
            if not operands or rng.random() < 0.7:
                operands.append(self.boundary_value(type_))
                return len(operands)
            return rng.randint(1, len(operands))

        def rule():
            sign = rng.choice((1, -1)) if type_.kind in ("int", "float") else 1
            kinds = ["outflow", "reflect", "mirror", "wall", "value", "value"]
            kinds += [] if type_ == BOOL else ["fixed", "neumann"]
            match rng.choice(kinds):
                case "outflow":
                    return Outflow()
                case "reflect":
                    return Reflect(sign)
                case "mirror":
                    return Mirror(sign)
                case "wall":
                    return Wall(sign)
                case "value":
                    return Prescribed(operand())
                case "fixed":
                    return Fixed(operand())
                case "neumann":
                    return Neumann(operand())

        for _ in range(self.here.rank):
            cyclic = Periodic(rng.choice((1, 1, -1)) if type_.kind in ("int", "float") else 1)
            sides.append((cyclic, cyclic) if rng.random() < 0.3 else (rule(), rule()))
        self.used.update([index, *operands])
        made = self.builder.extend(index, sides, operands)
        # Never plain: planning refuses boundary values that need another array's ghost cells.
        return self.keep(made, Facts(True, False))

    def boundary_value(self, type_):
        """A Local of indices and Globals that is total."""
        choice = self.rng.random()
        if choice < 0.4:
            return self.broadcast(self.a_global(type_))
        if choice < 0.6:
            index = self.cast_local(self.keep_index(), type_)
            return self.keep(index, Facts(True, True))
        found = self.local(type_, plain=True)
        return found if self.facts[found].total else self.broadcast(self.a_global(type_))

    def keep_index(self):
        index = self.builder.index(self.rng.randrange(self.here.rank), self.here)
        return self.keep(index, Facts(True, True))

    def broadcast(self, index):
        self.used.add(index)
        return self.keep(self.builder.broadcast(index, self.here), Facts(True, True))

    def broadcasted(self):
        return self.broadcast(self.a_global())

    def indexed(self):
        return self.keep_index()

    def sized(self):
        return self.keep_global(self.builder.size(self.rng.randrange(self.space.rank)))

    def reduced(self):
        index = self.local()
        operator = self.operator_for(self.type_of(index))
        self.used.add(index)
        return self.keep_global(self.builder.reduce(operator, index))

    def operator_for(self, type_):
        """A reduction that takes the type."""
        names = [r.name for r in REDUCTIONS.values() if accepts(OPERATORS[r.operator], type_)]
        operator = self.rng.choice(names)
        return larger(type_) if type_ != BOOL and self.rng.random() < 0.2 else operator

    def global_arithmetic(self):
        row = self.rng.choice([r for r in EXACT if r.rule in ("same", "bool")])
        anchor = self.a_global()
        type_ = self.type_of(anchor)
        if not accepts(row, type_):
            type_ = self.rng.choice([t for t in self.types if accepts(row, t)])
            self.used.add(anchor)
            anchor = self.keep_global(self.builder.cast(anchor, type_))
        operands = [anchor, *(self.a_global(type_) for _ in range(row.arity - 1))]
        self.used.update(operands)
        return self.keep_global(self.builder.arith(row.name, *operands))

    # -- results

    def store_all(self):
        """Store each value that nothing uses: Locals of one type side by side in one field, each Global in a scalar."""
        b = self.builder
        roots = sorted(i for i in (*self.facts, *self.globals) if i not in self.consumed())
        taken = set()
        if any(s.name == "f0_old" for s in self.statics):
            b.store("f0_old", b.load("f0"))
            taken.add("f0_old")
        by_type = {}  # Locals by space and type
        for root in roots:
            node = b.node(root)
            if node.is_local:
                by_type.setdefault((node.space, node.type), []).append(root)
            elif node.is_global:
                b.store(self.result("scalar", node.type, taken, root), root)
        if not by_type:  # all Locals ended in Globals: something must still change
            by_type[self.space, self.type_of(b.load("f0"))] = [b.load("f0")]
        for (self.here, type_), values in by_type.items():
            b.store(self.result("field", type_, taken, -1), self.side_by_side(values))

    def consumed(self):
        return {operand for i in range(len(self.builder)) for operand in self.builder.node(i).operands}

    def side_by_side(self, values):
        """Value number k in every k-th cell, so that no value hides another."""
        b = self.builder
        result = values[0]
        axis = self.rng.randrange(self.here.rank)
        if len(values) > 1:
            turn = b.arith("remainder", b.index(axis, self.here), b.imm(len(values), I64, self.here))
        for number, value in enumerate(values[1:], 1):
            mine = b.arith("equal", turn, b.imm(number, I64, self.here))
            result = b.arith("select", mine, value, result)
        return result

    def result(self, role, type_, taken, root):
        """A static to store to: one of the program's own, or a new one; never the static that the value loads."""
        instruction = self.builder.node(root).instruction if root >= 0 else None
        loaded = instruction.name if isinstance(instruction, Load) else ""
        space, start = (self.here, None) if role == "field" else (GLOBAL, None)
        for static in self.statics:
            fits = (static.role, static.type, static.space) == (role, type_, space)
            if fits and static.name not in (*taken, loaded):
                taken.add(static.name)
                return static.name
        name = f"r{len(self.statics)}_{type_}"
        if role != "field":
            start = default(self.rng, type_)
        static = Static(name, role, type_, space, start)
        self.statics.append(static)
        self.builder.declare(static)
        taken.add(name)
        return name


def larger(type_):
    """A region: of two numbers the larger, the first if they are alike, NaN if there is one."""
    nodes = (
        Node(Load("kept"), (), type_, GLOBAL),
        Node(Load("cell"), (), type_, GLOBAL),
        Node(Arith("greater"), (1, 0), BOOL, GLOBAL),
        Node(Arith("not_equal"), (1, 1), BOOL, GLOBAL),
        Node(Arith("logical_or"), (2, 3), BOOL, GLOBAL),
        Node(Arith("select"), (4, 1, 0), type_, GLOBAL),
    )
    return Region((Parameter("kept", type_), Parameter("cell", type_)), nodes, identity_of("max", type_))
