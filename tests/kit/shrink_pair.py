"""Shrinks a failing pair of the fuzz: smaller sizes, fewer choices, a smaller program, for a person to read."""

from dataclasses import replace

from tests.kit.agreement import first_difference
from tests.kit.shrink import shrink
from workbench.errors import StencilError
from workbench.planning import Choices, Meaning, PlanChoices, plan_graph
from workbench.planning.retype import retype


def shrink_pair(backend, pair, difference, attempts=60):
    """(pair, difference) of the smallest failing variant that was found in about `attempts` compilations."""
    smallest = pair, difference
    for extents in _smaller_sizes(difference.extents):
        found = _failure(backend, pair, extents)
        if found is not None:
            smallest = pair, found
            break
    for choices in _fewer_choices(pair.choices):
        candidate = _planned(pair, pair.graph, choices)
        found = candidate and _failure(backend, candidate, smallest[1].extents)
        if found:
            smallest = candidate, found
            break
    pair, difference = smallest

    def fails(graph):
        nonlocal smallest
        candidate = _planned(pair, graph, pair.choices)
        found = candidate and _failure(backend, candidate, difference.extents)
        if found:
            smallest = candidate, found
        return bool(found)

    shrink(pair.graph, fails, attempts)
    return smallest


def _smaller_sizes(extents):
    for length in (1, 2, 3):
        yield tuple(min(length, n) for n in extents)
    yield (*(1 for _ in extents[1:]), extents[-1])
    yield extents


def _fewer_choices(choices):
    for preset in ("as_delayed", "cost", "as_manifest"):
        yield Choices(plan=PlanChoices().changed(preset=preset))
    yield replace(choices, meaning=Meaning())
    plan = choices.plan
    yield replace(choices, plan=plan.changed(before=frozenset(), after=frozenset()))


def _planned(pair, graph, choices):
    """The pair with another graph and these choices as far as they name values of that graph; None if impossible."""
    try:
        known = set()
        for kernel in plan_graph(graph, replace(choices, plan=PlanChoices())).graph.kernels:
            known |= set(map(f"{kernel.name}/{{}}".format, kernel.keys()))
        values, barriers = choices.plan.values, choices.plan.barriers
        plan = choices.plan.changed(
            manifest=values.manifest & known,
            delayed=values.delayed & known,
            before=barriers.before & known,
            after=barriers.after & known,
        )
        choices = replace(choices, plan=plan)
        return replace(pair, graph=graph, choices=choices, plan=plan_graph(graph, choices))
    except StencilError:
        return None


def _failure(backend, pair, extents):
    (program,) = backend.compile_many([pair.plan])
    graph = retype(pair.graph, pair.choices.meaning)
    return first_difference(program, graph, extents, pair.seed, pair.choices.plan.cpu.threads)
