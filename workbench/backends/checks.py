"""What a caller names or gives to an instance, checked: every backend refuses the same in the same words."""

from __future__ import annotations

from workbench.amounts import counted
from workbench.backends.base import Array
from workbench.errors import BackendError, FieldError, ShapeError, TurnsError
from workbench.graph import Static, While
from workbench.graph.graph import Graph
from workbench.planning.plan import Plan


def named_field(graph: Graph, name: str) -> Static:
    """The field of that name; FieldError with the names there are."""
    return _named(graph, name, ("field",), "field")


def named_global(graph: Graph, name: str) -> Static:
    """The scalar or param of that name; FieldError with the names there are."""
    return _named(graph, name, ("scalar", "param"), "scalar or param")


def number_of_kernel(plan: Plan, name: str) -> int:
    """The place of a kernel in a plan; BackendError with the names there are."""
    names = [kernel.kernel.name for kernel in plan.kernels]
    if name not in names:
        raise BackendError(f"{plan.graph.name} has no kernel {name!r}", advice=f"Use one of: {', '.join(names)}.")
    return names.index(name)


def checked_cells(graph: Graph, static: Static, extents: tuple[int, ...], values: Array) -> Array:
    """The values, fit for a field of a program of these extents; FieldError or ShapeError if dtype or shape differ."""
    shape = static.space.extents_in(graph.space, extents)
    if values.dtype != static.type.numpy:
        raise FieldError(
            f"{static.name} is {static.type}, the array is {values.dtype}", advice="Convert the array first."
        )
    if values.shape != shape:
        raise ShapeError(
            f"{static.name} has shape {shape}, the array {values.shape}", advice="Give an array of that shape."
        )
    return values


def checked_extents(graph: Graph, extents: tuple[int, ...]) -> tuple[int, ...]:
    """The extents as ints; ShapeError if the program has other axes."""
    if len(extents) != graph.dim or min(extents, default=0) < 1:
        raise ShapeError(
            f"{graph.name} has {graph.dim} axes and cannot have extents {extents}",
            advice=f"Give {graph.dim} extents of at least 1.",
        )
    return tuple(int(n) for n in extents)


def _named(graph: Graph, name: str, roles: tuple[str, ...], what: str) -> Static:
    known = [static.name for static in graph.statics if static.role in roles]
    if name not in known:
        raise FieldError(f"{graph.name} has no {what} {name!r}", advice=f"Use one of: {', '.join(known) or 'none'}.")
    return graph.static(name)


def too_long(graph: Graph, loop: While) -> TurnsError:
    """The error of a loop over whole arrays that goes on after its last iteration."""
    error = TurnsError(
        f"the while_loop of {graph.name} did not end within {counted(loop.at_most, 'iteration')}",
        advice="Loosen its condition, raise at_most, or pass at_most_ok=True to go on with the last values.",
        line=loop.span.line or None,
    )
    return error.belonging(graph.origin)
