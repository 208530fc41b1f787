"""Host figures are estimated until they are measured, then remembered."""

import pytest

from workbench.backends import host
from workbench.backends.build_cache import BuildCache
from workbench.planning.cost import ESTIMATE


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(host, "_COPY_BYTES", 1 << 16)
    monkeypatch.setattr(host, "_REPEATS", 1)
    monkeypatch.setattr(host, "_TURNS", 1000)


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


def test_a_damaged_note_counts_as_absent(tmp_path, small):
    cache = BuildCache(tmp_path)
    host.measure_host(cache)
    (note,) = (tmp_path / "notes").glob("host-*.json")
    note.write_text('{"bandwidth": 0.0, "flops": "fast"}')
    assert host.measured_figures(cache) is None
