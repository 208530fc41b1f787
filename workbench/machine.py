"""Machine: a program as an immutable value, to print, compare, plan, verify, simulate and tune."""

from __future__ import annotations

import inspect
import os
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from workbench import pipeline
from workbench.arguments import explains_arguments
from workbench.backends.registry import SHOWN, row_of
from workbench.codegen.source import Source
from workbench.errors import PlanError, RunError, StencilError
from workbench.frontend.captured import warn_of_changed_names
from workbench.graph import Graph
from workbench.graph.display_hook import Bundle, bundle_of
from workbench.pipeline import Traced, plan_for, planned_backend, render, simplify, trace_function
from workbench.planning.annotation import annotated
from workbench.planning.choices import Choices, Meaning, ScheduleName, given_choices
from workbench.planning.genome import choices_of, genome_of
from workbench.planning.plan import Plan
from workbench.planning.precision import with_types
from workbench.planning.transfer import TransferReport, transfer_plan
from workbench.planning.tunables import TUNABLES, Tunable, set_by_name, tunables_of
from workbench.run import alive
from workbench.run.calling import Given, call, check_steps
from workbench.run.convergence import Convergence, Exact, Procedure, Steps
from workbench.run.convergence import converge as converge_graph
from workbench.run.creation import create_simulation, restore_simulation
from workbench.run.exporting import export
from workbench.run.hooks import made_by
from workbench.run.initial_values import need_only
from workbench.run.machine_text import machine_text, refuse_attribute
from workbench.run.precision.measuring import measure as measure_precision
from workbench.run.precision.report import PrecisionReport
from workbench.run.simulation import Simulation as Simulation
from workbench.run.storage import Memory
from workbench.run.verification import Verification
from workbench.run.verification import verify as verify_graph
from workbench.tuning.wisdom import choose
from workbench.views.hooks import install as install_hooks

if TYPE_CHECKING:
    from workbench.tuning.study import Study


@explains_arguments
@dataclass(frozen=True, slots=True, weakref_slot=True)
class Machine:
    """A program on a grid (an Orthotope Machine, Paraiso §2): a graph and the choices by which it is planned.

    Immutable: methods return a changed copy. `text` is the cell. `captured` are the values that the cell took from the
    surrounding `namespace`: `simulate` warns if one has changed since. `backend` is the default of simulations.
    `carried` says which choices `with_choices_of` could transfer.
    """

    graph: Graph
    choices: Choices = field(default_factory=Choices)
    text: str = field(default="", repr=False, compare=False)
    traced: Traced | None = field(default=None, repr=False, compare=False)
    namespace: Mapping[str, object] | None = field(default=None, repr=False, compare=False)
    backend: str = field(default="auto", repr=False)
    carried: TransferReport | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        alive.register_machine(self)

    @property
    def name(self) -> str:
        """The name it was given when traced."""
        return self.graph.name

    def plan(self, backend: str = "auto") -> Plan:
        """The plan: arrays, and loops in their order. Raises PlanError if the choices cannot be met.

        backend: "auto" is the machine's own, or what this host would choose. Plans for others than openmp differ.
        """
        return plan_for(self.graph, self.choices, planned_backend(self.backend if backend == "auto" else backend))

    def source(self, backend: str = SHOWN) -> Source:
        """The generated text ("openmp", "cuda") with the user's names; maps lines to nodes and cell lines."""
        return render(self.plan(backend), backend)

    def view(self, kind: str = "graph", **options: Any) -> Any:  # noqa: ANN401  # every kind has its own
        """A view, live where a page can draw it: "graph" (kernel=), "plan", "source" or "launch" (backend=).

        graph, plan and launch take simulation=, which then runs what is chosen. Raises RunError for an unknown kind.
        """
        from workbench.views.kinds import open_machine_view  # loaded when somebody looks

        return open_machine_view(self, kind, options)

    def inspect(self, simulation: Simulation | None = None, *, field: str = "") -> Any:  # noqa: ANN401  # an Inspector
        """The whole workbench as one widget: graph, code, plan and launches, with one common selection.

        A simulation of this machine is shown beside it, first `field`; it runs what is chosen, and its steps are timed.
        """
        from workbench.views.inspector.inspector import open_inspector  # loaded when somebody looks

        return open_inspector(self, simulation, field=field)

    if not TYPE_CHECKING:  # for mypy there is nothing but what is written here
        __getattr__ = refuse_attribute

    @property
    def hints(self) -> str:
        """The choices as lines to paste at the end of the cell: `manifest(x)`, `delayed(x)`, `sync(x)`.

        Choices for values without a name, and those that no line of a cell can express, are comments.
        """
        from workbench.views.inspection.hints import hint_text  # loaded when somebody asks

        lines = () if self.traced is None else self.traced.lines
        return hint_text(self.plan(), lines, planned_backend(self.backend))

    def with_choices(self, choices: Choices | None = None, **named: Any) -> Machine:  # noqa: ANN401  # each has its own
        """The same program with other choices: a whole record, or the present ones with some of them set by name.

        `with_choices(block=128, grid=0, threads=2)`; `tunables()` lists the names. PlanError for others.
        """
        chosen = given_choices(self.choices, choices)
        if named:
            rows = TUNABLES if set(named) <= {row.name for row in TUNABLES} else tunables_of(self.plan())
            chosen = replace(chosen, plan=set_by_name(chosen.plan, rows, named))
        return replace(self, choices=chosen, carried=None)

    def with_choices_of(self, other: Machine) -> Machine:
        """The same program with the choices of another machine, as far as their values have the same names.

        The other program may have other types, more axes, or a changed cell. A value that only this program has takes
        the choice of most values whose names differ in a number only, or else keeps its preset and hints. Loops keep
        their launch parameters by the values they compute. Choices that change results stay. `carried` and the text of
        the result list what was transferred. Raises PlanError if the choices cannot be met.
        """
        if not isinstance(other, Machine):
            raise PlanError(f"{type(other).__name__} has no choices of a machine", advice="Pass another machine.")
        name = planned_backend(self.backend)
        choices, report = transfer_plan(
            other.plan(name), self.plan(name).graph, self.choices, lambda chosen: plan_for(self.graph, chosen, name)
        )
        return replace(self, choices=choices, carried=report)

    def tunables(self, backend: str = "auto") -> tuple[Tunable, ...]:
        """All choices that have an effect on a backend ("auto": the machine's own): launch parameters, values, loops.

        Each reads and writes its part of a plan's choices, and knows which values are legal and worth trying.
        """
        name = planned_backend(self.backend if backend == "auto" else backend)
        return tunables_of(self.plan(name), row_of(name).runs_on)

    @property
    def genome(self) -> str:
        """The decisions of the plan as letters: the same program with the same genome has the same plan."""
        return genome_of(self.plan())

    def with_genome(self, genome: str) -> Machine:
        """The same program with the choices in a genome. Raises GenomeError if that belongs to another program."""
        return self.with_choices(choices_of(genome, self.plan().graph, self.choices))

    def annotate(self, name: str, allocation: str | None = None, *, sync: str | None = None) -> Machine:
        """The same program with the value called `name` "manifest" (stored) or "delayed" (recomputed), in any case.

        sync: "before", "after" or "both" puts a barrier at the sub-kernels that compute or read the value, "none"
        removes it; without allocation the storage stays. Raises PlanError if there is no such value, or no free choice.
        """
        plan = annotated(self.plan().graph, self.choices.plan, name, allocation, sync)
        machine = self.with_choices(replace(self.choices, plan=plan))
        machine.plan()  # refuses here, where the name is known, and not at the first run
        return machine

    def with_precision(self, every: object = "", /, **types: object) -> Machine:
        """The same program with other float types: `with_precision(ax="dd", u="f32")`, by names of fields and values.

        every: the type of all values that are not named; "" leaves them unchanged. A name also stands for the
        components of a vector, and for targets and sources of a sum over pairs. A value is computed in a wider type,
        and rounded to a narrower one; the machine's text and card list what changed. Results change. Raises PlanError
        for an unknown name or type.
        """
        meaning = with_types(self.graph, self.choices.meaning, every, types)
        return self.with_choices(replace(self.choices, meaning=meaning))

    def simulate(
        self,
        *by_place: object,
        shape: int | tuple[int, ...] | None = None,
        backend: str | None = None,
        choices: Choices | Literal["best"] | None = None,
        threads: int = 0,
        arithmetic: str = "ieee",
        schedule: ScheduleName | None = None,
        memory: Memory = None,
        **values: object,
    ) -> Simulation:
        """Make a simulation: fields as arrays (their shape is the machine's) or numbers, scalars and params as numbers.

        Arrays are copied. A field that is not given must be set by the kernel `init`, which runs first. choices: "best"
        takes what `tune` found on this host at about this size (the simulation's text names the study). schedule: short
        for `choices.plan.tiling.schedule`: "stepwise", "diamond" (several steps in tiles, with the same bits),
        "diamondtorre" (on GPUs) or "auto" (the default: what should be fastest). memory: what arrays may take, "4 GiB"
        or bytes; larger ones lie in files, in the folder for temporary files or that of $WORKBENCH_FIELDS. Raises
        FieldError or ShapeError naming the field, BackendError, and PlanError with the line that prevents a schedule.
        """
        check_steps(self.graph, by_place)
        need_only("arithmetic", arithmetic, "ieee")
        chosen, auto = choose(self.choices, choices, schedule), schedule in (None, "auto")
        warn_of_changed_names(self.name, self.traced, self.namespace)
        simulate = partial(create_simulation, self.graph, chosen, values, shape, memory=memory)
        return made_by(simulate(backend=backend or self.backend, threads=threads, automatic=auto), self._at_work)

    def __call__(
        self,
        *by_place: object,
        targets: Mapping[str, object] | None = None,
        sources: Mapping[str, object] | None = None,
        backend: str | None = None,
        threads: int = 0,
        choices: Choices | None = None,
        device: bool = False,
        **values: object,
    ) -> dict[str, Any]:
        """Run a machine of pairs once and return its totals by name, as NumPy arrays.

        `gravity(x=x, m=m, e2=1e-4)` where targets and sources are one set: a name that both declare is given once, and
        a number stands for an array of it. `gravity(targets={"x": xi}, sources={"x": xj, "m": m}, k=0.7)` for two sets.
        Params keep their defaults. device=True returns arrays where the backend has them, on a GPU CuPy's, which a call
        takes too. Raises FieldError and ShapeError naming the array, RunError for a machine that runs in steps.
        """
        warn_of_changed_names(self.name, self.traced, self.namespace)
        given, request = Given(values, targets, sources, by_place), (backend or self.backend, threads, device)
        return call(self.graph, given_choices(self.choices, choices), given, *request)

    def export(self, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
        """Write a machine of arrays or pairs as a C library: header, source file and Makefile. Returns their paths."""
        return export(self.graph, self.choices, folder)

    def restore(
        self, path: str | os.PathLike[str], *, backend: str | None = None, threads: int = 0, memory: Memory = None
    ) -> Simulation:
        """Continue a simulation from a file of `Simulation.save`, with the same bits as without the interruption.

        On another backend that holds for programs of exact operators (semantics §3). The program may differ in its
        formulas, which an OtherProgramWarning says, but not in its fields, scalars and params.
        """
        check_steps(self.graph)
        restored = partial(restore_simulation, self.graph, self.choices, path, memory=memory)
        return made_by(restored(backend=backend or self.backend, threads=threads), self._at_work)

    def _at_work(self, choices: Choices, backend: str) -> Machine:
        """The machine that a simulation runs now."""
        return replace(self, choices=choices, backend=backend)

    def tune(  # noqa: PLR0913  # keywords only; each has a default
        self,
        shape: int | tuple[int, ...] | None = None,
        *,
        budget: int | str = "10 min",
        backend: str | None = None,
        strategy: str = "portfolio",
        seed: int = 0,
        path: str | os.PathLike[str] | None = None,
        start: Sequence[Choices | Machine] = (),
        only: Sequence[str] | None = None,
        fixed: Sequence[str] = (),
        threads: int = 0,
        workers: int = 1,
        tree: str | None = None,
        bound: float | None = None,
        steps: int = 10,
        births: Mapping[str, float] | None = None,
        **values: object,
    ) -> Study:
        """Search for faster choices in the background; returns the study at once.

        Every candidate is built, compared with the reference and timed in a process of its own; a crash, a hang or a
        wrong result does not end the study. shape and values: as in `simulate`. budget: a number of evaluations, or a
        text such as "90 s". strategy: "portfolio" (several), "sweep", "independence", "paraiso" (births: its mix,
        such as {"mutation": 3, "crossover": 7}), "surrogate", "random" or "exhaustive". path: the study's file, which a
        later call continues; else in the user's data folder. start: choices or machines to begin with. only, fixed:
        names of `tunables()`, or "cpu", "device", "storage", "barriers", "loops", "tiling", "build", "layout".
        workers: candidates built at a time. tree: what depends on each other, as "{{threads, tile}, {storage}}", or
        "derived" from the plan. bound: also tune float types ("precision"); results of `steps` steps then differ from
        dd's by at most this, relative to their largest magnitude. Raises TuningError, and errors of `simulate`.
        """
        from workbench.tuning.study import begin_prepared
        from workbench.tuning.tune import TuningRequest, prepare_study

        on, rest = backend or self.backend, (threads, workers, tree, bound, steps, births)
        how = TuningRequest(budget, on, strategy, seed, path, start, only, fixed, *rest)
        return begin_prepared(prepare_study(self.graph, self.choices, values, shape, how))

    def verify(self, *, shape: int | tuple[int, ...] | None = None, steps: int = 10, **values: object) -> Verification:
        """Run the same initial state on every available backend; compare with the reference after 1 and `steps` steps.

        The result has `passed`: values of exact operators have equal bits, and direct results of functions such as sin
        lie within their bound; what is made of those is not judged. Fields not given are random, on a small domain.
        """
        check_steps(self.graph)
        return verify_graph(self.graph, self.choices, values, shape, steps)

    def precision_report(
        self, *, shape: int | tuple[int, ...] | None = None, steps: int = 1, bound: float = 1e-12, **values: object
    ) -> PrecisionReport:
        """The rounding error of every named value, where precision is lost first, and which types would meet a bound.

        Runs the arguments (of `simulate`, or a call) in the machine's types, in dd and in 265 bits, on the reference.
        Errors are relative to a value's largest exact magnitude. bound: the largest error allowed for any result.
        Raises FieldError, ShapeError, and RunError for a shape that takes too long.
        """
        return measure_precision(self.graph, self.choices, values, shape, steps, bound)

    def converge(
        self,
        exact: Exact,
        sizes: Sequence[int] = (32, 64, 128, 256),
        *,
        until: float | None = None,
        steps: Steps | None = None,
        shape: Callable[[int], object] | None = None,
        norm: str = "l1",
        declared: float | None = None,
        backend: str | None = None,
        **values: object,
    ) -> Convergence:
        """Measure the order of accuracy: errors against an exact solution on growing grids, and the order between them.

        exact(extents, time) returns a dict of fields (vectors: components first), or the array of the only field, at
        `time` after the start; exact(extents, 0) is the initial state. time is the scalar "t" or "time", or, without
        such a scalar, the number of steps. Each run ends at a time, or after steps (a number, or a function of the
        size); by default after as many steps as the size, which is the same time if dt grows with dx. shape(size): the
        extents; by default the size along each axis. norm: "l1" and "l2" (means over cells) or "max". declared: the
        expected order. Further keywords are params and fields. Raises RunError, FieldError, ShapeError.
        """
        check_steps(self.graph)
        procedure = Procedure(until, steps, shape, norm, declared, backend or self.backend)
        return converge_graph(self.graph, self.choices, exact, sizes, procedure, values)

    def __str__(self) -> str:
        """The program in a few lines, for a terminal."""
        return machine_text(self.graph, self.choices, self.traced.captured if self.traced else (), self.carried)

    def __repr__(self) -> str:
        return str(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Bundle:
        """Its graph, drawn, with the text form beside it."""
        return bundle_of(self)


def trace(
    text: str,
    dim: int | None = None,
    *,
    name: str = "machine",
    dtype: object = "f64",
    boundary: object = None,
    first_line: int = 1,
    namespace: Mapping[str, object] | None = None,
) -> Machine:
    """A machine from the text of a cell, without its line %%stencil.

    dim: number of axes; None: as many as the offsets in the text have, else 1. dtype: the machine's float type.
    boundary: the rule of fields without one of their own. namespace: values that the cell may use by name. Raises
    TraceError naming the line.
    """
    traced = pipeline.trace(
        text, name=name, dim=dim, first_line=first_line, namespace=namespace, dtype=dtype, boundary=boundary
    )
    return make_machine(traced, text, namespace)


def stencil(
    dim: int | None = None, *, name: str | None = None, dtype: object = "f64", boundary: object = None
) -> Callable[[Callable[[], object]], Machine]:
    """A decorator that makes a machine of a function whose body is a cell: `@wb.stencil(dim=2)`."""

    def decorate(function: Callable[[], object]) -> Machine:
        traced = trace_function(function, dim, name=name, dtype=dtype, boundary=boundary)
        closure = inspect.getclosurevars(function).nonlocals
        return make_machine(traced, "", ChainMap(dict(closure), getattr(function, "__globals__", {})))

    if callable(dim):
        raise RunError("stencil needs parentheses", advice="Write @wb.stencil(dim=1) above the function.")
    return decorate


def make_machine(traced: Traced, text: str, namespace: Mapping[str, object] | None = None) -> Machine:
    """A machine of what was traced, simplified."""
    try:
        graph = simplify(traced.graph)
    except StencilError as error:
        raise error.belonging(traced.graph.origin)  # noqa: B904  # the same error
    return Machine(graph, Choices(Meaning(precision=traced.precision)), text, traced, namespace)


install_hooks()
