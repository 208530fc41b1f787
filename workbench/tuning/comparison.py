"""Comparison: a candidate's results beside the reference's, and beside those of its program in double-double."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
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
from workbench.planning.plan import Plan
from workbench.planning.retype import retype
from workbench.run.creation import allocate
from workbench.run.initial_values import read_initial_values, set_initial_values
from workbench.run.precision.errors import error_beside_dd
from workbench.run.verification import distance, random_fields
from workbench.tuning.comparison_grid import ComparisonGrid, comparison_grid
from workbench.tuning.setup import Setup

_CLOSE = {4: 1e-3, 8: 1e-8, 16: 1e-8}  # relative, by bytes of a float, where operators have a bound in ulp only
_EXPECTED, _EXACT = "expected", "exact"  # folders of states
_OWN = "own-start"  # a file that says from which values comparisons begin
_NOISE = 0.01  # of the study's own values there
_MOST_KEPT = 4  # states of single steps on larger grids
_EXACTLY = Choices(Meaning(precision=((EVERY, "dd"),)))

State = Mapping[str, Array | Number]


@dataclass(frozen=True, slots=True)
class PreparedComparison:
    """A candidate as built for its grid, and the program in single steps where that was not run there before."""

    grid: ComparisonGrid
    candidate: Compiled
    single: Compiled | None = None


def write_expected(setup: Setup) -> None:
    """Run the reference interpreter on the usual grid, and keep the state for `deviation`.

    Under a bound also the program in dd from the study's own start, for `error_of`.
    """
    graph = setup.graph()
    state = _reference_state(graph, _start(setup).meaning, setup)
    if not _is_finite(state):  # of cells that are no numbers any more, a comparison says nothing
        _folder(setup, _OWN).touch()
        state = _reference_state(graph, _start(setup).meaning, setup)
    _keep(_folder(setup, _EXPECTED), state)
    if setup.bound:
        _keep(_folder(setup, _EXACT), _own_state(graph, _EXACTLY, setup))


def prepared(graph: Graph, plan: Plan, setup: Setup) -> PreparedComparison:
    """Build what the comparison of a plan will run.

    Sizes of tiles are numbers that a program is given, so that a candidate with other ones is compiled already.
    """
    grid = comparison_grid(plan, setup)
    candidate = compile_graph(graph, grid.choices, setup.backend)
    if _is_usual(grid, setup) or _place_of(grid, setup).is_dir():
        return PreparedComparison(grid, candidate)
    return PreparedComparison(grid, candidate, compile_graph(graph, Choices(plan.choices.meaning), setup.backend))


def deviation(graph: Graph, comparison: PreparedComparison, setup: Setup) -> str:
    """What differs from the reference, of the same types, after some steps on the grid; "" if nothing does.

    On a larger grid than the usual one the backend's own single steps stand for the reference, which would take minutes
    there; they are compared with it on the usual grid themselves.
    """
    grid, meaning = comparison.grid, comparison.grid.choices.meaning
    if _is_usual(grid, setup):
        wanted = _expected(graph, meaning, setup)
    else:
        try:
            wanted = _kept(_place_of(grid, setup))
        except FileNotFoundError:
            single = comparison.single or compile_graph(graph, Choices(meaning), setup.backend)
            usual = _usual(setup, single.plan.choices)
            found = _grid_state(graph, single, setup, usual)
            if wrong := _difference(graph, meaning, found, _expected(graph, meaning, setup), usual):
                return f"in single steps {wrong}"
            wanted = _grid_state(graph, single, setup, grid)
            _keep(_place_of(grid, setup), wanted, most=_MOST_KEPT)
    return _difference(graph, meaning, _grid_state(graph, comparison.candidate, setup, grid), wanted, grid)


def described(comparison: PreparedComparison, setup: Setup) -> str:
    """On which cells, over how many steps, in how many tiles a candidate is compared, and from values of which kind."""
    own = _folder(setup, _OWN).exists()
    return f"{comparison.grid}, from the study's own values" if own else str(comparison.grid)


def _expected(graph: Graph, meaning: Meaning, setup: Setup) -> State:
    """The reference's state on the usual grid."""
    if meaning == _start(setup).meaning or not setup.bound:
        return _kept(_folder(setup, _EXPECTED))
    return _reference_state(graph, meaning, setup)


def _reference_state(graph: Graph, meaning: Meaning, setup: Setup) -> State:
    choices = Choices(meaning)
    return _grid_state(graph, compile_graph(graph, choices, REFERENCE), setup, _usual(setup, choices))


def _difference(graph: Graph, meaning: Meaning, state: State, wanted: State, grid: ComparisonGrid) -> str:
    typed = retype(graph, meaning)
    exact, narrowest = is_exact(typed), _narrowest(typed)
    for static in (*typed.fields, *typed.scalars):
        expected, found = np.asarray(wanted[static.name]), np.asarray(state[static.name])
        if exact or not static.type.is_float or static.type.is_record:
            same = distance(found, expected, static.type) == 0
        else:
            close = _CLOSE[min(expected.dtype.itemsize, narrowest)]
            same = np.allclose(found, expected, rtol=close, atol=0.0, equal_nan=True)
        if not same:
            return (
                f"{static.name} differs from the reference after {counted(grid.steps, 'step')} on {grid.extents} cells"
            )
    return ""


def error_of(graph: Graph, choices: Choices, setup: Setup) -> tuple[float, str]:
    """The largest relative error of a result after the study's first steps, and why that is too much; "" if it is not.

    Relative to the largest magnitude of a result over all cells, as in a precision report. Floats are results.
    """
    state, exact = _own_state(graph, choices, setup), _kept(_folder(setup, _EXACT))
    errors = {
        static.name: error_beside_dd(state[static.name], np.asarray(exact[static.name]))
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


def _usual(setup: Setup, choices: Choices) -> ComparisonGrid:
    return ComparisonGrid(setup.check_extents, setup.check_steps, choices)


def _is_usual(grid: ComparisonGrid, setup: Setup) -> bool:
    return (grid.extents, grid.steps) == (setup.check_extents, setup.check_steps)


def _grid_state(graph: Graph, compiled: Compiled, setup: Setup, grid: ComparisonGrid) -> State:
    """The state after the steps of a comparison, from the fields of `_fields` and the study's numbers."""
    numbers = {name: value for name, value in setup.values().items() if not isinstance(value, np.ndarray)}
    fields = _fields(graph, setup, grid.extents)
    given = {**{s.name: value for s, value in zip(graph.fields, fields, strict=True)}, **numbers}
    return _after(_instance(compiled, given, grid.extents, setup), compiled.graph, grid.steps)


def _fields(graph: Graph, setup: Setup, extents: tuple[int, ...]) -> list[Array]:
    """Random values, with which every cell differs; the study's own, each a little changed, where random ones diverge.

    The study's own are repeated where its grid is smaller.
    """
    drawn = random_fields(graph, extents)
    if not _folder(setup, _OWN).exists():
        return drawn
    values = setup.values()
    fields: list[Array] = []
    for static, noise in zip(graph.fields, drawn, strict=True):
        whole = np.asarray(values[static.name])
        own = whole[np.ix_(*(np.arange(cells) % size for cells, size in zip(noise.shape, whole.shape, strict=True)))]
        changed = static.type.is_float and not static.type.is_record
        fields.append((own * (1 + _NOISE * (noise - 1))).astype(own.dtype) if changed else own)
    return fields


def _is_finite(state: State) -> bool:
    values = map(np.asarray, state.values())
    return all(np.isfinite(value).all() for value in values if value.dtype.kind == "f")


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


def _folder(setup: Setup, name: str) -> Path:
    return Path(setup.folder) / name


def _place_of(grid: ComparisonGrid, setup: Setup) -> Path:
    """Where the state of single steps on a grid is kept."""
    types = hashlib.sha256(repr(grid.choices.meaning.precision).encode()).hexdigest()[:16]
    cells = "x".join(map(str, grid.extents))
    return _folder(setup, f"{_EXPECTED}-{cells}-{grid.steps}-{types}")


def _keep(folder: Path, state: State, most: int = 0) -> None:
    """Keep a state whole or not at all, as other workers may do the same; `most`: folders of such names, 0 for all."""
    made = Path(tempfile.mkdtemp(dir=folder.parent))
    for name, value in state.items():
        np.save(made / f"{name}.npy", np.asarray(value), allow_pickle=False)
    with contextlib.suppress(OSError):  # another worker was faster
        made.rename(folder)
    shutil.rmtree(made, ignore_errors=True)
    older = sorted(folder.parent.glob(f"{_EXPECTED}-*"), key=lambda one: one.stat().st_mtime) if most else []
    for one in older[: max(len(older) - most, 0)]:
        shutil.rmtree(one, ignore_errors=True)


def _kept(folder: Path) -> State:
    """A state that was kept. FileNotFoundError if there is none, or if it is being removed."""
    files = sorted(folder.iterdir())
    return {path.stem: np.load(path, allow_pickle=False) for path in files}
