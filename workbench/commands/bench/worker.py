"""Worker: one contender in a process of its own, so that threads, memory and crashes of one are not the others'.

Reads a JSON object a line and answers with one: {"do": "open", "shape": [...]}, {"do": "advance", "steps": n},
{"do": "save", "path": ...}, {"do": "close"}. What libraries print goes to stderr.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib import import_module
from typing import Any

import numpy as np

from workbench.backends.base import Array
from workbench.backends.compile_pool import keep_compilers_in_group
from workbench.backends.registry import row_of
from workbench.commands.bench.contenders import Ours, Theirs, contender_named
from workbench.commands.bench.model import model_of
from workbench.commands.bench.peers.arrays import JaxMarch, NumpyMarch, TorchMarch
from workbench.commands.bench.problem import ContenderRun, Problem, Shape
from workbench.commands.bench.problems import problem_named
from workbench.commands.bench.processors import processors_of
from workbench.errors import PlanError
from workbench.graph.types import storage_type
from workbench.planning.cost import step_cost
from workbench.planning.plan import Plan
from workbench.run.progress import silent

_PEERS = "workbench.commands.bench.peers"


class OurMarch:
    """A simulation, made and run as users do."""

    def __init__(self, problem: Problem, runs: Ours, dtype: str, arrays: tuple[Array, ...], threads: int) -> None:
        machine = problem.machine(dtype)
        self._names = [static.name for static in machine.graph.fields]
        values: dict[str, Any] = dict(zip(self._names, arrays, strict=True))
        self._simulation = machine.simulate(backend=runs.backend, threads=threads, schedule=runs.schedule, **values)
        on_host = row_of(runs.backend).runs_on == "threads"  # of which the model knows the caches
        plan = self._simulation.compiled.plan
        self.figures = {"schedule": plan.schedule, **_figures(plan, arrays[0].shape, threads, on_host=on_host)}

    def advance(self, steps: int) -> None:
        """Run, without a line of progress."""
        self._simulation.run(steps, progress=silent)

    def fields(self) -> tuple[Array, ...]:
        """Copies of the fields."""
        return tuple(np.asarray(self._simulation[name]) for name in self._names)

    def close(self) -> None:
        """Free the memory."""
        self._simulation.close()


def _figures(plan: Plan, shape: Shape, threads: int, *, on_host: bool) -> dict[str, Any]:
    """Bytes and operations of an update, by the plan; of tiles, the bytes that they leave to be moved.

    On the host with what its model needs beside them.
    """
    cost = step_cost(plan.main.plain)
    if not on_host:
        return {"bytes": cost.bytes_moved, "operations": cost.flops}
    model = model_of(plan, shape, threads)
    moved = model.needs.memory if model.needs.shape == "tile" else cost.bytes_moved
    return {"bytes": moved, "operations": cost.flops, "model": asdict(model)}


def build(problem: Problem, name: str, dtype: str, arrays: tuple[Array, ...], threads: int) -> ContenderRun:
    """A contender's run from these fields; raises whatever its library raises, PlanError where a schedule cannot be."""
    runs = contender_named(name).runs
    if isinstance(runs, Ours):
        return OurMarch(problem, runs, dtype, arrays, threads)
    return _maker(problem, name, runs)(problem, arrays[0].shape, dtype, arrays)


def _maker(problem: Problem, name: str, runs: Theirs) -> Callable[..., ContenderRun]:
    match runs.form:
        case "numpy":
            return NumpyMarch
        case "jax":
            return JaxMarch
        case "torch":
            return TorchMarch
        case "kernels":
            module, _, function = dict(problem.kernels)[name].partition(":")
            made: Callable[..., ContenderRun] = getattr(import_module(f"{_PEERS}.{module}"), function)
            return made


class Worker:
    """The run that is open, and the answers about it."""

    def __init__(self, problem: Problem, name: str, dtype: str, threads: int) -> None:
        self._problem, self._name, self._dtype, self._threads = problem, name, dtype, threads
        self._march: ContenderRun | None = None

    def answer(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Do what was asked; seconds are those of the clock."""
        match asked["do"]:
            case "open":
                return self._open(tuple(asked["shape"]))
            case "advance":
                assert self._march is not None
                begin = time.perf_counter()
                self._march.advance(asked["steps"])
                return {"seconds": time.perf_counter() - begin}
            case "save":
                assert self._march is not None
                with open(asked["path"], "wb") as file:
                    for field in self._march.fields():
                        file.write(np.ascontiguousarray(field).data)
                return {}
            case "close":
                if self._march is not None:
                    self._march.close()
                self._march = None
                return {}
            case other:
                raise ValueError(other)

    def _open(self, shape: Shape) -> dict[str, Any]:
        """Compile, allocate, do one step. The start's values, alike for all, are not counted."""
        kind = storage_type(self._dtype).numpy
        before = time.perf_counter()
        arrays = tuple(np.ascontiguousarray(array, kind) for array in self._problem.start(shape))
        begin = time.perf_counter()
        self._march = build(self._problem, self._name, self._dtype, arrays, self._threads)
        self._march.advance(1)
        seconds = time.perf_counter() - begin
        start = {"seconds": seconds, "start_seconds": begin - before}
        return {**start, **(self._march.figures if isinstance(self._march, OurMarch) else {})}


def main(arguments: list[str]) -> None:
    """Answer until there is nothing more to read. arguments: contender, problem, dtype, threads."""
    name, problem, dtype, threads = arguments
    keep_compilers_in_group()  # which is killed whole where there is no time left
    with processors_of(int(threads)):
        _answer_all(name, problem, dtype, int(threads))


def _answer_all(name: str, problem: str, dtype: str, threads: int) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    worker = Worker(problem_named(problem), name, dtype, threads)
    for line in sys.stdin:
        try:
            answer = worker.answer(json.loads(line))
        except PlanError as error:
            answer = {"refused": str(error)}
        except Exception as error:  # whatever a library raises is that contender's result
            answer = {"failed": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
