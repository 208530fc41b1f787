"""Same study: the first difference is named, and nothing else is refused."""

from pathlib import Path

import pytest

from workbench.errors import TuningError
from workbench.tuning.same_study import check_same

BEFORE = {
    "key": "k",
    "backend": "openmp",
    "extents": [64],
    "compiler": "g++ 12",
    "tunables": ["tile", "threads"],
    "values": [["0", "8"], ["0", "1", "2"]],
    "host": "here",
}


@pytest.mark.parametrize(
    ("now", "difference"),
    [
        ({"key": "other"}, "other key: k\n"),
        ({"extents": (32,)}, "other extents: [64]\n"),
        ({"compiler": "g++ 13"}, "other compiler: g++ 12\n"),
        ({"tunables": ["tile"], "values": [["0", "8"]]}, "other tunables: ['tile', 'threads']\n"),
        ({"values": [["0", "8"], ["0", "1"]]}, "other values of threads: 0, 1, 2; here they are 0, 1\n"),
    ],
)
def test_first_difference_is_named(now, difference):
    with pytest.raises(TuningError) as caught:
        check_same(Path("s.sqlite"), BEFORE, {**BEFORE, **now})
    assert difference in str(caught.value)


def test_tuples_and_other_hosts_are_the_same_study():
    check_same(Path("s.sqlite"), BEFORE, {**BEFORE, "extents": (64,), "host": "there"})
    check_same(Path("s.sqlite"), BEFORE, {name: BEFORE[name] for name in ("key", "tunables", "values")})
