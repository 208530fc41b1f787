"""CPU model and thread count from the files that Linux keeps about them."""

import os

import pytest

from workbench.backends import processor
from workbench.backends.processor import (
    available_threads,
    first_cache_bytes,
    group_quota,
    last_cache_bytes,
    processor_text,
    shared_cache_bytes,
    telling_lines,
    third_cache_is_near,
)


def groups(root, membership, **quotas):
    """A control group tree under `root`; quotas map a path with __ for / to the content of its file."""
    for name, content in quotas.items():
        folder = root.joinpath(*name.split("__"))
        folder.mkdir(parents=True, exist_ok=True)
        if "cpu" in name:
            quota, period = content.split()
            (folder / "cpu.cfs_quota_us").write_text(quota + "\n")
            (folder / "cpu.cfs_period_us").write_text(period + "\n")
        else:
            (folder / "cpu.max").write_text(content + "\n")
    path = root / "membership"
    path.write_text(membership)
    return group_quota(path, root)


@pytest.mark.parametrize(
    ("membership", "quotas", "expected"),
    [
        ("0::/job\n", {"job": "150000 100000"}, 1.5),
        ("0::/job\n", {"job": "max 100000"}, None),
        ("0::/outer/inner\n", {"outer": "200000 100000", "outer__inner": "800000 100000"}, 2.0),
        ("0::/not/in/view\n", {"other": "100000 100000"}, None),
        ("3:cpuset:/\n2:cpu,cpuacct:/job\n0::/\n", {"cpu,cpuacct__job": "300000 100000"}, 3.0),
        ("1:cpu:/\n", {"cpu": "-1 100000"}, None),
        ("1:cpu:/\n", {"cpu": "50000 100000"}, 0.5),
        ("", {}, None),
    ],
)
def test_the_quota_of_a_group_and_its_ancestors(tmp_path, membership, quotas, expected):
    assert groups(tmp_path, membership, **quotas) == expected


def test_a_broken_quota_is_no_limit(tmp_path):
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "cpu.max").write_text("many 100000\n")
    assert groups(tmp_path, "0::/job\n") is None
    assert group_quota(tmp_path / "absent", tmp_path) is None


def test_threads_follow_the_affinity():
    assert 1 <= available_threads() <= os.cpu_count()
    if not hasattr(os, "sched_setaffinity"):
        return
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert available_threads() == 1
    finally:
        os.sched_setaffinity(0, before)


def test_only_what_a_compiler_may_use_tells_processors_apart():
    text = "processor\t: 0\nmodel name\t: Fast 3000\ncpu MHz\t\t: 2000.1\nflags\t\t: fpu avx2\n\nprocessor\t: 1\n"
    assert telling_lines(text.splitlines(keepends=True)) == "model name : Fast 3000\nflags : fpu avx2"
    arm = "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd sve\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n"
    assert telling_lines(arm.splitlines()) == "Features : fp asimd sve\nCPU implementer : 0x41\nCPU part : 0xd40"


def test_this_processor_says_the_same_twice():
    assert processor_text()
    assert processor_text() == processor_text()


def test_threads_share_the_third_cache_with_cores_that_are_not_seen(monkeypatch):
    monkeypatch.setattr(processor, "_cache_sizes", lambda: {"1": 48 << 10, "2": 1 << 20, "3": 1 << 25})
    assert [shared_cache_bytes(threads) for threads in (1, 4, 16)] == [1 << 23, 1 << 22, 1 << 20]
    assert first_cache_bytes() == 48 << 10
    assert third_cache_is_near()
    assert last_cache_bytes() == 1 << 25
    monkeypatch.setattr(
        processor, "_cache_sizes", lambda: {"2": 1 << 21, "3": 260 << 20}
    )  # a guest's on a large server
    assert [shared_cache_bytes(threads) for threads in (1, 4, 13)] == [260 << 17, 260 << 17, 10 << 20]
    assert not third_cache_is_near()
    assert last_cache_bytes() == 1 << 25
    monkeypatch.setattr(processor, "_cache_sizes", lambda: {"2": 1 << 19, "3": 6 << 20})
    assert last_cache_bytes() == 6 << 20
    monkeypatch.setattr(processor, "_cache_sizes", dict)
    assert first_cache_bytes() == 32 << 10
    assert shared_cache_bytes(1) == 0
    assert not third_cache_is_near()
