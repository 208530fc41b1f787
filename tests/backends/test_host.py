"""Host figures are estimated until they are measured, then remembered."""

import re
import time

import pytest

from tests.kit.ceilings import measure_ceilings_quickly
from workbench.backends import host
from workbench.backends.build_cache import BuildCache
from workbench.planning.cost import ESTIMATE, CacheLevel, HostFigures


@pytest.fixture
def small(monkeypatch):
    measure_ceilings_quickly(monkeypatch)


@pytest.fixture
def alone(monkeypatch):
    monkeypatch.setattr(host, "_load", lambda: 0.0)
    monkeypatch.setattr(host._Timer, "lost_share", lambda timer: 0.0)


def test_nothing_measured_means_an_estimate_that_says_so(tmp_path):
    cache = BuildCache(tmp_path)
    assert host.measured_figures(cache) is None
    assert host.host_figures(cache) is ESTIMATE
    assert "estimate" in host.figures_text(ESTIMATE)


def test_measured_figures_are_kept(tmp_path, small):
    measured = host.measure_host(BuildCache(tmp_path))
    assert measured.bandwidth > 0
    assert measured.flops > 0
    assert host.host_figures(BuildCache(tmp_path)) == measured
    assert "measured here" in host.figures_text(measured)


def test_without_a_compiler_numpy_measures(tmp_path, small, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CXX", "no-such-compiler")
    assert host.measure_host(BuildCache(tmp_path)).flops > 0


def test_when_the_time_is_over_each_ceiling_is_measured_once():
    done, timer = [], host._Timer()
    timer.seconds([lambda: done.append("sum")])
    assert done.count("sum") > 1
    timer._end = time.perf_counter() - 1
    timer.seconds([lambda: done.append("copy")])
    assert done.count("copy") == 1


def test_tasks_that_wait_lose_the_time_of_their_processors():
    timer = host._Timer()
    assert timer.lost_share() == 0.0
    timer.seconds([lambda: time.sleep(0.05)] * 2)
    assert timer.lost_share() > 0.8


def test_a_damaged_note_counts_as_absent(tmp_path, small):
    cache = BuildCache(tmp_path)
    host.measure_host(cache)
    (note,) = (tmp_path / "notes").glob("host-*.json")
    for damaged in ('{"bandwidth": 0.0, "flops": "fast"}', '{"bandwidth": 1.0, "flops": 1.0, "levels": [[1, "fast"]]}'):
        note.write_text(damaged)
        assert host.measured_figures(cache) is None


def test_caches_are_measured_and_less_data_is_never_slower(tmp_path, small):
    figures = host.measure_host(BuildCache(tmp_path))
    threads = host.available_threads()
    assert [level.size for level in figures.levels] == [threads << 12, threads << 14, threads << 17]
    speeds = [level.bandwidth for level in figures.levels]
    assert speeds == sorted(speeds, reverse=True)
    assert speeds[-1] == figures.bandwidth
    assert re.fullmatch(r"([\d.]+ [MG]B/s for [\d.]+ kB(, )?)+", host.levels_text(figures))


def test_the_ceiling_is_that_of_the_next_smaller_size():
    figures = HostFigures(2.0, 1.0, "", (CacheLevel(100, 9.0), CacheLevel(1000, 5.0), CacheLevel(9000, 2.0)))
    sizes = (1, 100, 999, 1000, 8999, 9000, 10**9)
    assert [figures.bandwidth_of(size) for size in sizes] == [9.0, 9.0, 9.0, 5.0, 5.0, 2.0, 2.0]
    assert ESTIMATE.bandwidth_of(1) == ESTIMATE.bandwidth


def test_a_measured_rate_above_a_ceiling_replaces_it(tmp_path, monkeypatch):
    cache = BuildCache(tmp_path)
    assert host.note_rate(5, 1e30, cache) is ESTIMATE
    assert host.measured_figures(cache) is None
    levels = (CacheLevel(128, 9.0), CacheLevel(1024, 5.0), CacheLevel(8192, 2.0))
    last = HostFigures(2.0, 1.0, "last measured here", levels)
    host._keep(HostFigures(2.0, 1.0, "", levels), last, cache)
    assert host.note_rate(1024, 4.0, cache).levels == levels
    raised = host.note_rate(3000, 7.0, cache)
    assert [raised.bandwidth_of(size) for size in (128, 1024, 3000, 8191, 8192)] == [9.0, 7.0, 7.0, 7.0, 2.0]
    assert [level.bandwidth for level in host.note_rate(10**6, 8.0, cache).levels] == [9.0, 8.0, 8.0, 8.0]
    assert host.measured_figures(cache).bandwidth == 8.0
    assert host.last_figures(cache).levels == levels  # what was reached once is no forecast


def test_another_cache_is_told_what_this_one_knows(tmp_path, monkeypatch):
    known, other = BuildCache(tmp_path / "known"), BuildCache(tmp_path / "other")
    monkeypatch.setattr(host, "default_cache", lambda: known)
    host.hand_on_figures(other)
    assert host.measured_figures(other) is None
    best, last = (HostFigures(bandwidth, 1.0, "", (CacheLevel(8192, bandwidth),)) for bandwidth in (3.0, 2.0))
    host._keep(best, last, known)
    host.hand_on_figures(other)
    assert host.measured_figures(other).bandwidth == 3.0
    assert host.last_figures(other).bandwidth == 2.0


@pytest.mark.parametrize(("load", "lost"), [(1e3, 0.0), (0.0, 0.5)])
def test_what_was_measured_beside_other_work_is_measured_again(tmp_path, small, monkeypatch, load, lost):
    cache = BuildCache(tmp_path)

    def work(load, lost):
        monkeypatch.setattr(host, "_load", lambda: load)
        monkeypatch.setattr(host._Timer, "lost_share", lambda timer: lost)

    work(load, lost)
    busy = host.ensure_figures(cache)
    assert busy.label.endswith(", while other work ran")
    assert host.measured_figures(cache) == busy
    assert host.last_figures(cache) is None
    assert host.note_rate(1 << 12, 1e30, cache).label == busy.label
    with monkeypatch.context() as patch:
        patch.setattr(host, "_load", lambda: 1e3)
        patch.setattr(host, "measure_host", lambda cache: pytest.fail("measured again while others still work"))
        assert host.ensure_figures(cache).label == busy.label
    work(0.0, 0.0)
    idle = host.ensure_figures(cache)
    assert not idle.label.endswith(host.BUSY)
    assert idle.flops >= busy.flops
    work(load, lost)
    last = host.last_figures(cache)
    assert host.measure_host(cache).label == idle.label
    assert host.last_figures(cache) == last


def test_the_last_figures_of_an_idle_machine_are_not_the_best(tmp_path, small, alone, monkeypatch):
    cache = BuildCache(tmp_path)
    found = []
    for level in (9.0, 3.0):
        monkeypatch.setattr(host, "_compiled", lambda *_, level=level: (level, (CacheLevel(64, level / 1e-30),)))
        host.measure_host(cache)
        found.append((host.measured_figures(cache), host.last_figures(cache)))
    assert [best.flops for best, _ in found] == [9.0, 9.0]
    assert [last.flops for _, last in found] == [9.0, 3.0]
    assert [last.levels[0].bandwidth for _, last in found] == [9.0 / 1e-30, 3.0 / 1e-30]
    assert found[1][0].levels[0].bandwidth == 9.0 / 1e-30


def test_the_host_is_measured_once_before_something_is_timed(tmp_path, small, alone, monkeypatch):
    cache = BuildCache(tmp_path)
    first = host.ensure_figures(cache)
    monkeypatch.setattr(host, "measure_host", lambda cache: pytest.fail("measured again"))
    assert host.ensure_figures(cache) == first


def test_ceilings_are_measured_again_each_time_and_kept_nowhere(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    ceilings = host.Ceilings(2, 1 << 22)
    moments = [ceilings.measure() for _ in range(2)]
    for copied, figures in moments:
        assert copied > 0
        assert figures.bandwidth > 0
        assert figures.flops > 0
        assert [level.size for level in figures.levels] == [2 * size for size in host._LEVEL_BYTES]
    assert moments[0] != moments[1]
    assert sum(len(array) for pair in ceilings._far for array in pair) * 8 == 1 << 22
    assert not list(tmp_path.rglob("host-*.json"))
