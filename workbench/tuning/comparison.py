"""Comparison: a candidate's results beside the reference's, and beside those of its program in double-double."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from workbench.amounts import counted, error_text
from workbench.backends.base import Array, Instance, MarchRequest, Number
from workbench.backends.registry import REFERENCE
from workbench.graph import Graph
from workbench.graph.deviation import is_exact
from workbench.graph.diagnostics import REPEATED
from workbench.pipeline import Compiled, compile_graph
from workbench.planning.choices import EVERY, Choices, Meaning
from workbench.planning.retype import retype
from workbench.run.creation import allocate
from workbench.run.initial_values import read_initial_values, set_initial_values
from workbench.run.precision.errors import error_beside_dd
from workbench.run.verification import distance, random_fields
from workbench.tuning.setup import Setup

_CLOSE = {4: 1e-3, 8: 1e-8, 16: 1e-8}  # relative, by bytes of a float, where operators have a bound in ulp only
_EXACTLY = Choices(Meaning(precision=((EVERY, "dd"),)))

State = Mapping[str, Array | Number]


def write_expected(setup: Setup) -> None:
    """Run the reference interpreter on the small grid, and keep the state for `deviation`.

    Under a bound also the program in dd from the study's own start, for `error_of`.
    """
    graph = setup.graph()
    _keep(setup, "expected", _small_state(graph, _start(setup), REFERENCE, setup))
    if setup.bound:
        _keep(setup, "exact", _own_state(graph, _EXACTLY, setup))


def deviation(graph: Graph, choices: Choices, setup: Setup) -> str:
    """What differs from the reference, of the same types, after some steps on the small grid; "" if nothing does."""
    state = _small_state(graph, choices, setup.backend, setup)
    if choices.meaning == _start(setup).meaning or not setup.bound:
        wanted: State = {name: _kept(setup, "expected", name) for name in state}
    else:
        wanted = _small_state(graph, Choices(choices.meaning), REFERENCE, setup)
    typed = retype(graph, choices.meaning)
    exact, narrowest = is_exact(typed), _narrowest(typed)
    for static in (*typed.fields, *typed.scalars):
        expected, found = np.asarray(wanted[static.name]), np.asarray(state[static.name])
        if exact or not static.type.is_float or static.type.is_record:
            same = distance(found, expected, static.type) == 0
        else:
            close = _CLOSE[min(expected.dtype.itemsize, narrowest)]
            same = np.allclose(found, expected, rtol=close, atol=0.0, equal_nan=True)
        if not same:
            where = f"{setup.check_steps} steps on {setup.check_extents} cells"
            return f"{static.name} differs from the reference after {where}"
    return ""


def error_of(graph: Graph, choices: Choices, setup: Setup) -> tuple[float, str]:
    """The largest relative error of a result after the study's first steps, and why that is too much; "" if it is not.

    Relative to the largest magnitude of a result over all cells, as in a precision report. Floats are results.
    """
    state = _own_state(graph, choices, setup)
    errors = {
        static.name: error_beside_dd(state[static.name], _kept(setup, "exact", static.name))
        for static in (*graph.fields, *graph.scalars)
        if static.type.is_float
    }
    name = max(errors, key=lambda name: errors[name])
    if errors[name] <= setup.bound:
        return errors[name], ""
    after = counted(setup.bound_steps, "step")
    found = f"{name} has a relative error of {error_text(errors[name])} after {after}"
    return errors[name], f"{found}, above the bound {error_text(setup.bound)}"


def opened(compiled: Compiled, setup: Setup) -> Instance:
    """An instance with the study's own values and extents."""
    return _instance(compiled, setup.values(), setup.extents, setup)


def _start(setup: Setup) -> Choices:
    return Choices(Meaning(precision=setup.precision))


def _small_state(graph: Graph, choices: Choices, backend: str, setup: Setup) -> State:
    """The state after some steps on the small grid, from random fields and the study's numbers."""
    numbers = {name: value for name, value in setup.values().items() if not isinstance(value, np.ndarray)}
    fields = random_fields(graph, setup.check_extents)
    given = {**{s.name: value for s, value in zip(graph.fields, fields, strict=True)}, **numbers}
    compiled = compile_graph(graph, choices, backend)
    return _after(_instance(compiled, given, setup.check_extents, setup), compiled.graph, setup.check_steps)


def _narrowest(graph: Graph) -> int:
    """Bytes of the narrowest float that is computed: what an operator with a bound makes there goes into wider ones."""
    types = {node.value_type for kernel in graph.kernels for node in kernel.nodes if node.type is not None}
    return min((type_.itemsize for type_ in types if type_.is_float), default=8)


def _own_state(graph: Graph, choices: Choices, setup: Setup) -> State:
    """The state after the first steps of what is timed."""
    compiled = compile_graph(graph, choices, setup.backend)
    return _after(opened(compiled, setup), compiled.graph, setup.bound_steps)


def _instance(compiled: Compiled, values: Mapping[str, object], extents: tuple[int, ...], setup: Setup) -> Instance:
    """An instance at its start. What is given has the types that the cell declares, also where others compute."""
    if setup.bound:
        declared = read_initial_values(setup.graph(), values, extents)
        values = {**declared.fields, **declared.numbers}
    initial = read_initial_values(compiled.graph, values, extents)
    instance = allocate(compiled, initial.extents, setup.threads)
    try:
        set_initial_values(compiled.graph, initial, instance)
    except BaseException:
        instance.close()
        raise
    return instance


def _after(instance: Instance, graph: Graph, steps: int) -> State:
    """The state after so many steps; closes the instance."""
    try:
        instance.march(MarchRequest(REPEATED, steps))
        state: dict[str, Array | Number] = {s.name: instance.read_field(s.name) for s in graph.fields}
        return state | {s.name: instance.read_global(s.name) for s in graph.scalars}
    finally:
        instance.close()


def _keep(setup: Setup, kind: str, state: State) -> None:
    for name, value in state.items():
        np.save(Path(setup.folder) / f"{kind}-{name}.npy", np.asarray(value), allow_pickle=False)


def _kept(setup: Setup, kind: str, name: str) -> Array:
    found: Array = np.load(Path(setup.folder) / f"{kind}-{name}.npy", allow_pickle=False)
    return found
