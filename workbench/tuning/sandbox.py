"""Sandbox: the study's end of a worker process; started when needed, again whenever it is gone."""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from workbench.errors import TuningError
from workbench.tuning.evaluation import Setup
from workbench.tuning.trials import Outcome

_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "", "MKL_NUM_THREADS": "1"}
"""NumPy's library starts threads at its import, which a process that forks must not have."""


class Sandbox:
    """One worker. Use it in one thread; `close` from any."""

    def __init__(self, setup: Setup, *, memory_bytes: int = 0) -> None:
        """memory_bytes: of address space for a candidate, 0 for no bound."""
        self._setup = setup
        self._memory = memory_bytes
        self._process: subprocess.Popen[bytes] | None = None

    def expect(self) -> None:
        """Let the reference write the state that candidates must reach. TuningError if it fails."""
        outcome = self._ask({"what": "expect", "timeout": 3600.0}, {})
        if outcome is None or outcome.status != "success":
            said = outcome.tail if outcome is not None else "no answer"
            raise TuningError(f"the reference does not run: {said}", advice="Run the machine with backend='reference'.")

    def evaluate(
        self, choices: str, *, samples: int, best: float, timeout: float, known: Mapping[str, int]
    ) -> tuple[Outcome | None, str]:
        """The outcome and the phenotype; None if the phenotype is among the known ones. `best`, `timeout`: seconds."""
        request = {
            "what": "evaluate",
            "choices": choices,
            "samples": samples,
            "best": best if math.isfinite(best) else None,
            "timeout": timeout,
        }
        seen: dict[str, str] = {}
        outcome = self._ask(request, known, seen)
        return outcome, seen.get("phenotype", "")

    def close(self) -> None:
        """End the worker and what it runs."""
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
        self, request: dict[str, Any], known: Mapping[str, int], seen: dict[str, str] | None = None
    ) -> Outcome | None:
        process = self._started()
        assert process.stdout is not None
        self._say(process, json.dumps({**request, "setup": self._setup.to_json(), "memory_bytes": self._memory}))
        while line := process.stdout.readline():
            answer = json.loads(line)
            if "phenotype" in answer:
                if seen is not None:
                    seen["phenotype"] = answer["phenotype"]
                self._say(process, "skip" if answer["phenotype"] in known else "go")
            else:
                found = answer["outcome"]
                return None if found is None else Outcome(**{**found, "samples": tuple(found["samples"])})
        self.close()
        return Outcome("runtime", tail="the worker process ended")

    def _say(self, process: subprocess.Popen[bytes], text: str) -> None:
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the answer tells
            process.stdin.write(text.encode() + b"\n")
            process.stdin.flush()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            inherited = {name: value for name, value in os.environ.items() if name not in _ENVIRONMENT}
            self._process = subprocess.Popen(
                [sys.executable, "-m", "workbench.tuning.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=inherited | {name: value for name, value in _ENVIRONMENT.items() if value},
                start_new_session=True,
            )
        return self._process
