"""Particles: state of elements that act on each other, kept from step to step as fields of a grid are.

`x` is what a particle has as target, `x.source` what the same particles have as sources. A formula of both has one
value a pair; reduced over="source" it has one a particle.
"""

from __future__ import annotations

from typing import cast

from workbench.errors import TraceError
from workbench.frontend.componentwise import component_name
from workbench.frontend.declarations import check_name
from workbench.frontend.dimension import let_vectors_have
from workbench.frontend.field_tuple import FieldTuple
from workbench.frontend.operations import parse_type
from workbench.frontend.populations import PARTICLES, population
from workbench.frontend.tensors import Index, Tensor
from workbench.frontend.trace import Trace, current_trace
from workbench.frontend.value import Value
from workbench.graph import Space, Static, StorageType


def particles(
    names: str, dim: int | None = None, of: str = PARTICLES, dtype: object = None, unit: str = ""
) -> tuple[Value, ...]:
    """Declare state of particles: x, v = particles("x v", dim=3); m, = particles("m"). Always a tuple.

    dim: the number of components of a vector; without it, one number per particle. The arrays given to simulate set the
    number of particles n; an array has the shape (n,), for a vector (dim, n). of: the name of the population; all its
    arrays have the same n. dtype: as in `field`. `x.source` is x of the same particles as sources: dx = x.source - x
    has one value per pair, reduce_sum(f, over="source") one per particle.
    """
    trace = current_trace("particles")
    if not isinstance(names, str) or not names.replace(",", " ").split():
        raise TraceError(f"particles needs names, not {names!r}", advice='Write x, v = particles("x v", dim=3).')
    type_ = trace.float_type if dtype is None else parse_type(dtype)
    if dim is not None:
        let_vectors_have(trace, "particles", dim)
    space = population(trace, of)
    found = names.replace(",", " ").split()
    made = (cast(Value, _declare(trace, name, dim, space, type_, str(unit))) for name in found)
    return FieldTuple(made, "particles")


def _declare(trace: Trace, name: str, dim: int | None, space: Space, type_: StorageType, unit: str) -> Value | Tensor:
    check_name(name, "particles")

    def part(index: Index) -> Value:
        stored, group = (component_name(name, index), name) if index else (name, "")
        trace.declare(Static(stored, "field", type_, space, unit=unit, group=group, component=index, span=trace.here()))
        return Value(trace.emit(lambda pool: pool.load(stored)), stored)

    return part(()) if dim is None else Tensor({(a,): part((a,)) for a in range(dim)}, dim, 1, False, name)
