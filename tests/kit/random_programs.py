"""Random well-typed programs: every instruction, boundary rule and exact operator; every value reaches a result."""

import math
import random
from collections import Counter
from dataclasses import replace

import numpy as np
from hypothesis import strategies

from tests.kit.random_kernels import COMMON_TYPES, Maker, default
from tests.kit.random_spaces import SpacedMaker, gathering, inner_spaces, joined_extents
from workbench.graph import (
    GLOBAL,
    Arith,
    Extend,
    Fold,
    Graph,
    Hint,
    Loop,
    Reduce,
    Scan,
    Scatter,
    SegmentedReduce,
    Static,
    grid_space,
)
from workbench.graph.arithmetic import constant, python_number
from workbench.graph.extended_numbers import join
from workbench.graph.types import BOOL, F64


def random_program(seed, cells=2000, nodes=(8, 30), spaces=True, types=COMMON_TYPES):
    """(graph, extents, initial fields by name, params by name); the same for the same arguments.

    `nodes` bounds the random part of a kernel; the stores of left-over values come on top. The kernels are called
    "step" and, in some programs, "other". With `spaces` some programs of several axes have values of some of them.
    types: those of new values, by their weight.
    """
    rng = random.Random(seed)
    dim = rng.choice((1, 1, 2, 2, 2, 3))
    space = grid_space(dim)
    statics = _statics(rng, space, types)
    of_spaces = random.Random(f"spaces {seed}")  # so that the other programs stay as they are
    several = spaces and dim > 1 and of_spaces.random() < 0.35
    if several and of_spaces.random() < 0.5:
        axes = of_spaces.choice(inner_spaces(space))
        statics.append(Static("few", "field", of_spaces.choice(types), axes))
    make = SpacedMaker if several else Maker
    if spaces and random.Random(f"gathers {seed}").random() < 0.15:  # so that the other programs stay as they are
        make = gathering(make)
    kernels = []
    for name in ("step", "other")[: rng.choice((1, 1, 2))]:
        maker = make(rng, space, statics, rng.randint(*nodes), types)
        maker.may_join = name == "step"
        kernels.append(maker.kernel(name))
        statics = maker.statics
    graph = Graph(f"random{seed}", space, tuple(statics), tuple(kernels))
    extents = joined_extents(graph, _extents(rng, dim, cells), cells)
    generator = np.random.default_rng(rng.getrandbits(32))
    special = rng.random() < 0.4
    shapes = {f.name: f.space.extents_in(space, extents) for f in graph.fields}
    arrays = {f.name: random_array(generator, f.type, shapes[f.name], special) for f in graph.fields}
    params = {p.name: python_number(random_array(generator, p.type, (), False), p.type) for p in graph.params}
    return graph, extents, arrays, params


def programs(**options):
    """The Hypothesis strategy."""
    return strategies.integers(0, 2**32 - 1).map(lambda seed: random_program(seed, **options))


def random_array(generator, type_, shape, special):
    """Numbers that stay small when added and multiplied a few times; with `special` some are inf, NaN, -0.0 or ends."""
    if type_ == BOOL:
        return np.asarray(generator.random(shape) < 0.5)
    if type_.is_record:
        first = random_array(generator, F64, shape, special)
        return join(first, generator.normal(size=shape) * 2.0**-55)
    if type_.is_float:
        values = np.asarray(generator.normal(size=shape), type_.numpy)
        edges = [math.inf, -math.inf, math.nan, 0.0, -0.0, 1e-40]
    else:
        info = np.iinfo(type_.numpy)
        values = np.asarray(generator.integers(max(-20, info.min), 21, shape), type_.numpy)
        edges = [info.min, info.max, 0]
    if special:
        chosen = np.asarray(generator.choice(np.array(edges, type_.numpy), size=shape), type_.numpy)
        values = np.where(generator.random(shape) < 0.05, chosen, values)
    return np.asarray(values, type_.numpy)


def initial_state(graph, extents, arrays, params):
    """The state as arrays by name, scalars and params 0-d: what `interpret` takes."""
    state = {}
    for static in graph.statics:
        value = arrays.get(static.name) if static.role == "field" else params.get(static.name, static.default or 0)
        whole = isinstance(value, np.ndarray)
        state[static.name] = value.astype(static.type.numpy) if whole else constant(value, static.type)
    return state


def asking_to_roll(graph, seed):
    """The graph with some of its arithmetic asking to be stored where it rolls; the same for equal arguments."""
    rng = random.Random(f"rolling {seed}")
    share = rng.choice((0.0, 0.2, 0.7))

    def asked(index, node):
        asks = isinstance(node.instruction, Arith) and node.is_local and rng.random() < share
        return replace(node, hint=Hint("rolling", line=index + 1)) if asks else node

    kernels = (replace(k, nodes=tuple(asked(i, n) for i, n in enumerate(k.nodes))) for k in graph.kernels)
    return replace(graph, kernels=tuple(kernels))


def coverage(graph):
    """How often each instruction, operator, reduction, boundary rule and wish to roll stands in the graph."""
    found = Counter()
    for kernel in graph.kernels:
        for node in kernel.nodes:
            instruction = node.instruction
            found[type(instruction).__name__] += 1
            found[f"asks for {node.hint.allocation}"] += 1
            match instruction:
                case Arith(operator):
                    found[f"operator {operator}"] += 1
                case Reduce(operator) | Fold(operator) | Scan(operator) | SegmentedReduce(operator) | Scatter(operator):
                    found[f"reduction {operator if isinstance(operator, str) else 'region'}"] += 1
                case Loop(body):
                    found[f"loop of {len(body.results) - 1}"] += 1
                    found["loop that reads arrays"] += any(p.axes for p in body.parameters)
                case Extend(sides):
                    for rule in (rule for pair in sides for rule in pair):
                        sign = " negative" if getattr(rule, "sign", 1) == -1 else ""
                        found[f"rule {type(rule).__name__}{sign}"] += 1
    return found


def _extents(rng, dim, cells):
    lengths = (1, 2, 3, 4, 5, 7, 8, 12, 17, 33)
    if dim == 1:
        lengths = (*lengths, 100, 1023, 1024, 1040, 1500)
    extents = [rng.choice(lengths) for _ in range(dim)]
    while math.prod(extents) > cells:
        extents[extents.index(max(extents))] //= 2
    return tuple(extents)


def _statics(rng, space, types):
    first = rng.choice(types)
    fields = [first, *(rng.choice(types) for _ in range(rng.randint(0, 2)))]
    statics = [Static(f"f{i}", "field", t, space) for i, t in enumerate(fields)]
    if rng.random() < 0.4:
        statics.append(Static("f0_old", "field", first, space))
    for i in range(rng.randint(1, 2)):
        type_ = rng.choice((first, rng.choice(types)))
        statics.append(Static(f"p{i}", "param", type_, GLOBAL, default(rng, type_)))
    for i in range(rng.randint(0, 2)):
        type_ = rng.choice((first, F64, rng.choice(types)))
        statics.append(Static(f"s{i}", "scalar", type_, GLOBAL, default(rng, type_)))
    return statics
