"""An executor of plans on symbols: it obeys a plan word for word, cell by cell, and shows whether each read is right.

A cell holds a term: what it was computed from, down to the state at the start of the step. Terms are numbers that
stand for shared tuples, so equality is cheap. The meaning of the graph is found apart from the plan, by recursion over
cells (`Meaning`). Cells, and members of one launch, run in random order, because a plan promises that this is fine.
"""

import itertools
import random

from workbench.graph import (
    Arith,
    Broadcast,
    Extend,
    Fixed,
    Fold,
    Gather,
    Imm,
    Join,
    Load,
    LoadIndex,
    LoadSize,
    Loop,
    Mirror,
    Neumann,
    Outflow,
    Periodic,
    Prescribed,
    Rank,
    Reduce,
    Reflect,
    Replicate,
    Scan,
    Scatter,
    SegmentedReduce,
    Shift,
    Wall,
)
from workbench.graph.instructions import array_places


class Terms:
    """Numbers for tuples."""

    def __init__(self):
        self.known = {}

    def __call__(self, *parts):
        return self.known.setdefault(parts, len(self.known))


def domain_of(extents, margins=None):
    margins = margins or ((0, 0),) * len(extents)
    return itertools.product(*(range(-b, n + a) for n, (b, a) in zip(extents, margins, strict=True)))


def ghost(terms, sides, cell, extents, inside, operand):
    """The term of an Extend at any cell: `inside(cell)` on the domain, `operand(number, cell)` for value rules."""
    outside = [(k, 0 if i < 0 else 1) for k, (i, n) in enumerate(zip(cell, extents, strict=True)) if not 0 <= i < n]
    if not outside:
        return inside(cell)

    def again(axis, i):
        there = (*cell[:axis], i, *cell[axis + 1 :])
        return ghost(terms, sides, there, extents, inside, operand)

    for axis, side in outside:
        rule, i, n = sides[axis][side], cell[axis], extents[axis]
        face = 0 if side == 0 else n - 1
        if isinstance(rule, Prescribed):
            return operand(rule.operand, cell)
        if isinstance(rule, Fixed):
            return terms("fixed", operand(rule.operand, cell), again(axis, 2 * face - i + (-1, 1)[side]))
        if isinstance(rule, Neumann):
            return terms("neumann", i - face, operand(rule.operand, cell), again(axis, face))
    axis, side = outside[0]
    return mapped(terms, sides[axis][side], side, cell[axis], extents[axis], lambda i: again(axis, i))


def mapped(terms, rule, side, i, n, again):
    """The term at index i, outside at `side` of an axis of n cells with an index map; `again(j)` is that at index j."""
    match rule:
        case Periodic(sign):
            return again(i % n) if sign == 1 or i // n % 2 == 0 else terms("negative", again(i % n))
        case Outflow():
            return again(0 if side == 0 else n - 1)
        case Wall(sign) if side == 1 and i == n:  # the face on the wall has no partner
            return terms("zero") if sign == -1 else again(n - 1)
        case Reflect(sign):
            value = again(-1 - i if side == 0 else 2 * n - 1 - i)
        case Mirror(sign):
            value = again((-i if side == 0 else 2 * n - 2 - i) if n > 1 else 0)
        case Wall(sign):
            value = again(-i if side == 0 else 2 * n - i)
    return value if sign == 1 else terms("negative", value)


class Spaces:
    """The cells of values: of their own axes, in a program of these extents."""

    def __init__(self, kernel, extents):
        self.kernel, self.extents = kernel, extents

    def positions(self, index):
        """Which of the program's axes a value has."""
        return self.kernel.nodes[index].space.positions_in(self.kernel.space)

    def extents_of(self, index):
        return tuple(self.extents[axis] for axis in self.positions(index))

    def folded(self, index, cell):
        """The cells of a Fold's operand that make one cell of it, along the folded axes the domain only."""
        node = self.kernel.nodes[index]
        axes, kept = node.instruction.axes, iter(cell)
        sizes = self.extents_of(node.operands[0])
        return itertools.product(*(range(n) if k in axes else (next(kept),) for k, n in enumerate(sizes)))

    def projected(self, index, cell):
        """The cell of a Replicate's operand that one of its cells is."""
        of = dict(zip(self.positions(index), cell, strict=True))
        return tuple(of[axis] for axis in self.positions(self.kernel.nodes[index].operands[0]))


class Meaning:
    """What each node of a kernel is at each cell, by recursion from the state at the start."""

    def __init__(self, terms, kernel, extents, state):
        self.terms, self.kernel, self.extents, self.state = terms, kernel, extents, state
        self.spaces = Spaces(kernel, extents)
        self.known = {}

    def __call__(self, index, cell=None):
        key = index, cell
        if key not in self.known:
            self.known[key] = self.find(index, self.kernel.nodes[index], cell)
        return self.known[key]

    def find(self, index, node, cell):
        match node.instruction:
            case Load(name):
                return self.state[name] if cell is None else self.state[name][cell]
            case Reduce(operator):
                cells = domain_of(self.spaces.extents_of(node.operands[0]))
                return self.terms("reduce", operator, *(self(node.operands[0], c) for c in cells))
            case Fold(operator):
                cells = self.spaces.folded(index, cell)
                return self.terms("fold", operator, *(self(node.operands[0], c) for c in cells))
            case Scan() | SegmentedReduce() | Scatter() | Join() | Rank():
                return self.terms("alone", node.instruction, cell, *self.operand_terms(node))
            case Broadcast():
                return self(node.operands[0])
            case Replicate():
                return self(node.operands[0], self.spaces.projected(index, cell))
            case Shift(offset):
                return self(node.operands[0], tuple(i - o for i, o in zip(cell, offset, strict=True)))
            case Extend(sides):
                return ghost(
                    self.terms, sides, cell, self.spaces.extents_of(index),
                    lambda c: self(node.operands[0], c), lambda n, c: self(node.operands[n], c),
                )  # fmt: skip
            case _:
                operands = [self(o, c) for o, c in looked_at(node, cell, self.spaces)]
                return leaf_or_arith(self.terms, node, cell, operands)

    def operand_terms(self, node):
        """All cells of all operands, each in its own space: what a loop of its own may look at."""
        return (self(o, c) for o in node.operands for c in domain_of(self.spaces.extents_of(o)))


def looked_at(node, cell, spaces):
    """What a node may look at: operands in the cell, and all cells of arrays that are read at computed places."""
    arrays = array_places(node.instruction)
    for number, operand in enumerate(node.operands):
        for there in domain_of(spaces.extents_of(operand)) if number in arrays else (cell,):
            yield operand, there


def leaf_or_arith(terms, node, cell, operands):
    match node.instruction:
        case Gather():
            return terms("gather", *operands)
        case Imm(value):
            return terms("imm", repr(value), node.type.name)
        case LoadIndex(axis):
            return terms("index", cell[axis])
        case LoadSize(axis):
            return terms("size", axis)
        case Loop(body, result):
            return terms("loop", body, result, *operands)
        case Arith(operator):
            return terms(operator, node.type.name, *operands)
    raise AssertionError(node)


class Machine:
    """Arrays and Globals of one simulation, stepped by a plan."""

    def __init__(self, plan, extents, rng):
        self.plan, self.extents, self.rng, self.terms = plan, extents, rng, Terms()
        self.arrays = [{} for _ in plan.slots]
        self.globals = [self.terms("global", s.index) for s in plan.global_slots]
        self.steps = 0
        self.refresh()

    def refresh(self):
        """Give the fields fresh terms, so that terms stay small and any mix-up shows."""
        self.steps += 1
        for slot, field in enumerate(self.plan.graph.fields):
            for cell in domain_of(self.extents_of(field)):
                self.arrays[slot][cell] = self.terms("state", field.name, self.steps, cell)

    def extents_of(self, field):
        return field.space.extents_in(self.plan.graph.space, self.extents)

    def step(self, name, observed):
        """Run one step and compare fields and scalars with the meaning of the graph."""
        plan = self.plan.kernel(name)
        step = plan.observed if observed else plan.plain
        meaning = Meaning(self.terms, plan.kernel, self.extents, self.state())
        stale = [s.index for s in self.plan.global_slots if s.role == "reduction"]
        for index in stale:
            self.globals[index] = self.terms("stale", index, self.steps)
        for launch in step.launches:
            getattr(self, launch.kind)(plan.kernel, step, launch.members)
        numbers = [(s.slot, self.number(plan.kernel, s.node)) for s in step.scalar_stores]
        for slot, number in numbers:
            self.globals[slot] = number
        assert sorted(step.rotation) == list(range(len(self.arrays)))
        self.arrays = [self.arrays[s] for s in step.rotation]
        self.check(plan.kernel, meaning, {s.slot for s in step.scalar_stores}, observed)
        self.refresh()

    def state(self):
        state = {s.name: self.globals[s.index] for s in self.plan.global_slots if s.is_static}
        for slot, field in enumerate(self.plan.graph.fields):
            state[field.name] = {cell: self.arrays[slot][cell] for cell in domain_of(self.extents_of(field))}
        return state

    def check(self, kernel, meaning, stored, observed):
        ends = dict(kernel.stores())
        for slot, field in enumerate(self.plan.graph.fields):
            for cell in domain_of(self.extents_of(field)):
                right = meaning(ends[field.name], cell) if field.name in ends else meaning.state[field.name][cell]
                assert self.arrays[slot].get(cell) == right, f"{field.name} is wrong at {cell}"
        for scalar in self.plan.graph.scalars:
            slot = self.plan.global_slot(scalar.name).index
            if scalar.name in ends and (observed or slot in stored):
                assert self.globals[slot] == meaning(ends[scalar.name]), f"{scalar.name} is wrong"

    def fill(self, kernel, step, members):
        for member in self.rng.sample(members, len(members)):
            fill = step.fills[member]
            node = kernel.nodes[fill.node]
            source = dict(self.arrays[fill.source])
            extents = Spaces(kernel, self.extents).extents_of(fill.node)
            for cell in domain_of(extents, fill.margins):
                is_inside = all(0 <= i < n for i, n in zip(cell, extents, strict=True))
                if is_inside and fill.source == fill.target:
                    continue
                self.arrays[fill.target][cell] = ghost(
                    self.terms, node.instruction.sides, cell, extents,
                    source.__getitem__, lambda n, c, node=node: self.formula(kernel, {}, node.operands[n], c, True),
                )  # fmt: skip

    def subkernel(self, kernel, step, members, box=None):
        """Loops of a launch over their grown domains, or over a box: (first, end) of each axis."""

        def cells_of(member):
            if box is not None:
                return itertools.product(*(range(*pair) for pair in box))
            loop = step.subkernels[member]
            kept = [a for a in loop.axes or range(len(self.extents)) if a not in loop.reduced]
            return domain_of(tuple(self.extents[a] for a in kept), loop.margins)

        work = [(m, cell) for m in members for cell in cells_of(m)]
        self.rng.shuffle(work)
        partial = {}
        for member, cell in work:
            subkernel = step.subkernels[member]
            homes = {h.node: h.slot for h in subkernel.reads}
            values = [self.output(kernel, homes, h.node, cell) for h in subkernel.outputs]
            for reduction in subkernel.reductions:
                operand = kernel.nodes[reduction].operands[0]
                partial[reduction, cell] = self.formula(kernel, homes, operand, cell, False)
            for home, value in zip(subkernel.outputs, values, strict=True):
                self.arrays[home.slot][cell] = value
        for member in members:
            for reduction in step.subkernels[member].reductions:
                extents = Spaces(kernel, self.extents).extents_of(kernel.nodes[reduction].operands[0])
                cells = (partial[reduction, cell] for cell in domain_of(extents))
                operator = kernel.nodes[reduction].instruction.operator
                self.partials = {**getattr(self, "partials", {}), reduction: self.terms("reduce", operator, *cells)}

    def output(self, kernel, homes, index, cell):
        """What a loop stores in a cell: a copy, a fold of a row of cells, or a formula."""
        node = kernel.nodes[index]
        match node.instruction:
            case Load():
                return self.arrays[homes[index]][cell]
            case Scan() | SegmentedReduce() | Scatter() | Join() | Rank():
                spaces = Spaces(kernel, self.extents)
                cells = ((o, c) for o in node.operands for c in domain_of(spaces.extents_of(o)))
                values = (self.formula(kernel, homes, o, c, False) for o, c in cells)
                return self.terms("alone", node.instruction, cell, *values)
            case Fold(operator):
                cells = Spaces(kernel, self.extents).folded(index, cell)
                values = (self.formula(kernel, homes, node.operands[0], each, False) for each in cells)
                return self.terms("fold", operator, *values)
            case _:
                return self.formula(kernel, homes, index, cell, True)

    def finisher(self, kernel, step, members):
        for member in members:
            finisher = step.finishers[member]
            self.globals[finisher.slot] = self.partials.pop(finisher.node)

    def formula(self, kernel, homes, index, cell, compute):
        """A node's value at a cell as a sub-kernel finds it: read where it has a home, else by its formula."""
        node = kernel.nodes[index]
        if index in homes and not compute:
            return self.arrays[homes[index]].get(cell, self.terms("garbage", homes[index], cell))
        match node.instruction:
            case Broadcast():
                return self.number(kernel, node.operands[0])
            case Replicate():
                there = Spaces(kernel, self.extents).projected(index, cell)
                return self.formula(kernel, homes, node.operands[0], there, False)
            case Shift(offset):
                there = tuple(i - o for i, o in zip(cell, offset, strict=True))
                return self.formula(kernel, homes, node.operands[0], there, False)
            case Load() | Extend() | Fold() | Scan() | SegmentedReduce() | Scatter() | Join() | Rank():
                raise AssertionError(f"node {index} is read but not listed in reads")
            case _:
                places = looked_at(node, cell, Spaces(kernel, self.extents))
                operands = [self.formula(kernel, homes, o, c, False) for o, c in places]
                return leaf_or_arith(self.terms, node, cell, operands)

    def number(self, kernel, index):
        """A Global as a launch finds it: statics and reductions from the block, the rest recomputed."""
        node = kernel.nodes[index]
        match node.instruction:
            case Load(name):
                return self.globals[self.plan.global_slot(name).index]
            case Reduce():
                slots = self.plan.global_slots
                return self.globals[next(s.index for s in slots if (s.kernel, s.node) == (kernel.name, index))]
            case _:
                return leaf_or_arith(self.terms, node, None, [self.number(kernel, o) for o in node.operands])


def run_symbolically(plan, extents, seed=0, steps=5):
    """Run a mixture of kernels, plain and observed steps; AssertionError or KeyError where the plan is wrong."""
    rng = random.Random(seed)
    machine = Machine(plan, extents, rng)
    names = [k.kernel.name for k in plan.kernels]
    for _ in range(steps):
        machine.step(rng.choice(names), rng.random() < 0.5)
