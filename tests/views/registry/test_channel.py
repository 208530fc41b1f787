"""The registry's comm: what a front end is sent, how much and how often, and what is left when it closes."""

import gc
import queue
import threading
import time
import weakref

import numpy as np
import pytest

import workbench as wb
from workbench import events
from workbench.events import Measured, publish
from workbench.views.registry import channel as registry_channel
from workbench.views.registry.channel import MOST_CHANNELS, MOST_EVENTS, PAUSE_SECONDS, RegistryChannel, _opened

PATIENCE = 60
CELL = 'u = field("u", boundary="periodic")\nu.next = u[+1] - u[-1]'


class Front:
    """A front end's end of one comm."""

    def __init__(self, slow=0.0):
        self.messages, self.times, self.closed, self._slow = queue.Queue(), [], False, slow

    def send(self, data):
        self.times.append(time.monotonic())
        time.sleep(self._slow)
        self.messages.put(data)

    def on_close(self, callback):
        self.leave = callback

    def close(self):
        self.closed = True

    def wait(self, wanted):
        """The first message that is wanted."""
        while True:
            message = self.messages.get(timeout=PATIENCE)
            if wanted(message):
                return message


@pytest.fixture
def front():
    front = Front()
    channel = RegistryChannel(front)
    yield front
    channel.end(PATIENCE)
    assert not channel.alive


def test_snapshot_first_then_what_changes(front):
    opening = front.messages.get(timeout=PATIENCE)
    assert (opening["type"], opening["number"]) == ("snapshot", 1)
    assert {"compiled", "cache_hits", "seconds"} == set(opening["counters"])
    machine = wb.trace(CELL, name="differences")
    simulation = machine.simulate(u=np.arange(8.0), backend="reference")
    opened = front.wait(lambda m: any(row["machine"] == "differences" for row in m["simulations"]))
    (row,) = [row for row in opened["simulations"] if row["machine"] == "differences"]
    assert row["extents"] == [8]
    simulation.run(3)
    ended = front.wait(lambda m: any(each["steps"] == 3 for each in m["simulations"]))
    assert [each["number"] for each in ended["simulations"] if each["machine"] == "differences"] == [row["number"]]
    simulation.close()
    front.wait(lambda m: row["number"] in m["simulations_gone"])


def test_events_are_sent_with_their_fields(front):
    simulation = wb.trace(CELL, name="events").simulate(u=np.arange(8.0), backend="reference")
    simulation.run(2)
    simulation.close()
    found = []
    while not any(event["type"] == "SimulationClosed" for event in found):
        found += [e for e in front.wait(lambda m: m["type"] == "changes")["events"] if e["name"] == "events"]
    assert [event["type"] for event in found] == ["SimulationOpened", "RunEnded", "SimulationClosed"]
    assert found[0]["extents"] == [8]
    assert found[1]["steps"] == 2


def test_many_events_are_few_bounded_messages(front):
    front.messages.get(timeout=PATIENCE)
    for request in range(20 * MOST_EVENTS):
        publish(Measured("flood", request, float("nan")))
    total, last = 0, -1
    while last != 20 * MOST_EVENTS - 1:
        message = front.wait(lambda m: bool(m["events"]))
        flood = [event for event in message["events"] if event["name"] == "flood"]
        assert len(message["events"]) <= MOST_EVENTS
        assert all(event["step_seconds"] is None for event in flood)
        total += len(message["events"]) + message["events_left_out"]
        last = flood[-1]["request"] if flood else last
    assert total >= 20 * MOST_EVENTS
    assert all(after - before >= PAUSE_SECONDS for before, after in zip(front.times, front.times[1:], strict=False))


def test_nothing_waits_for_a_slow_front_end():
    front = Front(slow=0.5)
    channel = RegistryChannel(front)
    for request in range(1000):
        publish(Measured("slow", request, 1.0))
    assert front.messages.qsize() <= 1  # the loop did not wait for it
    channel.end(PATIENCE)


def test_closing_frees_thread_subscription_and_keeps_nothing_alive():
    subscribers = len(events._subscribers)
    front = Front()
    _opened(front, {})
    (channel,) = [each for each in registry_channel._channels if each._wire is front]
    machine = wb.trace(CELL, name="kept")
    simulation = machine.simulate(u=np.arange(8.0), backend="reference")
    front.wait(lambda m: any(row["machine"] == "kept" for row in m["simulations"]))
    gone = weakref.ref(simulation)
    del simulation
    gc.collect()
    assert gone() is None
    assert len(events._subscribers) == subscribers + 1
    front.leave({})
    channel.end(PATIENCE)
    assert len(events._subscribers) == subscribers
    assert channel not in registry_channel._channels
    assert not [t for t in threading.enumerate() if t is channel._thread]


def test_a_broken_connection_ends_it():
    class Broken(Front):
        def send(self, data):
            raise OSError("gone")

    channel = RegistryChannel(Broken())
    channel._thread.join(PATIENCE)
    assert not channel.alive


def test_too_many_front_ends_are_refused():
    fronts = [Front() for _ in range(MOST_CHANNELS + 1)]
    for front in fronts:
        _opened(front, {})
    assert [front.closed for front in fronts] == [False] * MOST_CHANNELS + [True]
    for channel in list(registry_channel._channels):
        channel.end(PATIENCE)
    assert not registry_channel._channels
