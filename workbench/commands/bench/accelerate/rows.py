"""The programs of the table, one row each: their input, and who computes the same."""

from __future__ import annotations

import difflib
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator

from workbench.array_function import collective
from workbench.commands.bench.accelerate.others import has, jax, peer
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


def _dot_product(draw: Generator, n: int) -> Case:
    given = tuple(draw.random((2, n), np.float32))

    def others() -> dict[str, Call]:
        return {"NumPy": partial(np.dot, *given), **peer("Numba", "dot_product", *given), **jax("dot_product", *given)}

    return Case(f"{n:,} f32", **alone(dot_product.dot_product, given), others=others, tolerance=1e-4)


def _black_scholes(draw: Generator, n: int) -> Case:
    price, strike, years = draw.random((3, n))
    given = 5 + 25 * price, 1 + 99 * strike, 0.25 + 9.75 * years, 0.02, 0.3
    plain = black_scholes.prices.__wrapped__  # type: ignore[attr-defined]  # of update_wrapper

    def others() -> dict[str, Call]:
        compiled = peer("Numba", "prices", *given) | jax("prices", *given)
        return {"NumPy": partial(plain, *given), **peer("SciPy", "prices", *given), **compiled}

    return Case(f"{n:,} options", **alone(black_scholes.prices, given), others=others, tolerance=1e-6)


def _mandelbrot(draw: Generator, rows: int, columns: int, limit: int) -> Case:
    del draw
    view, shape = (-0.5, 0.0, 3.0), (rows, columns)
    given = *view, limit, shape

    def others() -> dict[str, Call]:
        return {
            "NumPy": lambda: by_numpy.escape_times(*given),
            **peer("Numba", "escape_times", *map(np.float32, view), limit, *shape),
            **jax("escape_times", *view, limit, shape=shape),
        }

    return Case(f"{columns} x {rows}, {limit} turns", **alone(mandelbrot.escape_times, given), others=others)


def _n_body(draw: Generator, n: int) -> Case:
    x, y, z, mass = draw.random((4, n))
    plain = n_body.accelerations.__wrapped__  # type: ignore[attr-defined]  # of update_wrapper
    given = (x, y, z), mass

    def others() -> dict[str, Call]:
        compiled = peer("Numba", "accelerations", x, y, z, mass, 1e-4) | jax("accelerations", *given, 1e-4)
        return {"NumPy": partial(plain, *given), **compiled}

    return Case(f"{n:,} bodies", **alone(n_body.accelerations, given), others=others, tolerance=1e-9)


def _sparse_product(draw: Generator, rows: int, each: int) -> Case:
    lengths = draw.integers(1, 2 * each, rows, dtype=np.int32)
    count = int(lengths.sum())
    given = lengths, draw.integers(0, rows, count, dtype=np.int32), draw.random(count), draw.random(rows)

    def others() -> dict[str, Call]:
        owner = np.repeat(np.arange(rows, dtype=np.int32), lengths)
        return {
            "NumPy": lambda: by_numpy.sparse_product(*given),
            **sparse_others(*given),
            **jax("sparse_product", owner, *given[1:], rows=rows),
        }

    size = f"{rows:,} rows, {count:,} elements"
    return Case(size, **alone(sparse_product.sparse_product, given), others=others, tolerance=1e-12)


def sparse_others(lengths: Any, columns: Any, values: Any, x: Any) -> dict[str, Call]:  # noqa: ANN401  # arrays
    """The product of a sparse matrix, which may have rows without elements, and a vector by SciPy and by Numba."""
    starts = np.concatenate(([0], np.cumsum(lengths)))
    calls = peer("Numba", "sparse_product", starts, columns, values, x)
    if has("SciPy"):
        matrix = peer("SciPy", "matrix_of", lengths, columns, values, len(x))["SciPy"]()
        calls = {"SciPy": lambda: matrix @ x, **calls}
    return calls


def _canny(draw: Generator, rows: int, columns: int) -> Case:
    i, j = np.mgrid[:rows, :columns]
    picture = 255.0 * (np.hypot(i - rows / 3, j - columns / 2) < rows / 4) + 30 * draw.random((rows, columns))
    given = picture, 40.0, 90.0

    def others() -> dict[str, Call]:
        return {"NumPy": lambda: by_numpy.edges(*given), **peer("SciPy", "edges", *given)}

    return Case(f"{columns} x {rows} pixels", **alone(canny.edges, given), others=others)


def _fluid(draw: Generator, rows: int, columns: int) -> Case:
    state = tuple(draw.normal(size=(3, rows, columns)))

    def others() -> dict[str, Call]:
        return {"NumPy": lambda: by_numpy.fluid_step(state, 0.5, 0.1, fluid.JACOBI_STEPS)}

    size = f"{columns} x {rows} cells, one step"
    return Case(size, **alone(fluid.step, (state, 0.5, 0.1, 0.0)), others=others, tolerance=1e-9)


def _radix_sort(draw: Generator, n: int) -> Case:
    keys = draw.integers(0, 2**32, n, dtype=np.uint32)
    given = keys, np.arange(n, dtype=np.uint32)

    def others() -> dict[str, Call]:
        return {"NumPy": lambda: by_numpy.radix_sort(*given), **jax("sorted_pairs", *given)}

    return Case(f"{n:,} u32 keys", **alone(radix_sort.radix_sort, given), others=others)


def _sort(draw: Generator, n: int) -> Case:
    """The same program; NumPy sorts the keys alone."""
    keys = draw.integers(0, 2**32, n, dtype=np.uint32)
    given = keys, np.arange(n, dtype=np.uint32)

    def ours(**how: Any) -> Any:  # noqa: ANN401  # of a call
        return radix_sort.radix_sort(*given, **how)[0]

    def others() -> dict[str, Call]:
        kinds = {"NumPy, stable, keys alone": "stable", "NumPy, not stable, keys alone": None}
        calls: dict[str, Call] = {label: partial(np.sort, keys, kind=kind) for label, kind in kinds.items()}
        return calls

    return Case(f"{n:,} u32 keys with payload", ours, ((radix_sort.radix_sort, given),), others)


@collective
def running_sums(xs: Any) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """The sums of all elements up to each one."""
    return np.cumsum(xs)


def _scan(draw: Generator, n: int) -> Case:
    """Small whole numbers, whose sums f32 holds in any order."""
    xs = draw.integers(-8, 9, n).astype(np.float32)

    def others() -> dict[str, Call]:
        return {"NumPy": partial(np.cumsum, xs), **peer("Numba", "running_sums", xs), **jax("running_sums", xs)}

    return Case(f"{n:,} f32", **alone(running_sums, (xs,)), others=others)


def _ray_tracer(draw: Generator, rows: int, columns: int) -> Case:
    del draw
    scene, shape = ray_tracer.board(), (rows, columns)
    seen = scene, (0.3, 1.6, -5.0), (0.1, 0.7, 0.0), 1.0, 0.3, shape, 4

    def others() -> dict[str, Call]:
        return {"NumPy": lambda: numpy_rays.picture(*seen), **peer("Numba", "picture", *seen, of="rays")}

    called = ((ray_tracer.traced_rays, ray_tracer.arguments(*seen)),)
    size = f"{columns} x {rows} pixels, 7 objects"
    return Case(size, partial(ray_tracer.picture, *seen), called, others, 1e-9)


def _lulesh(draw: Generator, n: int, cycles: int) -> Case:
    del draw
    start = lulesh.blast(n)
    numbers = start.cycles, start.time, start.step, start.courant, start.hydro, start.least, cycles, lulesh.STOP

    def others() -> dict[str, Call]:
        return {"NumPy": lambda: numpy_lulesh.run(n, cycles).energy}

    def ours(**how: Any) -> Any:  # noqa: ANN401  # of a call
        return lulesh.run(start, cycles, **how).gas.energy[:n, :n, :n].ravel()

    called = ((lulesh.advanced, (start.gas, start.gas[:3], *numbers)),)
    return Case(f"{n}³ elements, {cycles} cycles", ours, called, others, 1e-9)


def _floyd_warshall(draw: Generator, n: int) -> Case:
    lengths = np.where(draw.random((n, n)) < 8 / n, draw.integers(1, 100, (n, n)), np.inf)
    np.fill_diagonal(lengths, 0.0)

    def others() -> dict[str, Call]:
        compiled = peer("Numba", "shortest_paths", lengths) | jax("shortest_paths", lengths)
        return {
            "NumPy": lambda: by_numpy.shortest_paths(lengths),
            **peer("SciPy", "shortest_paths", lengths),
            **compiled,
        }

    return Case(f"{n} nodes", **alone(floyd_warshall.shortest_paths, (lengths,)), others=others)


def _md5(draw: Generator, n: int) -> Case:
    texts = [str(number).encode() for number in draw.integers(0, 2**62, n)]

    def others() -> dict[str, Call]:
        return {"hashlib": lambda: by_numpy.digests(texts)}

    return Case(f"{n:,} texts", **alone(md5.digests, (md5.blocks(texts),)), others=others)


def _k_means(draw: Generator, n: int, k: int) -> Case:
    x, y = draw.normal(size=(2, n))
    given = x, y, x[:k].copy(), y[:k].copy()

    def others() -> dict[str, Call]:
        points, centres = np.stack([x, y], axis=1), np.stack(given[2:], axis=1)
        compiled = peer("SciPy", "k_means_step", points, centres) | jax("k_means_step", *given)
        return {"NumPy": lambda: by_numpy.k_means_step(*given), **compiled}

    size = f"{n:,} points, {k} centres, one step"
    return Case(size, **alone(k_means.step, given), others=others, tolerance=1e-10)


def _histogram(draw: Generator, n: int) -> Case:
    values = draw.random(n, np.float32)
    given = values, 0.0, 1.0, np.zeros(64, np.int64)

    def others() -> dict[str, Call]:
        return {"NumPy": lambda: np.histogram(values, 64, (0, 1))[0]}

    return Case(f"{n:,} f32, 64 bins", **alone(histogram.histogram, given), others=others)


def _matrix_product(draw: Generator, n: int) -> Case:
    a, b = draw.random((2, n, n))

    def others() -> dict[str, Call]:
        return {"NumPy": lambda: a @ b, **jax("matrix_product", a, b)}

    return Case(f"{n} x {n} f64", **alone(matrix_product.matrix_product, (a, b)), others=others, tolerance=1e-11)


THESIS: tuple[ProgramRow, ...] = (
    ProgramRow("dot_product", "dot product", _dot_product, ((3000,), (10_000_000,), (20_000_000,))),
    ProgramRow("black_scholes", "Black-Scholes", _black_scholes, ((500,), (1_000_000,), (20_000_000,))),
    ProgramRow("mandelbrot", "Mandelbrot", _mandelbrot, ((15, 20, 30), (600, 800, 255), (1200, 1600, 255))),
    ProgramRow("n_body", "N-body", _n_body, ((60,), (2000,), (32_768,)), lambda n: n**2),
    ProgramRow("sparse_product", "sparse product", _sparse_product, ((50, 6), (100_000, 24), (100_000, 24))),
    ProgramRow("canny", "Canny", _canny, ((24, 30), (512, 512), (4096, 4096))),
    ProgramRow("fluid", "fluid flow", _fluid, ((9, 8), (128, 128), (1024, 2048))),
    ProgramRow("radix_sort", "radix sort", _radix_sort, ((500,), (1_000_000,), (2_000_000,))),
    ProgramRow("ray_tracer", "ray tracer", _ray_tracer, ((15, 20), (300, 400), (4096, 4096))),
    ProgramRow("lulesh", "LULESH", _lulesh, ((4, 6), (30, 20), (45, 20)), lambda n, cycles: n**3 * cycles),
    ProgramRow("floyd_warshall", "Floyd-Warshall", _floyd_warshall, ((20,), (300,), (1000,)), lambda n: n**3),
    ProgramRow("md5", "MD5", _md5, ((40,), (100_000,), (1_000_000,))),
    ProgramRow("k_means", "K-means", _k_means, ((200, 4), (100_000, 20), (100_000, 20))),
)
"""The thirteen programs of the thesis."""
ROWS: tuple[ProgramRow, ...] = (
    *THESIS,
    ProgramRow("histogram", "histogram", _histogram, ((500,), (5_000_000,), (20_000_000,))),
    ProgramRow("matrix_product", "matrix product", _matrix_product, ((20,), (500,), (1000,)), lambda n: n**3),
    ProgramRow("scan", "running sums", _scan, ((3000,), (10_000_000,), (20_000_000,))),
    ProgramRow("sort", "sort", _sort, ((500,), (2_000_000,), (10_000_000,))),
)


def named(names: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the known names that are named, in their order, all for none; RunError lists them for another name."""
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            guess = f"; did you mean {close[0]!r}?" if close else ""
            raise RunError(f"there is no program {name!r}{guess}", advice=f"Name some of {', '.join(known)}.")
    return tuple(name for name in known if not names or name in names)
