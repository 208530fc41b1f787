"""What somebody with a GPU types first, `make gpu`: the machine, all device tests, times of three equations; one file.

`python -m tests.backends.gpu_report FILE` writes all it says to FILE too, and fails where something did.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from tests.kit.on_device import files
from workbench.backends.base import MarchRequest
from workbench.backends.registry import get_backend
from workbench.errors import StencilError
from workbench.planning.cost import step_cost
from workbench.solvers import heat, hydro, wave

COMMANDS = (
    ("the machine", ["nvidia-smi"]),
    ("the workbench", [sys.executable, "-m", "workbench", "doctor"]),
    ("packages", [sys.executable, "-m", "pip", "list", "--format=freeze"]),
    ("CuPy beside its stand-in", [sys.executable, "-m", "pytest", "-n", "0", "-q", "tests/backends/test_real_cupy.py"]),
    ("tests on the device", [sys.executable, "-m", "pytest", "-n", "0", "-m", "gpu", "-rA", "--durations=10", "tests"]),
    (
        "tests of the simulator on the device",
        [sys.executable, "-m", "pytest", "-n", "4", "--dist", "loadfile", "-q", "--on-device", *map(str, files())],
    ),
)
EQUATIONS = (
    *(("wave", wave, dim) for dim in (2, 3)),
    *(("heat", heat, dim) for dim in (2, 3)),
    *(("hydro", hydro, dim) for dim in (2, 3)),
)
_IN_A_CHECKOUT = "In a checkout `make gpu` installs CuPy; where the driver is one for CUDA 12: make gpu CUDA=cuda12."
_SECONDS, _COPY_BYTES = 0.5, 1 << 30  # of measured steps; of an array that is copied for the bandwidth


def report(path: Path) -> int:
    """Write the report; 0 if all was well. Without a device it says so, and what to do."""
    path.parent.mkdir(parents=True, exist_ok=True)
    failed = []
    with path.open("w", encoding="utf-8") as file:

        def say(text: str) -> None:
            print(text, flush=True)
            print(text, file=file, flush=True)

        state = get_backend("cuda").availability()
        if not state.available:
            say(f"no report: {state.reason}\n{state.advice}\n{_IN_A_CHECKOUT}")
            return 1
        for title, command in COMMANDS:
            say(f"\n== {title}: {' '.join(command)}")
            if _copied(command, say):
                failed.append(title)
        say("\n== times of steps, with the bandwidth of a copy on the device")
        try:
            bandwidth = _bandwidth()
            say(f"copy: {bandwidth / 1e9:.0f} GB/s, bytes read and written")
            for line in times(bandwidth):
                say(line)
        except StencilError as error:
            say(str(error))
            failed.append("times of steps")
        say(f"\nfailed: {', '.join(failed)}" if failed else "\nall was well")
        say(f"Send this file back: {path}")
    return 1 if failed else 0


def times(bandwidth, backend="cuda", equations=EQUATIONS, cells=None, seconds=_SECONDS):
    """A line for each equation: cells per second, share of the bandwidth, and what events say of its launches."""
    for name, kind, dim in equations:
        for dtype in ("f64", "f32"):
            machine = kind.machine(dim, dtype=dtype)
            program = get_backend(backend).compile(machine.plan(backend))
            edge = cells or {2: 4096, 3: 256}[dim]
            instance = program.instantiate((edge,) * dim)
            kernel = program.plan.main.kernel.name
            for static in program.plan.graph.fields:
                instance.write_field(static.name, np.ones((edge,) * dim, static.type.numpy))
            _march(instance, kernel, 20)
            steps = max(20, int(20 * seconds / _march(instance, kernel, 20)))
            each = _march(instance, kernel, steps) / steps
            instance.time_launches(True)
            _march(instance, kernel, steps)
            timed = sum(t.seconds for t in instance.launch_times() if not t.observed)
            instance.close()
            moved = step_cost(program.plan.main.plain).bytes_moved * edge**dim
            rate, share = edge**dim / each / 1e9, 100 * moved / each / bandwidth
            yield (
                f"{name:6}{dim}-D {dtype} {edge}^{dim}: {each * 1e3:9.4f} ms a step, {rate:7.3f} Gcells/s, "
                f"{share:4.0f} % of the copy; launches by events {timed * 1e3:9.4f} ms"
            )


def _march(instance, kernel, steps):
    begin = time.perf_counter()
    instance.march(MarchRequest(kernel, steps, observe_last=False))
    return time.perf_counter() - begin


def _bandwidth():
    import cupy

    first, second = (cupy.empty(_COPY_BYTES, "u1") for _ in range(2))
    best = 0.0
    for _ in range(10):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        second.data.copy_from_device_async(first.data, _COPY_BYTES)
        end.record()
        end.synchronize()
        best = max(best, 2 * _COPY_BYTES / cupy.cuda.get_elapsed_time(begin, end) * 1e3)
    return best


def _copied(command, say):
    """What a command says, line by line; its exit status."""
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except OSError as error:
        say(f"cannot be run: {error}")
        return 1
    for line in process.stdout:
        say(line.rstrip("\n"))
    return process.wait()


if __name__ == "__main__":
    sys.exit(report(Path(sys.argv[1])))
