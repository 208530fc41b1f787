"""Programs of the table as loops by hand for Numba, parallel and with fastmath, as one writes them for speed."""

from __future__ import annotations

from math import exp, log, sqrt

import numba
import numpy as np

from workbench.programs.black_scholes import _COEFFICIENTS, _DENSITY

_A, _B, _C, _D, _E = _COEFFICIENTS
_HAND = numba.njit(parallel=True, fastmath=True)


@_HAND
def dot_product(xs, ys):
    """The sum of products."""
    total = xs[0] * 0
    for i in numba.prange(xs.size):
        total += xs[i] * ys[i]
    return total


@_HAND
def running_sums(xs):
    """In two passes: sums of chunks, one a thread, then each chunk from where the chunks before it end."""
    chunks = numba.get_num_threads()
    each = (xs.size + chunks - 1) // chunks
    starts, found = np.zeros(chunks + 1, xs.dtype), np.empty_like(xs)
    for chunk in numba.prange(chunks):
        total = xs[0] * 0
        for i in range(chunk * each, min((chunk + 1) * each, xs.size)):
            total += xs[i]
        starts[chunk + 1] = total
    for chunk in range(chunks):
        starts[chunk + 1] += starts[chunk]
    for chunk in numba.prange(chunks):
        total = starts[chunk]
        for i in range(chunk * each, min((chunk + 1) * each, xs.size)):
            total += xs[i]
            found[i] = total
    return found


@numba.njit(fastmath=True)
def _normal(x):
    turn = 1 / (1 + 0.2316419 * abs(x))
    polynomial = turn * (_A + turn * (_B + turn * (_C + turn * (_D + turn * _E))))
    beyond = _DENSITY * exp(-0.5 * x * x) * polynomial
    return 1 - beyond if x > 0 else beyond


@_HAND
def prices(price, strike, years, rate, volatility):
    """Call and put, one loop."""
    call, put = np.empty_like(price), np.empty_like(price)
    for i in numba.prange(price.size):
        root = volatility * sqrt(years[i])
        up = (log(price[i] / strike[i]) + (rate + 0.5 * volatility**2) * years[i]) / root
        below_up, below_down = _normal(up), _normal(up - root)
        discounted = strike[i] * exp(-rate * years[i])
        call[i] = price[i] * below_up - discounted * below_down
        put[i] = discounted * (1 - below_down) - price[i] * (1 - below_up)
    return call, put


@numba.njit(parallel=True)  # fastmath would change which points leave
def escape_times(x, y, width, limit, rows, columns):
    """Turns of each point, rows in parallel."""
    turns = np.zeros((rows, columns), np.int64)
    step = np.float32(width) / np.float32(columns)
    for row in numba.prange(rows):
        b = np.float32(y) + np.float32(rows / 2 - 0.5 - row) * step
        for column in range(columns):
            a = np.float32(x) + np.float32(column + 0.5 - columns / 2) * step
            u, v, k = a, b, 0
            while k < limit and u * u + v * v <= np.float32(4):
                u, v, k = u * u - v * v + a, np.float32(2) * u * v + b, k + 1
            turns[row, column] = k
    return turns


@_HAND
def accelerations(x, y, z, mass, softening):
    """Bodies in parallel, pairs in a loop."""
    n = x.size
    ax, ay, az = np.empty(n), np.empty(n), np.empty(n)
    for i in numba.prange(n):
        sum_x = sum_y = sum_z = 0.0
        for j in range(n):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            inverse = 1 / sqrt(dx * dx + dy * dy + dz * dz + softening)
            weight = mass[j] * (inverse * inverse * inverse)
            sum_x += weight * dx
            sum_y += weight * dy
            sum_z += weight * dz
        ax[i], ay[i], az[i] = sum_x, sum_y, sum_z
    return ax, ay, az


@_HAND
def sparse_product(starts, columns, values, x):
    """Rows in parallel; starts: where each begins, and the number of elements."""
    found = np.empty(starts.size - 1)
    for row in numba.prange(found.size):
        total = 0.0
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        found[row] = total
    return found


@_HAND
def shortest_paths(lengths):
    """Node by node, rows in parallel."""
    found = lengths.copy()
    for node in range(len(found)):
        line = found[node].copy()
        for i in numba.prange(len(found)):
            first = found[i, node]
            for j in range(len(found)):
                found[i, j] = min(found[i, j], first + line[j])
    return found
