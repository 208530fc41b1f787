"""Lowering: from the trace's pool to an immutable graph, one kernel at a time."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from workbench.errors import TraceError
from workbench.frontend.trace import KernelState, Trace
from workbench.graph import (
    Coordinate,
    Extend,
    Graph,
    Kernel,
    KernelBuilder,
    Load,
    LoadIndex,
    LoadSize,
    Node,
    Shift,
    Span,
)
from workbench.graph.rewrite import copy
from workbench.graph.spaces import axis_name
from workbench.python_text import parse


def make_graph(trace: Trace) -> Graph:
    """Make the graph of a finished trace. Raises TraceError for kernels without stores and fields without use."""
    for state in trace.kernels:
        if not state.stores:
            advice = "Assign the value of the next step to a field: u.next = value."
            if not trace.is_called:
                _refuse_other_value(trace)
            else:
                advice = 'Name a result: output("y", value) of arrays, a, = totals("a") and a += value of pairs.'
            error = TraceError(f"the kernel {state.name} stores nothing", advice=advice)
            raise trace.source.mark(error, state.span)
    statics = tuple(trace.statics.values())
    parts = [part for _, *both in trace.loops for part in both]
    kernels = tuple(_lower_kernel(trace, state) for state in (*trace.kernels, *parts))
    loops = tuple(loop for loop, _, _ in trace.loops)
    _check_loops(trace, kernels)
    coordinates = tuple(
        Coordinate(c.axis, c.name, c.unit, _lower_nodes(trace, c.term.index)) for c in trace.coordinates
    )
    _check_use(trace, kernels, coordinates)
    _warn_of_indices(trace, kernels)
    return Graph(trace.name, trace.space, statics, kernels, coordinates, trace.source.origin, loops)


def _refuse_other_value(trace: Trace) -> None:
    """Raise TraceError if a line such as `u = u + 1` gives the name of a field or scalar to another value."""
    source = trace.source
    try:
        tree = parse(textwrap.dedent("\n".join(source.lines)))
    except SyntaxError:  # a function in the middle of something
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Store):
            continue
        static, line = trace.statics.get(node.id), node.lineno + source.first_line - 1
        if static is not None and static.role in ("field", "scalar") and line > static.span.line:
            what = f"{node.id} = ... gives the name {node.id} to another value, and stores nothing"
            column = len(source.line(line)) - len(source.line(line).lstrip())
            raise source.mark(TraceError(what, advice=f"Write {node.id}.next = ..."), Span(line, column))


def _lower_kernel(trace: Trace, state: KernelState) -> Kernel:
    builder = KernelBuilder(trace.space, tuple(trace.statics.values()))
    places = _copy(trace, builder, [term.index for term, _ in state.stores.values()], state.kept)
    for name, (term, span) in state.stores.items():
        builder.annotate(builder.store(name, places[term.index]), span=span)
    return builder.finish(state.name)


def _lower_nodes(trace: Trace, root: int) -> tuple[Node, ...]:
    builder = KernelBuilder(trace.space, tuple(trace.statics.values()))
    _copy(trace, builder, [root])
    return builder.finish("").nodes


def _copy(
    trace: Trace, builder: KernelBuilder, roots: Sequence[int], kept: Mapping[int, str] = MappingProxyType({})
) -> dict[int, int]:
    """Copy what the roots need, in the pool's order; the result maps pool index to builder index.

    kept: the values that are read from a static, which has them.
    """
    places: dict[int, int] = {}
    for index in trace.pool.needed(roots, lambda index: () if index in kept else trace.pool.node(index).operands):
        node = trace.pool.node(index)
        if index in kept:
            node = replace(node, instruction=Load(kept[index]), operands=())
        if trace.names_axes and isinstance(node.instruction, LoadSize):  # the cell may have got axes since
            names = [axis.name for axis in trace.space.axes]
            node = replace(node, instruction=LoadSize(names.index(trace.axis_names[node.instruction.axis])))
        place = places[index] = copy(builder, node, tuple(places[o] for o in node.operands))
        builder.mark_as(place, node)
        builder.annotate(place, hint=node.hint)
    return places


def _check_loops(trace: Trace, kernels: Iterable[Kernel]) -> None:
    """What a while_loop ends with is known in the kernel where it stands, and in later loops of this kernel."""
    outer = {part: loop for loop, _, _ in trace.loops for part in (loop.begin, loop.turn)}
    made = {name: loop for loop, begin, _ in trace.loops for name in begin.stores}
    for kernel in kernels:
        homes = [kernel.name]
        while homes[-1] in outer:
            homes.append(outer[homes[-1]].before)
        for name, index in kernel.loads():
            if name in made and made[name].before not in homes:
                loop, node = made[name], kernel.nodes[index]
                around = outer.get(loop.before)
                value, line = ", ".join(node.names) or "a value", loop.span.line
                if around is None:
                    what = f"kernel {kernel.name} reads {value}, which the while_loop in line {line} makes for kernel "
                    what += loop.before
                    advice = "Store the value in a field and read that, or call while_loop inside of this kernel too."
                else:
                    what = f"{value} is made by the while_loop in line {line} in each iteration of the one in line "
                    what += f"{around.span.line}, and is read outside of that"
                    advice = "Return the value from the body of the outer while_loop."
                error = TraceError(what, advice=advice)
                raise trace.source.mark(error, node.spans[0] if node.spans else loop.span)


def _check_use(trace: Trace, kernels: Sequence[Kernel], coordinates: Iterable[Coordinate]) -> None:
    read = {name for k in kernels for name, _ in k.loads()}
    used = read | {name for k in kernels for name, _ in k.stores()}
    used |= {n.instruction.name for c in coordinates for n in c.nodes if isinstance(n.instruction, Load)}
    known = {a.name for static in trace.statics.values() if static.name in read for a in static.space.axes}
    for static in trace.statics.values():
        if static.name in used or static.name == "until":  # a param until may be there for sim.run alone
            continue
        if static.role == "field":
            if trace.is_called and not {axis.name for axis in static.space.axes} <= known:
                continue  # it is there for the length of an axis
            error = TraceError(
                f"{'array' if trace.is_called else 'field'} {static.name} is neither read nor stored by any kernel",
                advice="Use it, or remove its declaration."
                if trace.is_called
                else f"Use it, assign {static.name}.next, or remove its declaration.",
            )
            raise trace.source.mark(error, static.span)
        trace.note_warning(f"line {static.span.line}: {static.role} {static.name} is never used")


def _warn_of_indices(trace: Trace, kernels: Iterable[Kernel]) -> None:
    """Warn where an index that continues outside is shifted along a periodic axis (semantics §1)."""
    for kernel in kernels if trace.periodic_axes else ():
        bare = _bare_indices(kernel)
        for node in kernel.nodes:
            if not isinstance(node.instruction, Shift):
                continue
            for axis in sorted(bare[node.operands[0]] & trace.periodic_axes):
                if node.instruction.offset[axis]:
                    line = node.spans[0].line if node.spans else 0
                    trace.note_warning(
                        f"line {line}: index({axis}) is read in a neighbour on the "
                        f"periodic axis {axis_name(axis)} and does not wrap there; "
                        f'write extend(index({axis}), "periodic") if it should'
                    )


def _bare_indices(kernel: Kernel) -> list[frozenset[int]]:
    """For each node the axes whose index reaches it without an Extend between."""
    axes: list[frozenset[int]] = []
    for node in kernel.nodes:
        if isinstance(node.instruction, LoadIndex):
            axes.append(frozenset((node.instruction.axis,)))
        elif isinstance(node.instruction, Extend) or node.is_global:
            axes.append(frozenset())
        else:
            axes.append(frozenset().union(*(axes[o] for o in node.operands)))
    return axes
