"""Particles: state of elements that act on each other, kept from step to step as fields of a grid are.

`x` is what a particle has as target, `x.source` what the same particles have as sources. A formula of both has one
value a pair; reduced over="source" it has one a particle.
"""

from __future__ import annotations

from typing import cast

from workbench.errors import TraceError
from workbench.frontend.attempts import DimensionFoundError
from workbench.frontend.componentwise import component_name
from workbench.frontend.declarations import check_name
from workbench.frontend.field_tuple import FieldTuple
from workbench.frontend.operations import parse_type
from workbench.frontend.populations import PARTICLES, population
from workbench.frontend.tensors import Index, Tensor
from workbench.frontend.trace import MOST_DIMENSIONS, Trace, current_trace
from workbench.frontend.value import Value
from workbench.graph import Space, Static, StorageType


def particles(
    names: str, dim: int | None = None, of: str = PARTICLES, dtype: object = None, unit: str = ""
) -> tuple[Value, ...]:
    """Declare state of particles: x, v = particles("x v", dim=3); m, = particles("m"). Always a tuple.

    dim: components of a vector, one number a particle without it. The number of particles is that of the arrays given
    to simulate, (dim, n) for a vector. of: the population; particles of one population have one number. dtype: as of a
    field. `x.source` is x of the same particles as sources: dx = x.source - x has one value a pair, and
    reduce_sum(f, over="source") one a particle.
    """
    trace = current_trace("particles")
    if not isinstance(names, str) or not names.replace(",", " ").split():
        raise TraceError(f"particles needs names, not {names!r}", advice='Write x, v = particles("x v", dim=3).')
    type_ = trace.float_type if dtype is None else parse_type(dtype)
    if dim is not None:
        _let_vectors_have(trace, dim)
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


def _let_vectors_have(trace: Trace, dim: object) -> None:
    """All vectors of a cell have one dimension, which `dim`, `axes` and compose(...) mean: the cell is run with it."""
    if isinstance(dim, bool) or not isinstance(dim, int) or not 1 <= dim <= MOST_DIMENSIONS:
        raise TraceError(f"particles: no vector has dim={dim!r}", advice="Give dim as 1, 2, 3, ...")
    if dim == trace.vector_dim:
        return
    if trace.fixed and not trace.grid.is_global and any(s.role == "field" for s in trace.statics.values()):
        raise TraceError(
            f"particles: dim={dim}, but the grid has {trace.dim} dimension{'s' * (trace.dim != 1)}",
            advice=f"Give vectors dim={trace.dim}, or declare components one by one.",
        )
    if any(static.group for static in trace.statics.values()):
        raise TraceError(
            f"particles: dim={dim}, but other vectors of the cell have {trace.vector_dim} components",
            advice="Give all vectors of a cell one dim.",
        )
    raise DimensionFoundError(dim, fixed=True)
