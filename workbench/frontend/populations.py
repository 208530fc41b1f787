"""Populations: sets of particles, each with an axis of its own and a second one, along which it is seen as sources.

A value of the particles as sources is the same formula of the states seen so. What is made of many particles, such as a
sum over sources, is found once, for the particles, and read at the number of each source.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.errors import TraceError
from workbench.frontend.trace import Operand, Term, Trace
from workbench.graph import (
    GLOBAL,
    Axis,
    Broadcast,
    Hint,
    Imm,
    KernelBuilder,
    Load,
    LoadIndex,
    Node,
    Space,
)
from workbench.graph.instructions import operands_in_cell, traits_of, with_operands
from workbench.graph.rewrite import copy
from workbench.graph.spaces import NamedExtent

PARTICLES, SOURCE = "particles", "source"


def population(trace: Trace, of: object) -> Space:
    """The space of one value a particle; a population that is new gets its axis behind those of the others."""
    if not isinstance(of, str) or not of.isidentifier() or not of.isascii():
        raise TraceError(f"particles: of={of!r} names no population", advice='Write of="stars".')
    axis = Axis(of, NamedExtent(of), "array")
    if of not in trace.populations:
        _check_cell(trace)
        source = SOURCE if of == PARTICLES else f"{of}_{SOURCE}"
        if of == SOURCE or {of, source} & {*trace.populations, *trace.populations.values()}:
            raise TraceError(f"the population {of!r} is called as an axis of sources", advice="Choose another name.")
        if not trace.populations and not _has_grid(trace):
            trace.grid = trace.space = GLOBAL
        trace.widen(Space((*trace.space.axes, axis)))
        trace.populations[of] = source
    return Space((axis,))


def _has_grid(trace: Trace) -> bool:
    """Whether the cell has a field, so that its axes are those of a grid too."""
    return any(static.role == "field" for static in trace.statics.values())


def _check_cell(trace: Trace) -> None:
    if trace.is_called:
        raise TraceError(
            "particles keep their state from step to step, but this cell runs once at each call",
            advice="Declare targets(...) and sources(...), or write a cell of its own for the particles.",
        )
    has_values = any(trace.pool.node(i).is_local for i in range(len(trace.pool)))
    if not trace.populations and has_values and not _has_grid(trace):
        raise TraceError(
            "particles stand in a cell that has values of a grid, but no field", advice="Declare a field above them."
        )


def as_source(term: Term) -> Term:
    """What the value is for the same particles seen as sources: its formula of their states, along the other axis."""
    trace, own = term.trace, term.space.axes
    if len(own) != 1 or own[0].name not in trace.populations:
        has = f"the axes {term.space.axis_names}" if own else "one number for all"
        raise TraceError(
            f"{trace.text_here()}: only what each particle has is seen as source, and the value has {has}",
            advice='Declare x, = particles("x"), then x.source.',
        )
    space = _sources(trace, own[0])
    seen: dict[int, int] = {}
    for index in trace.pool.needed([term.index], lambda index: _moved(trace.pool.node(index))):
        node = trace.pool.node(index)
        seen[index] = index if node.is_global else _seen(trace, index, seen, space)
        for name in node.names if node.is_local else ():
            trace.pool.annotate(seen[index], name=f"{name}.{SOURCE}")
    return Term(trace, seen[term.index])


def _moved(node: Node) -> tuple[int, ...]:
    """The operands of a value that are seen as sources where it is: not an array that is read at computed places."""
    if node.is_global or traits_of(node.instruction).makes_array:
        return ()
    return operands_in_cell(node)


def _sources(trace: Trace, own: Axis) -> Space:
    """The space of one value a source; its axis gets its place behind the population's at the first use."""
    name = trace.populations[own.name]
    axis = Axis(name, own.extent, own.kind)
    if axis not in trace.space.axes:
        place = trace.space.axes.index(own) + 1
        trace.widen(Space((*trace.space.axes[:place], axis, *trace.space.axes[place:])))
    return Space((axis,))


def _seen(trace: Trace, index: int, seen: dict[int, int], space: Space) -> int:
    node = trace.pool.node(index)
    operands = tuple(seen[operand] for operand in _moved(node))

    def build(pool: KernelBuilder) -> int:
        match node.instruction:
            case Load(name):
                return pool.load(name, [space.axes[0].name])
            case LoadIndex():
                return pool.index(0, space)
            case Imm(value):
                return pool.imm(value, node.value_type, space)
            case Broadcast():
                return pool.broadcast(operands[0], space)
            case other if traits_of(other).makes_array:
                found = pool.gather(index, [pool.index(0, space)])
                pool.annotate(found, hint=Hint("manifest"))  # once a source, not again for each pair
                return found
            case _:
                return copy(pool, node, with_operands(node, seen.__getitem__))

    return trace.emit(build).index


def check_over(trace: Trace, text: str, axis: object) -> None:
    """Refuse over= beside axis=, and where the cell has no particles; `text` is the reduction."""
    if axis is not None:
        raise TraceError(f"{text}: axis= and over= are both given", advice="Give one of them.")
    if not trace.populations:
        raise TraceError(
            f"{text}: over= names particles, and the cell has none", advice="Write axis=0 for an axis of the grid."
        )


def axes_over(trace: Trace, operand: Operand, axis: object, over: object) -> Sequence[object]:
    """The axes that `over` means: "source" all axes of sources that the value has, else those of the names."""
    text = trace.text_here("this reduction")
    check_over(trace, text, axis)
    named = over if isinstance(over, tuple | list) else (over,)
    own = [a.name for a in operand.space.axes] if isinstance(operand, Term) else []
    found: list[str] = []
    for each in named:
        meant = [a for a in own if a in trace.populations.values()] if each == SOURCE else [a for a in own if a == each]
        if not meant:
            seen = trace.populations.get(each) if isinstance(each, str) else None
            if seen in own:
                several = sum(a in trace.populations.values() for a in own) > 1
                raise TraceError(
                    f"{text}: the {each} are seen as sources here, along the axis {seen}",
                    advice=f'Write over="{seen if several else SOURCE}".',
                )
            has = f"has the axes {', '.join(own)} alone" if own else "is one number"
            raise TraceError(
                f"{text}: the value {has}, so it cannot be reduced over {each!r}",
                advice="Name an axis that the value has, or contribute with x.source."
                if own
                else "Contribute with x.source.",
            )
        found += meant
    return found
