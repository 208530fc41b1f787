"""Time integration: one step of du/dt = rhs(u) by midpoint, SSP Runge-Kutta or leapfrog, and how long it may be.

The functions are ordinary ones over the values of a cell. A state is a value, a tensor, or a tuple of these; with
boundary=None they work on plain arrays and numbers too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

from workbench.amounts import counted
from workbench.errors import TraceError
from workbench.frontend.declarations import extend
from workbench.frontend.operations import apply, need_distance, reduce_value
from workbench.frontend.tensors import Tensor, as_tensor, check_alike
from workbench.frontend.trace import Term
from workbench.frontend.value import operand, wrap

Quantity = Any  # a traced value, an array or a number
State = Any  # a traced value, a tensor, an array or a number, or a tuple of them
Rates = Callable[..., State]
_SLOWEST = 1e-300  # so that a field at rest has a step, though a very long one


def midpoint(
    state: State, rhs: Rates, dt: Quantity, boundary: object = None, *, time: Quantity = None, location: object = None
) -> State:
    """The midpoint rule, order 2: u1 = u + dt/2 rhs(u), result u + dt rhs(u1) (Paraiso §4.1).

    state: u, or a tuple (u, v, ...); rhs(u) or rhs(u, v, ...) gives the rates in the same form. boundary: the rule of
    each stage outside the domain, as in `extend`: one rule for all values, or a tuple with one for each; with None a
    stage is computed outside by its formula, which reads the fields further out, and gives the same on periodic sides.
    location: as in `field`, for values on faces (one, or a tuple with one for each). time: the time at the beginning of
    the step; rhs then gets the time of its stage as a last argument, and a `boundary` that is a function is called with
    that time to give the rule. Boundary values that are exact in time lower the order of ssp_rk3 at that side to 2
    (Carpenter, Gottlieb, Abarbanel and Don, SIAM J. Sci. Comput. 16 (1995) 1241).
    """
    stages = _Stages(state, rhs, dt, boundary, time, location)
    middle = stages.place(stages.euler(state, 0.5, 0.0), 0.5)
    return stages.step(stages.rates(middle, 0.5), 1.0)


def ssp_rk2(
    state: State, rhs: Rates, dt: Quantity, boundary: object = None, *, time: Quantity = None, location: object = None
) -> State:
    """Heun's rule, order 2, strong stability preserving (Shu and Osher, J. Comput. Phys. 77 (1988) 439, eq. 2.16).

    u1 = u + dt rhs(u); result u/2 + (u1 + dt rhs(u1)) / 2. Arguments as in `midpoint`. A state at rest stays as it is,
    to the bit: the sum is evaluated as u + (u1 - u + dt rhs(u1)) / 2.
    """
    stages = _Stages(state, rhs, dt, boundary, time, location)
    first = stages.place(stages.euler(state, 1.0, 0.0), 1.0)
    return stages.blend(0.5, first, 1.0)


def ssp_rk3(
    state: State, rhs: Rates, dt: Quantity, boundary: object = None, *, time: Quantity = None, location: object = None
) -> State:
    """Order 3 in three stages, strong stability preserving (Shu and Osher, J. Comput. Phys. 77 (1988) 439, eq. 2.18).

    u1 = u + dt rhs(u); u2 = 3/4 u + (u1 + dt rhs(u1)) / 4; result u/3 + 2/3 (u2 + dt rhs(u2)). Arguments as in
    `midpoint`, rounding as in `ssp_rk2`; the stages lie at times 0, 1 and 1/2 of the step.
    """
    stages = _Stages(state, rhs, dt, boundary, time, location)
    first = stages.place(stages.euler(state, 1.0, 0.0), 1.0)
    second = stages.place(stages.blend(0.25, first, 1.0), 0.5)
    return stages.blend(2 / 3, second, 0.5)


def leapfrog(
    place: State,
    speed: State,
    acceleration: Rates,
    dt: Quantity,
    boundary: object = None,
    *,
    drift: Rates | None = None,
    location: object = None,
) -> tuple[State, State]:
    """Kick, drift, kick, order 2: d(place)/dt = speed, d(speed)/dt = acceleration(place); reversible and symplectic.

    Returns (place, speed) one step later, both at the same time (velocity Verlet: Verlet, Phys. Rev. 159 (1967) 98).
    drift(speed) gives d(place)/dt where it is not the speed itself. place and speed may be tuples. boundary and
    location: as in `midpoint`, for the new place when the second acceleration reads it.
    """
    half = _combine(lambda v, a: v + 0.5 * dt * a, speed, _call(acceleration, place))
    flow = half if drift is None else _call(drift, half)
    moved = _combine(lambda x, v: x + dt * v, place, flow)
    pull = _call(acceleration, _extended(moved, boundary, location))
    return moved, _combine(lambda v, a: v + 0.5 * dt * a, half, pull)


def courant_step(speed: object, dx: object, cfl: Quantity) -> Quantity:
    """The time step dt = cfl / (maximum over all cells of sum_a |speed_a| / dx_a).

    speed: the largest signal speed, one value (or number) for all axes, or a tensor or tuple with one for each. dx: one
    distance per axis, in a tuple or list. If all speeds are 0, the step is cfl * 1e300.
    """
    widths = tuple(dx) if isinstance(dx, tuple | list | Tensor) else (dx,)
    speeds = tuple(speed) if isinstance(speed, tuple | list | Tensor) else (speed,) * len(widths)
    if len(speeds) != len(widths):
        raise TraceError(
            f"courant_step has {counted(len(speeds), 'speed')} for {counted(len(widths), 'distance')}",
            advice="Give one speed, or one for each axis.",
        )
    for width in widths:
        need_distance(operand(width), "courant_step")
    rate = operand(reduce(add, (_magnitude(v) * (1 / width) for v, width in zip(speeds, widths, strict=True))))
    fastest = reduce_value("max", rate) if isinstance(rate, Term) and rate.is_local else rate
    return cfl / wrap(apply("maximum", fastest, _SLOWEST))


def _magnitude(speed: object) -> Quantity:
    return wrap(apply("absolute", operand(speed)))


class _Stages:
    """The stages of one step: where each lies in time, and what it sees outside the domain."""

    def __init__(
        self, state: State, rhs: Rates, dt: Quantity, boundary: object, time: Quantity, location: object
    ) -> None:
        self.state, self.rhs, self.dt = state, rhs, dt
        self.boundary, self.time, self.location = boundary, time, location

    def at(self, fraction: float) -> Quantity:
        """The time of a stage."""
        return self.time if fraction == 0 else self.time + fraction * self.dt

    def rates(self, state: State, fraction: float) -> State:
        """rhs of a stage."""
        return _call(self.rhs, state, *(() if self.time is None else (self.at(fraction),)))

    def step(self, rates: State, fraction: float) -> State:
        """The start plus a part of the step."""
        return _combine(lambda u, f: u + (self.dt if fraction == 1 else fraction * self.dt) * f, self.state, rates)

    def euler(self, state: State, fraction: float, when: float) -> State:
        """A part of the step by the rates of the start."""
        return self.step(self.rates(state, when), fraction)

    def blend(self, weight: float, stage: State, when: float) -> State:
        """(1 - weight) start + weight (stage + dt rhs(stage))."""
        rates = self.rates(stage, when)
        return _combine(lambda u, v, f: u + weight * ((v - u) + self.dt * f), self.state, stage, rates)

    def place(self, stage: State, fraction: float) -> State:
        """The stage with its outside."""
        if self.boundary is None:
            return stage
        timed = self.time is not None and callable(self.boundary)
        rule = self.boundary(self.at(fraction)) if timed else self.boundary  # type: ignore[operator]  # callable, see above
        return _extended(stage, rule, self.location)


def _extended(stage: State, rule: object, location: object) -> State:
    if rule is None:
        return stage
    if not isinstance(stage, tuple):
        return extend(stage, rule, location=location)
    rules, places = _each(rule, len(stage), "rules"), _each_location(location, len(stage))
    return _rebuilt(stage, [extend(u, r, location=p) for u, r, p in zip(stage, rules, places, strict=True)])


def _each(given: object, count: int, what: str) -> tuple[Any, ...]:
    """One for each part of the state."""
    if not isinstance(given, tuple | list):
        return (given,) * count
    if len(given) != count:
        raise TraceError(
            f"{len(given)} {what} for a state of {count} values", advice="Give one for all, or one for each value."
        )
    return tuple(given)


def _each_location(location: object, count: int) -> tuple[Any, ...]:
    """A location such as ("face", 0) is itself a tuple."""
    single = isinstance(location, tuple) and bool(location) and isinstance(location[0], str)
    return (location,) * count if single else _each(location, count, "locations")


def _call(rhs: Rates, state: State, *time: Quantity) -> State:
    """The rates, in the form of the state."""
    given = (*state, *time) if isinstance(state, tuple) else (state, *time)
    _check_parameters(rhs, given, len(given) - len(time))
    rates = rhs(*given)
    if not isinstance(state, tuple):
        return _of_kind(state, rates)
    if not isinstance(rates, tuple | list) or len(rates) != len(state):
        found = f"{len(rates)} values" if isinstance(rates, tuple | list) else "one value"
        raise TraceError(
            f"the state has {len(state)} values, but its rates are {found}",
            advice="Return a tuple with the rate of each value.",
        )
    return tuple(_of_kind(part, rate) for part, rate in zip(state, rates, strict=True))


def _check_parameters(rhs: Rates, given: tuple[object, ...], values: int) -> None:
    """TraceError for a function of other parameters than the values of the state, and the time if there is one."""
    if not callable(rhs):
        return  # the call says so
    try:
        inspect.signature(rhs).bind(*given)
    except ValueError:  # a function of a library that does not tell
        return
    except TypeError:
        name = getattr(rhs, "__name__", "rhs").replace("<lambda>", "rhs")
        parameters = [f"v{number}" for number in range(values)] if values > 1 else ["v"]
        parameters += ["t"] * (len(given) - values)
        raise TraceError(
            f"{name}{inspect.signature(rhs)} is called with {counted(len(given), 'value')}: those of the state"
            + (" and the time" if len(given) > values else ""),
            advice=f"Write def {name}({', '.join(parameters)}): ...",
        ) from None


def _of_kind(part: State, rate: State) -> State:
    """The rate, if it is a tensor where the part is one; one value would be added to all components."""
    if isinstance(part, Tensor):
        rate = as_tensor(rate)
        if not isinstance(rate, Tensor):
            raise TraceError(
                f"the rate of {part.kind} is one value",
                advice="Return a rate for each component: compose(lambda a: ...).",
            )
        check_alike(part, rate)
    elif isinstance(rate, Tensor | tuple | list):
        found = rate.kind if isinstance(rate, Tensor) else f"{len(rate)} values"
        raise TraceError(f"the rate of one value is {found}", advice="Return one value.")
    return rate


def _combine(formula: Callable[..., Any], *states: State) -> State:
    """formula(parts of each state), part by part."""
    if not isinstance(states[0], tuple):
        return formula(*states)
    return _rebuilt(states[0], [formula(*parts) for parts in zip(*states, strict=True)])


def _rebuilt(state: State, parts: list[Any]) -> State:
    """A tuple of the state's own kind, named or plain."""
    return state._make(parts) if hasattr(state, "_make") else tuple(parts)
