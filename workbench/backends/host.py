"""Host figures: how fast this machine moves data and computes; measured once and kept, estimated until then.

They are shown beside what was measured, and say where "auto" takes tiles (`run/schedules`); no other plan asks them.
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
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from workbench.amounts import bytes_text, scaled, share_text
from workbench.backends.base import Array
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

_LEVEL_BYTES = (16 << 10, 256 << 10, 1 << 20, 4 << 20, 8 << 20, 16 << 20)  # a thread, in two arrays
_MOST_BYTES = 512 << 20  # of arrays that are gone through to measure memory
_PIECES = 16  # of a thread's
_LINE_BYTES = 64
_BROUGHT_IN = 1.5  # bytes that move for each one that a loop reads or writes, where its store brings a line in
_MOVED_BYTES = 256 << 20  # by a thread in one measurement: takes a millisecond, much longer than starting threads

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
_IDLE_SHARE = 0.25  # of the processors that other work may keep busy, or of their time that it may take
_TAKEN_SHARE = 0.75  # of the processors, from which on another measurement would be of what others leave


def measured_figures(cache: BuildCache | None = None) -> HostFigures | None:
    """The best that was measured on this processor with this number of threads; None if nothing was. Ceilings."""
    threads = available_threads()
    note = (cache or default_cache()).read_note(_note_name(threads))
    return _read(note, f"measured here with {_threads_text(threads)}")


def last_figures(cache: BuildCache | None = None) -> HostFigures | None:
    """What the last measurement of the idle machine gave; None if there was none. For what will be reached again.

    Programs on other cores share the last cache and memory: what was best at some time says little of that.
    """
    threads = available_threads()
    match (cache or default_cache()).read_note(_note_name(threads)):
        case {"last": last}:
            return _read(last, f"last measured here with {_threads_text(threads)}")
        case _:
            return None


def hand_on_figures(to: BuildCache) -> None:
    """Let another cache know what the user's one knows of this machine, so that "auto" takes the same there."""
    note = default_cache().read_note(_note_name(available_threads()))
    if note is not None:
        to.write_note(_note_name(available_threads()), note)


def _read(note: object, label: str) -> HostFigures | None:
    match note:
        case {"bandwidth": float(bandwidth), "flops": float(flops), "levels": list(rows), **further} if (
            bandwidth > 0 and flops > 0
        ):
            levels = _read_levels(rows)
            busy = BUSY if further.get("busy") is True else ""
            return None if levels is None else HostFigures(bandwidth, flops, label + busy, levels)
        case _:
            return None


def host_figures(cache: BuildCache | None = None) -> HostFigures:
    """What was measured here, or an estimate whose label says so."""
    return measured_figures(cache) or ESTIMATE


def ensure_figures(cache: BuildCache | None = None) -> HostFigures:
    """What was measured here; measured now, in at most two seconds, if nothing was, or only while others worked.

    Not a second time while others keep nearly all processors busy. For programs that are about to time something,
    before they do, and never while a simulation runs.
    """
    figures = measured_figures(cache)
    if figures is None or (figures.label.endswith(BUSY) and _load() < _TAKEN_SHARE * available_threads()):
        return measure_host(cache)
    return figures


def levels_text(figures: HostFigures) -> str:
    """What caches move, "" where it was not measured."""
    return ", ".join(f"{scaled(level.bandwidth, 'B/s')} for {bytes_text(level.size)}" for level in figures.levels[:-1])


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
    _keep(figures, last_figures(cache), cache or default_cache())
    return figures


def reached_text(rate: float, ceiling: float) -> str:
    """A rate in bytes a second beside what was measured here for arrays of this size."""
    return f"{scaled(rate, 'B/s')}, {share_text(min(1.0, rate / ceiling))} of the measured bandwidth"


def figures_text(figures: HostFigures) -> str:
    """One line for cards and `doctor`. Bandwidth counts bytes read and written, operations are those of f64.

    The bandwidth is that of memory; arrays that fit into the caches move faster.
    """
    return f"memory {scaled(figures.bandwidth, 'B/s')}, peak {scaled(figures.flops, 'flop/s')} ({figures.label})"


def measure_host(cache: BuildCache | None = None) -> HostFigures:
    """Measure for about two seconds, keep it and the best of this and earlier times in the cache folder.

    These are ceilings: what else runs on the machine can only lower what is measured. Where other work took more than
    a quarter of the processors in the last minute, or meanwhile, the label says so, until the machine is idle.
    """
    notes = cache or default_cache()
    threads = available_threads()
    loaded = _load() > _IDLE_SHARE * threads
    toolchain = find_toolchain(cache=notes)
    timer = _Timer()
    tasks, moved = copy_tasks(threads)
    memory = CacheLevel(moved, moved / timer.seconds(tasks))
    compiled = _compiled(toolchain, threads, timer) if isinstance(toolchain, Toolchain) else None
    flops, levels = compiled or (_numpy_flops(threads, timer), ())
    busy = loaded or timer.lost_share() > _IDLE_SHARE
    rows = {level.size: level.bandwidth for level in (*levels, memory)}
    now = _ordered(rows)
    last = last_figures(notes) if busy else HostFigures(now[-1].bandwidth, flops, "", now)
    before = measured_figures(notes)
    if before is not None:
        busy = busy and before.label.endswith(BUSY)
        flops = max(flops, before.flops)
        for level in before.levels:
            rows[level.size] = max(rows.get(level.size, 0.0), level.bandwidth)
    ordered = _ordered(rows)
    label = f"measured here with {_threads_text(threads)}{BUSY if busy else ''}"
    figures = HostFigures(ordered[-1].bandwidth, flops, label, ordered)
    _keep(figures, last, notes)
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


def _keep(figures: HostFigures, last: HostFigures | None, cache: BuildCache) -> None:
    note = {**_noted(figures), "busy": figures.label.endswith(BUSY)}
    cache.write_note(_note_name(available_threads()), note if last is None else note | {"last": _noted(last)})


def _noted(figures: HostFigures) -> dict[str, object]:
    levels = [[level.size, level.bandwidth] for level in figures.levels]
    return {"bandwidth": figures.bandwidth, "flops": figures.flops, "levels": levels}


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
    return "host-" + hashlib.sha256(f"6 {threads} {processor_text()}".encode()).hexdigest()[:32]


def copy_tasks(threads: int) -> tuple[list[Callable[[], object]], int]:
    """Copies of arrays beyond the caches, one for each thread to do, and the bytes that all of them read and write.

    NumPy copies without the interpreter's lock.
    """
    pairs = [(np.ones(_COPY_BYTES // 8), np.ones(_COPY_BYTES // 8)) for _ in range(threads)]
    tasks: list[Callable[[], object]] = [partial(np.copyto, to, origin) for to, origin in pairs]
    return tasks, 2 * _COPY_BYTES * threads


class Ceilings:
    """What this machine moves and computes at a time, again and again: for programs that measure beside it.

    array_bytes: of all arrays of what is measured beside it, 0 for more than caches hold. Arrays and code are made
    once. Nothing of it is kept in the cache folder.
    """

    def __init__(self, threads: int, array_bytes: int = 0) -> None:
        self._threads = threads
        self._tasks, self._bytes = copy_tasks(threads)
        toolchain = find_toolchain()
        self._code = _code(toolchain) if isinstance(toolchain, Toolchain) else None
        each = max(min(array_bytes or _MOST_BYTES, _MOST_BYTES) // threads // (16 * _PIECES), 1)
        self._far = [(_on_lines(_PIECES * each), _on_lines(_PIECES * each)) for _ in range(threads)]

    def measure(self) -> tuple[float, HostFigures]:
        """Bytes a second of a copy, and the figures of now; no caches where nothing compiles. Half a second or so.

        The figures' bandwidth is that of loops over as many bytes as the arrays have, which bring lines in before they
        store to them, and counts those.
        """
        timer = _Timer(median)
        copied = self._bytes / timer.seconds(self._tasks)
        label = f"of {_threads_text(self._threads)}, in this round"
        if self._code is None:
            return copied, HostFigures(copied, _numpy_flops(self._threads, timer), label)
        flops, levels = self._code.measure(self._threads, timer)
        return copied, HostFigures(_BROUGHT_IN * self._moved_far(self._code, timer), flops, label, levels)

    def _moved_far(self, code: _Code, timer: _Timer) -> float:
        """Bytes a second, read and written: there and back, as steps do that read what the last one wrote.

        Threads take pieces, so that one that is held up leaves its own to the others.
        """
        count = len(self._far[0][0]) // _PIECES
        tasks = [
            partial(code.move, to.ctypes.data + 8 * first, origin.ctypes.data + 8 * first, count, 1)
            for pairs in (self._far, [pair[::-1] for pair in self._far])
            for first in range(0, _PIECES * count, count)
            for to, origin in pairs
        ]
        return 16.0 * count * len(tasks) / timer.seconds(tasks, self._threads)


@dataclass(frozen=True, slots=True)
class _Code:
    """Loops that are compiled with the flags of kernels: `work` computes, `move` goes through arrays."""

    work: Callable[[int], float]
    move: Callable[[int, int, int, int], None]

    def measure(self, threads: int, timer: _Timer) -> tuple[float, tuple[CacheLevel, ...]]:
        """Operations a second and what caches move.

        Operations: a multiplication and an addition for each of 64 doubles in registers.
        """
        seconds = timer.seconds([lambda: self.work(_TURNS)] * threads)
        sizes = (size for size in _LEVEL_BYTES if timer.has_time())
        levels = tuple(CacheLevel(size * threads, _moved(self.move, size, threads, timer)) for size in sizes)
        return 2.0 * _LANES * _TURNS * threads / seconds, levels


def _compiled(toolchain: Toolchain, threads: int, timer: _Timer) -> tuple[float, tuple[CacheLevel, ...]] | None:
    """Operations a second and what caches move, by compiled code; None where that does not compile."""
    code = _code(toolchain)
    return None if code is None else code.measure(threads, timer)


def _code(toolchain: Toolchain) -> _Code | None:
    """The loops; None where they do not compile, or temporary files may not be executed."""
    with tempfile.TemporaryDirectory(prefix="stencil-workbench-") as folder:
        source, library = Path(folder, "host.cpp"), Path(folder, "host.so")
        source.write_text(_SOURCE, encoding="utf-8")
        command = [*toolchain.command, str(source), *toolchain.flags, "-fvisibility=default", "-o", str(library)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            return None
        try:
            code = ctypes.CDLL(str(library))
        except OSError:
            return None
        work, move = code.work, code.move
        work.argtypes, work.restype = [ctypes.c_long], ctypes.c_double
        move.argtypes, move.restype = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long, ctypes.c_long], None
        return _Code(work, move)


def _moved(move: Callable[[int, int, int, int], None], size: int, threads: int, timer: _Timer) -> float:
    """Bytes a second, read and written, of threads with `size` bytes each."""
    count, turns = size // 16, max(1, _MOVED_BYTES // size)
    pairs = [(_on_lines(count), _on_lines(count)) for _ in range(threads)]
    tasks = [
        lambda to=to, origin=origin: move(to.ctypes.data, origin.ctypes.data, count, turns) for to, origin in pairs
    ]
    return float(size) * turns * threads / timer.seconds(tasks)


def _on_lines(count: int) -> Array:
    """Ones that begin with a line of the cache, as arrays of simulations do: vectors across two lines load slowly."""
    values = np.ones(count + _LINE_BYTES // 8)
    first = -values.ctypes.data % _LINE_BYTES // 8
    return values[first : first + count]


def _numpy_flops(threads: int, timer: _Timer) -> float:
    """The same by NumPy on arrays that stay in the nearest cache: what can be had without a compiler."""
    turns, size = max(1, _TURNS // 500), 1024

    def work() -> None:
        values = np.ones(size)
        for _ in range(turns):
            np.multiply(values, 0.999999, out=values)
            np.add(values, 1e-6, out=values)

    return 2.0 * size * turns * threads / timer.seconds([work] * threads)


class _Timer:
    """Times tasks, within `_ALL_SECONDS`; of several times the shortest counts, or another figure (`typical`)."""

    def __init__(self, typical: Callable[[Sequence[float]], float] = min) -> None:
        self._typical = typical
        self._end = time.perf_counter() + _ALL_SECONDS
        self._wanted = self._had = 0.0  # seconds of processors

    def has_time(self) -> bool:
        """Whether there is time left."""
        return time.perf_counter() < self._end

    def lost_share(self) -> float:
        """The part of the processors' time that tasks did not use, because other work had it or a task waited."""
        return 1.0 - self._had / self._wanted if self._wanted else 0.0

    def seconds(self, tasks: Sequence[Callable[[], object]], threads: int = 0) -> float:
        """The time that all tasks take, on `threads` threads or one each; long tasks are repeated fewer times."""
        taken: list[float] = []
        workers = threads or len(tasks)
        soon = time.perf_counter() + _PATIENCE_SECONDS
        with ThreadPoolExecutor(workers) as pool:
            for turn in range(_REPEATS):
                start, had = time.perf_counter(), time.process_time()
                if (turn > 1 and start > soon) or (turn and start > self._end):
                    break
                for future in [pool.submit(task) for task in tasks]:
                    future.result()
                taken.append(time.perf_counter() - start)
                self._wanted += workers * taken[-1]
                self._had += time.process_time() - had
        return self._typical(taken)
