"""Random choices for any program: presets, free values and barriers set by hand, sizes, precision now and then."""

import random
from dataclasses import replace

from workbench.graph import Graph
from workbench.planning import Choices, Meaning, PlanChoices, Storage, plan_graph
from workbench.planning.choices import LoopChoices
from workbench.planning.loop_keys import loop_names
from workbench.planning.tunables import folds_along_axes

PRESETS = ("cost", "as_delayed", "as_manifest")


def random_choices(graph: Graph, seed):
    """(choices, plan) of a program; the same for the same arguments.

    Choices never make a plan impossible: only free values are set, and grids and blocks that a device accepts.
    """
    rng = random.Random(f"choices {seed}")
    meaning = _meaning(rng, graph)
    preset = rng.choice(PRESETS)
    plan = plan_graph(graph, Choices(meaning, PlanChoices().changed(preset=preset)))
    manifest, delayed, before, after = set(), set(), set(), set()
    density = rng.choice((0.0, 0.2, 0.5, 1.0))
    barriers = rng.choice((0.0, 0.0, 0.1, 0.5))
    for kernel in plan.kernels:
        nodes = kernel.kernel.nodes
        for key, node, storage, forced in zip(kernel.kernel.keys(), nodes, kernel.storage, kernel.forced, strict=True):
            name = f"{kernel.kernel.name}/{key}"
            if not forced and rng.random() < density:
                (delayed if storage is Storage.MANIFEST else manifest).add(name)
            if node.type is not None:
                before.update([name] if rng.random() < barriers else ())
                after.update([name] if rng.random() < barriers else ())
    chosen = PlanChoices().changed(
        preset=preset,
        manifest=frozenset(manifest),
        delayed=frozenset(delayed),
        before=frozenset(before),
        after=frozenset(after),
        grid=rng.choice((0, 1, 2, 3, 7, 32)),
        block=rng.choice((1, 5, 32, 64, 96, 256)),
        threads=rng.choice((1, 2, 3)),
        tile=rng.choice((0, 1, 2, 5, 64)),
        loops=rng.choice(("together", "together", "apart")),
        stages=rng.random() < 0.5,
    )
    if folds_along_axes(plan):
        folds = random.Random(f"folds {seed}")
        chosen = chosen.changed(
            lanes=folds.choice((0, 0, 1, 4, 5, 32)), targets=folds.choice((1, 1, 2, 3)), sources=folds.choice((1, 2, 3))
        )
    if graph.dim > 1:
        lines = random.Random(f"padding {seed}")
        numbers = [lines.choice((0, 1, 2, 5)) for _ in range(lines.randrange(graph.dim))]
        chosen = chosen.changed(padding=tuple(numbers))
    choices = Choices(meaning, chosen)
    plan = plan_graph(graph, choices)
    for key in loop_names(plan) if rng.random() < 0.5 else ():
        numbers = LoopChoices(rng.choice((None, 0, 1, 5)), rng.choice((None, 1, 7, 32, 128)))
        chosen = chosen.with_loop(key, numbers)
    choices = Choices(meaning, chosen)
    return choices, replace(plan, choices=choices)


def _meaning(rng, graph):
    """Mostly none; else another precision for a float field or named float value."""
    typed = [(s.name, s.type) for s in graph.fields]
    typed += [(n, node.type) for k in graph.kernels for node in k.nodes if node.type is not None for n in node.names]
    others = {name for name, type_ in typed if not type_.is_float}  # a name may stand in two kernels
    names = [name for name, _ in typed if name not in others]
    if not names or rng.random() < 0.8:
        return Meaning()
    return Meaning(precision=((rng.choice(names), rng.choice(("f32", "f64"))),))
