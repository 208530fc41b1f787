"""Tune: from a program and a user's values to all that a study begins with."""

from __future__ import annotations

import os
import platform
import reprlib
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import prod
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from workbench._version import __version__
from workbench.backends.processor import available_threads
from workbench.backends.registry import row_of, select_backend
from workbench.backends.teams import check_threads
from workbench.backends.toolchain import X86, Kind, Toolchain, find_toolchain
from workbench.errors import TuningError
from workbench.graph import Graph
from workbench.graph.types import DD
from workbench.planning.choices import Choices, Meaning
from workbench.planning.exchange import from_json
from workbench.planning.precision import without_dd
from workbench.planning.retype import Precision, retype_as
from workbench.planning.schedules.table import schedule_named
from workbench.run.calling import is_called
from workbench.run.goals import integer_of
from workbench.run.initial_values import InitialValues, extents_of, read_initial_values, whole
from workbench.run.memory import bytes_available
from workbench.run.schedules import resolved
from workbench.tuning.budget import read_budget
from workbench.tuning.experiment import ExperimentPlan, PreparedStudy
from workbench.tuning.given_starts import given_starts
from workbench.tuning.machine_space import MachineSpace, machine_space
from workbench.tuning.pool import Pool
from workbench.tuning.setup import Setup, new_folder, write_setup
from workbench.tuning.strategies.paraiso import read_births
from workbench.tuning.strategies.registry import make_strategy
from workbench.tuning.tile_space import is_tiling
from workbench.tuning.wisdom import Environment, StudyResult, environment_of, keep_or_warn

if TYPE_CHECKING:
    from workbench.tuning.study import Study

# No multiples of a vector, more than two blocks and tasks of any candidate; wide tiles have a `comparison_grid`.
_CHECKED = {1: (2051,), 2: (517, 37), 3: (131, 19, 37)}
_CHECKED_SIMULATED = {1: (2053,), 2: (53, 41), 3: (11, 13, 37)}  # a simulated thread takes 1000 times longer
_CHECK_STEPS = 3
_CHECK_STEPS_OF_TILES = 40  # the first runs alone, and so does the last, which is observed
_WITH_TREE = ("independence", "portfolio")
_SAMPLES = 7  # measurements of a candidate
_LEAST_BOUND, _LEAST_BOUND_OF_F64 = 1e-30, 1e-14
TIMEOUT_FLOOR = 60.0  # seconds of one evaluation


@dataclass(frozen=True, slots=True)
class TuningRequest:
    """What a user asks for; the words are those of `machine.tune`."""

    budget: object = "10 min"
    backend: str = "auto"
    strategy: str = "portfolio"
    seed: int = 0
    path: str | os.PathLike[str] | None = None
    start: object = ()
    only: Collection[str] | None = None
    fixed: Collection[str] = ()
    threads: int = 0
    workers: int = 1
    tree: str | None = None
    bound: float | None = None
    steps: int = 10
    births: object = None


def checked_extents(dim: int, backend: str) -> tuple[int, ...]:
    """Cells along each axis of the usual grid on which candidates of a study on this backend are compared."""
    sizes = _CHECKED_SIMULATED if row_of(backend).is_simulator else _CHECKED
    return sizes.get(dim, (5,) * dim)


def prepare_study(
    graph: Graph, choices: Choices, values: Mapping[str, object], shape: object, request: TuningRequest
) -> PreparedStudy:
    """Check everything that can be wrong, and write what workers read; `begin_prepared` begins the study."""
    begun = time.monotonic()
    _check_steps(graph)
    budget = read_budget(request.budget)
    check_threads(request.threads)
    workers, seed = check_workers(request.workers), _check_seed(request.seed)
    for name in ("only", "fixed"):
        _check_names(name, getattr(request, name))
    bound = _check_bound(graph, request.bound, request.steps)
    initial = read_initial_values(graph, values, shape)
    backend = select_backend(request.backend).name
    threads = available_threads()
    checked = graph.space.agreeing(checked_extents(graph.dim, backend))
    longest = max(initial.extents[-1], checked[-1])

    def settle(program: Graph, chosen: Choices) -> Choices:
        """As `simulate` would run them."""
        return resolved(program, chosen, backend, initial.extents, request.threads)[0]

    space = machine_space(
        graph, settle(graph, choices), backend, only=request.only, fixed=request.fixed, most_threads=threads,
        tree=request.tree, longest=longest, compilers=other_compilers(), bound=bound, widest=widest_vectors(),
        extents=initial.extents, threads=request.threads,
    )  # fmt: skip
    start = given_starts(space, graph, request.start, settle)
    births = None if request.births is None else read_births(request.births)
    make_strategy(request.strategy, space.space, start, seed, births)  # refuses what is wrong before it runs
    if request.tree is not None and request.strategy not in _WITH_TREE:
        raise TuningError(
            f"strategy={request.strategy!r} uses no tree", advice=f"Leave out tree=, or use {' or '.join(_WITH_TREE)}."
        )
    within = f"-within-{bound:g}" if bound else ""
    path = Path(request.path) if request.path is not None else default_folder() / f"{space.key}{within}.sqlite"
    folder, remove = new_folder()
    stepwise = not schedule_named(space.base.plan.tiling.schedule).is_blocked and not is_tiling(space.tunables)
    steps = _CHECK_STEPS if stepwise else _CHECK_STEPS_OF_TILES
    own = choices.meaning.precision if bound else ()
    bound_steps = int(request.steps) if bound else 0
    setup = Setup(folder, backend, initial.extents, checked, steps, request.threads, bound, bound_steps, own)
    try:
        fields = {n: whole(a, extents_of(graph, n, initial.extents)) for n, a in initial.fields.items()}
        write_setup(setup, str(space.graph), fields, initial.numbers)
        memory = bytes_available() or 0
        plan = ExperimentPlan(
            space,
            lambda: Pool(setup, workers, samples=_SAMPLES, memory_bytes=memory),
            prod(initial.extents),
            request.strategy,
            budget,
            seed,
            start,
            workers,
            TIMEOUT_FLOOR,
            births,
            begun,
        )
        environment = environment_of(space.key, backend, request.threads)
        keeper = _keeper(graph.name, environment, setup.extents, space.base.meaning)
        return PreparedStudy(path, plan, _about(space, initial, setup, request, environment), setup, keeper, remove)
    except BaseException:
        remove()
        raise


def _check_steps(graph: Graph) -> None:
    """TuningError for a program that runs once: candidates are timed over many steps."""
    if is_called(graph):
        raise TuningError(
            f"{graph.name} has no steps to be timed over: it runs once, when it is called",
            advice="Time calls of its plans: machine.with_choices(tile=64) is called as the machine is.",
        )


def other_compilers(environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Kinds of C++ compilers that work here and are not the one that is taken where no kind is named."""
    first = find_toolchain(environ)
    if not isinstance(first, Toolchain):
        return ()
    kinds = [kind for kind in get_args(Kind) if kind != first.kind]
    return tuple(kind for kind in kinds if isinstance(find_toolchain(environ, kind=kind), Toolchain))


def widest_vectors(environ: Mapping[str, str] = os.environ) -> int:
    """Bits of the widest vectors that the compiler may use here; 0 where it cannot be told how wide they shall be."""
    found = find_toolchain(environ)
    if not isinstance(found, Toolchain) or not X86 & set(found.system.split()):
        return 0
    features = set(found.cpu_features.split())
    return 512 if "avx512f" in features else 256 if "avx" in features else 128


def check_workers(workers: object) -> int:
    """The number. TuningError unless it is a whole one from 1."""
    count = integer_of(workers)
    if count is None or count < 1:
        raise TuningError(
            f"workers={workers!r} is no number of workers", advice="Pass a whole number from 1, at most one a core."
        )
    return count


def _check_seed(seed: object) -> int:
    """The seed. TuningError unless it is a whole number: a search that goes on draws what it has drawn before."""
    number = integer_of(seed)
    if number is None:
        raise TuningError(f"seed={seed!r} is no whole number", advice="Pass one, such as seed=1.")
    return number


def _check_names(argument: str, names: object) -> None:
    """TuningError for a dict, whose values would count nothing."""
    if isinstance(names, Mapping):
        raise TuningError(
            f"{argument}={reprlib.repr(names)} is no list of names, and its values would not count",
            advice="Set values first, then name them: machine.with_choices(tile=64).tune(fixed=['tile']).",
        )


def default_folder() -> Path:
    """Where studies lie unless a path is given: below the user's data folder."""
    import platformdirs  # here, because it takes longer to import than the rest of this module

    return platformdirs.user_data_path("stencil-workbench") / "studies"


def _check_bound(graph: Graph, bound: object, steps: object) -> float:
    """The bound for the error of results, 0 where none is given; TuningError for what is no bound."""
    if (integer_of(steps) or 0) < 1:
        raise TuningError(f"steps={steps!r} is no number of steps", advice="Pass a whole number from 1.")
    if bound is None:
        return 0.0
    if isinstance(bound, bool) or not isinstance(bound, Real) or not _LEAST_BOUND <= float(bound) < 1:
        raise TuningError(
            f"bound={bound!r} is no relative error that dd can tell", advice="Pass a number such as 1e-6."
        )
    inexact = without_dd(retype_as(graph, Precision({}, DD)))
    if inexact and float(bound) < _LEAST_BOUND_OF_F64:
        raise TuningError(
            f"bound={bound:g} is below what can be judged here: in dd, {inexact[0]}",
            advice=f"Pass a bound of at least {_LEAST_BOUND_OF_F64:g}.",
        )
    return float(bound)


def _keeper(
    program: str, environment: Environment, extents: tuple[int, ...], meaning: Meaning
) -> Callable[[Study], None]:
    """Listens to a study, and keeps its best choices that change no result as wisdom when it ends."""

    def listen(study: Study) -> None:
        best = study.best_of(lambda one: from_json(one.choices).meaning == meaning)
        if study.state in ("done", "stopped") and best is not None:
            evaluations = len(study.individuals)
            keep_or_warn(
                StudyResult(
                    program, environment, extents, best.choices, best.score, best.gain, evaluations, time.time()
                )
            )

    return listen


def _about(
    space: MachineSpace, initial: InitialValues, setup: Setup, request: TuningRequest, environment: Environment
) -> dict[str, object]:
    """What the ledger says of the study: all that a later look at it needs, but the arrays."""
    return {
        "program": space.graph.name,
        "key": space.key,
        "bound": setup.bound,
        "bound_steps": setup.bound_steps,
        "backend": setup.backend,
        "device": environment.device,
        "compiler": ", ".join(environment.compiler.splitlines()),
        "extents": setup.extents,
        "version": __version__,
        "host": platform.node(),
        "processor": platform.processor() or platform.machine(),
        "threads": setup.threads or available_threads(),
        "process": os.getpid(),
        "graph": str(space.graph),
        "numbers": dict(initial.numbers),
        "tree": None if space.space.tree is None else str(space.space.tree),
        "asked": {
            "only": None if request.only is None else list(request.only),
            "fixed": list(request.fixed),
            "threads": request.threads,
        },
    }
