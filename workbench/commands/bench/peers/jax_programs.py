"""Programs of the table in JAX: whole arrays, each program compiled by XLA as one; loops are XLA's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from workbench.programs.black_scholes import _COEFFICIENTS, _DENSITY

jax.config.update("jax_enable_x64", True)
Array = Any


def compiled(function: Callable[..., Any], given: tuple[Any, ...], static: Mapping[str, Any]) -> Callable[[], Any]:
    """A call of a compiled function that waits for the results; arrays are JAX's before the first one."""
    arrays = jax.tree.map(lambda each: jnp.asarray(each) if isinstance(each, np.ndarray) else each, given)
    program = jax.jit(partial(function, **static))
    return lambda: jax.block_until_ready(program(*arrays))


def dot_product(xs: Array, ys: Array) -> Array:
    """By XLA's product of vectors."""
    return jnp.dot(xs, ys)


def prices(price: Array, strike: Array, years: Array, rate: float, volatility: float) -> tuple[Array, Array]:
    """Call and put of options, with the polynomial of the normal law."""
    root = volatility * jnp.sqrt(years)
    up = (jnp.log(price / strike) + (rate + 0.5 * volatility**2) * years) / root
    below_up, below_down = _normal(up), _normal(up - root)
    discounted = strike * jnp.exp(-rate * years)
    return price * below_up - discounted * below_down, discounted * (1 - below_down) - price * (1 - below_up)


def _normal(x: Array) -> Array:
    turn = 1 / (1 + 0.2316419 * jnp.abs(x))
    polynomial: Any = 0.0
    for coefficient in reversed(_COEFFICIENTS):
        polynomial = turn * (coefficient + polynomial)
    beyond = _DENSITY * jnp.exp(-0.5 * x * x) * polynomial
    return jnp.where(x > 0, 1 - beyond, beyond)


def escape_times(x: Array, y: Array, width: Array, limit: int, *, shape: tuple[int, int]) -> Array:
    """Turns of each point in f32; a loop of whole arrays until all have left or the limit is reached."""
    rows, columns = shape
    x, y, width = (jnp.float32(each) for each in (x, y, width))
    step = width / jnp.float32(columns)
    across = x + jnp.asarray(np.arange(columns) + 0.5 - columns / 2, jnp.float32) * step
    down = y + jnp.asarray(rows / 2 - 0.5 - np.arange(rows), jnp.float32) * step
    a, b = (jnp.broadcast_to(each, shape) for each in (across[None, :], down[:, None]))

    def inside(u: Array, v: Array) -> Array:
        return u * u + v * v <= 4

    def turn(state: Any) -> Any:  # noqa: ANN401
        u, v, turns, k = state
        stays = inside(u, v)
        moved = u * u - v * v + a, jnp.float32(2) * u * v + b
        u, v = (jnp.where(stays, new, old) for new, old in zip(moved, (u, v), strict=True))
        return u, v, turns + stays, k + 1

    def goes_on(state: Any) -> Any:  # noqa: ANN401
        u, v, _, k = state
        return (k < limit) & jnp.any(inside(u, v))

    return lax.while_loop(goes_on, turn, (a, b, jnp.zeros(shape, jnp.int64), 0))[2]


def accelerations(position: tuple[Array, Array, Array], mass: Array, softening: float) -> tuple[Array, ...]:
    """By all pairs, which XLA fuses into the sums."""
    dx, dy, dz = (axis[None, :] - axis[:, None] for axis in position)
    inverse = 1 / jnp.sqrt(dx * dx + dy * dy + dz * dz + softening)
    weight = mass[None, :] * (inverse * inverse * inverse)
    return tuple(jnp.sum(weight * each, axis=1) for each in (dx, dy, dz))


def running_sums(xs: Array) -> Array:
    """By XLA's scan of sums."""
    return jnp.cumsum(xs)


def sorted_pairs(keys: Array, payload: Array) -> tuple[Array, Array]:
    """By XLA's stable sort of keys that takes the payload along."""
    ordered, moved = lax.sort((keys, payload), num_keys=1, is_stable=True)
    return ordered, moved


def sparse_product(owner: Array, columns: Array, values: Array, x: Array, *, rows: int) -> Array:
    """Sums of segments; owner: the row of each element, ascending."""
    return jax.ops.segment_sum(values * x[columns], owner, rows, indices_are_sorted=True)


def shortest_paths(lengths: Array) -> Array:
    """Node by node in one compiled loop."""

    def through(node: Any, found: Array) -> Array:  # noqa: ANN401
        return jnp.minimum(found, found[:, node][:, None] + found[node, :][None, :])

    return lax.fori_loop(0, lengths.shape[0], through, lengths)


def k_means_step(x: Array, y: Array, centre_x: Array, centre_y: Array) -> tuple[Array, Array]:
    """The nearest centre by all distances, and sums of segments."""
    own = jnp.argmin((x[:, None] - centre_x) ** 2 + (y[:, None] - centre_y) ** 2, axis=1)
    count, *sums = (jax.ops.segment_sum(each, own, len(centre_x)) for each in (jnp.ones_like(own), x, y))
    mean_x, mean_y = (each / jnp.maximum(count, 1) for each in sums)
    return jnp.where(count > 0, mean_x, centre_x), jnp.where(count > 0, mean_y, centre_y)


def matrix_product(a: Array, b: Array) -> Array:
    """By XLA's product of matrices."""
    return a @ b
