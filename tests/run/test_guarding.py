"""A guarded run is held at the last step at which all was finite; all others are told of and left as they are."""

import threading
import time

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from tests.kit.capabilities import backends_here
from workbench.run import guarding
from workbench.run.guarding import Guard
from workbench.run.hooks import watch

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

FALL = """\
u, w = fields("u w", boundary="periodic")
total = scalar("total")
c = param("c", 0.25, warn_above=0.2)
root = sqrt(u)
u.next = u - c + 0 * root
w.next = w + 1
total.next = reduce_sum(u)
"""
FIRST_BAD = 10  # u is 2 at first, below 0 after step 9, and step 10 takes its root


@pytest.fixture(params=backends_here())
def simulation(request):
    with wb.trace(FALL, name="fall", dim=1).simulate(u=np.full(6, 2.0), w=0.0, backend=request.param) as made:
        yield made


def guarded(simulation, steps=3000, most=60.0):
    """What a guard says of the run that goes on, asked as a view asks it."""
    guard, end = Guard(simulation), time.monotonic() + most
    assert guard.look(False) is None
    watcher = watch(simulation, lambda: None, 1 / 120)
    watcher.pace = 1000
    simulation.start(steps)
    while time.monotonic() < end:
        error = guard.look(bool(np.isnan(simulation.u).any()))
        if error is not None:
            watcher.pace = None
            return guard, error
        time.sleep(0.001)
    raise AssertionError("nothing was said")


def test_run_is_held_at_the_last_good_step(simulation):
    record = simulation.record("total")
    guard, error = guarded(simulation)
    assert simulation.paused
    assert simulation.steps == FIRST_BAD - 1
    assert (error.field, error.cell, error.step) == ("u", (0,), FIRST_BAD)
    assert "first made by sqrt of -0.25 in root" in str(error)
    assert "\nc=0.25 is above 0.2, up to which it is known to work. Look at the state before" in str(error)
    assert error.line == 4
    assert_same_bits(simulation.u, np.full(6, -0.25))
    assert_same_bits(simulation.w, np.full(6, FIRST_BAD - 1.0))
    assert simulation.total == 0.0  # of the u before, and of this step: no warning
    assert record.steps.tolist() == list(range(1, FIRST_BAD))
    simulation.start()  # whoever plays on sees the rest, in as many steps as were asked for
    assert guard.look(True) is None
    simulation.wait()
    assert simulation.steps == 3000
    assert guard.look(True) is None
    simulation.set(u=2.0)
    assert guard.look(False) is None
    simulation.run(FIRST_BAD)
    assert guard.look(True).step == 3000 + FIRST_BAD


def test_a_run_that_has_ended_is_left_as_it_is(simulation):
    guard = Guard(simulation)
    assert guard.look(False) is None
    simulation.run(50)
    before = simulation.to_dict()
    error = guard.look(True)
    assert (error.step, simulation.steps) == (FIRST_BAD, 50)
    for name, value in simulation.to_dict().items():
        assert_same_bits(np.asarray(value), np.asarray(before[name]))
    assert guard.look(True) is None


@pytest.mark.parametrize("why", ["no memory", "long ago"])
def test_without_a_copy_the_two_looks_are_named(simulation, monkeypatch, why):
    if why == "no memory":
        monkeypatch.setattr("workbench.run.guarding.bytes_available", lambda: 0)
    else:
        monkeypatch.setattr("workbench.run.guarding.LONGEST_REPEAT", 0.0)
    _, error = guarded(simulation)
    assert simulation.paused
    assert simulation.steps == error.step >= FIRST_BAD
    assert f"u of fall is nan in cell (0,) at step {error.step}, and was finite at step" in str(error)


def test_values_that_somebody_sets_meanwhile_are_no_steps(simulation):
    guard = Guard(simulation)
    assert guard.look(False) is None
    simulation.run(3)
    simulation.set(c=1.0)  # repeated from the copy, the steps would be others
    assert guard.look(True) is None
    simulation.run(3)
    error = guard.look(True)
    assert (error.step, simulation.steps) == (6, 6)


@pytest.mark.parametrize("memory", [None, 0])
def test_what_turns_bad_right_after_a_value_was_set_is_told(simulation, monkeypatch, memory):
    monkeypatch.setattr("workbench.run.guarding.bytes_available", lambda: memory)
    guard = Guard(simulation)
    watch(simulation, lambda: None, 1 / 120).written = guard.written
    assert guard.look(False) is None
    simulation.run(3)
    simulation.set(c=1.0)  # u is 1.25 now, -0.75 after step 5, and step 6 takes its root
    simulation.run(20)
    error = guard.look(True)
    if memory is None:
        assert (error.field, error.step) == ("u", 6)
        assert "first made by sqrt of -0.75 in root" in str(error)
    else:
        assert (error.field, error.step) == ("u", 23)
        assert "and was finite at step 3" in str(error)


def test_who_sets_a_value_again_and_again_makes_few_copies(simulation, monkeypatch):
    copies = []
    monkeypatch.setattr(guarding, "kept_state", lambda state: copies.append(state.steps) or time.sleep(0.002))
    guard = Guard(simulation)
    watch(simulation, lambda: None, 1 / 120).written = guard.written
    assert guard.look(False) is None
    begin = time.monotonic()
    for _ in range(50):
        simulation.set(c=1e-3)
        simulation.run(1)
    assert 2 <= len(copies) <= 3 + (time.monotonic() - begin) / 0.04


@pytest.mark.parametrize("field_too", [False, True])
def test_what_is_dragged_between_two_copies_is_repeated_as_it_was_set(simulation, monkeypatch, field_too):
    monkeypatch.setattr(guarding, "SHARE", 1e-9)  # one copy, and then none for long
    guard = Guard(simulation)
    watch(simulation, lambda: None, 1 / 120).written = guard.written
    assert guard.look(False) is None
    simulation.run(1)
    simulation.set(c=0.25)  # the copy: u is 1.75
    for c in (0.25, 0.5, 0.5, 0.75):  # u is 1.5, 1, 0.5, -0.25, and step 6 takes the root
        simulation.set(c=0.1)
        simulation.set(c=c, **({"w": 1.0} if field_too else {}))
        simulation.run(1)
    simulation.run(20)
    before = simulation.to_dict()
    error = guard.look(True)
    assert simulation.c == 0.75
    for name, value in simulation.to_dict().items():
        assert_same_bits(np.asarray(value), np.asarray(before[name]))
    if field_too:  # not written down, because it may be large
        assert "and was finite at step" in str(error)
    else:
        assert (error.field, error.step) == ("u", 6)
        assert "first made by sqrt of -0.25 in root" in str(error)
        assert "c=0.75 is above 0.2" in str(error)


def test_a_run_in_front_fails_at_its_last_good_step(simulation):
    guard, told = Guard(simulation), []
    assert guard.look(False) is None
    watcher = watch(simulation, lambda: None, 1 / 120)
    watcher.pace = 300
    record = simulation.record("total")

    def look():
        while not told:
            error = guard.look(bool(np.isnan(simulation.u).any()))
            if error is not None:
                told.append(error)
            time.sleep(0.001)

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    with pytest.raises(wb.StencilError) as failed:
        simulation.run(3000)
    looking.join(60)
    assert failed.value is told[0]
    assert guard.failed
    assert (told[0].step, simulation.steps) == (FIRST_BAD, FIRST_BAD - 1)
    assert not simulation.running
    assert record.steps.tolist() == list(range(1, FIRST_BAD))
    watcher.pace = None
    simulation.run(5)  # whoever runs on sees the rest
    assert guard.look(True) is None


def test_what_is_bad_from_the_start_is_meant(simulation):
    simulation.set(w=np.nan)
    guard = Guard(simulation)
    assert guard.look(True) is None
    simulation.run(5)
    assert guard.look(True) is None
    simulation.run(20)
    assert guard.look(True).field == "u"
