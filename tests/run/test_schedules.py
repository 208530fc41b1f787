"""What "auto" is for a simulation of a size, and tiled simulations that are planned anew, saved and interrupted."""

import time
from functools import partial

import numpy as np
import pytest

import workbench as wb
from tests.kit.random_tileable import RINGED
from workbench.backends import host
from workbench.backends.build_cache import BuildCache
from workbench.backends.openmp import OpenmpInstance
from workbench.backends.processor import cache_bytes
from workbench.planning.choices import TilingChoices
from workbench.planning.cost import CacheLevel, HostFigures
from workbench.planning.exchange import from_json, to_json
from workbench.run import schedules
from workbench.solvers import advection

LARGE = (900, 1000)  # two arrays of f64 take more than three caches of each of two threads
STEEP = 'u = field("u", boundary="periodic")\ntop = reduce_max(u)\nu.next = u[+1, 0] / top\n'


@pytest.fixture(autouse=True)
def cache(monkeypatch):
    """A second cache of 2 MiB and a third one of many cores, whatever there is, on a machine that was not measured."""
    assert cache_bytes() > 0
    monkeypatch.setattr(schedules, "last_figures", lambda: None)
    monkeypatch.setattr(schedules, "cache_bytes", lambda: 2 << 20)
    monkeypatch.setattr(schedules, "third_cache_is_near", lambda: False)


@pytest.fixture(scope="module")
def ringed():
    return wb.trace(RINGED, name="ringed", dim=2)


def start(extents=LARGE):
    return np.random.default_rng(5).random(extents)


def schedule_of(simulation):
    return simulation.choices.plan.tiling.schedule


def words(simulation):
    """Its text on one line."""
    return " ".join(str(simulation).split())


def tiles_of(simulation):
    return simulation._state.instance.tiles


def test_choices_of_a_simulation_give_its_tiles_again(ringed, tmp_path):
    """By a genome, a file of choices, a checkpoint and a new plan, with other threads; the bits are the same."""
    first = ringed.simulate(u=start(), backend="openmp", threads=2).run(8)
    tiling, (sizes,) = first.choices.plan.tiling, tiles_of(first)
    assert (tiling.schedule, tiling.depth, tiling.tile_count) == ("diamond", sizes.depth, sizes.spaces)
    assert tiling.widths[0] == 2 * sizes.height
    assert f"{tiling.depth} steps at most, {tiling.tile_count} diamonds of {tiling.widths[0]} cells" in words(first)
    assert ringed.simulate(u=start(), backend="openmp", threads=1)._state.instance.tiles != (sizes,)
    read = from_json(to_json(first.choices))
    assert read == first.choices
    first.save(tmp_path / "state.npz")
    right = first.run(9).u
    for machine in (ringed.with_genome(first.genome), ringed.with_choices(read)):
        again = machine.simulate(u=start(), backend="openmp", threads=1).run(17)
        restored = machine.restore(tmp_path / "state.npz", backend="openmp", threads=1).run(9)
        for simulation in (again, restored):
            assert tiles_of(simulation) == (sizes,)
            assert simulation.choices.plan.tiling == tiling
            assert np.array_equal(simulation.u, right)
    small = ringed.with_choices(read).simulate(u=start((9, 7)), backend="openmp", threads=2)
    assert tiles_of(small)[0].spaces == 4
    alone = ringed.simulate(u=start(), backend="openmp", threads=1, schedule="stepwise")
    assert alone.choices.plan.tiling == TilingChoices("stepwise")
    alone.replan(first.choices).wait(120)
    assert (tiles_of(alone), alone.choices.plan.tiling) == ((sizes,), tiling)
    assert "diamonds of" in words(alone)
    alone.close()
    assert alone.choices.plan.tiling == tiling


def test_sizes_that_somebody_chose_stay_as_they_are(ringed):
    chosen = ringed.with_choices(schedule="diamond", depth=5, widths=(9,))
    tiling = chosen.simulate(u=start((40, 50)), backend="openmp", threads=2).choices.plan.tiling
    assert (tiling.depth, tiling.widths[0], tiling.tile_count) == (5, 9, 5)
    narrow = chosen.simulate(u=start((1, 50)), backend="openmp", threads=2)
    assert narrow.choices.plan.tiling == chosen.choices.plan.tiling
    assert "one step after the other: the grid has no room for tiles" in words(narrow)


def test_auto_is_decided_by_size(ringed):
    large = ringed.simulate(u=start(), backend="openmp", threads=2)
    assert (schedule_of(large), large.compiled.plan.schedule) == ("diamond", "diamond")
    assert "\n  schedule: several steps together, diamond" in str(large)
    small = ringed.simulate(u=start((20, 30)), backend="openmp")
    assert (schedule_of(small), small.compiled.plan.schedule) == ("stepwise", "stepwise")
    assert "schedule:" not in str(small)
    assert ringed.choices.plan.tiling == TilingChoices("auto")
    assert len({ringed.genome, large.genome, small.genome}) == 3
    for simulation in (large, small):
        assert ringed.with_genome(simulation.genome).choices.plan.tiling == simulation.choices.plan.tiling


@pytest.mark.parametrize(
    ("third", "edge", "chosen"),
    [
        (None, 560, "stepwise"),  # two threads have 2.4 MiB each; unmeasured, tiles begin at 1.5 caches of 2 MiB
        (None, 680, "diamond"),
        (28e9, 560, "diamond"),  # a third cache much slower than the second
        (28e9, 400, "stepwise"),  # what each thread works on stays in its second cache
        (70e9, 680, "stepwise"),  # one nearly as fast
        (70e9, 2300, "diamond"),  # beyond it
        (28e9, 10_000, "diamond"),
        (28e9, 14_000, "diamond"),
        (28e9, 33_000, "stepwise"),  # four steps would take more than two and a half seconds, so that each runs alone
        (None, 33_000, "diamond"),
    ],
)
def test_auto_asks_what_lies_behind_the_second_cache(ringed, monkeypatch, third, edge, chosen):
    rates = {} if third is None else {16 << 10: 160e9, 1 << 20: 80e9, 4 << 20: third, 16 << 20: third, 256 << 20: 12e9}
    levels = tuple(CacheLevel(2 * size, 2 * rate) for size, rate in rates.items())  # of two threads together
    figures = HostFigures(24e9, 1e11, "measured here", levels) if levels else None
    monkeypatch.setattr(schedules, "available_threads", lambda: 2)
    monkeypatch.setattr(schedules, "last_cache_bytes", lambda: 32 << 20)
    monkeypatch.setattr(schedules, "last_figures", lambda: figures)
    made, _ = schedules.resolved(ringed.graph, ringed.choices, "openmp", (edge, edge), 2)
    assert made.plan.tiling.schedule.replace("auto", "stepwise") == chosen


@pytest.mark.parametrize(("edge", "chosen"), [(680, "auto"), (1000, "auto"), (1100, "diamond")])
def test_unmeasured_a_near_third_cache_keeps_steps(ringed, monkeypatch, edge, chosen):
    """Two threads have 16 MiB of it each, and are given half of their part: arrays of 8 MiB each at 1024 squared."""
    monkeypatch.setattr(schedules, "third_cache_is_near", lambda: True)
    monkeypatch.setattr(schedules, "last_cache_bytes", lambda: 32 << 20)
    made, _ = schedules.resolved(ringed.graph, ringed.choices, "openmp", (edge, edge), 2)
    assert made.plan.tiling.schedule == chosen


@pytest.mark.parametrize(
    ("edge", "threads", "chosen"),
    [
        (96, 2, "diamond"),
        (192, 2, "diamond"),
        (96, 1, "stepwise"),
        (96, 0, "stepwise"),  # one thread, as nobody asks for more
        (20, 2, "stepwise"),  # tiles of two rows meet as often as steps
        (400, 2, "stepwise"),  # a step takes longer than to meet, and arrays are in the second caches
    ],
)
def test_threads_that_meet_more_than_they_compute_take_tiles(ringed, edge, threads, chosen):
    simulation = ringed.simulate(u=start((edge, edge)), backend="openmp", threads=threads)
    assert schedule_of(simulation) == chosen
    right = ringed.simulate(u=start((edge, edge)), backend="openmp", threads=1, schedule="stepwise")
    assert np.array_equal(simulation.run(37).u, right.run(37).u)


def test_figures_of_a_busy_machine_decide_nothing(ringed, monkeypatch, tmp_path):
    cache, flat = BuildCache(tmp_path), tuple(CacheLevel(size, 4e9) for size in (16 << 10, 1 << 20, 4 << 20, 256 << 20))
    monkeypatch.setattr(schedules, "last_figures", partial(host.last_figures, cache))
    slow = HostFigures(4e9, 2e8, f"measured here{host.BUSY}", flat)  # where arithmetic takes nearly all the time
    for last, chosen in ((None, "diamond"), (slow, "auto")):
        host._keep(slow, last, cache)
        made, _ = schedules.resolved(ringed.graph, ringed.choices, "openmp", LARGE, 2)
        assert made.plan.tiling.schedule == chosen


def test_auto_says_why_steps_follow_each_other():
    steep = wb.trace(STEEP, name="steep", dim=2).simulate(u=start(), backend="openmp", threads=2)
    assert schedule_of(steep) == "stepwise"
    assert "schedule: one step after the other: top needs the maximum of u over all cells, line 2" in words(steep)
    chained = advection.machine()
    (field,) = (f.name for f in chained.graph.fields)
    simulation = chained.simulate(**{field: start()}, backend="openmp", threads=2)
    assert "one step after the other: tiles would gain too little here" in words(simulation)


def test_auto_leaves_what_was_chosen(ringed):
    assert schedule_of(ringed.simulate(u=start(), backend="openmp", schedule="stepwise")) == "stepwise"
    assert schedule_of(ringed.simulate(u=start((40, 40)), backend="openmp", schedule="diamond")) == "diamond"
    assert schedule_of(ringed.simulate(u=start((6, 7)), backend="cuda-sim")) == "stepwise"


def test_a_tiled_simulation_is_saved_restored_and_planned_anew(ringed, tmp_path):
    right = ringed.simulate(u=start(), backend="openmp", threads=2, schedule="stepwise").run(40)
    tiled = ringed.simulate(u=start(), backend="openmp", threads=2).run(13)
    tiled.save(tmp_path / "state.npz")
    restored = ringed.restore(tmp_path / "state.npz", backend="openmp", threads=1)
    assert schedule_of(restored) == "diamond"
    assert "diamond" in str(restored)
    assert np.array_equal(restored.run(27).u, right.u)
    tiled.replan(ringed.with_choices(schedule="stepwise").choices).wait(120)
    assert schedule_of(tiled) == "stepwise"
    assert "schedule:" not in str(tiled)
    tiled.run(9)
    tiled.replan(ringed.choices).wait(120)
    assert schedule_of(tiled) == "diamond"
    assert np.array_equal(tiled.run(18).u, right.u)
    assert tiled.time == right.time == restored.time


@pytest.mark.parametrize(
    ("more", "observed"), [("", False), ("total = scalar('total')\ntotal.next = reduce_sum(u)\n", True)]
)
def test_the_last_step_of_a_run_is_alone_only_where_it_computes_something(more, observed, monkeypatch):
    """Alone it takes the time of several steps in tiles."""
    asked, march = [], OpenmpInstance.march

    def seen(instance, request):
        asked.append(request.observe_last)
        return march(instance, request)

    monkeypatch.setattr(OpenmpInstance, "march", seen)
    cell = wb.trace(f'u = field("u", boundary="periodic")\n{more}u.next = 0.5 * (u[+1, 0] + u[-1, 0])\n', dim=2)
    simulation = cell.simulate(u=start(), backend="openmp", threads=2, schedule="diamond").run(30)
    assert asked[-1] is observed
    right = cell.simulate(u=start(), backend="openmp", threads=1, schedule="stepwise").run(30)
    assert np.array_equal(simulation.u, right.u)
    if observed:
        assert simulation.total == right.total


def test_a_tiled_run_that_is_asked_to_stop_ends_at_a_whole_step(ringed):
    """How many steps it may still do is asked in tests/backends/test_march_rule.py."""
    tiled = ringed.simulate(u=start(), backend="openmp", threads=2).run(80)
    tiled.start()
    while tiled.steps == 80:
        time.sleep(0.01)
    tiled.stop()
    steps = tiled.steps
    assert steps > 80
    right = ringed.simulate(u=start(), backend="openmp", threads=1, schedule="stepwise").run(steps)
    assert np.array_equal(tiled.u, right.u)


def test_a_tiled_run_ends_at_its_time(ringed):
    tiled = ringed.simulate(u=start(), backend="openmp", threads=2).run(2)
    tiled.run(until=lambda s: s.time >= 30.25)
    assert tiled.steps == 61
    assert tiled.time == 30.5
