"""Annotation: choices for values that are called by the names which the cell gave them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from workbench.errors import PlanError
from workbench.graph import Graph, Kernel
from workbench.graph.naming import advice_on_names
from workbench.planning.choices import PlanChoices
from workbench.planning.tunables import without_key

_SIDES: dict[str, tuple[Literal["before", "after"], ...]] = {
    "before": ("before",),
    "after": ("after",),
    "both": ("before", "after"),
    "none": (),
}


def annotated(graph: Graph, plan: PlanChoices, name: str, allocation: str | None, sync: str | None) -> PlanChoices:
    """Choices with the value called `name` stored or recomputed, and with barriers where `sync` says.

    graph: the simplified and retyped one. None: as the choices have it. Raises PlanError if there is no such value, or
    for another word than "manifest" and "delayed", "before", "after", "both" and "none".
    """
    given, allocation = allocation, allocation.lower() if isinstance(allocation, str) else allocation
    if allocation == "rolling":
        raise PlanError(
            f'{name} cannot be annotated "rolling", a hint that counts where no choice is made',
            advice=f'Write rolling({name}) in the cell, or use "manifest": stored values roll where they can.',
        )
    if allocation not in ("manifest", "delayed", None):
        raise PlanError(f"allocation {given!r} is unknown", advice='Use "manifest" or "delayed".')
    if sync is not None and sync not in _SIDES:
        raise PlanError(f"sync {sync!r} is unknown", advice=f"Use one of {', '.join(_SIDES)}.")
    if allocation is None and sync is None:
        raise PlanError(f"nothing is asked of {name}", advice='Give "manifest", "delayed" or sync="before".')
    keys = _keys_called(graph, name)
    if not keys and allocation is None:
        keys = _keys_read(graph, name)
    if not keys:
        if name in {static.name for static in graph.declared}:
            raise PlanError(f"{name} is state, which is stored anyway", advice="Annotate a value computed from it.")
        raise PlanError(f"{graph.name} computes nothing called {name!r}", advice=advice_on_names(graph.kernels))
    sets: list[tuple[str, Callable[[PlanChoices], frozenset[str]], bool]] = []
    if allocation is not None:
        sets += [
            ("manifest", lambda p: p.values.manifest, allocation == "manifest"),
            ("delayed", lambda p: p.values.delayed, allocation == "delayed"),
        ]
    if sync is not None:
        sets += [
            ("before", lambda p: p.barriers.before, "before" in _SIDES[sync]),
            ("after", lambda p: p.barriers.after, "after" in _SIDES[sync]),
        ]
    for key in keys:
        others = _namesakes(graph, key)
        for member, read, wanted in sets:
            left = without_key(read(plan), key, others)
            plan = plan.changed(**{member: left | {key} if wanted else left})
    return plan


def _keys_called(graph: Graph, name: str) -> frozenset[str]:
    """Keys (kernel/structural key) of the values that carry the name: in each kernel the last one.

    With it the same value along other axes, as in x[:, None] * x[None, :].
    """
    found = ((kernel, kernel.find(name)) for kernel in graph.kernels)
    pairs = ((kernel, each) for kernel, last in found if last is not None for each in _alike(kernel, last, name))
    return frozenset(f"{kernel.name}/{kernel.keys()[index]}" for kernel, index in pairs)


def _alike(kernel: Kernel, last: int, name: str) -> list[int]:
    """A value, and those that the same place of the text made along other axes and that it does not need."""
    value, needed = kernel.nodes[last], {last}
    for index in range(last, -1, -1):
        if index in needed:
            needed.update(kernel.nodes[index].operands)
    return [last] + [
        index
        for index, node in enumerate(kernel.nodes[:last])
        if name in node.names and index not in needed
        if node.space != value.space and not set(node.spans).isdisjoint(value.spans)
    ]


def _keys_read(graph: Graph, name: str) -> frozenset[str]:
    """Keys of the nodes that read a field, scalar or param."""
    found = ((kernel, dict(kernel.loads()).get(name)) for kernel in graph.kernels)
    return frozenset(f"{kernel.name}/{kernel.keys()[index]}" for kernel, index in found if index is not None)


def _namesakes(graph: Graph, key: str) -> frozenset[str]:
    """The values of other kernels with the same structural key."""
    bare = key.partition("/")[2]
    return frozenset(f"{kernel.name}/{bare}" for kernel in graph.kernels if bare in set(kernel.keys())) - {key}
