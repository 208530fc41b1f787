"""Declarations: fields, scalars, params and kernels of a cell."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable
from itertools import product
from typing import NoReturn, cast

import numpy as np

from workbench.errors import TraceError
from workbench.frontend.boundaries import RULES, describe, extend_term, extend_value, parse_sides
from workbench.frontend.componentwise import component_name
from workbench.frontend.field_tuple import FieldTuple
from workbench.frontend.operations import parse_type
from workbench.frontend.promotion import constant
from workbench.frontend.tensors import MOST_COMPONENTS, Index, Tensor
from workbench.frontend.trace import KernelState, Number, Term, Trace, current_trace
from workbench.frontend.value import Value, operand
from workbench.graph import GLOBAL, Static, StorageType
from workbench.graph.limits import NO_LIMITS, Limits
from workbench.graph.types import BOOL

# Methods and keywords of a simulation: a field of that name would hide them.
RESERVED = frozenset(
    [
        "run",
        "start",
        "pause",
        "stop",
        "wait",
        "set",
        "call",
        "step",
        "steps",
        "evaluate",
        "inspect",
        "machine",
        "record",
        "replan",
        "save",
        "restore",
        "device",
        "to_numpy",
        "to_dict",
        "to_xarray",
        "view",
        "shape",
        "extents",
        "backend",
        "choices",
        "genome",
        "schedule",
        "threads",
        "arithmetic",
        "machine",
        "graph",
        "compiled",
        "running",
        "paused",
        "memory_bytes",
        "close",
    ]
)


def field(name: str, dtype: object = None, boundary: object = None, unit: str = "", location: object = None) -> Value:
    """Declare a field: one value per cell, kept from step to step.

    dtype: "bool", "i8" to "i64", "u8" to "u64", "f32", "f64"; default the machine's float type. boundary: one rule, or
    a dict with a rule per side ("x-", "x+", "y", ...); without one, reading outside the domain is an error. location:
    "cell" or ("face", axis), which puts value i on the lower face of cell i.
    """
    trace = current_trace("field")
    check_name(name, "field")
    return _declare_field(trace, name, dtype, boundary, unit, location)


def _declare_field(
    trace: Trace,
    name: str,
    dtype: object,
    boundary: object,
    unit: str,
    location: object,
    group: str = "",
    component: Index = (),
) -> Value:
    what = f"field {name!r}"
    if trace.is_called:
        raise TraceError(
            f"{what} stands in a cell that runs once at each call",
            advice="Declare what is given with array(...), targets(...) or sources(...).",
        )
    if trace.grid.is_global:
        raise TraceError(
            f"{what} stands below particles, in a cell that has no grid",
            advice=f'Declare fields above particles, or write {name}, = particles("{name}").',
        )
    type_ = trace.float_type if dtype is None else parse_type(dtype)
    span = trace.here()
    face_axes = _parse_location(trace, location, what)
    sides = parse_sides(trace, boundary, what, component)
    trace.periodic_axes |= {axis for axis, (low, _) in enumerate(sides) if low.kind == "periodic"}
    trace.declare(
        Static(
            name,
            "field",
            type_,
            trace.grid,
            unit=str(unit),
            boundary=describe(sides),
            face_axes=face_axes,
            group=group,
            component=component,
            span=span,
        )
    )
    resolving: list[bool] = []

    def resolve() -> Term:
        if resolving:
            raise TraceError(
                f"the boundary of {what} uses the field itself", advice="Use indices, params and scalars only."
            )
        resolving.append(True)
        loaded = trace.emit(lambda pool: pool.load(name))
        try:
            extended = extend_term(trace, loaded, sides, face_axes)
        except TraceError as error:  # the fault lies in the declaration, not where the field is first read
            trace.source.locate(error, error.__traceback__)
            raise trace.source.mark(error, span)  # noqa: B904  # the same error
        resolving.clear()
        return extended

    return Value(None, name, resolve)


def vector(name: str, dtype: object = None, boundary: object = None, unit: str = "", location: object = None) -> Tensor:
    """Declare a vector field: dim components per cell, stored as name0, name1, ...; see `tensor`."""
    current_trace("vector")
    return _declare_tensor(name, 1, False, dtype, boundary, unit, location)


def tensor(
    name: str,
    rank: int = 2,
    symmetric: bool = False,
    dtype: object = None,
    boundary: object = None,
    unit: str = "",
    location: object = None,
) -> Tensor:
    """Declare a tensor field: dim**rank components per cell, stored as name00, name01, ...

    symmetric: only components with ascending indices are stored. boundary: one rule or a dict per side for all
    components, or a function of the component's indices that gives one. "reflect" and "mirror" reflect the tensor: an
    index along the wall's normal changes the sign. reflect(sign=s) gives every component the sign s. location: as in
    `field`, or a function of the indices: location=lambda a: ("face", a) puts each component of a vector on its faces.
    """
    current_trace("tensor")
    return _declare_tensor(name, rank, symmetric, dtype, boundary, unit, location)


def _declare_tensor(
    name: str, rank: int, symmetric: bool, dtype: object, boundary: object, unit: str, location: object
) -> Tensor:
    trace = current_trace("tensor")
    check_name(name, "vector" if rank == 1 else "tensor")
    if isinstance(rank, bool) or not isinstance(rank, int) or not 1 <= rank <= 8:
        raise TraceError(f"tensor {name!r}: no tensor has rank {rank!r}", advice="Use rank 1 to 8, or field(name).")
    if trace.dim**rank > MOST_COMPONENTS:
        raise TraceError(
            f"tensor {name!r} of rank {rank} has {trace.dim}**{rank} components, above {MOST_COMPONENTS}",
            advice="Use a lower rank.",
        )
    parts: dict[Index, Value] = {}
    for index in product(range(trace.dim), repeat=rank):
        if symmetric and index != tuple(sorted(index)):
            continue
        parts[index] = _declare_field(
            trace,
            component_name(name, index),
            dtype,
            rule_of(boundary, index, f"the boundary of {name}"),
            unit,
            _per_component(location, index, f"the location of {name}"),
            name,
            index,
        )
    return Tensor(parts, trace.dim, rank, bool(symmetric), name)


def rule_of(boundary: object, index: Index, what: str) -> object:
    """The boundary of one component: `boundary` itself, or what it gives as a function of the indices."""
    return boundary if any(boundary is rule for rule in RULES) else _per_component(boundary, index, what)


def _per_component(given: object, index: Index, what: str) -> object:
    if not callable(given):
        return given
    try:
        inspect.signature(given).bind(*index)
    except (TypeError, ValueError):
        raise TraceError(
            f"{what} is a function that does not take {len(index)} component ind{'ex' if len(index) == 1 else 'ices'}",
            advice=f"Write lambda {', '.join('abcdefgh'[: len(index)])}: ..., or one rule for all components.",
        ) from None
    return given(*index)


def extend(value: object, rule: object, location: object = None) -> Value:
    """Continue a value outside the domain by a boundary rule, or by one rule per side, as in `field`.

    A tensor is continued component by component, with the rules of a declared tensor. location: as in `field` and
    `tensor`; on faces "reflect" and "mirror" act about the wall.
    """
    trace = current_trace("extend")
    if not isinstance(value, Tensor):
        return extend_value(trace, value, rule, face_axes=_parse_location(trace, location, "extend"))
    parts = {
        index: extend_value(
            trace,
            part,
            rule_of(rule, index, "the rule of extend"),
            index,
            _parse_location(trace, _per_component(location, index, "the location of extend"), "extend"),
        )
        for index, part in value.stored.items()
    }
    return cast(Value, Tensor(parts, value.dim, value.rank, value.symmetric))


def fields(
    names: str, dtype: object = None, boundary: object = None, unit: str = "", location: object = None
) -> tuple[Value, ...]:
    """Declare several fields with the same properties: u, v = fields("u v"). Always a tuple."""
    current_trace("fields")
    if not isinstance(names, str) or not names.replace(",", " ").split():
        raise TraceError(f"fields needs names, not {names!r}", advice='Write u, v = fields("u v").')
    return FieldTuple(field(name, dtype, boundary, unit, location) for name in names.replace(",", " ").split())


def scalar(name: str, default: Number = 0, dtype: object = "f64", unit: str = "") -> Value:
    """Declare a scalar: one number kept from step to step, `default` at the beginning; dtype: f64 by default."""
    return _declare_global(name, "scalar", default, dtype, unit)


def param(
    name: str,
    default: Number,
    dtype: object = "f64",
    unit: str = "",
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    warn_above: float | None = None,
) -> Value:
    """Declare a parameter: an input that may change between runs without a new compilation; dtype: f64 by default.

    above, at_least, at_most: limits of the value; warn_above: a larger value is allowed, with a warning. With any of
    them NaN is refused, and so is infinity unless the default is infinite.
    """
    limits = Limits(above, at_least, at_most, warn_above)
    for bound_name, bound in limits.named:
        if isinstance(bound, bool) or not isinstance(bound, int | float) or bound != bound:
            raise TraceError(f"{bound_name}={bound!r} of param {name!r} is no number", advice=f"Write {bound_name}=0.")
    return _declare_global(name, "param", default, dtype, unit, limits)


def _declare_global(
    name: str, role: str, default: object, dtype: object, unit: str, limits: Limits = NO_LIMITS
) -> Value:
    trace = current_trace(role)
    type_ = parse_type(dtype)
    check_name(name, role)
    digits = f' A default is a float; {name}="0.1" outside of the cell gives all digits.' if type_.is_record else ""
    if not isinstance(default, bool | int | float | Value | np.generic):
        raise TraceError(
            f"the default of {role} {name!r} is {default!r}, which is no number",
            advice=f'Write {role}("{name}", 1.0).{digits}',
        )
    given = operand(default)
    if isinstance(given, Term):
        advice = "Write the number, or assign it in a kernel init." if role == "scalar" else "Write the number."
        raise TraceError(
            f"the default of {role} {name!r} is computed in the cell, but must be a number", advice=f"{advice}{digits}"
        )
    exact = _exact_default(trace, given, type_)
    kind = "param" if role == "param" else "scalar"
    if trace.is_called and kind == "scalar":
        raise TraceError(
            f"the scalar {name!r} would keep a value from step to step, but this cell runs once at each call",
            advice="Declare it as a param, which is given at the call.",
        )
    if not limits.allows(exact):
        raise TraceError(
            f"the default of param {name!r} is {exact!r}, but must be {limits}", advice="Choose another default."
        )
    trace.declare(
        Static(name, kind, type_, GLOBAL, default=exact, unit=str(unit), span=trace.here(), limits=limits)  # type: ignore[arg-type]  # mypy widens the literal
    )
    return Value(trace.emit(lambda pool: pool.load(name)), name)


def _exact_default(trace: Trace, given: Number, type_: StorageType) -> Number:
    """The default as the type holds it; 0 and 1 stand for False and True."""
    if type_ == BOOL and given in (0, 1):
        given = bool(given)
    if isinstance(given, bool) and type_ != BOOL:
        given = int(given)
    instruction = constant(trace, given, type_, GLOBAL).node.instruction
    value: Number = getattr(instruction, "value")  # noqa: B009  # constant always makes an Imm
    return value


def check_name(name: object, role: str, *, steps: bool = True) -> None:
    """Raise TraceError unless a variable of the cell may have the name. steps: the machine is one that simulates."""
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        several = isinstance(name, str) and len(name.replace(",", " ").split()) > 1 and role == "field"
        raise TraceError(
            f"{name!r} is no name for a {role}",
            advice=f'Write fields("{name}") for several.' if several else "Use letters, digits and _ after a letter.",
        )
    if not name.isascii():
        raise TraceError(
            f"{name!r} cannot be a name in generated C++", advice="Use ASCII letters, for instance the letter's name."
        )
    if steps and name in RESERVED:
        raise TraceError(
            f"the {role} {name!r} would hide sim.{name} or a keyword of simulate", advice="Choose another name."
        )


def _parse_location(trace: Trace, location: object, what: str) -> tuple[int, ...]:
    if location is None or location in ("cell", ("cell",)):
        return ()
    if isinstance(location, tuple) and len(location) > 1 and location[0] == "face":
        axes = tuple(trace.need_axis(axis, f"{what}: location") for axis in location[1:])
        if len(set(axes)) == len(axes):
            return tuple(sorted(axes))
    raise TraceError(f"{what}: {location!r} is no location", advice='Write location=("face", 0), or leave it out.')


def kernel(function: Callable[[], object]) -> Callable[[], NoReturn]:
    """Define a kernel with the function's name: `init` runs when a simulation is made, others run by sim.call(name)."""
    trace = current_trace("kernel")
    name = getattr(function, "__name__", "")
    if not callable(function) or not name.isidentifier():
        raise TraceError("kernel decorates a function", advice="Write @kernel above def init():")
    if name == "step" or any(k.name == name for k in trace.kernels):
        reason = "the top level is the kernel step" if name == "step" else "it exists already"
        raise TraceError(f"kernel {name!r} cannot be defined: {reason}", advice="Give the kernel another name.")
    if trace.is_called:
        raise TraceError(
            f"kernel {name!r} stands in a cell that runs once at each call", advice="Give it its own cell."
        )
    if trace.kernel is not trace.kernels[0]:
        raise TraceError(f"kernel {name!r} is defined inside kernel {trace.kernel.name}", advice="Define it outside.")
    code = getattr(function, "__code__", None)
    if code is None or code.co_argcount or code.co_kwonlyargcount:
        raise TraceError(f"kernel {name!r} takes arguments", advice="Use fields, scalars and params of the cell.")
    state = KernelState(name, trace.here())
    trace.kernels.append(state)
    trace.kernel = state
    try:
        function()
    finally:
        trace.kernel = trace.kernels[0]

    def refuse() -> NoReturn:
        raise TraceError(
            f"kernel {name} is called inside the cell, but kernels run one at a time",
            advice=f'Write sim.call("{name}") outside, or share the formula in a plain function.',
        )

    return refuse
