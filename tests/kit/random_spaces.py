"""Random kernels with values of several spaces: folds over some axes, repeated values, cells at computed places."""

import math
from itertools import combinations

from tests.kit.random_kernels import Facts, Maker, constant
from tests.kit.random_loops import random_body
from workbench.graph import Join, Space
from workbench.graph.types import I64


def inner_spaces(space):
    """All spaces of some of the axes, in their order."""
    counts = range(1, space.rank)
    return [Space(axes) for count in counts for axes in combinations(space.axes, count)]


class SpacedMaker(Maker):
    """As Maker; each move takes place in some space, and two further ones lead from one space to another."""

    def further_moves(self):
        return ((self.folded, 3), (self.replicated, 3))

    def some_space(self):
        known = list(dict.fromkeys(self.space_of(i) for i in self.facts))
        return self.rng.choice([self.space, self.space, *known])

    def folded(self):
        """Over some axes of a value that has several."""
        if self.here.rank == 1:
            self.here = self.space
        index = self.local()
        if not self.facts[index].total and self.rng.random() < 0.5:  # so that it may be read beside its cell
            index = self.extend(index)
        axes = self.rng.sample(range(self.here.rank), self.rng.randint(1, self.here.rank - 1))
        made = self.builder.fold(self.operator_for(self.type_of(index)), index, sorted(axes))
        self.used.add(index)
        # Never plain: planning refuses boundary values that need a fold.
        return self.keep(made, Facts(self.facts[index].total, False))

    def replicated(self):
        """Of a value of some axes; where there is none, of an index."""
        others = [space for space in inner_spaces(self.space) if self.knows(space)]
        self.here = self.rng.choice(others or inner_spaces(self.space))
        index = self.local() if others else self.keep_index()
        larger = [s for s in inner_spaces(self.space) if s != self.here and self.here.positions_in(s) is not None]
        target = self.rng.choice([self.space, self.space, *larger])
        self.used.add(index)
        return self.keep(self.builder.replicate(index, target), self.facts[index])

    def knows(self, space):
        return any(self.space_of(i) == space for i in self.facts)


def joined_extents(graph, extents, cells):
    """The extents, changed so that those of what the program's Join puts together add up; at most so many cells."""
    found = [n for k in graph.kernels for n in k.nodes if isinstance(n.instruction, Join)]
    if not found:
        return extents
    (node,), (kernel,) = found, [k for k in graph.kernels if any(isinstance(n.instruction, Join) for n in k.nodes)]
    place = node.space.axes[node.instruction.axis]
    own = [set(kernel.nodes[o].space.axes) - set(node.space.axes) for o in node.operands]
    (turned,) = set().union(*own)
    sizes = dict(zip(graph.space.axes, extents, strict=True))
    while True:
        sizes[place] = sum(sizes[turned] if each else 1 for each in own)
        if math.prod(sizes.values()) <= cells or max(sizes.values()) == 1:
            return tuple(sizes[axis] for axis in graph.space.axes)
        largest = max((axis for axis in sizes if axis != place), key=sizes.get)
        sizes[largest] = max(1, sizes[largest] // 2)


def gathering(maker):
    """A maker that reads cells at computed places too; they lie inside, whatever the values are."""

    class Gathering(maker):
        may_join = True  # once a program, whose extents follow from it: see `joined_extents`

        def further_moves(self):
            own = ((self.gathered, 3), (self.scanned, 2), (self.segmented, 2), (self.sent, 2), (self.joined, 12))
            own = (*own, (self.walked, 2))
            return (*super().further_moves(), *own)

        def gathered(self):
            """Each index is a value modulo the extent of the axis."""
            source = self.local()
            self.here = self.some_space()
            places = [self.place(self.space.axes.index(axis)) for axis in self.space_of(source).axes]
            self.used.add(source)
            return self.keep(self.builder.gather(source, places), Facts(self.joint(places).total, False))

        def place(self, axis):
            number = self.cast_local(self.keep_index() if self.rng.random() < 0.5 else self.local(), I64)
            extent = self.broadcast(self.keep_global(self.builder.size(axis)))
            self.used.add(number)
            return self.keep(self.builder.arith("remainder", number, extent), self.joint((number, extent)))

        def walked(self):
            """A loop that reads elements of arrays, which may have other axes than its cells."""
            b, draw = self.builder, self.rng
            arrays = [draw.choice([i for i in self.facts if self.space_of(i).rank]) for _ in range(draw.randint(1, 2))]
            starts = [self.local() for _ in range(draw.randint(1, 2))]
            numbers = [self.space.axes.index(axis) for i in arrays for axis in self.space_of(i).axes]
            sizes = [self.broadcast(self.keep_global(b.size(axis))) for axis in numbers]
            most = self.keep(b.imm(draw.randint(0, 5), I64, self.here), Facts(True, True))
            types = [(self.type_of(i), self.space_of(i).rank) for i in arrays]
            body = random_body(draw, tuple(map(self.type_of, starts)), (), lambda t: constant(draw, t), types)
            operands = (most, *starts, *sizes, *arrays)
            self.used.update(operands)
            facts = Facts(self.joint((most, *starts, *sizes)).total, False)
            return [self.keep(b.loop(body, k, operands), facts) for k in range(len(starts))][-1]

        def scanned(self):
            """Along any axis, in any way."""
            source, draw = self.local(), self.rng
            operator, axis = self.operator_for(self.type_of(source)), draw.randrange(self.here.rank)
            self.used.add(source)
            ways = {"reverse": draw.random() < 0.4, "exclusive": draw.random() < 0.4}
            return self.keep(self.builder.scan(operator, source, axis, **ways), Facts(False, False))

        def sent(self):
            """Values of some space to the cells of another of their type; some are held back."""
            values, b, draw = self.local(), self.builder, self.rng
            type_ = self.type_of(values)
            senders = self.here
            defaults = draw.choice([i for i in self.facts if self.type_of(i) == type_ and self.space_of(i).rank])
            self.here = senders
            places = [self.place(self.space.axes.index(axis)) for axis in self.space_of(defaults).axes]
            mask = b.arith("less", places[0], places[-1]) if draw.random() < 0.5 else None
            self.used.update((values, defaults))
            made = b.scatter(self.operator_for(type_), defaults, values, places, mask)
            return self.keep(made, Facts(False, False))

        def joined(self):
            """Values of some axes one after another along an axis that they lack; some are one cell thick there."""
            if not self.may_join or self.space.rank == 1:
                return None
            b, draw = self.builder, self.rng
            few = [i for i in self.facts if 0 < self.space_of(i).rank < self.space.rank]
            first = draw.choice(few) if few else self.of_some_axes()
            own = self.space_of(first).axes
            absent = [axis for axis in self.space.axes if axis not in own]
            turned = draw.choice(own)
            others = tuple(axis for axis in own if axis != turned)
            place = draw.choice(absent)
            result = Space(tuple(axis for axis in self.space.axes if axis in (*others, place)))
            alike = [i for i in self.facts if self.type_of(i) == self.type_of(first)]
            whole = [i for i in alike if self.space_of(i) == self.space_of(first)]
            thin = [i for i in alike if self.space_of(i).axes == others]
            parts = [first, *(draw.choice([*whole, *thin]) for _ in range(draw.randint(0, 2)))]
            draw.shuffle(parts)
            self.may_join = False
            self.used.update(parts)
            return self.keep(b.join(result.axes.index(place), parts, result), Facts(False, False))

        def of_some_axes(self):
            """A fold of a value of all axes along the first one."""
            source = self.local()
            self.used.add(source)
            made = self.builder.fold(self.operator_for(self.type_of(source)), source, [0])
            return self.keep(made, Facts(False, False))

        def segmented(self):
            """As many segments as an axis has cells, of nearly equal lengths, some empty; and places in order."""
            lines = [i for i in self.facts if self.space_of(i).rank == 1]
            if not lines:
                return None
            b, source = self.builder, self.rng.choice(lines)
            axis = self.rng.choice(self.space.axes)
            here = Space((axis,))
            cells, parts = (b.size(self.space.axes.index(a)) for a in (self.space_of(source).axes[0], axis))
            longer = b.arith("less", b.index(0, here), b.broadcast(b.arith("remainder", cells, parts), here))
            least = b.broadcast(b.arith("floor_divide", cells, parts), here)
            lengths = b.arith("add", least, b.cast(longer, I64))
            starts = b.scan("sum", lengths, 0, exclusive=True)
            keys = self.cast_local(source, I64)
            self.used.update((source, keys))
            self.keep(b.rank(keys, self.rng.randint(1, 11)), Facts(False, False))
            operator = self.operator_for(self.type_of(source))
            return self.keep(b.segments(operator, source, starts, lengths), Facts(False, False))

    return Gathering
