"""A simulation: runs, conditions, values in and out, recording, probes, kernels."""

from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from tests.kit.capabilities import backends_here
from tests.programs.wave import TEXT as WAVE
from tests.programs.wave import start
from workbench.amounts import COLUMNS
from workbench.events import Progress, RunEnded
from workbench.frontend.declarations import RESERVED
from workbench.run.simulation import Simulation
from workbench.run.state import StaleScalarWarning, State

CLOCK = """\
u = field("u", boundary="periodic")
t = scalar("t")
peak = scalar("peak")
until = param("until", inf)
dt = minimum(0.3, until - t)
u.next = 0.5 * u + 0.0 * dt
t.next = t + dt
peak.next = reduce_max(u)
"""


@pytest.fixture(params=backends_here())
def backend(request):
    return request.param


@pytest.fixture
def wave(backend):
    with wb.trace(WAVE, name="wave").simulate(backend=backend, **start(32)) as simulation:
        yield simulation


@pytest.fixture
def clock(backend):
    with wb.trace(CLOCK, name="clock").simulate(u=np.arange(8.0), backend=backend) as simulation:
        yield simulation


def test_runs_add_up(wave):
    twin = wb.trace(WAVE, name="wave").simulate(backend=wave.backend, **start(32))
    assert np.array_equal(wave.run(7).step().run(0).u, twin.run(8).u)
    assert wave.steps == twin.steps == 8


def test_run_until_a_time_clips_the_last_step(clock):
    assert clock.run(until=1.0).t == 1.0
    assert clock.steps == 4
    assert clock.until == np.inf  # given back after the run
    assert clock.run(until=0.5).steps == 4  # that time has passed
    assert clock.run(until=99.0, at_most=2).steps == 6


def test_run_until_a_condition(clock):
    clock.run(until=lambda s: s.peak < 0.5)
    assert clock.steps == 5  # peak is of the state that the step started from: 7 / 2**4
    assert clock.peak == 7 / 2**4
    clock.run(until=lambda s: (s["peak"] <= 7 / 2**6) & (s.t > 0))
    assert clock.steps == 7
    assert clock.run(until=lambda s: s.peak < 0, at_most=3).steps == 10


def test_fields_scalars_and_params_are_set_and_read(wave):
    wave.set(c=2.0, u=1.5)
    wave["v"] = np.arange(32)
    assert wave.c == 2.0
    assert np.array_equal(wave.u, np.full(32, 1.5))
    assert np.array_equal(wave["v"], np.arange(32.0))
    assert not wave.u.flags.writeable
    assert wave.to_numpy("u").flags.writeable
    assert set(wave.to_dict()) == {"u", "v", "energy", "c"}
    assert {"u", "energy", "run"} <= set(dir(wave))


def test_param_changes_the_run_and_compiles_nothing(wave):
    wave.run(2)
    before = wb.counters().compiled
    other = wb.trace(WAVE, name="wave").simulate(backend=wave.backend, c=1.0, **start(57))
    other.run(3)
    wave.set(c=1.0).run(3)
    assert wb.counters().compiled == before


def test_device_view_is_the_live_array(wave):
    host = wave.device("u")
    assert hasattr(host, "__dlpack__")
    host[...] = 3.0
    assert np.array_equal(wave.u, np.full(32, 3.0))


def test_evaluate_gives_what_the_next_step_computes(wave):
    u1, dt = wave.evaluate("u1"), wave.evaluate("dt")
    assert dt == 2 * np.pi / 32 / 3.43
    assert np.array_equal(wave.evaluate("u"), wave.u)
    assert np.array_equal(u1, wave.step().u)
    assert not np.array_equal(u1, wave.evaluate("u1"))


def test_scalar_is_recorded_inside_the_run(wave):
    twin = wb.trace(WAVE, name="wave").simulate(backend="reference", **start(32))
    wave.run(3)
    every, third = wave.record("energy", every=2), wave.record("energy", every=3)
    wave.run(10)
    expected = [twin.step().energy for _ in range(13)]
    assert every.steps.tolist() == [4, 6, 8, 10, 12]
    assert third.steps.tolist() == [6, 9, 12]
    assert every.values.tolist() == [expected[k - 1] for k in every.steps]
    assert third.values.tolist() == [expected[k - 1] for k in third.steps]
    every.stop()
    wave.run(10)
    assert len(every) == 5
    assert len(third) == 6


def test_a_slice_records_no_more_than_memory_holds(clock, monkeypatch):
    asked, march = [], State.march
    monkeypatch.setattr(State, "march", lambda state, request: asked.append(request.steps) or march(state, request))
    clock.record("t", every=3)
    assert clock.run(until=1.0).steps == 4
    assert asked == [3 * 2**16]


def test_field_is_recorded_between_slices(wave):
    record = wave.record("u", every=4)
    assert record.values.shape == (0,)
    states = [wave.step().u for _ in range(3)]
    wave.run(6)
    assert record.steps.tolist() == [4, 8]
    assert record.values.shape == (2, 32)
    assert len(states) == 3
    twin = wb.trace(WAVE, name="wave").simulate(backend="reference", **start(32))
    assert np.array_equal(record.values[1], twin.run(8).u)


def test_scalar_fits_the_fields_after_every_run(wave):
    twin = wb.trace(WAVE, name="wave").simulate(backend="reference", **start(32))
    for steps in (1, 2, 5):
        assert wave.run(steps).energy == twin.run(steps).energy


def test_old_diagnostic_is_told(wave):
    wave.run(5)
    wave._state.observed_step = 3
    with pytest.warns(StaleScalarWarning, match="energy was last computed at step 3, the fields are at step 5: .* run"):
        wave.energy  # noqa: B018


def test_call_runs_a_kernel_and_counts_no_step(backend):
    text = 'u = field("u")\n@kernel\ndef reset():\n    u.next = u * 0\nu.next = u + 1'
    with wb.trace(text).simulate(u=1.0, shape=4, backend=backend) as simulation:
        simulation.run(3).call("reset")
        assert simulation.u.tolist() == [0.0] * 4
        assert simulation.steps == 3
        assert simulation.call("step").steps == 4


def test_machine_without_step_says_how_to_run(backend):
    machine = wb.trace('u = field("u")\n@kernel\ndef reset():\n    u.next = u * 0\nu.next = u + 1')
    alone = wb.Machine(replace(machine.graph, kernels=(machine.graph.kernel("reset"),)))
    with alone.simulate(u=1.0, shape=4, backend=backend) as simulation:
        assert simulation.call("reset").u.tolist() == [0.0] * 4
        with pytest.raises(wb.StencilError, match="has no kernel 'step'"):
            simulation.run(1)


def test_events_tell_the_progress(wave):
    events = []
    wave.run(50, progress=events.append)
    *progress, end = events
    assert progress[0] == Progress("wave", 0, 50, progress[0].seconds, progress[0].rate)
    assert progress[-1].steps == 50
    assert isinstance(end, RunEnded)
    assert (end.steps, end.reason) == (50, "done")


def test_listener_that_fails_ends_the_run_at_a_whole_step(wave):
    def fail(event):
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        wave.run(50, progress=fail)
    assert not wave.running
    assert wave.run(2).steps == 2


@pytest.mark.parametrize("again", [lambda sim: sim.run(1), lambda sim: sim.start(1)])
def test_a_run_begun_by_a_progress_callback_is_refused(wave, again):
    def begin(event):
        wave.set(c=2.0)
        again(wave)

    with pytest.raises(wb.StencilError, match="wave is running, and this is called during that run") as caught:
        wave.run(50, progress=begin)
    assert str(caught.value).endswith("Call it after the run has ended; set() and reading work in the callback.")
    assert wave.c == 2.0
    assert wave.run(2).steps == 2


def test_repr_says_what_runs_where(wave):
    text = repr(wave.run(3))
    assert text.startswith(f"simulation of wave: 32 cells, step 3, {wave.backend} (")
    assert "energy: scalar f64" in text
    assert max(map(len, text.splitlines())) <= COLUMNS


def test_public_names_cannot_be_hidden_by_fields():
    public = {name for name in vars(Simulation) if not name.startswith("_")}
    assert len(public) > 20
    assert public <= RESERVED


def test_xarray_has_axes_coordinates_and_units(backend):
    text = (
        'u = field("u", unit="K")\nL = param("L", 2.0)\n'
        'coordinate(0, cell_centre(0, L / size(0)), name="position", unit="cm")\n'
        'm = scalar("m")\nm.next = reduce_sum(u)\nu.next = u'
    )
    with wb.trace(text, dim=2).simulate(u=np.ones((4, 3)), backend=backend) as simulation:
        data = simulation.run(1).to_xarray()
    assert data.u.dims == ("position", "y")
    assert data.position.values.tolist() == [0.25, 0.75, 1.25, 1.75]
    assert (data.position.attrs["units"], data.u.attrs["units"]) == ("cm", "K")
    assert float(data.m) == 12.0


def test_missing_xarray_says_what_to_type(wave, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "xarray", None)
    with pytest.raises(wb.StencilError, match="pip install xarray"):
        wave.to_xarray()
