"""Events: frozen records of what happens while something long runs; listeners show them, nothing else needs them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from workbench.forking import forkable_lock

RunEnd = Literal["done", "until", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class Progress:
    """A run at a slice border: `steps` of `of` done (None: no end was named) after `seconds`, at `rate` steps/s.

    paused: it goes on when a view or another thread lets it.
    """

    name: str
    steps: int
    of: int | None
    seconds: float
    rate: float
    paused: bool = False


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The end of a run: `steps` whole steps in `seconds`; `reason` says why no more."""

    name: str
    steps: int
    seconds: float
    reason: RunEnd


RunEvent = Progress | RunEnded
Listener = Callable[[RunEvent], None]
"""Called in the thread that runs, between two slices; what it raises ends the run at a whole step."""


@dataclass(frozen=True, slots=True)
class Planned:
    """Other code was requested and is planned: what it will cost, before any compiler has seen it.

    `request` counts the requests of a simulation from 1. bound_seconds: of a step by the roofline, on host figures that
    may be an estimate. expected_seconds: the same in the proportion in which the code that runs now misses its own
    bound; None if that has not run yet. bytes_per_cell: moved to and from memory in a step.
    """

    name: str
    request: int
    subkernels: int
    bytes_per_cell: float
    bound_seconds: float
    expected_seconds: float | None


@dataclass(frozen=True, slots=True)
class Swapped:
    """New code runs from step `steps` on, `seconds` after the request, of which the compiler took `compile_seconds`.

    planning_seconds: from the request until its plan was there. waiting_seconds: until the run was between two steps.
    """

    name: str
    request: int
    steps: int
    seconds: float
    compile_seconds: float
    from_cache: bool
    planning_seconds: float
    waiting_seconds: float


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds a step of the new code takes: the median over its first second, or over longer until it is stable."""

    name: str
    request: int
    step_seconds: float


@dataclass(frozen=True, slots=True)
class RequestDropped:
    """A request that came to nothing: the old code goes on. `text`: the error, "" if cancelled or overtaken."""

    name: str
    request: int
    text: str


@dataclass(frozen=True, slots=True)
class SimulationOpened:
    """A simulation was made, of these extents."""

    name: str
    backend: str
    extents: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SimulationClosed:
    """Its memory was freed by close()."""

    name: str


ReplanEvent = Planned | Swapped | Measured | RequestDropped
ReplanListener = Callable[[ReplanEvent], None]
"""Called in the thread that plans, or between two slices in the one that runs; returns at once, must not raise."""

Event = RunEvent | ReplanEvent | SimulationOpened | SimulationClosed
Subscriber = Callable[[Event], None]

_subscribers: list[Subscriber] = []
_lock = forkable_lock()


def subscribe(subscriber: Subscriber) -> Callable[[], None]:
    """Hear of all simulations, ends of runs and new code in this process; call the result to hear no more.

    It is called in whatever thread the event comes from and must return at once; what it raises is lost.
    """
    with _lock:
        _subscribers.append(subscriber)

    def unsubscribe() -> None:
        with _lock:
            if subscriber in _subscribers:
                _subscribers.remove(subscriber)

    return unsubscribe


def publish(event: Event) -> None:
    """Tell all subscribers. A subscriber that raises does not harm the others."""
    with _lock:
        subscribers = tuple(_subscribers)
    for subscriber in subscribers:
        with contextlib.suppress(Exception):
            subscriber(event)
