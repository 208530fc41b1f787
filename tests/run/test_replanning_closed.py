"""A simulation that is closed or gone while it is to run by another plan."""

import gc
import threading
import weakref

import pytest

import workbench as wb
from tests.kit.waiting import PATIENCE, wait_for
from tests.programs.wave import TEXT, start
from workbench.errors import StencilError
from workbench.planning.choices import Choices, PlanChoices
from workbench.planning.sites import storage_sites

WAVE = wb.trace(TEXT, name="wave")
STORED = Choices(plan=PlanChoices().changed(manifest=frozenset([storage_sites(WAVE.plan().graph)[0].key])))


def test_a_request_is_cancelled_whenever_the_simulation_is_closed(monkeypatch):
    simulation = WAVE.simulate(**start(16), backend="reference")
    looked_at_memory, closed = threading.Event(), threading.Event()

    def check(*_):
        looked_at_memory.set()
        assert closed.wait(PATIENCE)

    monkeypatch.setattr("workbench.run.replanning.check_memory", check)
    requested = simulation.replan(STORED)
    assert looked_at_memory.wait(PATIENCE)
    requested.cancel()  # as `close` does first
    simulation._state.close()
    closed.set()
    assert requested.wait(PATIENCE).stage == "cancelled"


def test_a_run_may_be_closed_from_within_while_a_request_waits_for_it():
    simulation = WAVE.simulate(**start(16), backend="reference")
    requested = []

    def listen(event):
        if not requested:
            requested.append(simulation.replan(STORED))
            wait_for(lambda: requested[0].report.stage == "swapping")
            simulation.close()

    simulation.start(1000, progress=listen)
    with pytest.raises(StencilError, match="was closed"):
        simulation.wait(PATIENCE)
    assert requested[0].wait(PATIENCE).stage == "cancelled"


def test_no_old_state_is_kept_alive():
    simulation = WAVE.simulate(**start(16), backend="reference")
    old = weakref.ref(simulation._state.instance)
    simulation.replan(STORED).wait(PATIENCE)
    wait_for(lambda: not [thread for thread in threading.enumerate() if thread.name == "replanning"])
    gc.collect()
    assert old() is None
    gone = weakref.ref(simulation)
    del simulation
    gc.collect()
    assert gone() is None
