"""Clock: the time of a solver, its steps, and the last one that ends where a run wants to."""

from __future__ import annotations

from typing import Any

from workbench.language import inf, maximum, minimum, param, scalar


def tick(longest: Any) -> Any:  # noqa: ANN401  # traced values
    """The step to take: `longest`, or what is left until the param `until`; advances the scalar `time`, stores `dt`."""
    time, dt, until = scalar("time"), scalar("dt"), param("until", inf, above=-inf)
    step = minimum(longest, maximum(until - time, 0.0))
    time.next, dt.next = time + step, step
    return step
