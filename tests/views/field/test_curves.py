"""Histories, profiles, flags and the look that collects them."""

import time

import numpy as np
import pytest

import workbench as wb
from workbench.backends.base import MarchRequest
from workbench.errors import FieldError, RunError
from workbench.run.hooks import watch
from workbench.run.rewinding import remember, rewind
from workbench.run.snapshots import Snapshot, take_snapshot
from workbench.views.field.curves import MOST_POINTS, TimeSeries, profiles
from workbench.views.field.figure import svg_of
from workbench.views.field.flags import find_wrong
from workbench.views.field.looking import MOST_PROBES, Looking, pictured_names
from workbench.views.field.messages import frame_message
from workbench.views.field.summary import Look, plain_axes
from workbench.views.field.words import describe

TEXT = """
u = field("u", boundary="periodic", unit="m")
total, t = scalar("total"), scalar("t")
c = param("c", 0.5)
w = u + c
u.next = w + c
total.next, t.next = reduce_sum(u), t + 0.25
"""


@pytest.fixture
def simulation():
    with wb.trace(TEXT, name="up", dim=2).simulate(u=np.arange(12.0).reshape(4, 3), backend="reference") as made:
        yield made


@pytest.fixture
def looking(simulation):
    return Looking(simulation, "u", plain_axes((4, 3)), Look())


def chart(looking, group):
    (found,) = looking.charts(frozenset({group}))
    return found


def test_history_keeps_all_of_a_short_run_and_an_even_part_of_a_long_one():
    history = TimeSeries()
    for step in range(10 * MOST_POINTS):
        history.append(step, -step)
    curve = history.curve("u")
    assert curve.places[0] == 0
    assert curve.places[-1] == 10 * MOST_POINTS - 1
    assert len(curve.places) <= MOST_POINTS
    assert (curve.values == -curve.places).all()
    assert len(set(np.diff(curve.places[:-1]))) == 1
    assert TimeSeries().curve("u").places.shape == (0,)


def test_probe_follows_a_cell_over_time(simulation, looking):
    looking.probe((2, 1))
    for _ in range(3):
        simulation.run(2)
        looking.again()
    drawn = chart(looking, "probes")
    assert (drawn.across, drawn.up, drawn.up_unit) == ("t", "u", "m")
    assert drawn.curves[0].name == "(2, 1)"
    assert drawn.curves[0].places.tolist() == [0.0, 0.5, 1.0, 1.5]
    assert drawn.curves[0].values.tolist() == [7.0, 9.0, 11.0, 13.0]


def test_looking_twice_at_one_step_counts_once(simulation, looking):
    looking.probe((0, 0))
    looking.again()
    assert chart(looking, "probes").curves[0].places.size == 1


def test_scalars_are_followed_from_the_first_step_that_computes_them(simulation, looking):
    simulation.run(1)
    looking.again()
    drawn = chart(looking, "scalars")
    assert (drawn.title, drawn.across) == ("total", "t")
    assert drawn.curves[0].places.tolist() == [0.25]
    assert drawn.curves[0].values.tolist() == [66.0]


def totals(curve):
    """What `total` is at the times of this curve: a step sums what the step before has left."""
    return 66.0 + 12 * (curve.places / 0.25 - 1)


def test_a_scalar_that_is_not_of_this_step_is_not_followed(simulation, looking):
    looking.probe((0, 0))
    for last in (True, False, True):
        simulation._state.march(MarchRequest("step", 3, observe_last=last))
        looking.again()
    (curve,) = chart(looking, "scalars").curves
    assert curve.places.tolist() == [0.75, 2.25]
    assert curve.values.tolist() == totals(curve).tolist()
    assert chart(looking, "probes").curves[0].places.tolist() == [0.0, 0.75, 1.5, 2.25]


def test_setting_back_makes_no_old_scalar_new(simulation):
    simulation._state.march(MarchRequest("step", 3, observe_last=False))
    start = remember(simulation)
    simulation.run(1)
    assert not take_snapshot(simulation, "u").stale
    rewind(simulation, start)
    assert take_snapshot(simulation, "u").stale == {"total"}


@pytest.mark.parametrize(("pace", "slow"), [(400.0, False), (400.0, True), (None, True)])
def test_scalars_follow_a_run_at_any_speed(simulation, looking, monkeypatch, pace, slow):
    """Between two slices of a run of slow steps there is no time for one step more."""
    if slow:
        monkeypatch.setattr("workbench.run.marching.SLICE_SECONDS", 1e-9)
    watcher = watch(simulation, lambda: None, 1 / 120)
    watcher.pace, watcher.scalars = pace, True
    simulation.start()
    looks = set()
    while len(looks) < 12:
        looks.add(looking.again().step)
        time.sleep(0.01)
    simulation.stop()
    (curve,) = chart(looking, "scalars").curves
    assert curve.values.tolist() == totals(curve).tolist()
    assert curve.places.size >= len(looks) - 1  # step 0 computes none


def test_profiles_go_through_the_last_probe(simulation, looking):
    looking.probe((0, 0))
    looking.probe((3, 1))
    along_x, along_y = looking.charts(frozenset({"profiles"}))
    assert along_x.curves[0].values.tolist() == simulation.u[:, 1].tolist()
    assert along_y.curves[0].values.tolist() == simulation.u[3].tolist()
    assert along_y.title == "u along y through cell (3, 1)"


def test_profile_has_the_coordinates_of_its_axis():
    axes = plain_axes((3, 2))
    (first, _) = profiles(Snapshot("u", np.eye(3, 2), {}, 0), axes, "", (1, 1))
    assert first.curves[0].places.tolist() == [0.0, 1.0, 2.0]


def test_setting_back_forgets_what_was_seen(simulation, looking):
    looking.probe((0, 0))
    simulation.run(4)
    looking.again()
    looking.start_over()
    looking.again()
    assert chart(looking, "probes").curves[0].places.tolist() == [1.0]


def test_only_so_many_probes_are_kept(looking):
    for row in range(4):
        for column in range(3):
            looking.probe((row, column))
    assert len(looking.probes) == MOST_PROBES
    assert looking.probes[-1] == (3, 2)
    looking.forget()
    assert looking.probes == ()


@pytest.mark.parametrize("cell", [(4, 0), (-1, 0), (1,)])
def test_probe_outside_the_domain_is_refused(looking, cell):
    with pytest.raises(RunError, match="is not one of 4 x 3"):
        looking.probe(cell)


def test_another_value_is_shown_and_a_bad_one_changes_nothing(simulation, looking):
    looking.probe((1, 1))
    looking.hold_limits((0.0, 1.0))
    looking.switch("w")
    assert looking.again().name == "w"
    assert looking.limits == "growing"
    assert chart(looking, "probes").curves[0].values.tolist() == [4.5]
    with pytest.raises(FieldError, match="computes nothing called"):
        looking.switch("nothing")
    with pytest.raises(FieldError, match="is a number"):
        looking.switch("total")
    assert looking.again().name == "w"


def limits_at(looking, simulation, *values):
    """What limits there are while the field has these values, one after the other."""
    found = []
    for value in values:
        simulation["u"] = np.linspace(0.0, value, 12).reshape(4, 3)
        simulation.run(0)
        found.append((looking.again().low, looking.again().high))
    return found


def test_limits_grow_until_they_are_freed_or_held(simulation, looking):
    assert limits_at(looking, simulation, 5.0, 20.0, -1.0, np.nan) == [(0, 11), (0, 20), (-1, 20), (-1, 20)]
    looking.choose_limits("free")
    assert limits_at(looking, simulation, 5.0, 2.0) == [(0, 5), (0, 2)]
    looking.choose_limits("growing")
    assert limits_at(looking, simulation, 3.0, 1.0) == [(0, 3), (0, 3)]
    looking.choose_limits("held")
    assert limits_at(looking, simulation, 9.0) == [(0, 3)]
    looking.choose_limits("growing")
    assert limits_at(looking, simulation, 1.0) == [(0, 1)]


def test_limits_about_zero_end_with_the_diverging_palette(simulation, looking):
    looking.colour("RdBu_r")
    assert limits_at(looking, simulation, -20.0, 5.0) == [(-20, 20), (-20, 20)]
    looking.colour("viridis")
    assert limits_at(looking, simulation, 5.0) == [(-20, 11)]


def test_setting_back_lets_limits_begin_anew(simulation, looking):
    simulation.run(5)
    assert looking.again().high == 16.0
    looking.start_over()
    simulation["u"] = np.arange(12.0).reshape(4, 3)
    assert looking.again().high == 11.0


@pytest.mark.parametrize("name", ["t", "time"])
def test_time_has_its_name_and_unit_wherever_it_is_told(name):
    text = f"u = field('u', unit='K')\nt = scalar('{name}', unit='s')\nu.next = u + 1\nt.next = t + 0.125"
    with wb.trace(text, name="clock", dim=2).simulate(u=np.zeros((3, 2)), backend="reference") as simulation:
        looking = Looking(simulation, "u", plain_axes((3, 2)), Look())
        looking.probe((0, 0))
        simulation.run(2)
        summary = looking.again()
    told = f"{name} = 0.25 s"
    assert describe(summary).startswith(f"u: 3 x 2 cells at step 2, {told}\n")
    assert f"u, step 2, {told}" in svg_of(summary)
    assert frame_message(1, summary).content["time"] == told
    (drawn,) = looking.charts(frozenset({"probes", "scalars"}))
    assert (drawn.across, drawn.across_unit) == (name, "s")


def test_names_that_have_pictures(simulation):
    assert pictured_names(simulation.graph) == ("u", "w")


def test_first_wrong_value_is_told_with_step_and_cell():
    values = np.zeros((3, 4))
    assert find_wrong(values, 5, 4) is None
    values[2, 1] = np.inf
    assert str(find_wrong(values, 5, None)) == "infinity at step 5 in cell (2, 1)"
    values[2, 3] = np.nan
    assert str(find_wrong(values, 5, 3)) == "NaN after step 3, by step 5, in cell (2, 3)"
    assert find_wrong(np.arange(3), 0, None) is None


def test_finite_values_whose_sum_is_not_are_well():
    assert find_wrong(np.full(4, 1e308), 0, None) is None


def test_wrong_stays_told_until_the_state_is_set_back(simulation, looking):
    values = simulation.to_numpy("u")
    simulation.run(3)
    spoilt = values.copy()
    spoilt[1, 2] = np.nan
    simulation["u"] = spoilt
    assert looking.again().wrong.cell == (1, 2)
    simulation["u"] = values
    simulation.run(1)
    assert (looking.again().wrong.step, looking.summary.not_numbers) == (3, 0)
    looking.start_over()
    assert looking.again().wrong is None


def test_profile_of_a_long_line_keeps_its_peaks():
    values = np.zeros((5000, 3))
    values[1234, 1] = 7.0
    along_x, along_y = profiles(Snapshot("u", values, {}, 0), plain_axes(values.shape), "", (0, 1))
    (curve,) = along_x.curves
    assert curve.values.size <= MOST_POINTS
    assert curve.values.max() == 7.0
    assert abs(curve.places[curve.values.argmax()] - 1234) < 10
    assert "least and greatest of each 10 cells" in along_x.title
    assert along_y.curves[0].values.tolist() == [0.0, 0.0, 0.0]
