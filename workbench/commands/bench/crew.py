"""Crew: the processes of the contenders, what is asked of them, and how they end."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.amounts import seconds_text
from workbench.commands.bench.contenders import Contender

PATIENCE_SECONDS = 300.0  # for one answer
_WORKER = "workbench.commands.bench.worker"
_LAST_LINES = 3  # of what a process printed, where it ended without an answer
_ENDING_SECONDS = 5.0  # that such a process may still take to end
# Idle threads of other systems must sleep, or they take the processor from the one that is measured.
_THREADS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "HL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_CACHES = ("NUMBA_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "JAX_COMPILATION_CACHE_DIR")


class ContenderError(Exception):
    """A contender could not do what was asked.

    refused: the workbench says that the schedule cannot be; late: it had less time than PATIENCE_SECONDS.
    """

    def __init__(self, words: str, *, refused: bool = False, late: bool = False) -> None:
        super().__init__(words)
        self.refused, self.late = refused, late


@dataclass(frozen=True, slots=True)
class Crew:
    """What all processes of a run share: the problem, the type, threads, a folder that goes away."""

    problem: str
    dtype: str
    threads: int
    folder: Path

    @contextlib.contextmanager
    def process(self, row: Contender, *, cache: Path | None = None) -> Iterator[CrewProcess]:
        """A process of one contender; it ends with the block. cache: a build cache instead of the user's."""
        member = self.start(row, cache=cache)
        try:
            yield member
        finally:
            member.end()

    def start(self, row: Contender, *, cache: Path | None = None) -> CrewProcess:
        """A process of one contender, for the caller to end."""
        return CrewProcess(self, row, cache)

    def environment(self, cache: Path | None) -> dict[str, str]:
        """Equal threads for all, and no compiled code of earlier runs for other systems."""
        numbers = dict.fromkeys(_THREADS, str(self.threads))
        folders = {name: str(self.folder / name.lower()) for name in _CACHES}
        passive = {"OMP_WAIT_POLICY": "passive", "JAX_PLATFORMS": "cpu"}
        ours = {} if cache is None else {"WORKBENCH_CACHE": str(cache)}
        return {**os.environ, **numbers, **folders, **passive, **ours}


class CrewProcess:
    """One process. It does not hear Ctrl-C, so that the run can still ask or end it."""

    def __init__(self, crew: Crew, row: Contender, cache: Path | None) -> None:
        self.row = row
        self.began = time.perf_counter()
        self._errors = tempfile.TemporaryFile(dir=crew.folder)  # noqa: SIM115  # end() closes it
        self._process = subprocess.Popen(
            [sys.executable, "-m", _WORKER, row.name, crew.problem, crew.dtype, str(crew.threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=crew.environment(cache),
            start_new_session=True,
        )

    def ask(self, do: str, *, within: float = PATIENCE_SECONDS, **more: Any) -> dict[str, Any]:  # noqa: ANN401  # of JSON
        """The answer; ContenderError where there is none within so many seconds, PATIENCE_SECONDS at most."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **more}).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise ContenderError(self._last_words()) from None
        seconds = max(0.0, min(within, PATIENCE_SECONDS))
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
        if not ready:
            raise ContenderError(f"no answer within {seconds_text(seconds)}", late=seconds < PATIENCE_SECONDS)
        line = self._process.stdout.readline()
        if not line:
            raise ContenderError(self._last_words())
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError:
            raise ContenderError(f"its process printed {line[:80]!r} in place of an answer") from None
        for word in ("refused", "failed"):
            if word in answer:
                raise ContenderError(answer[word], refused=word == "refused")
        return answer

    def end(self) -> None:
        """Close its input, and kill it and its compilers if it does not end soon; never raises."""
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            self._process.wait(timeout=0.5)
        except subprocess.TimeoutExpired:
            self._kill()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()

    def _kill(self) -> int:
        """The process and its compilers, at once; the status with which it ended."""
        os.killpg(self._process.pid, signal.SIGKILL)  # a session of its own, and not yet waited for
        return self._process.wait()

    def _last_words(self) -> str:
        """How it ended, and the last lines that it printed."""
        try:
            status = self._process.wait(timeout=_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            status = self._kill()
        self._errors.seek(0)
        lines = [line for line in self._errors.read().decode(errors="replace").splitlines() if line.strip()]
        how = f"ended by signal {-status}" if status < 0 else f"ended with status {status}"
        return " | ".join([f"its process {how}", *lines[-_LAST_LINES:]])
