"""Host figures: how fast this machine moves data and computes; measured once and kept, estimated until then.

They are shown beside what was measured, and change no plan.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from workbench.backends.build_cache import BuildCache
from workbench.backends.cache_folder import default_cache
from workbench.backends.processor import available_threads, processor_text
from workbench.backends.toolchain import Toolchain, find_toolchain
from workbench.planning.cost import ESTIMATE, CacheLevel, HostFigures

_COPY_BYTES = 64 << 20  # a thread; beyond the caches of common processors
_REPEATS = 5
_PATIENCE_SECONDS = 0.15  # of one kind of measurement
_ALL_SECONDS = 1.5  # after which nothing is repeated, and caches are left out: with the compiler two at most
_TURNS = 250_000  # of the loop over 64 doubles, about a hundredth of a second
_LANES = 64  # doubles in registers: enough independent chains to hide the latency of an addition

_LEVEL_BYTES = (16 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20)  # a thread, in two arrays
_MOVED_BYTES = 16 << 20  # in one measurement of a level, a thread

_SOURCE = """
extern "C" double work(long turns) {
    double a[64];
    for (int k = 0; k < 64; ++k) a[k] = 1.0 + k * 0x1p-20;
    for (long i = 0; i < turns; ++i)
        for (int k = 0; k < 64; ++k) a[k] = a[k] * 0.999999 + 1e-6;
    double sum = 0.0;
    for (int k = 0; k < 64; ++k) sum += a[k];
    return sum;
}

// A sum, so that no compiler makes a copy of it that passes the caches by.
extern "C" void move(double *__restrict to, const double *__restrict from, long count, long turns) {
    for (long i = 0; i < turns; ++i) {
        for (long k = 0; k < count; ++k) to[k] = from[k] + 1.0;
        __asm__ volatile("" : : "r"(to) : "memory");
    }
}
"""


BUSY = ", while other work ran"
"""Ends the label of figures that may be too low."""
_IDLE_SHARE = 0.25  # of the processors that other work may keep busy


def measured_figures(cache: BuildCache | None = None) -> HostFigures | None:
    """What was measured on this processor with this number of threads; None if nothing was."""
    threads = available_threads()
    note = (cache or default_cache()).read_note(_note_name(threads))
    match note:
        case {"bandwidth": float(bandwidth), "flops": float(flops), "levels": list(rows), **further} if (
            bandwidth > 0 and flops > 0
        ):
            levels = _read_levels(rows)
            if levels is None:
                return None
            busy = BUSY if further.get("busy") is True else ""
            return HostFigures(bandwidth, flops, f"measured here with {_threads_text(threads)}{busy}", levels)
        case _:
            return None


def host_figures(cache: BuildCache | None = None) -> HostFigures:
    """What was measured here, or an estimate whose label says so."""
    return measured_figures(cache) or ESTIMATE


def ensure_figures(cache: BuildCache | None = None) -> HostFigures:
    """What was measured here; measured now, in at most two seconds, if nothing was, or only while others worked.

    For programs that are about to time something, before they do, and never while a simulation runs.
    """
    figures = measured_figures(cache)
    return measure_host(cache) if figures is None or figures.label.endswith(BUSY) else figures


def levels_text(figures: HostFigures) -> str:
    """What caches move, "" where nobody has measured it."""
    return ", ".join(f"{level.bandwidth / 1e9:.3g} GB/s for {level.size / 1e6:.3g} MB" for level in figures.levels[:-1])


def note_rate(size: int, rate: float, cache: BuildCache | None = None) -> HostFigures:
    """Say that arrays of `size` bytes were moved at `rate` bytes a second: a ceiling that is lower is raised to that.

    Returns the figures of now; estimates stay as they are.
    """
    figures = measured_figures(cache)
    if figures is None:
        return ESTIMATE
    if rate <= figures.bandwidth_of(size):
        return figures
    rows = {level.size: level.bandwidth for level in figures.levels}
    rows[min(1 << (size.bit_length() - 1), max(rows))] = rate  # of few sizes, however many are measured
    levels = _ordered(rows)
    figures = HostFigures(levels[-1].bandwidth, figures.flops, figures.label, levels)
    _keep(figures, cache or default_cache())
    return figures


def share_text(rate: float, ceiling: float) -> str:
    """A rate in bytes a second beside what was measured here for arrays of this size."""
    return f"{rate / 1e9:.3g} GB/s, {min(100.0, 100 * rate / ceiling):.0f} % of the measured bandwidth"


def figures_text(figures: HostFigures) -> str:
    """One line for cards and `doctor`. Bandwidth counts bytes read and written, operations are those of f64.

    The bandwidth is that of memory; arrays that fit into the caches move faster.
    """
    return f"memory {figures.bandwidth / 1e9:.3g} GB/s, peak {figures.flops / 1e9:.3g} Gflop/s ({figures.label})"


def measure_host(cache: BuildCache | None = None) -> HostFigures:
    """Measure for about two seconds, keep the best of this and earlier times in the cache folder for later cards.

    These are ceilings: what else runs on the machine can only lower what is measured. Where other work takes more
    than a quarter of the processors the label says so, until they are measured on an idle machine.
    """
    notes = cache or default_cache()
    threads = available_threads()
    busy = _load() > _IDLE_SHARE * threads
    toolchain = find_toolchain(cache=notes)
    end = time.perf_counter() + _ALL_SECONDS
    memory = CacheLevel(2 * _COPY_BYTES * threads, _copy_bandwidth(threads, end))
    compiled = _compiled(toolchain, threads, end) if isinstance(toolchain, Toolchain) else None
    flops, levels = compiled or (_numpy_flops(threads, end), ())
    rows = {level.size: level.bandwidth for level in (*levels, memory)}
    before = measured_figures(notes)
    if before is not None:
        busy = busy and before.label.endswith(BUSY)
        flops = max(flops, before.flops)
        for level in before.levels:
            rows[level.size] = max(rows.get(level.size, 0.0), level.bandwidth)
    ordered = _ordered(rows)
    label = f"measured here with {_threads_text(threads)}{BUSY if busy else ''}"
    figures = HostFigures(ordered[-1].bandwidth, flops, label, ordered)
    _keep(figures, notes)
    return figures


def _load() -> float:
    """Processes that want to run, on average over the last minute; 0 where the system does not tell."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return 0.0


def _ordered(rows: Mapping[int, float]) -> tuple[CacheLevel, ...]:
    """Levels of bytes -> bytes a second; less data is never moved more slowly."""
    ordered: list[CacheLevel] = []
    for size in sorted(rows, reverse=True):
        ordered.append(CacheLevel(size, max(rows[size], ordered[-1].bandwidth if ordered else 0.0)))
    return tuple(reversed(ordered))


def _keep(figures: HostFigures, cache: BuildCache) -> None:
    levels = [[level.size, level.bandwidth] for level in figures.levels]
    busy = figures.label.endswith(BUSY)
    note = {"bandwidth": figures.bandwidth, "flops": figures.flops, "levels": levels, "busy": busy}
    cache.write_note(_note_name(available_threads()), note)


def _read_levels(rows: list[object]) -> tuple[CacheLevel, ...] | None:
    """Of a note; None if it is damaged."""
    levels = []
    for row in rows:
        match row:
            case [int(size), float(bandwidth)] if size > 0 and bandwidth > 0:
                levels.append(CacheLevel(size, bandwidth))
            case _:
                return None
    return tuple(levels) or None


def _threads_text(threads: int) -> str:
    return "1 thread" if threads == 1 else f"{threads} threads"


def _note_name(threads: int) -> str:
    return "host-" + hashlib.sha256(f"3 {threads} {processor_text()}".encode()).hexdigest()[:32]


def copy_tasks(threads: int) -> tuple[list[Callable[[], object]], int]:
    """Copies of arrays beyond the caches, one for each thread to do, and the bytes that all of them read and write.

    NumPy copies without the interpreter's lock.
    """
    pairs = [(np.ones(_COPY_BYTES // 8), np.ones(_COPY_BYTES // 8)) for _ in range(threads)]
    tasks: list[Callable[[], object]] = [partial(np.copyto, to, origin) for to, origin in pairs]
    return tasks, 2 * _COPY_BYTES * threads


def _copy_bandwidth(threads: int, end: float) -> float:
    """Best of several copies."""
    tasks, moved = copy_tasks(threads)
    return moved / _best_seconds(tasks, end)


def _compiled(toolchain: Toolchain, threads: int, end: float) -> tuple[float, tuple[CacheLevel, ...]] | None:
    """Operations a second and what caches move, by code with the flags of kernels; None where that does not compile.

    Operations: a multiplication and an addition for each of 64 doubles in registers.
    """
    with tempfile.TemporaryDirectory(prefix="stencil-workbench-") as folder:
        source, library = Path(folder, "host.cpp"), Path(folder, "host.so")
        source.write_text(_SOURCE, encoding="utf-8")
        command = [*toolchain.command, str(source), *toolchain.flags, "-fvisibility=default", "-o", str(library)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            return None
        try:
            code = ctypes.CDLL(str(library))
        except OSError:  # temporary files may not be executed
            return None
        work, move = code.work, code.move
        work.argtypes, work.restype = [ctypes.c_long], ctypes.c_double
        move.argtypes, move.restype = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long, ctypes.c_long], None
        flops = 2.0 * _LANES * _TURNS * threads / _best_seconds([lambda: work(_TURNS)] * threads, end)
        sizes = (size for size in _LEVEL_BYTES if time.perf_counter() < end)
        return flops, tuple(CacheLevel(size * threads, _moved(move, size, threads, end)) for size in sizes)


def _moved(move: Callable[[int, int, int, int], None], size: int, threads: int, end: float) -> float:
    """Bytes a second, read and written, of threads with `size` bytes each."""
    count, turns = size // 16, max(1, _MOVED_BYTES // size)
    pairs = [(np.ones(count), np.ones(count)) for _ in range(threads)]
    tasks = [
        lambda to=to, origin=origin: move(to.ctypes.data, origin.ctypes.data, count, turns) for to, origin in pairs
    ]
    return float(size) * turns * threads / _best_seconds(tasks, end)


def _numpy_flops(threads: int, end: float) -> float:
    """The same by NumPy on arrays that stay in the nearest cache: what can be had without a compiler."""
    turns, size = max(1, _TURNS // 500), 1024

    def work() -> None:
        values = np.ones(size)
        for _ in range(turns):
            np.multiply(values, 0.999999, out=values)
            np.add(values, 1e-6, out=values)

    return 2.0 * size * turns * threads / _best_seconds([work] * threads, end)


def _best_seconds(tasks: Sequence[Callable[[], object]], end: float) -> float:
    """The shortest of several times in which all tasks, one a thread, are done; of few where they take long."""
    best, soon = float("inf"), time.perf_counter() + _PATIENCE_SECONDS
    with ThreadPoolExecutor(len(tasks)) as pool:
        for turn in range(_REPEATS):
            start = time.perf_counter()
            if (turn > 1 and start > soon) or (turn and start > end):
                break
            for future in [pool.submit(task) for task in tasks]:
                future.result()
            best = min(best, time.perf_counter() - start)
    return best
