"""Registry channel: a comm by which a front end reads what is alive in this process, and hears what becomes of it.

labextension/src/kernel/README.md says what is sent.
"""

from __future__ import annotations

import atexit
import contextvars
import math
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from comm import get_comm_manager

from workbench.backends.cache_folder import default_cache
from workbench.events import Event, subscribe
from workbench.pipeline import counters

TARGET = "stencil-workbench.registry"
MOST_EVENTS = 64  # of one message
MOST_ROWS = 100  # machines, and simulations, of one message: the youngest
MOST_CHANNELS = 16
PAUSE_SECONDS = 0.25  # between two messages
LOOK_SECONDS = 1.0  # steps and memory change without an event
_ENDING_SECONDS = 2.0

Row = dict[str, Any]


class Wire(Protocol):
    """A comm, as far as it is used."""

    def send(self, data: Mapping[str, object]) -> None:
        """One message; may be called by any thread."""

    def on_close(self, callback: Callable[[object], None]) -> None:
        """Call when the other end has closed it."""

    def close(self) -> None:
        """Tell the other end that there is no more."""


class RegistryChannel:
    """Follows the registry for one front end, in a thread of its own; nothing waits for it.

    It keeps plain rows only, never a machine or a simulation. `end()` is final.
    """

    def __init__(self, wire: Wire) -> None:
        """Starts at once, and sends the snapshot from its thread."""
        self._wire = wire
        self._number = 0
        self._machines: dict[int, Row] = {}
        self._simulations: dict[int, Row] = {}
        self._events: deque[Event] = deque(maxlen=MOST_EVENTS)
        self._left_out = 0
        self._lock = threading.Lock()
        self._woken = threading.Event()
        self._ended = threading.Event()
        self._unsubscribe = subscribe(self._hear)
        wire.on_close(lambda _: self.end())
        # ipykernel answers a comm where the message came from in whose course it was last sent on: with the context
        # of the message that opened it, closing is heard while a cell runs.
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._run,), name="registry channel", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether it still follows."""
        return self._thread.is_alive()

    def end(self, timeout: float = 0.0) -> None:
        """Follow no more; wait at most so many seconds for the thread."""
        self._unsubscribe()
        self._ended.set()
        self._woken.set()
        if timeout and self._thread is not threading.current_thread():
            self._thread.join(timeout)

    def _hear(self, event: Event) -> None:
        """In the thread that runs or plans."""
        with self._lock:
            self._left_out += len(self._events) == MOST_EVENTS
            self._events.append(event)
        self._woken.set()

    def _run(self) -> None:
        try:
            self._send(self._snapshot())
            while not self._ended.wait(PAUSE_SECONDS):
                self._woken.wait(LOOK_SECONDS)
                self._woken.clear()
                changes = {} if self._ended.is_set() else self._changes()
                if changes:
                    self._send(changes)
        except Exception:  # the connection is gone, or the process ends: no reader is left
            self.end()
        finally:
            _channels.discard(self)

    def _send(self, content: Mapping[str, object]) -> None:
        self._number += 1
        self._wire.send({**content, "number": self._number})

    def _snapshot(self) -> dict[str, object]:
        living = _look()
        self._machines, self._simulations = living.machines, living.simulations
        return {
            "type": "snapshot",
            "machines": list(living.machines.values()),
            "simulations": list(living.simulations.values()),
            "machines_left_out": living.machines_left_out,
            "simulations_left_out": living.simulations_left_out,
            "counters": asdict(counters()),
            "cache": str(default_cache().info()),
        }

    def _changes(self) -> dict[str, object]:
        """What differs from what was sent; empty if nothing does."""
        with self._lock:
            events, left_out = tuple(self._events), self._left_out
            self._events.clear()
            self._left_out = 0
        living = _look()
        found: dict[str, object] = {
            "machines": _changed(self._machines, living.machines),
            "simulations": _changed(self._simulations, living.simulations),
            "machines_gone": sorted(self._machines.keys() - living.machines.keys()),
            "simulations_gone": sorted(self._simulations.keys() - living.simulations.keys()),
            "events": [{"type": type(event).__name__, **_plain(asdict(event))} for event in events],
        }
        self._machines, self._simulations = living.machines, living.simulations
        return {"type": "changes", **found, "events_left_out": left_out} if any(found.values()) else {}


@dataclass(frozen=True, slots=True)
class _Rows:
    """What is alive now, as plain values by number."""

    machines: dict[int, Row]
    simulations: dict[int, Row]
    machines_left_out: int
    simulations_left_out: int


def _look() -> _Rows:
    from workbench.views.registry.snapshot import (  # with all backends: at the first look
        living_machines,
        living_simulations,
    )

    machines = [_plain(asdict(each)) for each in living_machines()]
    simulations = [_plain(asdict(each)) for each in living_simulations()]
    return _Rows(
        {row["number"]: row for row in machines[-MOST_ROWS:]},
        {row["number"]: row for row in simulations[-MOST_ROWS:]},
        max(0, len(machines) - MOST_ROWS),
        max(0, len(simulations) - MOST_ROWS),
    )


def _plain(value: Any) -> Any:  # noqa: ANN401  # any record
    """As JSON can say it: numbers that are none become None."""
    match value:
        case dict():
            return {key: _plain(each) for key, each in value.items()}
        case tuple() | list():
            return [_plain(each) for each in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value


def _changed(before: Mapping[int, Row], now: Mapping[int, Row]) -> list[Row]:
    return [row for number, row in now.items() if before.get(number) != row]


_channels: set[RegistryChannel] = set()


def serve_registry() -> None:
    """From now on front ends of this process may open the comm; calling it again changes nothing."""
    get_comm_manager().register_target(TARGET, _opened)


def _opened(comm: Any, _message: object) -> None:  # noqa: ANN401  # a Wire, typed otherwise by comm
    """A front end opened the comm: returns at once. More than a few are refused, by closing them."""
    if len(_channels) >= MOST_CHANNELS:
        comm.close()
        return
    _channels.add(RegistryChannel(comm))


@atexit.register
def _end_all() -> None:
    # The thread must not look at simulations that the interpreter takes down.
    for channel in list(_channels):
        channel.end(_ENDING_SECONDS)
