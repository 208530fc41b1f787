"""Small random programs of which every choice can be tried: one kernel, few values that may be stored or recomputed."""

import itertools
import random

from workbench.graph import GLOBAL, Extend, Graph, Hint, KernelBuilder, Outflow, Periodic, Shift, Static, grid_space
from workbench.graph.types import F64
from workbench.planning import Choices, PlanChoices, plan_graph

CHEAP, EXPENSIVE = ("add", "multiply", "minimum"), ("arctan2", "power", "power")


def small_graph(seed, hints=False):
    """Two to three fields in one or two dimensions, a handful of operations, some reads of neighbours.

    With `hints`, some values carry a hint to synchronise or to be stored.
    """
    rng = random.Random(f"small {seed}")
    space = grid_space(rng.choice((1, 1, 2)))
    fields = tuple(Static(name, "field", F64, space) for name in "uvw"[: rng.randint(2, 3)])
    statics = (*fields, Static("s", "scalar", F64, GLOBAL, 0.0), Static("p", "param", F64, GLOBAL, 1.0))
    b = KernelBuilder(space, statics)
    rules = rng.choice(((Periodic(), Periodic()), (Outflow(), Outflow())))
    values = [b.extend(b.load(f.name), (rules,) * space.rank) for f in fields[:2]]
    computed = []

    def moved(value):
        offset = tuple(rng.randint(-1, 1) for _ in range(space.rank))
        return b.shift(value, offset) if any(offset) else value

    for number in range(rng.randint(2, 5)):
        kind = rng.random()
        if computed and kind < 0.12:
            total = b.broadcast(b.arith("multiply", b.reduce("sum", rng.choice(computed)), b.load("p")))
            value = b.arith("add", rng.choice(values), total)
        elif computed and kind < 0.22:
            value = b.extend(rng.choice(computed), ((Outflow(), Outflow()),) * space.rank)
            value = b.arith("add", moved(value), rng.choice(values))
        else:
            a, c = (moved(rng.choice(values[-3:])) for _ in range(2))
            value = b.arith(rng.choice(CHEAP if rng.random() < 0.4 else EXPENSIVE), a, c)
            for _ in range(rng.choice((0, 0, 1, 2))):
                value = b.arith("power", value, a)
        b.annotate(value, name=f"a{number}")
        if hints and rng.random() < 0.4:
            b.annotate(value, hint=rng.choice((Hint(sync_before=True, sync_after=True), Hint("manifest"))))
        values.append(value)
        computed.append(value)
    b.store(fields[-1].name, moved(computed[-1]) if rng.random() < 0.7 else computed[-1])
    if rng.random() < 0.5:
        b.store(fields[0].name, b.arith("add", moved(computed[-2]), moved(computed[-1])))
    if rng.random() < 0.4:
        b.store("s", b.reduce("max", rng.choice(computed)))
    return Graph("small", space, statics, (b.finish("step"),))


def free_keys(graph):
    """Keys of the values that may be stored or not, of the simplified graph's kernels, as "kernel/key"."""
    plan = plan_graph(graph)
    return tuple(
        f"{each.kernel.name}/{key}"
        for each in plan.kernels
        for key, forced in zip(each.kernel.keys(), each.forced, strict=True)
        if not forced
    )


def assignments(graph, most=6):
    """Plans of all ways to store or recompute the free values; nothing if there are more than `most` of them."""
    keys = free_keys(graph)
    if len(keys) > most:
        return
    for bits in itertools.product((False, True), repeat=len(keys)):
        chosen = frozenset(k for k, bit in zip(keys, bits, strict=True) if bit)
        plan = PlanChoices().changed(manifest=chosen, delayed=frozenset(keys) - chosen)
        yield chosen, plan_graph(graph, Choices(plan=plan))


def is_moved(node):
    return isinstance(node.instruction, Shift)


def is_extended(node):
    return isinstance(node.instruction, Extend)
