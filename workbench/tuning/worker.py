"""Worker: `python -m workbench.tuning.worker` forks one child for each candidate, so that none can hurt another.

The worker imports once and never starts a thread; only children do. Requests come as JSON lines on standard input;
answers go to standard output: {"phenotype"} from the child, to be answered "go" or "skip", then {"outcome"}, or
{"race"} with samples. A child has a process group, a bound on memory and a time limit; whatever becomes of it, the
worker answers.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
from dataclasses import asdict
from typing import Any, BinaryIO, TextIO

from workbench.backends.base import LibraryUser
from workbench.backends.compile_pool import keep_compilers_in_group
from workbench.backends.registry import get_backend
from workbench.errors import StencilError
from workbench.tuning.comparison import write_expected
from workbench.tuning.evaluation import evaluate, measure_ceilings, race
from workbench.tuning.guard import ProcessGuard, announce
from workbench.tuning.setup import Setup
from workbench.tuning.slot import Builder, is_held_up, let_go_on
from workbench.tuning.trials import Outcome

_PR_SET_PDEATHSIG = 1
_TAIL_BYTES = 4000
_TICK_SECONDS = 0.25
_OF_A_RACE = 0.9  # of its seconds, for the rounds; the rest is for the answer


def main() -> int:
    """Answer requests until standard input ends."""
    _die_with_parent()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a candidate prints is no answer
    with ProcessGuard() as guard:
        while line := sys.stdin.buffer.readline():
            request = json.loads(line)
            _load_library(Setup.from_json(request["setup"]).backend)
            with tempfile.TemporaryFile() as printed:
                outcome = _guarded(request, answers, printed, guard)
            if outcome is not None:
                try:
                    _answer(answers, {"outcome": asdict(outcome)})
                except BrokenPipeError:  # the study's process ends
                    guard.close()
                    os._exit(1)
    return 0


def _load_library(name: str) -> None:
    """Import what each child would import for itself, CuPy in half a second. What is wrong with it a child says."""
    backend = get_backend(name)
    if isinstance(backend, LibraryUser):
        with contextlib.suppress(StencilError):
            backend.load_library()


def _guarded(request: dict[str, Any], answers: TextIO, printed: BinaryIO, guard: ProcessGuard) -> Outcome | None:
    """Fork, wait, and turn any other end than a result into an outcome; None if the child has answered."""
    begin = time.monotonic()
    reader, writer = os.pipe()
    told, worker = guard.handle(), os.getpid()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _child(request, answers, printed, writer, told, worker)
    os.close(writer)
    late, status = _watched(reader, child, request["timeout"], begin + _within(request))
    done = _is_ready(reader, 0.0) and os.read(reader, 1) == b"d"
    os.close(reader)
    if status is None:
        if not done:
            _end_group(child)
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)  # it may not have made its group yet
        _, status = os.waitpid(child, 0)
    _end_group(child)  # what it has left behind
    guard.forget(child)
    if done:
        return None
    seconds = time.monotonic() - begin
    if late:
        limit = f"it ran longer than its limit of {min(request['timeout'], _within(request)):.3g} s"
        return Outcome("timeout", run_seconds=seconds, tail=limit)
    return Outcome("runtime", run_seconds=seconds, tail=f"{_end_text(status)}\n{_tail(printed)}".strip())


def _watched(reader: int, child: int, seconds: float, end: float) -> tuple[bool, int | None]:
    """Wait until the child says or does something: whether it is late, and its status if it has ended.

    Seconds in which another candidate is measured do not count, but for `end` by the monotonic clock. The pipe's end
    alone does not say that the child has ended: what a candidate leaves behind keeps it open.
    """
    while seconds > 0 and (begin := time.monotonic()) < end:
        if _is_ready(reader, min(seconds, end - begin, _TICK_SECONDS)):
            return False, None
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return False, status
        if not is_held_up(child):
            seconds -= time.monotonic() - begin
        let_go_on(child)
    return True, None


def _is_ready(reader: int, seconds: float) -> bool:
    return bool(select.select([reader], [], [], seconds)[0])


def _child(request: dict[str, Any], answers: TextIO, printed: BinaryIO, writer: int, told: int, worker: int) -> None:
    """Never returns. told: where the guard hears of it, which ends its compilers where the worker is killed."""
    try:
        os.setsid()
        announce(told)
        _die_with_parent()
        if os.getppid() != worker:  # it was killed before
            os._exit(1)
        os.dup2(printed.fileno(), 1)
        os.dup2(printed.fileno(), 2)
        if request["memory_bytes"]:
            resource.setrlimit(resource.RLIMIT_AS, (request["memory_bytes"],) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _answer(answers, _work(request, answers))
        os.write(writer, b"d")
        os._exit(0)
    except MemoryError:
        os.write(2, b"MemoryError: the candidate takes more memory than it may")
    except BaseException as error:  # a fault of ours is an outcome too
        os.write(2, f"{type(error).__name__}: {error}".encode())
    finally:
        os._exit(1)


def _work(request: dict[str, Any], answers: TextIO) -> dict[str, Any]:
    """What the request asks for, as a message."""
    setup = Setup.from_json(request["setup"])
    keep_compilers_in_group()
    builder = Builder()
    match request["what"]:
        case "expect":
            write_expected(setup)
            measure_ceilings(setup, builder)
            return {"outcome": asdict(Outcome("success"))}
        case "race":
            seconds = _OF_A_RACE * _within(request)
            memory_bytes = request["memory_bytes"] // 2
            return {"race": race(setup, request["choices"], request["rounds"], seconds, memory_bytes, builder)}
        case _:
            outcome = evaluate(
                setup,
                request["choices"],
                request["samples"],
                request["best"] or float("inf"),
                lambda phenotype: _announced(phenotype, answers),
                builder,
                request["memory_bytes"],
                request["against"],
            )
            return {"outcome": asdict(outcome) if outcome is not None else None}


def _within(request: dict[str, Any]) -> float:
    """Seconds after which a child is ended, whatever it waits for; infinite if there is no such bound."""
    seconds = request.get("within")
    return float("inf") if seconds is None else float(seconds)


def _announced(phenotype: str, answers: TextIO) -> bool:
    _answer(answers, {"phenotype": phenotype})
    return _read_line(0) == b"go"


def _read_line(handle: int) -> bytes:
    """A line, byte by byte, so that nothing of the next request is taken."""
    line = b""
    while (byte := os.read(handle, 1)) not in (b"", b"\n"):
        line += byte
    return line


def _answer(answers: TextIO, message: dict[str, Any]) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


def _die_with_parent() -> None:
    """Linux: this process is killed when its parent ends; elsewhere the pipes' ends tell."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _end_group(child: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)


def _end_text(status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return f"ended by signal {number} ({signal.Signals(number).name})"
    return f"ended with status {os.WEXITSTATUS(status)}"


def _tail(printed: BinaryIO) -> str:
    printed.seek(max(0, printed.seek(0, os.SEEK_END) - _TAIL_BYTES))
    return printed.read().decode(errors="replace").strip()


if __name__ == "__main__":
    sys.exit(main())
