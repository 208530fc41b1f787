"""Wisdom: the fastest choices that studies have found, kept as JSON lines beside the build cache.

`simulate(choices="best")` takes them where program, backend, device, compiler and number of threads are the same and
no extent differs by more than a factor of two. A file that $WORKBENCH_WISDOM names is used instead.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from math import log2
from pathlib import Path
from typing import Any

from workbench._version import __version__
from workbench.amounts import counted
from workbench.backends.cache_folder import default_cache
from workbench.backends.processor import available_threads
from workbench.backends.registry import get_backend, row_of
from workbench.errors import BackendError, BuildError, GenomeError, PlanError, RunError, warn_user
from workbench.graph import Graph
from workbench.pipeline import plan_for
from workbench.planning.choices import Choices, Meaning, ScheduleName, given_choices
from workbench.planning.exchange import from_json, to_json
from workbench.planning.retype import retype
from workbench.planning.simplify import simplify
from workbench.planning.tunables import scheduled
from workbench.run.whole_file import whole_file

FORMAT = 1
VARIABLE = "WORKBENCH_WISDOM"
_NEAR = 1.0  # of the logarithm to base 2 of two extents: what is measured at one size says little of another


class WisdomWarning(UserWarning):
    """What a study had found could not be kept, or cannot be used."""


@dataclass(frozen=True, slots=True)
class Environment:
    """Where a result holds: program key, backend, device, compiler, threads (0 where they do not count)."""

    key: str
    backend: str
    device: str
    compiler: str
    threads: int


@dataclass(frozen=True, slots=True)
class StudyResult:
    """The end of a study: its fastest choices, their cell updates a second, and that over the start's (gain).

    program: its name. evaluations: individuals of the study. told: seconds since 1970. version: of the workbench.
    """

    program: str
    environment: Environment
    extents: tuple[int, ...]
    choices: Choices
    score: float
    gain: float
    evaluations: int
    told: float
    version: str = __version__

    def distance(self, extents: tuple[int, ...]) -> float:
        """The largest logarithm to base 2 between extents along one axis; 0 for the same ones."""
        return max(abs(log2(one / other)) for one, other in zip(self.extents, extents, strict=True))

    def __str__(self) -> str:
        """One line."""
        cells = " x ".join(map(str, self.extents))
        day = time.strftime("%Y-%m-%d", time.localtime(self.told))
        return f"{self.gain:.3g} x the start of a study of {cells} cells on {day} ({self.evaluations} evaluations)"


@dataclass(frozen=True, slots=True)
class WisdomFile:
    """What a file says: its results, how many lines were damaged, and lines that only a later version reads."""

    path: Path
    results: tuple[StudyResult, ...] = ()
    damaged: int = 0
    later: tuple[str, ...] = ()

    def __str__(self) -> str:
        """One line for the command line."""
        told = counted(len(self.results), "result") + " of studies"
        damage = f", {counted(self.damaged, 'damaged line')} left out" if self.damaged else ""
        return f"{self.path}: {told}{damage}" + (f", {len(self.later)} of a later version" if self.later else "")


def wisdom_path() -> Path:
    """The file: $WORKBENCH_WISDOM, else `wisdom.jsonl` in the folder of the build cache."""
    named = os.environ.get(VARIABLE, "")
    return Path(named).expanduser().absolute() if named else default_cache().folder / "wisdom.jsonl"


def environment_of(key: str, backend: str, threads: int = 0) -> Environment:
    """The present environment of a program; threads as in `simulate`. BuildError or BackendError without a compiler."""
    identity = get_backend(backend).identity()
    count = (threads or available_threads()) if row_of(backend).runs_on == "threads" else 0
    return Environment(key, backend, identity.device, identity.compiler, count)


def read_wisdom(path: Path | None = None) -> WisdomFile:
    """All that the file says, nothing if there is none. OSError if it cannot be read."""
    file = path or wisdom_path()
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return WisdomFile(file)
    results, later, damaged = [], [], 0
    for line in filter(str.strip, lines):
        try:
            record = json.loads(line)
            if isinstance(record["format"], int) and record["format"] > FORMAT:
                later.append(line)
            else:
                results.append(_result(record))
        except (ValueError, KeyError, TypeError, PlanError):
            damaged += 1
    return WisdomFile(file, tuple(results), damaged, tuple(later))


def keep(result: StudyResult, path: Path | None = None) -> None:
    """Add a result; of two of one environment and size the faster stays, or the one of the present version.

    Damaged lines are dropped, which a WisdomWarning says. OSError if the file cannot be written.
    """
    import fcntl  # only studies write, and they need it anyway

    file = path or wisdom_path()
    file.parent.mkdir(parents=True, exist_ok=True)
    lock = os.open(f"{file}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kept = read_wisdom(file)
        if kept.damaged:
            _warn(f"{file} had {counted(kept.damaged, 'damaged line')}, which {_was(kept.damaged)} dropped")
        best: dict[tuple[Environment, tuple[int, ...]], StudyResult] = {}
        for one in (*kept.results, result):
            known = best.get((one.environment, one.extents))
            if known is None or one.score > known.score or one.version != known.version:
                best[one.environment, one.extents] = one
        with whole_file(file) as text:
            for line in (*map(_line, best.values()), *kept.later):
                text.write(line.encode() + b"\n")
    finally:
        os.close(lock)


def forget(path: Path | None = None) -> WisdomFile:
    """Remove the file and say what it held."""
    kept = read_wisdom(path)
    kept.path.unlink(missing_ok=True)
    return kept


def recall(environment: Environment, extents: tuple[int, ...], path: Path | None = None) -> StudyResult | None:
    """The result of this environment at the nearest size, the faster of two; None if none is near."""
    try:
        kept = read_wisdom(path)
    except OSError as error:
        _warn(f"{error.filename} cannot be read: {error.strerror}")
        return None
    if kept.damaged:
        _warn(f"{kept.path} has {counted(kept.damaged, 'damaged line')}, which {_was(kept.damaged)} left out")
    near = [one for one in kept.results if one.environment == environment and one.distance(extents) <= _NEAR]
    return min(near, key=lambda one: (one.distance(extents), -one.score), default=None)


@dataclass(frozen=True, slots=True)
class WisdomChooser:
    """Chooses for a simulation what was found before; `own` are the choices where nothing was."""

    own: Choices

    @property
    def meaning(self) -> Meaning:
        """What may change results is never searched."""
        return self.own.meaning

    def __call__(self, graph: Graph, backend: str, extents: tuple[int, ...], threads: int) -> tuple[Choices, str]:
        """The choices, and where they come from."""
        found = found_before(graph, self.own, backend, extents, threads)
        if found is None:
            cells = " x ".join(map(str, extents))
            return self.own, f"the machine's own, because no study of about {cells} cells has ended here"
        return found.choices, str(found)


def choose(own: Choices, choices: Choices | str | None, schedule: ScheduleName | None) -> Choices | WisdomChooser:
    """What `simulate` was told: choices, "best", or a schedule beside those of the machine. RunError, PlanError."""
    if not isinstance(choices, str):
        found = given_choices(own, choices)
        return found if schedule is None else scheduled(found, schedule)
    if choices != "best":
        raise RunError(f"choices={choices!r} is unknown", advice="Use choices='best', or a record of choices.")
    if schedule is not None:
        raise RunError("choices='best' and schedule= are both given", advice="Give one: the best may be of either.")
    return WisdomChooser(own)


def found_before(
    graph: Graph, own: Choices, backend: str, extents: tuple[int, ...], threads: int = 0
) -> StudyResult | None:
    """The result for a program that can be planned by it; `meaning` stays that of `own`. Never an error."""
    try:
        environment = environment_of(simplify(retype(graph, own.meaning)).fingerprint(), backend, threads)
    except (BackendError, BuildError, PlanError):
        return None  # planning and compiling say why
    found = recall(environment, extents)
    if found is None:
        return None
    found = replace(found, choices=replace(found.choices, meaning=own.meaning))
    try:
        plan_for(graph, found.choices, backend)
    except (PlanError, GenomeError) as error:
        _warn(f"the choices that a study of {found.program} found cannot be planned any more: {error.what}")
        return None
    return found


def keep_or_warn(result: StudyResult) -> None:
    """Keep what a study found, with a WisdomWarning where that fails."""
    try:
        keep(result)
    except OSError as error:
        _warn(f"what the study of {result.program} found is not kept: {error.filename}: {error.strerror}")


def _result(record: Mapping[str, Any]) -> StudyResult:
    environment, extents = Environment(**record["place"]), tuple(map(int, record["extents"]))
    score, gain = float(record["score"]), float(record["gain"])
    if (
        not extents
        or min(extents) < 1
        or not score > 0
        or not all(type(t) is str for t in (environment.key, environment.backend))
    ):
        raise ValueError(record)
    choices = from_json(json.dumps(record["choices"]))
    program, evaluations = str(record["program"]), int(record["evaluations"])
    told, version = float(record["told"]), str(record["version"])
    return StudyResult(program, environment, extents, choices, score, gain, evaluations, told, version)


def _line(result: StudyResult) -> str:
    record = {
        "format": FORMAT,
        "program": result.program,
        "place": asdict(result.environment),
        "extents": result.extents,
        "score": result.score,
        "gain": result.gain,
        "evaluations": result.evaluations,
        "told": result.told,
        "version": result.version,
        "choices": json.loads(to_json(result.choices)),
    }
    return json.dumps(record)


def _warn(text: str) -> None:
    warn_user(text, WisdomWarning)


def _was(count: int) -> str:
    return "was" if count == 1 else "were"
