"""Checks of what a graph declares: extents, names, statics, and that kernels use statics as they are declared."""

from __future__ import annotations

from workbench.errors import GraphError
from workbench.graph.graph import Graph
from workbench.graph.instructions import Load, Node, Store
from workbench.graph.place import places
from workbench.graph.region import represents
from workbench.graph.spaces import AffineExtent, ConstantExtent, Extent, MinimumExtent, NamedExtent, Space


def extents_are_closed(graph: Graph) -> None:
    """Constants positive, names given, all the way down; at least one axis."""
    if not graph.space.axes:
        raise GraphError(f"{graph.name} has no axis", advice="Give the space at least one axis.")
    for axis in graph.space.axes:
        if not _extent_is_closed(axis.extent):
            raise GraphError(
                f"the extent of axis {axis.name} is {axis.extent}", advice="Use names and positive constants."
            )


def _extent_is_closed(extent: Extent) -> bool:
    match extent:
        case NamedExtent(name):
            return bool(name)
        case ConstantExtent(value):
            return value >= 1
        case AffineExtent(base, scale, _):
            return scale >= 1 and _extent_is_closed(base)
        case MinimumExtent(left, right):
            return _extent_is_closed(left) and _extent_is_closed(right)


def names_are_unique(graph: Graph) -> None:
    """Statics, kernels and the axes have names of their own."""
    for what, names in (
        ("static", [s.name for s in graph.statics]),
        ("kernel", [k.name for k in graph.kernels]),
        ("axis", [a.name for a in graph.space.axes]),
    ):
        for name in names:
            if names.count(name) > 1 or not name:
                raise GraphError(f"{names.count(name)} of the {what} names are {name!r}", advice="Rename one.")


def statics_fit_their_roles(graph: Graph) -> None:
    """Fields are Local and have no default; scalars and params are Global with a default that the type holds."""
    for static in graph.statics:
        if static.space.is_global == (static.role == "field") or not is_of(graph, static.space):
            raise GraphError(
                f"{static.role} {static.name} has the axes ({static.space.axis_names}), "
                f"{graph.name} has ({graph.space.axis_names})",
                advice="Give a field axes of the graph in their order, and a scalar or param none.",
            )
        if static.role == "field" and static.default is not None:
            raise GraphError(f"field {static.name} has a default", advice="Initialise it in the kernel init.")
        if static.default is not None and not represents(static.type, static.default):
            raise GraphError(
                f"{static.name} is {static.type} and cannot default to {static.default!r}", advice="Change one of them."
            )
        if any(not 0 <= axis < static.space.rank for axis in static.face_axes):
            raise GraphError(f"{static.name} sits on faces of axes {static.face_axes}", advice="Use existing axes.")


def is_of(graph: Graph, space: Space) -> bool:
    """Whether it has some or all of the graph's axes, in their order, or none."""
    return space.positions_in(graph.space) is not None


def statics_are_used_rightly(graph: Graph) -> None:
    """Loads and Stores name statics of their type; a param is never stored; one Store per static and kernel."""
    known = {s.name: s for s in graph.statics}
    stored: set[tuple[str, str]] = set()
    for place in places(graph):
        node, instruction = place.node, place.node.instruction
        if not isinstance(instruction, Load | Store):
            continue
        static = known.get(instruction.name)
        if static is None:
            place.fail(f"no static is called {instruction.name!r}", "Declare it.")
        value = node if isinstance(instruction, Load) else place.operand(0)
        if value.type != static.type or not _lies_along(value, static.space, getattr(instruction, "along", ())):
            place.fail(f"{static.name} is {static.type} of rank {static.space.rank}, the node differs", "Cast.")
        if isinstance(instruction, Store):
            if static.role == "param":
                place.fail(f"a Store to the param {static.name}", "Declare it as a scalar.")
            if (place.block, static.name) in stored:
                place.fail(f"{static.name} is stored twice", "Store once per kernel.")
            stored.add((place.block, static.name))


def _lies_along(value: Node, own: Space, along: tuple[str, ...]) -> bool:
    """Whether the value has the static's own axes, or those that are named, which must fit them."""
    space = value.space
    if not along or space is None:
        return space == own
    return tuple(axis.name for axis in space.axes) == along and space.fits(own)
