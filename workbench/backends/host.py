"""Host figures: how fast this machine copies memory and computes; measured once and kept, estimated until then."""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from workbench.backends.build_cache import BuildCache
from workbench.backends.cache_folder import default_cache
from workbench.backends.processor import available_threads, processor_text
from workbench.backends.toolchain import Toolchain, find_toolchain
from workbench.planning.cost import ESTIMATE, HostFigures

_COPY_BYTES = 64 << 20  # a thread; beyond the caches of common processors
_REPEATS = 5
_TURNS = 1_000_000  # of the loop over 64 doubles, a few hundredths of a second
_LANES = 64  # doubles in registers: enough independent chains to hide the latency of an addition

_FLOPS_SOURCE = """
extern "C" double work(long turns) {
    double a[64];
    for (int k = 0; k < 64; ++k) a[k] = 1.0 + k * 0x1p-20;
    for (long i = 0; i < turns; ++i)
        for (int k = 0; k < 64; ++k) a[k] = a[k] * 0.999999 + 1e-6;
    double sum = 0.0;
    for (int k = 0; k < 64; ++k) sum += a[k];
    return sum;
}
"""


def measured_figures(cache: BuildCache | None = None) -> HostFigures | None:
    """What was measured on this processor with this number of threads; None if nothing was."""
    threads = available_threads()
    note = (cache or default_cache()).read_note(_note_name(threads))
    match note:
        case {"bandwidth": float(bandwidth), "flops": float(flops)} if bandwidth > 0 and flops > 0:
            return HostFigures(bandwidth, flops, f"measured here with {_threads_text(threads)}")
        case _:
            return None


def host_figures(cache: BuildCache | None = None) -> HostFigures:
    """What was measured here, or an estimate whose label says so."""
    return measured_figures(cache) or ESTIMATE


def figures_text(figures: HostFigures) -> str:
    """One line for cards and `doctor`. Bandwidth counts bytes read and written, operations are those of f64.

    The bandwidth is that of memory; arrays that fit into the caches move faster.
    """
    return f"memory {figures.bandwidth / 1e9:.3g} GB/s, peak {figures.flops / 1e9:.3g} Gflop/s ({figures.label})"


def measure_host(cache: BuildCache | None = None) -> HostFigures:
    """Measure for about two seconds, keep the best of this and earlier times in the cache folder for later cards.

    These are ceilings: what else runs on the machine can only lower what is measured.
    """
    notes = cache or default_cache()
    threads = available_threads()
    toolchain = find_toolchain(cache=notes)
    flops = _compiled_flops(toolchain, threads) if isinstance(toolchain, Toolchain) else _numpy_flops(threads)
    label = f"measured here with {_threads_text(threads)}"
    figures = HostFigures(_copy_bandwidth(threads), flops, label)
    before = measured_figures(notes)
    if before is not None:
        figures = HostFigures(max(before.bandwidth, figures.bandwidth), max(before.flops, figures.flops), label)
    notes.write_note(_note_name(threads), {"bandwidth": figures.bandwidth, "flops": figures.flops})
    return figures


def _threads_text(threads: int) -> str:
    return "1 thread" if threads == 1 else f"{threads} threads"


def _note_name(threads: int) -> str:
    return "host-" + hashlib.sha256(f"1 {threads} {processor_text()}".encode()).hexdigest()[:32]


def _copy_bandwidth(threads: int) -> float:
    """Best of several copies, each thread its own arrays; NumPy copies without the interpreter's lock."""
    pairs = [(np.ones(_COPY_BYTES // 8), np.zeros(_COPY_BYTES // 8)) for _ in range(threads)]
    tasks = [lambda pair=pair: np.copyto(pair[1], pair[0]) for pair in pairs]
    return 2 * _COPY_BYTES * threads / _best_seconds(tasks)


def _compiled_flops(toolchain: Toolchain, threads: int) -> float:
    """A multiplication and an addition for each of 64 doubles in registers, the flags those of kernels."""
    with tempfile.TemporaryDirectory(prefix="stencil-workbench-") as folder:
        source, library = Path(folder, "flops.cpp"), Path(folder, "flops.so")
        source.write_text(_FLOPS_SOURCE, encoding="utf-8")
        command = [*toolchain.command, str(source), *toolchain.flags, "-fvisibility=default", "-o", str(library)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            return _numpy_flops(threads)
        try:
            work = ctypes.CDLL(str(library)).work
        except OSError:  # temporary files may not be executed
            return _numpy_flops(threads)
        work.argtypes, work.restype = [ctypes.c_long], ctypes.c_double
        return 2.0 * _LANES * _TURNS * threads / _best_seconds([lambda: work(_TURNS)] * threads)


def _numpy_flops(threads: int) -> float:
    """The same by NumPy on arrays that stay in the nearest cache: what can be had without a compiler."""
    turns, size = max(1, _TURNS // 500), 1024

    def work() -> None:
        values = np.ones(size)
        for _ in range(turns):
            np.multiply(values, 0.999999, out=values)
            np.add(values, 1e-6, out=values)

    return 2.0 * size * turns * threads / _best_seconds([work] * threads)


def _best_seconds(tasks: Sequence[Callable[[], object]]) -> float:
    """The shortest of several times in which all tasks, one a thread, are done."""
    best = float("inf")
    with ThreadPoolExecutor(len(tasks)) as pool:
        for _ in range(_REPEATS):
            start = time.perf_counter()
            for future in [pool.submit(task) for task in tasks]:
                future.result()
            best = min(best, time.perf_counter() - start)
    return best
