"""Random programs and random plan choices for the tests of planning."""

import random

from workbench.graph import (
    GLOBAL,
    Arith,
    Extend,
    Fixed,
    Graph,
    KernelBuilder,
    Mirror,
    Neumann,
    Outflow,
    Periodic,
    Prescribed,
    Reflect,
    Static,
    grid_space,
)
from workbench.graph.side_rules import ValueRule
from workbench.graph.types import F32, F64, I32
from workbench.planning import Choices, PlanChoices, Storage, plan_graph

KINDS = ("shift", "shift", "arith", "arith", "arith", "arith", "extend", "reduce", "broadcast", "global")


def random_graph(seed, constants=False):
    """One or two kernels over two to four fields of one or two types in one or two dimensions.

    With `constants`, awkward ones (signed zeros, infinities, NaN, 1) are mixed in, and more operators.
    """
    rng = random.Random(seed)
    space = grid_space(rng.choice((1, 1, 2)))
    types = [F64, F64, rng.choice((F64, F32)), rng.choice((F64, I32))]
    fields = [Static(f"f{i}", "field", types[i], space) for i in range(rng.randint(2, 4))]
    scalars = [Static(n, "scalar", F64, GLOBAL, 0.0) for n in "st"]
    statics = (*fields, *scalars, Static("p", "param", F64, GLOBAL, 1.0))
    names = ("init", "step")[-rng.randint(1, 2) :]
    return Graph("random", space, statics, tuple(_Kernel(rng, space, statics, constants).build(n) for n in names))


class _Kernel:
    def __init__(self, rng, space, statics, constants):
        self.rng, self.space, self.statics = rng, space, statics
        self.b = KernelBuilder(space, statics)
        self.locals = []  # (value, defined outside too)
        self.globals = [self.b.load("p"), self.b.load(rng.choice("st")), self.b.imm(2.0, F64)]
        for static in statics:
            if static.role == "field" and rng.random() < 0.85:
                load = self.b.load(static.name)
                self.locals.append((load, False))
                self.locals.append((self.extend(load), True))
        self.operators = ("add", "multiply", "minimum")
        if constants:
            self.operators = (*self.operators, "subtract", "maximum", "floor_divide")
            for value in (0.0, -0.0, 1.0, 2.0, float("inf"), float("nan")):
                self.locals.append((self.b.imm(value, F64, space), True))
            self.locals.extend((self.b.imm(value, I32, space), True) for value in (0, 1, 3))
        for t in (F64, F32, I32):
            self.locals.append((self.b.cast(self.b.index(0), t), True))

    def build(self, name):
        for _ in range(self.rng.randint(3, 14)):
            self.grow()
        for _ in range(3):
            self.join()
        stored = False
        for static in self.statics:
            if static.role == "field" and self.rng.random() < 0.8:
                fitting = [v for v, _ in self.locals[-9:] + self.locals[:4] if self.type(v) == static.type]
                if fitting:
                    self.b.store(static.name, self.rng.choice(fitting))
                    stored = True
            elif static.role == "scalar" and self.rng.random() < 0.7:
                self.b.store(static.name, self.rng.choice(self.globals))
                stored = True
        if not stored:
            self.b.store("s", self.globals[0])
        return self.b.finish(name)

    def join(self):
        """Bring several values together, so that few are dead and one is read under several rules."""
        of_type = self.type(self.rng.choice(self.locals)[0])
        fitting = [(v, t) for v, t in self.locals if self.type(v) == of_type]
        value, total = fitting[-1]
        for other, other_total in self.rng.sample(fitting, min(3, len(fitting))):
            if other_total and self.rng.random() < 0.6:
                other = self.b.shift(other, [self.rng.randint(-1, 1) for _ in range(self.space.rank)])
            value = self.b.arith("add", value, other)
            total = total and other_total
        self.add(value, total)

    def type(self, value):
        return self.b.node(value).type

    def extend(self, value):
        maps = (Periodic(), Outflow(), Reflect(), Reflect(-1), Mirror(), Prescribed(1), Fixed(1), Neumann(1))
        sides = []
        for _ in range(self.space.rank):
            if self.rng.random() < 0.4:
                sides.append((Periodic(), Periodic()))
            else:
                sides.append((self.rng.choice(maps[1:]), self.rng.choice(maps[1:])))
        uses = any(isinstance(r, ValueRule) for pair in sides for r in pair)
        operand = self.b.cast(self.b.index(self.space.rank - 1), self.type(value))
        if self.rng.random() < 0.5:
            operand = self.b.arith("multiply", operand, operand)
        elif self.rng.random() < 0.3:
            operand = self.b.cast(self.b.broadcast(self.rng.choice(self.globals)), self.type(value))
        return self.b.extend(value, sides, (operand,) if uses else ())

    def grow(self):
        value, total = self.rng.choice(self.locals)
        match self.rng.choice(
            ("shift", "shift", "arith", "arith", "arith", "arith", "extend", "reduce", "broadcast", "global")
        ):
            case "shift" if total:
                offset = [self.rng.randint(-2, 2) for _ in range(self.space.rank)]
                self.add(self.b.shift(value, offset), True)
            case "shift" | "arith":
                others = [(v, t) for v, t in self.locals if self.type(v) == self.type(value)]
                other, total_too = self.rng.choice(others)
                self.add(self.b.arith(self.rng.choice(self.operators), value, other), total and total_too)
            case "extend":
                computed = [v for v, _ in self.locals if isinstance(self.b.node(v).instruction, Arith | Extend)]
                value = self.rng.choice(computed or [value])
                if isinstance(self.b.node(value).instruction, Extend):  # once more, with other rules
                    value = self.b.node(value).operands[0]
                extended = self.extend(value)
                self.add(extended, True)
                self.add(self.b.shift(extended, [self.rng.randint(-1, 1) for _ in range(self.space.rank)]), True)
            case "reduce":
                if self.type(value) == F64:
                    self.globals.append(self.b.reduce(self.rng.choice(("sum", "max")), value))
            case "broadcast":
                self.add(self.b.broadcast(self.rng.choice(self.globals)), True)
            case "global":
                a, b = self.rng.choice(self.globals), self.rng.choice(self.globals)
                self.globals.append(self.b.arith("add", a, b))

    def add(self, value, total):
        self.b.annotate(value, name=f"v{value}")
        self.locals.append((value, total))


def random_choices(graph, seed):
    """A preset, and free values set by hand."""
    rng = random.Random(seed)
    preset = rng.choice(("cost", "as_delayed", "as_manifest"))
    plan = plan_graph(graph, Choices(plan=PlanChoices().changed(preset=preset)))
    manifest, delayed, sync = set(), set(), set()
    density = rng.choice((0.0, 0.2, 0.5))
    for kernel in plan.kernels:
        for key, node, storage, forced in zip(
            kernel.kernel.keys(), kernel.kernel.nodes, kernel.storage, kernel.forced, strict=True
        ):
            if not forced and rng.random() < density:
                (delayed if storage is Storage.MANIFEST else manifest).add(f"{kernel.kernel.name}/{key}")
            if node.is_local and rng.random() < 0.03:
                sync.add(key)
    sync = frozenset(sync)
    chosen = {"manifest": frozenset(manifest), "delayed": frozenset(delayed), "before": sync, "after": sync}
    return Choices(plan=PlanChoices().changed(preset=preset, **chosen))
