"""Sandbox: the study's end of a worker process; started when needed, again whenever it is gone."""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from workbench.errors import TuningError
from workbench.tuning.setup import Setup
from workbench.tuning.trials import Outcome

_TRIES = 2
"""Workers that may end while they are at one candidate: one may have been killed for what others do."""
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "", "MKL_NUM_THREADS": "1"}
"""NumPy's library starts threads at its import, which a process that forks must not have."""


class Sandbox:
    """One worker. Use it in one thread; `close` from any."""

    def __init__(self, setup: Setup, *, memory_bytes: int = 0) -> None:
        """memory_bytes: of address space for a candidate, 0 for no bound."""
        self._setup = setup
        self._memory = memory_bytes
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def expect(self) -> None:
        """Let the reference write the state that candidates must reach. TuningError if it fails."""
        outcome = self._ask({"what": "expect", "timeout": 3600.0})
        if outcome is None or outcome.status != "success":
            said = outcome.tail if outcome is not None else "no answer"
            raise TuningError(f"the reference does not run: {said}", advice="Run the machine with backend='reference'.")

    def evaluate(
        self,
        choices: str,
        *,
        samples: int,
        against: str,
        best: float,
        timeout: float,
        within: float,
        known: Callable[[str], bool],
    ) -> tuple[Outcome | None, str]:
        """The outcome and the phenotype; None if the phenotype is a known one. `timeout`, `within`: seconds."""
        request = {
            "what": "evaluate",
            "choices": choices,
            "samples": samples,
            "against": against,
            "best": _finite(best),
            "timeout": timeout,
            "within": _finite(within),
        }
        phenotype = ""

        def announced(name: str) -> bool:
            nonlocal phenotype
            if name == phenotype:  # again, by a second worker
                return True
            phenotype = name
            return not known(name)

        return self._ask(request, announced), phenotype

    def race(self, choices: Sequence[str], *, rounds: int, timeout: float, within: float) -> list[tuple[float, ...]]:
        """Samples of each of these choices while they take turns in one process. TuningError if that breaks off."""
        request = {"what": "race", "rounds": rounds, "timeout": timeout, "within": _finite(within)}
        message = self._talk({**request, "choices": list(choices)})
        if "race" not in message:
            raise TuningError(
                f"the race of finalists broke off: {message['outcome']['tail']}", advice="Resume the study."
            )
        return [tuple(samples) for samples in message["race"]]

    def close(self) -> None:
        """End the worker and what it runs."""
        self._closed = True
        self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, signal.SIGKILL)
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()

    def _ask(
        self, request: dict[str, Any], announced: Callable[[str], bool] = lambda phenotype: True
    ) -> Outcome | None:
        found = self._talk(request, announced, tries=_TRIES)["outcome"]
        if found is None:
            return None
        loops = tuple((name, seconds) for name, seconds in found["loops"])
        lists = {name: tuple(found[name]) for name in ("samples", "beside")}
        return Outcome(**{**found, **lists, "loops": loops})

    def _talk(
        self, request: dict[str, Any], announced: Callable[[str], bool] = lambda phenotype: True, tries: int = 1
    ) -> dict[str, Any]:
        """Send a request; the last message of its answer. tries: workers that may end without one."""
        for _ in range(tries):
            if self._closed:
                break
            process = self._started()
            assert process.stdout is not None
            self._say(process, json.dumps({**request, "setup": self._setup.to_json(), "memory_bytes": self._memory}))
            while line := process.stdout.readline():
                message: dict[str, Any] = json.loads(line)
                if "phenotype" not in message:
                    return message
                self._say(process, "go" if announced(message["phenotype"]) else "skip")
            self._end()
        return {"outcome": asdict(Outcome("runtime", tail="the worker process ended"))}

    def _say(self, process: subprocess.Popen[bytes], text: str) -> None:
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the answer tells
            process.stdin.write(text.encode() + b"\n")
            process.stdin.flush()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            inherited = {name: value for name, value in os.environ.items() if name not in _ENVIRONMENT}
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "workbench.tuning.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=inherited | _own_path(inherited) | {name: value for name, value in _ENVIRONMENT.items() if value},
                start_new_session=True,
            )
        return self._process


def _finite(number: float) -> float | None:
    """As JSON has it."""
    return number if math.isfinite(number) else None


def _own_path(environ: Mapping[str, str]) -> dict[str, str]:
    """Lets the worker import this very workbench, whatever lies in the folder where the study was begun."""
    here, known = str(Path(__file__).parents[2]), environ.get("PYTHONPATH", "")
    return {"PYTHONPATH": os.pathsep.join(filter(None, (here, known)))}
