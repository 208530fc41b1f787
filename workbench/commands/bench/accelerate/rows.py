"""The programs of the table, one row each: their input, and who computes the same."""

from __future__ import annotations

import difflib
from functools import partial
from importlib import import_module, util
from typing import Any

import numpy as np
from numpy.random import Generator

from workbench.commands.bench.accelerate.row import Call, Case, ProgramRow, alone
from workbench.commands.bench.peers import numpy_lulesh, numpy_rays
from workbench.commands.bench.peers import numpy_programs as by_numpy
from workbench.errors import RunError
from workbench.programs import (
    black_scholes,
    canny,
    dot_product,
    floyd_warshall,
    fluid,
    histogram,
    k_means,
    lulesh,
    mandelbrot,
    matrix_product,
    md5,
    n_body,
    radix_sort,
    ray_tracer,
    sparse_product,
)

LIBRARIES = ("NumPy", "SciPy", "Numba")


def has(library: str) -> bool:
    """Whether a library is installed; imports nothing."""
    return util.find_spec(library.lower()) is not None


def _peer(library: str, function: str, *given: Any, of: str = "programs") -> dict[str, Call]:  # noqa: ANN401  # what the function takes
    """The call by a function of a library's module in peers/; nothing where it is not installed."""
    if not has(library):
        return {}
    module = import_module(f"workbench.commands.bench.peers.{library.lower()}_{of}")
    return {library: partial(getattr(module, function), *given)}


def _dot_product(draw: Generator, small: bool) -> Case:
    xs, ys = draw.random((2, 3000 if small else 10_000_000), np.float32)
    others: dict[str, Call] = {"NumPy": lambda: np.dot(xs, ys), **_peer("Numba", "dot_product", xs, ys)}
    given = xs, ys
    return Case(f"{xs.size:,} f32", **alone(dot_product.dot_product, given), others=others, tolerance=1e-4)


def _black_scholes(draw: Generator, small: bool) -> Case:
    price, strike, years = draw.random((3, 500 if small else 1_000_000))
    given = 5 + 25 * price, 1 + 99 * strike, 0.25 + 9.75 * years, 0.02, 0.3
    plain = black_scholes.prices.__wrapped__  # type: ignore[attr-defined]  # of update_wrapper
    others: dict[str, Call] = {"NumPy": partial(plain, *given)}
    others |= _peer("SciPy", "prices", *given) | _peer("Numba", "prices", *given)
    return Case(f"{price.size:,} options", **alone(black_scholes.prices, given), others=others, tolerance=1e-6)


def _mandelbrot(draw: Generator, small: bool) -> Case:
    del draw
    view, limit, shape = (-0.5, 0.0, 3.0), 30 if small else 255, (15, 20) if small else (600, 800)
    given = *view, limit, shape
    others: dict[str, Call] = {
        "NumPy": lambda: by_numpy.escape_times(*given),
        **_peer("Numba", "escape_times", *map(np.float32, view), limit, *shape),
    }
    size = f"{shape[1]} x {shape[0]}, {limit} turns"
    return Case(size, **alone(mandelbrot.escape_times, given), others=others)


def _n_body(draw: Generator, small: bool) -> Case:
    x, y, z, mass = draw.random((4, 60 if small else 2000))
    plain = n_body.accelerations.__wrapped__  # type: ignore[attr-defined]  # of update_wrapper
    given = (x, y, z), mass
    others: dict[str, Call] = {"NumPy": partial(plain, *given)}
    others |= _peer("Numba", "accelerations", x, y, z, mass, 1e-4)
    return Case(f"{mass.size:,} bodies", **alone(n_body.accelerations, given), others=others, tolerance=1e-9)


def _sparse_product(draw: Generator, small: bool) -> Case:
    rows, each = (50, 6) if small else (100_000, 24)
    lengths = draw.integers(1, 2 * each, rows, dtype=np.int32)
    count = int(lengths.sum())
    columns, values = draw.integers(0, rows, count, dtype=np.int32), draw.random(count)
    x, starts = draw.random(rows), np.concatenate(([0], np.cumsum(lengths)))
    given = lengths, columns, values, x
    others: dict[str, Call] = {"NumPy": lambda: by_numpy.sparse_product(*given)}
    if has("SciPy"):
        matrix = _peer("SciPy", "matrix_of", lengths, columns, values, rows)["SciPy"]()
        others["SciPy"] = lambda: matrix @ x
    others |= _peer("Numba", "sparse_product", starts, columns, values, x)
    size = f"{rows:,} rows, {count:,} elements"
    return Case(size, **alone(sparse_product.sparse_product, given), others=others, tolerance=1e-12)


def _canny(draw: Generator, small: bool) -> Case:
    rows, columns = (24, 30) if small else (512, 512)
    i, j = np.mgrid[:rows, :columns]
    picture = 255.0 * (np.hypot(i - rows / 3, j - columns / 2) < rows / 4) + 30 * draw.random((rows, columns))
    given = picture, 40.0, 90.0
    others = {"NumPy": lambda: by_numpy.edges(*given)}
    return Case(f"{columns} x {rows} pixels", **alone(canny.edges, given), others=others)


def _fluid(draw: Generator, small: bool) -> Case:
    state = tuple(draw.normal(size=(3, *((9, 8) if small else (128, 128)))))
    others = {"NumPy": lambda: by_numpy.fluid_step(state, 0.5, 0.1, fluid.JACOBI_STEPS)}
    size = f"{state[0].shape[1]} x {state[0].shape[0]} cells, one step"
    return Case(size, **alone(fluid.step, (state, 0.5, 0.1, 0.0)), others=others, tolerance=1e-9)


def _radix_sort(draw: Generator, small: bool) -> Case:
    keys = draw.integers(0, 2**32, 500 if small else 1_000_000, dtype=np.uint32)
    given = keys, np.arange(keys.size, dtype=np.uint32)
    others = {"NumPy": lambda: by_numpy.radix_sort(*given)}
    return Case(f"{keys.size:,} u32 keys", **alone(radix_sort.radix_sort, given), others=others)


def _ray_tracer(draw: Generator, small: bool) -> Case:
    del draw
    scene, shape = ray_tracer.board(), (15, 20) if small else (300, 400)
    seen = scene, (0.3, 1.6, -5.0), (0.1, 0.7, 0.0), 1.0, 0.3, shape, 4
    others: dict[str, Call] = {
        "NumPy": lambda: numpy_rays.picture(*seen),
        **_peer("Numba", "picture", *seen, of="rays"),
    }
    called = ((ray_tracer.traced_rays, ray_tracer.arguments(*seen)),)
    size = f"{shape[1]} x {shape[0]} pixels, 7 objects"
    return Case(size, partial(ray_tracer.picture, *seen), called, others, 1e-9)


def _lulesh(draw: Generator, small: bool) -> Case:
    del draw
    n, cycles = (4, 6) if small else (30, 20)
    start = lulesh.blast(n)
    numbers = start.cycles, start.time, start.step, start.courant, start.hydro, start.least, cycles, lulesh.STOP
    others: dict[str, Call] = {"NumPy": lambda: numpy_lulesh.run(n, cycles).energy}

    def ours(**how: Any) -> Any:  # noqa: ANN401  # of a call
        return lulesh.run(start, cycles, **how).gas.energy[:n, :n, :n].ravel()

    called = ((lulesh.advanced, (start.gas, start.gas[:3], *numbers)),)
    return Case(f"{n}³ elements, {cycles} cycles", ours, called, others, 1e-9)


def _floyd_warshall(draw: Generator, small: bool) -> Case:
    n = 20 if small else 300
    lengths = np.where(draw.random((n, n)) < 8 / n, draw.integers(1, 100, (n, n)), np.inf)
    np.fill_diagonal(lengths, 0.0)
    others = {
        "NumPy": lambda: by_numpy.shortest_paths(lengths),
        **_peer("SciPy", "shortest_paths", lengths),
        **_peer("Numba", "shortest_paths", lengths),
    }
    return Case(f"{n} nodes", **alone(floyd_warshall.shortest_paths, (lengths,)), others=others)


def _md5(draw: Generator, small: bool) -> Case:
    texts = [str(number).encode() for number in draw.integers(0, 2**62, 40 if small else 100_000)]
    given = (md5.blocks(texts),)
    others = {"hashlib": lambda: by_numpy.digests(texts)}
    return Case(f"{len(texts):,} texts", **alone(md5.digests, given), others=others)


def _k_means(draw: Generator, small: bool) -> Case:
    n, k = (200, 4) if small else (100_000, 20)
    x, y = draw.normal(size=(2, n))
    given = x, y, x[:k].copy(), y[:k].copy()
    points, centres = np.stack([x, y], axis=1), np.stack(given[2:], axis=1)
    others = {"NumPy": lambda: by_numpy.k_means_step(*given), **_peer("SciPy", "k_means_step", points, centres)}
    size = f"{n:,} points, {k} centres, one step"
    return Case(size, **alone(k_means.step, given), others=others, tolerance=1e-10)


def _histogram(draw: Generator, small: bool) -> Case:
    values = draw.random(500 if small else 5_000_000, np.float32)
    given = values, 0.0, 1.0, np.zeros(64, np.int64)
    others = {"NumPy": lambda: np.histogram(values, 64, (0, 1))[0]}
    return Case(f"{values.size:,} f32, 64 bins", **alone(histogram.histogram, given), others=others)


def _matrix_product(draw: Generator, small: bool) -> Case:
    n = 20 if small else 500
    a, b = draw.random((2, n, n))
    others = {"NumPy": lambda: a @ b}
    return Case(f"{n} x {n} f64", **alone(matrix_product.matrix_product, (a, b)), others=others, tolerance=1e-11)


ROWS: tuple[ProgramRow, ...] = (
    ProgramRow("dot_product", "dot product", _dot_product),
    ProgramRow("black_scholes", "Black-Scholes", _black_scholes),
    ProgramRow("mandelbrot", "Mandelbrot", _mandelbrot),
    ProgramRow("n_body", "N-body", _n_body),
    ProgramRow("sparse_product", "sparse product", _sparse_product),
    ProgramRow("canny", "Canny", _canny),
    ProgramRow("fluid", "fluid flow", _fluid),
    ProgramRow("radix_sort", "radix sort", _radix_sort),
    ProgramRow("ray_tracer", "ray tracer", _ray_tracer),
    ProgramRow("lulesh", "LULESH", _lulesh),
    ProgramRow("floyd_warshall", "Floyd-Warshall", _floyd_warshall),
    ProgramRow("md5", "MD5", _md5),
    ProgramRow("k_means", "K-means", _k_means),
    ProgramRow("histogram", "histogram", _histogram),
    ProgramRow("matrix_product", "matrix product", _matrix_product),
)


def rows_named(names: tuple[str, ...]) -> tuple[ProgramRow, ...]:
    """The rows of these names in the order of the table, all for none; RunError lists them if there is no such row."""
    known = [row.name for row in ROWS]
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            guess = f"; did you mean {close[0]!r}?" if close else ""
            raise RunError(f"there is no program {name!r}{guess}", advice=f"Name some of {', '.join(known)}.")
    return tuple(row for row in ROWS if not names or row.name in names)
