"""General study: a general tuning that runs in the background, can be paused, and is looked at while it runs."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Literal, Self

from workbench.amounts import counted
from workbench.errors import TuningError
from workbench.graph.shown import Bundle, bundle_of
from workbench.tuning.configuration import Configuration
from workbench.tuning.general import Trial, Tuned, Tuner
from workbench.tuning.independence import Optimum, Valuation
from workbench.tuning.log import Log, read_log

State = Literal["running", "paused", "done", "stopped", "failed"]


class GeneralStudy:
    """A tuning of any program by its configuration. Any thread may use it.

    `tests` are all that ran, in order; `optimum` the best that passed, None until there is one. It is the guaranteed
    optimum of the tree once `state` is "done".
    """

    def __init__(self, name: str, configuration: Configuration) -> None:
        """Use `begin_general_study`."""
        self.name = name
        self.configuration = configuration
        self.state: State = "running"
        self.error: BaseException | None = None
        self._tests: list[Trial] = []
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._go = threading.Event()
        self._go.set()
        self._thread: threading.Thread | None = None
        self._tuner: Tuner | None = None
        self._listeners: list[Callable[[GeneralStudy], None]] = []

    @property
    def tests(self) -> tuple[Trial, ...]:
        """All that ran, in the order of their numbers, with those of the log that it goes on with."""
        with self._changed:
            return tuple(self._tests)

    @property
    def optimum(self) -> Optimum | None:
        """The best valuation and its score."""
        passed = [Optimum(test.valuation, test.overall) for test in self.tests if test.overall is not None]
        best = min if self.configuration.goal == "min" else max
        return best(passed, key=lambda one: one.score, default=None)

    @property
    def tuned(self) -> Tuned:
        """What is known now, as the command line has it at its end."""
        setting = self.configuration
        combinations = math.prod(len(setting.values[name]) for name in setting.tree.flatten())
        return Tuned(setting, self.tests, self.optimum, combinations)

    @property
    def running(self) -> bool:
        """Whether it still tests."""
        return self._thread is not None and self._thread.is_alive()

    def listen(self, listener: Callable[[GeneralStudy], None]) -> None:
        """Call `listener` after each test and each change of state, in the study's thread."""
        self._listeners.append(listener)

    def pause(self) -> Self:
        """Test nothing more after the tests that are under way, until `resume`."""
        self._go.clear()
        if self.running:
            self._set("paused")
        return self

    def resume(self) -> Self:
        """Go on after `pause`."""
        self._go.set()
        if self.running:
            self._set("running")
        return self

    def stop(self) -> Self:
        """End now. The test that is under way is broken off and counts nothing; the others stay, in the log too."""
        self._stop.set()
        self._go.set()
        if self._tuner is not None:
            self._tuner.end_commands()
        return self

    def wait(self, timeout: float | None = None) -> Self:
        """Wait for the end, or `timeout` seconds. An interrupt stops the study. Raises what ended it, if it failed."""
        if self._thread is not None:
            try:
                self._thread.join(timeout)
            except KeyboardInterrupt:
                self.stop()
                raise
            if self.error is not None:
                raise self.error
        return self

    def __repr__(self) -> str:
        """One line: state, how many tests, the best score."""
        best = self.optimum
        found = "nothing passed" if best is None else f"best {best.score:.6g}"
        return f"<Tuning {self.name} {self.state}: {counted(len(self.tests), 'test')}, {found}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Bundle:
        """A live view in a notebook, a picture and words elsewhere."""
        return bundle_of(self)

    def _begin(self, known: Mapping[Valuation, Trial], log: Log | None, brute_force: bool) -> None:
        self._tests = list(known.values())
        self._tuner = Tuner(self.configuration, lambda test: self._heard(test, log), brute_force, known)
        thread = threading.Thread(target=self._run, args=(self._tuner, log), name=f"tuning {self.name}", daemon=True)
        self._thread = thread
        thread.start()

    def _run(self, tuner: Tuner, log: Log | None) -> None:
        try:
            with log or nullcontext():
                tuner.run()
            self._set("done")
        except _StoppedError:
            self._set("stopped")
        except BaseException as error:  # `wait` raises it in the thread that asks
            self.error = error
            self._set("failed")

    def _heard(self, test: Trial, log: Log | None) -> None:
        """Keep a test and wait where the study is paused; in the study's thread."""
        if self._stop.is_set():
            raise _StoppedError
        if log is not None:
            log.add(test)
        with self._changed:
            self._tests.append(test)
            self._changed.notify_all()
        self._tell()
        self._go.wait()
        if self._stop.is_set():
            raise _StoppedError

    def _set(self, state: State) -> None:
        with self._changed:
            self.state = state
            self._changed.notify_all()
        self._tell()

    def _tell(self) -> None:
        for listener in tuple(self._listeners):
            listener(self)


class _StoppedError(Exception):
    """The study was stopped; ends the tuner from the inside."""


def begin_general_study(
    name: str, configuration: Configuration, *, resume: bool = False, brute_force: bool = False
) -> GeneralStudy:
    """Begin a tuning in a thread of its own, which writes the configuration's log if it names one.

    resume: do not repeat the tests of that log. TuningError if it is of other variables or cannot be written, or if
    there is none to go on with.
    """
    path = configuration.log
    if resume and path is None:
        raise TuningError("there is no log to go on with", advice="Add log = FILE to [testing], or leave out --resume.")
    known = read_log(path, configuration) if resume and path is not None and path.exists() else {}
    log = None if path is None else Log(path, configuration, append=bool(known))
    study = GeneralStudy(name, configuration)
    study._begin(known, log, brute_force)
    return study
