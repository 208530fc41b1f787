"""General: tune any program by shell commands; each test is compiled, run, scored and cleaned up (Spencer 2011)."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Literal, get_args

from workbench.amounts import bytes_text, seconds_text
from workbench.tuning.configuration import Configuration
from workbench.tuning.guard import ANNOUNCED, ProcessGuard
from workbench.tuning.independence import (
    Optimum,
    Valuation,
    allowed,
    as_batches,
    exhaust,
    optimise,
    point_of,
    valuation_of,
)
from workbench.tuning.search import Begun, Search, Threads, drive
from workbench.tuning.strategies.base import BatchStrategy

Status = Literal["success", "compile", "runtime", "timeout", "score"]
STATUSES: tuple[Status, ...] = get_args(Status)
_AGGREGATES: Mapping[str, Callable[[list[float]], float]] = {
    "min": min,
    "max": max,
    "med": statistics.median,
    "avg": statistics.fmean,
}
_READ_BYTES = 1 << 16  # of the end of what a command printed
_LOG_TAIL = 2000  # characters kept of what a failed command printed
_MOST_PRINTED = 1 << 30  # bytes that a command may print; they lie in a file until it ends
_LOOK_SECONDS = 0.25  # between two looks at what a command does
_LATE = "it ran longer than its timeout of"


@dataclass(frozen=True, slots=True)
class Trial:
    """One valuation as tested.

    `number` counts from 1. `scores` has one score a repeat, none if the test failed; `overall` is None then.
    `status`: "success", or what failed: "compile", "runtime" (a return code other than 0, or too much output),
    "timeout", "score" (the last line is no finite number). `tail`: what the failed command printed last, and why it
    was ended. `clean`: the clean-up succeeded.
    """

    number: int
    valuation: Valuation
    scores: tuple[float, ...]
    overall: float | None
    status: Status
    tail: str = ""
    clean: bool = True


@dataclass(frozen=True, slots=True)
class Tuned:
    """All tests in order of their numbers, and the best one; None if all failed. `combinations`: of all values."""

    configuration: Configuration
    tests: tuple[Trial, ...]
    optimum: Optimum | None
    combinations: int

    def optimum_lines(self) -> str:
        """The optimal valuation, a line "A = 2" a variable; empty if all tests failed."""
        if self.optimum is None:
            return ""
        names = self.configuration.tree.flatten()
        return "\n".join(f"{name} = {value}" for name, value in zip(names, self.optimum.valuation, strict=True))


@dataclass(slots=True)
class Tuner:
    """Runs the tests that the tree needs; `heard` is called after each, in the thread of `run`."""

    configuration: Configuration
    heard: Callable[[Trial], None] = lambda test: None
    brute_force: bool = False
    known: Mapping[Valuation, Trial] = field(default_factory=dict)
    _tests: list[Trial] = field(default_factory=list)
    _untold: dict[int, Trial] = field(default_factory=dict)  # done, while one of a smaller number is not
    _next: int = 1
    _running: set[subprocess.Popen[bytes]] = field(default_factory=set)
    _guard: ProcessGuard = field(default_factory=ProcessGuard)  # of commands, where this process is killed
    _ended: bool = False

    def run(self) -> Tuned:
        """Tune until the optimum is known. An interrupt ends running commands with all their children, and is raised.

        Valuations in `known` (of an earlier run) are not tested again; they count among the tests.
        """
        setting = self.configuration
        self._tests, self._untold = list(self.known.values()), {}
        self._next = first = 1 + max((test.number for test in self._tests), default=0)
        lists = tuple(setting.values[name] for name in setting.tree.flatten())
        asking = (exhaust if self.brute_force else optimise)(setting.tree, setting.values, setting.goal)
        asking = allowed(asking, setting.is_legal)
        optima: list[Optimum | None] = []
        known = {point_of(valuation, lists): test.overall for valuation, test in self.known.items()}
        search = Search(BatchStrategy(as_batches(asking, lists, optima.append)), known)

        def tested(begun: Begun) -> Trial:
            return self._test(first - 1 + begun.asked, valuation_of(begun.point, lists))

        places = Threads(tested, setting.parallel)
        try:
            drive(search, places, lambda begun, test: (self._kept(test), ()))
        except BaseException:
            self.end_commands()
            raise
        finally:
            places.close()
            self._guard.close()
        return Tuned(setting, tuple(self._tests), optima[0], math.prod(map(len, lists)))

    def _kept(self, test: Trial) -> float | None:
        """Tell tests in the order of their numbers; the score of this one."""
        self._untold[test.number] = test
        while (told := self._untold.pop(self._next, None)) is not None:
            self._next += 1
            self._tests.append(told)
            self.heard(told)
        return test.overall

    def _test(self, number: int, valuation: Valuation) -> Trial:
        """Compile, run as often as asked, clean up whatever happened."""
        setting = self.configuration
        filled = {
            command: fill(command, number, dict(zip(setting.tree.flatten(), valuation, strict=True)))
            for command in (setting.compiler, setting.test, setting.cleanup)
        }
        scores: list[float] = []
        status: Status = "success"
        tail = ""
        try:
            if setting.compiler:
                compiled = self._shell(filled[setting.compiler])
                if compiled.code != 0:
                    status, tail = "timeout" if compiled.late else "compile", compiled.tail()
            while status == "success" and len(scores) < setting.repeat:
                ran = self._shell(filled[setting.test])
                if ran.code != 0:
                    status, tail = "timeout" if ran.late else "runtime", ran.tail()
                elif setting.scoring == "time":
                    scores.append(ran.seconds)
                elif (score := ran.last_number()) is None:
                    status, tail = "score", f"the last line is no finite number: {ran.last_line() or 'none printed'}"
                else:
                    scores.append(score)
        finally:
            clean = not setting.cleanup or self._shell(filled[setting.cleanup], always=True).code == 0
        if status != "success":
            return Trial(number, valuation, (), None, status, tail, clean)
        return Trial(number, valuation, tuple(scores), _AGGREGATES[setting.overall](scores), status, "", clean)

    def _shell(self, command: str, *, always: bool = False) -> _Ran:
        """Run a command in the folder of the configuration, as the leader of its own process group.

        always: also after `end_commands`.
        """
        with tempfile.TemporaryFile() as output:  # a pipe would wait for what the command leaves behind
            told = self._guard.handle()
            start = time.perf_counter()
            process = subprocess.Popen(  # noqa: S602 -- the user's own commands, as in a Makefile
                ANNOUNCED + command,
                shell=True,
                cwd=self.configuration.folder,
                stdin=told,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._running.add(process)
            if self._ended and not always:
                _end_group(process)
            try:
                with _watched(process, output, self.configuration.timeout) as ended:
                    code = process.wait()  # without a timeout: Python looks only each 50 ms where there is one
                    seconds = time.perf_counter() - start
            finally:
                self._running.discard(process)
                self._guard.forget(process.pid)
            output.seek(max(0, output.seek(0, os.SEEK_END) - _READ_BYTES))
            why = "".join(ended)
            return _Ran(code, seconds, output.read().decode(errors="replace"), why)

    def end_commands(self) -> None:
        """End what runs now and what would still run, with all its children; clean up. Any thread may call it."""
        self._ended = True
        for process in tuple(self._running):
            _end_group(process)


@dataclass(frozen=True, slots=True)
class _Ran:
    """What became of a command: its return code, seconds by the wall clock, what it printed, why it was ended or ""."""

    code: int
    seconds: float
    printed: str
    ended: str

    @property
    def late(self) -> bool:
        return self.ended.startswith(_LATE)

    def tail(self) -> str:
        return f"{self.printed[-_LOG_TAIL:].strip()}\n{self.ended}".strip()

    def last_line(self) -> str:
        """The last one that is not empty."""
        return next((line.strip() for line in reversed(self.printed.split("\n")) if line.strip()), "")

    def last_number(self) -> float | None:
        """The last line that is not empty, if it is a finite number."""
        try:
            number = float(self.last_line())
        except ValueError:
            return None
        return number if math.isfinite(number) else None


def best_of(setting: Configuration, tests: Iterable[Trial]) -> Optimum | None:
    """The best of some tests; None if none of them has passed."""
    passed = [Optimum(test.valuation, test.overall) for test in tests if test.overall is not None]
    return (min if setting.goal == "min" else max)(passed, key=lambda one: one.score, default=None)


def fill(command: str, number: int, values: Mapping[str, str]) -> str:
    """A command with its placeholders filled: %%ID%% is the test's number, %NAME% the value of a variable."""
    text = command.replace("%%ID%%", str(number))
    for name, value in values.items():
        text = text.replace(f"%{name}%", value)
    return text


@contextlib.contextmanager
def _watched(process: subprocess.Popen[bytes], output: IO[bytes], timeout: float | None) -> Iterator[list[str]]:
    """While the caller waits for a command, end it when it is late or prints without end; yields why it was, if so."""
    over = threading.Event()
    ended: list[str] = []
    begin = time.monotonic()

    def watch() -> None:
        left = math.inf if timeout is None else timeout
        while not over.wait(min(left, _LOOK_SECONDS)):
            left = math.inf if timeout is None else timeout - (time.monotonic() - begin)
            if timeout is not None and left <= 0:
                ended.append(f"{_LATE} {seconds_text(timeout)}")
            elif os.fstat(output.fileno()).st_size > _MOST_PRINTED:
                ended.append(f"it printed more than {bytes_text(_MOST_PRINTED)}")
            if ended:
                _end_group(process)
                return

    watcher = threading.Thread(target=watch, name="watch of a command", daemon=True)
    watcher.start()
    try:
        yield ended
    finally:
        over.set()
        watcher.join()


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End a command with everything that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
