"""Objects that a library links: what is missing of them is compiled while its text is."""

import ctypes
from dataclasses import replace

import pytest

from workbench.backends.build_cache import BuildCache, counters
from workbench.backends.compile_pool import Compiler, Unit, build
from workbench.backends.toolchain import Toolchain, find_toolchain

TEXT = 'int part();\nextern "C" __attribute__((visibility("default"))) int answer() { return part() + ADDED; }\n'


@pytest.fixture
def host():
    found = find_toolchain()
    assert isinstance(found, Toolchain), found
    return found


def answer(built):
    return ctypes.CDLL(str(built.path)).answer()


def meeting(host, folder, begun):
    """The host's compiler behind a script: who compiles part.cpp or whole.cpp alone waits until the other has begun."""
    path = folder / "meeting"
    path.write_text(
        "#!/bin/sh\n"
        'case "$*" in *part.cpp*) own=part other=whole;; *whole.cpp*" -c"*) own=whole other=part;; esac\n'
        f'if [ -n "$own" ]; then touch "{begun}/$own"; n=0\n'
        f'while [ ! -e "{begun}/$other" ]; do n=$((n+1)); [ $n -gt 600 ] && exit 1; sleep 0.05; done; fi\n'
        f'exec {" ".join(host.command)} "$@"\n'
    )
    path.chmod(0o755)
    return replace(host, command=(str(path),))


def test_objects_that_are_missing_are_compiled_beside_the_text(host, tmp_path):
    begun = tmp_path / "begun"
    begun.mkdir()
    compiler = Compiler(meeting(host, tmp_path, begun), BuildCache(tmp_path / "cache"), jobs=2)
    part = Unit("part", "int part() { return 4; }\n")
    first, second = (Unit("whole", TEXT, flags=(f"-DADDED={n}",), objects=(part,)) for n in (1, 2))
    before = counters()
    assert answer(build([first], compiler)[0]) == 5
    assert counters().compiled == before.compiled + 2
    for each in begun.iterdir():
        each.unlink()
    assert answer(build([second], compiler)[0]) == 6
    assert not list(begun.iterdir()), "apart although no object was missing"


def test_one_compiler_at_a_time_makes_one_after_the_other(host, tmp_path):
    part = Unit("part", "int part() { return 4; }\n")
    whole = Unit("whole", TEXT, flags=("-DADDED=3",), objects=(part,))
    alone = build([whole], Compiler(host, BuildCache(tmp_path / "one"), jobs=1))[0]
    beside = build([whole], Compiler(host, BuildCache(tmp_path / "two"), jobs=2))[0]
    assert answer(alone) == answer(beside) == 7
    assert alone.key == beside.key
