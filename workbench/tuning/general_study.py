"""General study: a general tuning that runs in the background, can be paused, and is looked at while it runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Self

from workbench.amounts import counted
from workbench.errors import TuningError
from workbench.graph.display_hook import Bundle, bundle_of
from workbench.tuning.background_run import BackgroundTask, State
from workbench.tuning.configuration import Configuration
from workbench.tuning.general import Trial, Tuned, Tuner, best_of
from workbench.tuning.independence import Optimum, Valuation
from workbench.tuning.log import Log, read_log


class GeneralStudy(BackgroundTask):
    """A tuning of any program by its configuration. Any thread may use it.

    `tests` are all that ran, in order; `optimum` the best that passed, None until there is one. It is the guaranteed
    optimum of the tree once `state` is "done".
    """

    def __init__(self, name: str, configuration: Configuration) -> None:
        """Use `begin_general_study`."""
        super().__init__("running")
        self.name = name
        self.configuration = configuration
        self._tests: list[Trial] = []
        self._tuner: Tuner | None = None

    @property
    def tests(self) -> tuple[Trial, ...]:
        """All that ran, in the order of their numbers, with those of the log that it goes on with."""
        with self._changed:
            return tuple(self._tests)

    @property
    def optimum(self) -> Optimum | None:
        """The best valuation and its score."""
        return best_of(self.configuration, self.tests)

    @property
    def tuned(self) -> Tuned:
        """What is known now, as the command line has it at its end."""
        setting = self.configuration
        combinations = math.prod(len(setting.values[name]) for name in setting.tree.flatten())
        return Tuned(setting, self.tests, self.optimum, combinations)

    def stop(self) -> Self:
        """End now. The test that is under way is broken off and counts nothing; the others stay, in the log too."""
        super().stop()
        if self._tuner is not None:
            self._tuner.end_commands()
        return self

    def __repr__(self) -> str:
        """One line: state, how many tests, the best score, what ended it if it failed."""
        best = self.optimum
        found = "nothing passed" if best is None else f"best {best.score:.6g}"
        if self.failure:
            found += f", {self.failure}"
        return f"<Tuning {self.name} {self.state}: {counted(len(self.tests), 'test')}, {found}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Bundle:
        """A live view in a notebook, a picture and words elsewhere."""
        return bundle_of(self)

    def _begin(self, known: Mapping[Valuation, Trial], log: Log | None, brute_force: bool) -> None:
        self._tests = list(known.values())
        tuner = self._tuner = Tuner(self.configuration, lambda test: self._heard(test, log), brute_force, known)
        self._start(lambda: self._run(tuner, log), f"tuning {self.name}")

    def _run(self, tuner: Tuner, log: Log | None) -> State:
        try:
            with log or nullcontext():
                tuner.run()
        except _StoppedError:
            return "stopped"
        return "done"

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
