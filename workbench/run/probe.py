"""Probes: any named intermediate at the current state, by a small program that computes only it."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.backends.base import Array, Instance, MarchRequest, Number
from workbench.errors import FieldError
from workbench.graph import Graph, Kernel, Load, Node, Static, Store
from workbench.graph.arithmetic import constant, python_number
from workbench.graph.marks import NO_HINT
from workbench.pipeline import Compiled, compile_graph
from workbench.planning.choices import Choices
from workbench.run.values import vector_dim

_HIDDEN = "probe"  # the static that the value is stored in; its kernel has the same name


@dataclass(frozen=True, slots=True)
class Probe:
    """A compiled program whose only kernel stores one value of another program; `statics` are what it reads."""

    compiled: Compiled
    statics: tuple[Static, ...]
    hidden: Static

    def evaluate(self, values: dict[str, Array | Number], extents: tuple[int, ...], threads: int) -> Array | Number:
        """Return the value at the state given by the values of `statics`."""
        instance = self.compiled.program.instantiate(extents, threads)
        try:
            for static in self.statics:
                write(instance, static, values[static.name])
            instance.march(MarchRequest(_HIDDEN, 1))
            if self.hidden.role == "field":
                return instance.read_field(self.hidden.name)
            return instance.read_global(self.hidden.name)
        finally:
            instance.close()


def write(instance: Instance, static: Static, value: Array | Number) -> None:
    """Write a field, scalar or param."""
    if static.role == "field":
        assert not isinstance(value, bool | int | float)
        instance.write_field(static.name, value)
    else:
        assert isinstance(value, bool | int | float)
        instance.write_global(static.name, value)


def component_names(graph: Graph, name: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The names of a computed vector's or tensor's components and their shape; nothing if `name` is none of them.

    A tensor called flux has components flux00, flux01, ...; a symmetric one only those with ascending indices.
    """
    known = {n for kernel in graph.kernels for node in kernel.nodes for n in node.names}
    if name in known:
        return (), ()
    dim = vector_dim(graph)
    for rank in range(1, 5):
        shape = (dim,) * rank
        names = (_component_name(name, index, known) for index in np.ndindex(shape))
        found = tuple(n for n in names if n)
        if len(found) == dim**rank:
            return found, shape
    return (), ()


def _component_name(name: str, index: tuple[int, ...], known: set[str]) -> str:
    spelt = (name + "".join(map(str, places)) for places in (index, sorted(index)))
    return next((n for n in spelt if n in known), "")


def probe_name(graph: Graph, name: str, backend: str) -> Probe:
    """Compile a probe of the value that carries the user's `name`. Raises FieldError with a guess if there is none."""
    kernels = sorted(graph.kernels, key=lambda kernel: kernel.name != "step")
    for kernel in kernels:
        index = kernel.find(name)
        if index is not None and kernel.nodes[index].type is not None:
            return probe_node(graph, kernel.nodes, index, backend)
    known = sorted(
        {s.name for s in graph.declared} | {n for kernel in kernels for node in kernel.nodes for n in node.names}
    )
    close = difflib.get_close_matches(name, known, n=1)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    raise FieldError(
        f"{graph.name} computes nothing called {name!r}.{guess}",
        advice=f"Use one of {', '.join(known)}, or name the value in the cell: named(x, 'flux').",
    )


def probe_node(graph: Graph, nodes: Sequence[Node], index: int, backend: str) -> Probe:
    """Compile a probe of node `index`, which may be of a kernel or of a coordinate."""
    kept = _ancestors(nodes, index)
    number = {old: new for new, old in enumerate(kept)}
    body = [replace(nodes[o], operands=tuple(number[k] for k in nodes[o].operands), hint=NO_HINT) for o in kept]
    value = nodes[index]
    assert value.space is not None
    loaded = {node.instruction.name for node in body if isinstance(node.instruction, Load)}
    _refuse_inner(graph, value, loaded)
    name = _free_name(graph)
    if value.space.is_global:
        hidden = Static(
            name,
            "scalar",
            value.value_type,
            value.space,
            python_number(constant(0, value.value_type), value.value_type),
        )
    else:
        hidden = Static(name, "field", value.value_type, value.space)
    store = Node(Store(name), (number[index],), None, None)
    statics = tuple(static for static in graph.statics if static.name in loaded)
    kernel = Kernel(_HIDDEN, (*body, store), graph.space)
    program = Graph(graph.name, graph.space, (*statics, hidden), (kernel,), origin=graph.origin)
    return Probe(compile_graph(program, Choices(), backend), statics, hidden)


def _refuse_inner(graph: Graph, value: Node, loaded: set[str]) -> None:
    """What a while_loop carries is there while a step runs, and belongs to no state between two steps."""
    if any(static.inner and static.name in loaded for static in graph.statics):
        name = next(iter(value.names), "the value")
        raise FieldError(
            f"{name} of {graph.name} is made by a while_loop, or from what it ends with: it has no value between steps",
            advice="Let the cell store it, in a field or scalar, and read that.",
            line=value.spans[0].line if value.spans else None,
        )


def _ancestors(nodes: Sequence[Node], index: int) -> tuple[int, ...]:
    """Node `index` and all it depends on, in order."""
    wanted, open_ = {index}, [index]
    while open_:
        fresh = [k for k in nodes[open_.pop()].operands if k not in wanted]
        wanted.update(fresh)
        open_ += fresh
    return tuple(sorted(wanted))


def _free_name(graph: Graph) -> str:
    """A name for the hidden static that no static has."""
    taken, name = {static.name for static in graph.statics}, _HIDDEN
    while name in taken:
        name += "_"
    return name
