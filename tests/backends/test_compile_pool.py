"""The compile pool with the host's own compiler: libraries that load, errors that help, builds that can be stopped."""

import contextlib
import ctypes
import os
import platform
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.backends.build_cache import BuildCache, BuildCancelledError, counters
from workbench.backends.compile_pool import Compiler, Unit, build
from workbench.backends.toolchain import LONG_TEXT, LONG_TEXT_FLAGS, Toolchain, find_toolchain
from workbench.errors import BuildError


def returns(number, name="answer"):
    return Unit(name, f'extern "C" __attribute__((visibility("default"))) int answer() {{ return {number}; }}\n')


SLOW = Unit("slow", "int slow;\n")


def patient(host, folder):
    """The host's compiler behind a script that works on slow.cpp for a minute, in a child of its own, using nothing."""
    path = folder / "patient"
    path.write_text(
        '#!/bin/sh\ncase "$*" in *slow.cpp*) sh -c "sleep 60; :" slow.cpp "$PWD" & wait; exit 1;; esac\n'
        f'exec {" ".join(host.command)} "$@"\n'
    )
    path.chmod(0o755)
    return replace(host, command=(str(path),))


@pytest.fixture(scope="module")
def host():
    """The toolchain of this machine; without one this file cannot test anything, and that is a failure."""
    found = find_toolchain()
    assert isinstance(found, Toolchain), found
    return found


@pytest.fixture
def compiler(host, tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    return Compiler(host, BuildCache(tmp_path / "cache"))


def answer(built):
    return ctypes.CDLL(str(built.path)).answer()


def is_clean(tmp_path):
    return list((tmp_path / "scratch").iterdir()) == []


def test_sources_become_libraries_in_their_order(compiler, tmp_path):
    sources = [returns(number, f"source {number}") for number in range(5)]
    before = counters()
    built = build(sources, compiler)
    assert [answer(one) for one in built] == [0, 1, 2, 3, 4]
    assert [one.name for one in built] == [source.name for source in sources]
    assert not any(one.from_cache for one in built)
    assert counters().compiled == before.compiled + 5
    again = build(sources, compiler)
    assert counters().compiled == before.compiled + 5
    assert all(one.from_cache for one in again)
    assert [one.path for one in again] == [one.path for one in built]
    assert is_clean(tmp_path)


def test_nothing_to_build(compiler):
    assert build([], compiler) == ()


def test_flags_and_headers_are_part_of_the_source(compiler):
    text = '#include "number.h"\nextern "C" __attribute__((visibility("default"))) int answer() { return number(); }\n'
    first = Unit("first", text, headers=(("number.h", "inline int number() { return VALUE; }"),), flags=("-DVALUE=7",))
    second = replace(first, flags=("-DVALUE=8",))
    third = replace(first, headers=(("number.h", "inline int number() { return VALUE + 2; }"),))
    assert [answer(built) for built in build([first, second, third], compiler)] == [7, 8, 9]


def test_a_long_text_alone_has_flags_with_which_it_takes_less_time(compiler):
    text = "int x;\n" * (LONG_TEXT // 7 + 1)
    alone = Unit("alone", text, cut=lambda most: (text,))
    asked = LONG_TEXT_FLAGS[compiler.toolchain.kind]
    assert set(asked) <= set(compiler.recipe(alone).flags)
    for other in (replace(alone, cut=None), replace(alone, text="int x;\n")):  # several texts, a short one
        assert set(asked).isdisjoint(compiler.recipe(other).flags)


def test_a_program_needs_no_library_of_the_language_and_the_simulator_does(compiler):
    """What a program would take from it is told while it is linked, not when it is loaded."""
    alone = compiler.toolchain.alone
    simulated, part = Unit("kernel", "", "cuda"), Unit("part", "")
    for program in (Unit("program", ""), Unit("program", "", objects=(part,))):
        assert set(alone) <= set(compiler.recipe(program).flags)
    assert set(alone).isdisjoint(compiler.recipe(simulated).flags)
    assert set(alone).isdisjoint(compiler.object_recipe(part).flags)
    if compiler.toolchain.kind == "gcc":
        (built,) = build([returns(7)], compiler)
        assert b"libstdc++" not in built.path.read_bytes()
        throwing = Unit("throwing", "#include <string>\nstd::string f(int n) { return std::string(n, ' '); }\n")
        with pytest.raises(BuildError, match="undefined reference"):
            build([throwing], compiler)


def test_an_object_is_compiled_once_for_all_libraries_that_name_it(compiler, tmp_path):
    part = Unit(
        "part", '#include "number.h"\nint part() { return NUMBER; }\n', headers=(("number.h", "#define NUMBER 5\n"),)
    )
    text = 'int part();\nextern "C" __attribute__((visibility("default"))) int answer() { return part() + ADDED; }\n'
    libraries = [Unit(f"whole {n}", text, flags=(f"-DADDED={n}",), objects=(part,)) for n in (1, 2)]
    before = counters()
    assert [answer(built) for built in build(libraries, compiler)] == [6, 7]
    assert counters().compiled == before.compiled + 3
    assert all(built.from_cache for built in build(libraries, compiler))
    other = replace(libraries[0], objects=(replace(part, headers=(("number.h", "#define NUMBER 50\n"),)),))
    assert answer(build([other], compiler)[0]) == 51
    with pytest.raises(BuildError, match="'part'"):
        build([replace(other, objects=(replace(part, text="int part() { return; }\n"),))], compiler)
    assert is_clean(tmp_path)


def in_two(number):
    """A unit cut in two where two compilers may run, with an error in what `number` stands for if it is no number."""
    own, other = "int part();\n", f"\nint part() {{ return {number}; }}\n"
    entry = 'extern "C" __attribute__((visibility("default"))) int answer() { return part(); }\n'
    halves = own + "\n" + entry, other
    whole = f"int part();\nint part() {{ return {number}; }}\n{entry}"
    return Unit("halves", whole, cut=lambda most: halves[:most] if most > 1 else (whole,))


def test_a_unit_in_parts_is_one_library_with_the_key_of_the_whole(host, compiler, tmp_path):
    before = counters()
    alone = build([in_two(5)], replace(compiler, jobs=1))
    assert counters().compiled == before.compiled + 1
    apart = build([in_two(5)], Compiler(host, BuildCache(tmp_path / "other"), jobs=2))
    assert answer(alone[0]) == answer(apart[0]) == 5
    assert alone[0].key == apart[0].key
    assert is_clean(tmp_path)


def test_an_error_in_a_part_names_the_line_of_the_whole(host, tmp_path, compiler):
    with pytest.raises(BuildError, match=r"halves.cpp:2: .*\n +2 \| int part\(\) \{ return nothing; \}"):
        build([in_two("nothing")], replace(compiler, jobs=2))
    assert is_clean(tmp_path)


def test_a_failed_part_stops_the_others(host, compiler, tmp_path):
    path = tmp_path / "sleepy"
    path.write_text(f'#!/bin/sh\ngrep -q sleep halves.cpp && sleep 60\nexec {" ".join(host.command)} "$@"\n')
    path.chmod(0o755)
    wrong = replace(in_two(5), cut=lambda most: ("// sleep\n", "wrong\n"))
    start = time.monotonic()
    with pytest.raises(BuildError, match="refused the generated source of 'halves'"):
        build([wrong], replace(compiler, toolchain=replace(host, command=(str(path),)), jobs=2))
    assert time.monotonic() - start < 30, "the slow one was waited for"
    assert is_clean(tmp_path)


def test_cuda_text_for_the_simulator_goes_through_the_same_compiler(compiler):
    source = Unit("kernel", "#define __global__\n__global__ void f() {}\n" + returns(3).text, "cuda")
    assert source.file_name == "kernel.cu"
    assert answer(build([source], compiler)[0]) == 3


def test_equal_sources_in_one_call_compile_once(host, tmp_path):
    compiler = Compiler(host, BuildCache(tmp_path), jobs=2)
    before = counters()
    built = build([returns(11), returns(11)], compiler)
    assert [answer(one) for one in built] == [11, 11]
    assert counters().compiled == before.compiled + 1


def test_a_multiply_and_an_add_round_twice(compiler):
    """The flags keep the meaning "ieee": x*x - r is 0 where one rounding would leave the product's error."""
    text = 'extern "C" __attribute__((visibility("default"))) double f(double x, double r) { return x * x - r; }\n'
    library = ctypes.CDLL(str(build([Unit("round", text)], compiler)[0].path))
    library.f.argtypes, library.f.restype = [ctypes.c_double] * 2, ctypes.c_double
    x = 1.0 + 2.0**-30
    assert library.f(x, x * x) == 0.0


def test_integers_wrap(compiler):
    text = 'extern "C" __attribute__((visibility("default"))) int f(int x) { return x + 1 > x; }\n'
    assert ctypes.CDLL(str(build([Unit("wrap", text)], compiler)[0].path)).f(2**31 - 1) == 0


LOOPS = """\
#include <cmath>
extern "C" void roots(double* __restrict out, const double* __restrict in, int n) {
    for (int i = 0; i < n; ++i)
        out[i] = in[i] > 0.25 ? std::sqrt(in[i]) : in[i] - 1.0;
}
extern "C" void chain(double* __restrict out, const double* __restrict in, int n) {
    for (int i = 1; i < n; ++i)
        out[i] = 0.5 * out[i - 1] + in[i];
}
"""


def test_the_report_says_which_loops_are_vectorised(compiler):
    """The loop with a root and a select is; the recurrence cannot be."""
    # Not the host's AVX-512, whose masks vectorise selects even where a compiler fears exceptions.
    source = Unit("loops", LOOPS, flags=("-march=x86-64-v3",) if platform.machine() == "x86_64" else ())
    built = build([source], compiler)[0]
    said = re.findall(r"loops\.cpp:(\d+):\d+: (?:optimized: +loop vectorized|remark: vectorized loop)", built.report)
    assert set(said) == {"3"}
    assert build([source], compiler)[0].report == built.report, "the cache keeps the report"


def test_a_refused_source_shows_the_first_error_and_is_kept(compiler, tmp_path):
    source = Unit("broken wave", "int f() {\n    return undefined_name;\n}\nint g() { return other; }\n")
    before = counters()
    with pytest.raises(BuildError) as caught:
        build([source], compiler)
    text = str(caught.value)
    assert "source of 'broken wave'" in text
    assert "broken_wave.cpp:2:" in text
    assert "2 | return undefined_name;" in text
    assert "other" not in text
    assert compiler.toolchain.version in text
    (kept,) = (compiler.cache.folder / "failed").iterdir()
    assert str(kept) in text
    assert kept.read_text() == source.text
    assert counters().compiled == before.compiled
    assert is_clean(tmp_path)


def test_a_failure_of_the_linker_shows_its_last_words(compiler):
    with pytest.raises(BuildError, match="no_such_library"):
        build([replace(returns(1), flags=("-lno_such_library",))], compiler)


def test_one_failure_stops_the_others(host, tmp_path):
    compiler = Compiler(patient(host, tmp_path), BuildCache(tmp_path / "cache"), jobs=2)
    start = time.monotonic()
    with pytest.raises(BuildError, match="refused the generated source of 'bad'"):
        build([SLOW, Unit("bad", "int f() { return }\n")], compiler)
    assert time.monotonic() - start < 30, "the slow one was waited for"


def running_commands():
    """Command lines of all processes; a machine without /proc has ps."""
    if not os.path.isdir("/proc/self"):
        return subprocess.run(["ps", "-axo", "args="], capture_output=True, text=True, check=True).stdout.splitlines()
    commands = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            commands.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return commands


def is_still_compiling(tmp_path):
    """A killed process needs a moment to go."""
    for _ in range(100):
        if not any(str(tmp_path) in command and "slow.cpp" in command for command in running_commands()):
            return False
        time.sleep(0.02)
    return True


def test_a_build_can_be_cancelled(compiler, host, tmp_path):
    compiler = replace(compiler, toolchain=patient(host, tmp_path))
    cancel = threading.Event()
    threading.Timer(0.5, cancel.set).start()
    start = time.monotonic()
    with pytest.raises(BuildCancelledError, match="'slow' was cancelled"):
        build([SLOW], compiler, cancel)
    assert time.monotonic() - start < 30, "the compiler's child was waited for"
    assert is_clean(tmp_path)
    assert not is_still_compiling(tmp_path)


def test_a_build_that_takes_too_long_is_stopped(compiler, host, tmp_path):
    compiler = replace(compiler, toolchain=patient(host, tmp_path))
    with pytest.raises(BuildError, match=r"'slow' took longer than 300 ms") as caught:
        build([SLOW], replace(compiler, timeout=0.3))
    assert str(caught.value).endswith("so that the generated sub-kernels get smaller.")
    assert is_clean(tmp_path)


def test_a_compiler_that_went_away_is_an_error_with_advice(compiler, tmp_path):
    gone = replace(compiler, toolchain=replace(compiler.toolchain, command=(str(tmp_path / "g++"),)))
    with pytest.raises(BuildError, match="cannot be started"):
        build([returns(1)], gone)


def start_python(host, tmp_path, program):
    """Run a program that can import SLOW in a Python of its own, with scratch folder and cache below `tmp_path`."""
    module = f"from workbench.backends.compile_pool import Unit\nSLOW = Unit('slow', {SLOW.text!r})\n"
    (tmp_path / "tests_slow.py").write_text(module)
    (tmp_path / "scratch").mkdir()
    path = os.pathsep.join((str(tmp_path), os.environ.get("PYTHONPATH", ""), os.getcwd()))
    environ = os.environ | {"PYTHONPATH": path, "WORKBENCH_CACHE": str(tmp_path / "cache")}
    environ |= {"TMPDIR": str(tmp_path / "scratch"), "WORKBENCH_CXX": patient(host, tmp_path).compiler}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], env=environ, stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize(("count", "parts"), [(1, 1), (2, 1), (1, 2)])
def test_an_interrupt_stops_all_compilers(host, tmp_path, count, parts):
    program = f"""
        from dataclasses import replace
        from workbench.backends.compile_pool import build, default_compiler
        from tests_slow import SLOW
        compiler = replace(default_compiler(), jobs={count * parts})
        cut = lambda most: (SLOW.text,) * {parts}
        print("ready", flush=True)
        try:
            build([replace(SLOW, flags=(f"-DN={{n}}",), cut=cut) for n in range({count})], compiler)
        except KeyboardInterrupt:
            print("interrupted")
    """
    process = start_python(host, tmp_path, program)
    assert process.stdout.readline() == "ready\n"
    while len(list((tmp_path / "scratch").glob("**/slow.cpp"))) < count * parts:
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30)[0] == "interrupted\n"
    assert is_clean(tmp_path)
    assert not is_still_compiling(tmp_path)


HUNGRY = Unit("hungry", "int table[] = {" + "1,2,3,4,5,6,7,8,9,10," * 200_000 + "};\n")


def test_a_compiler_that_wants_too_much_memory_is_stopped_with_advice(host, tmp_path):
    compiler = Compiler(host, BuildCache(tmp_path / "cache"), memory=160 << 20)
    with pytest.raises(BuildError) as error:
        build([HUNGRY], compiler)
    first, last = str(error.value).splitlines()
    assert first == "compiling 'hungry' needed more than the 168 MB that it may take"
    assert last.startswith("Make some values Manifest")
    assert "WORKBENCH_COMPILER_MEMORY=4" in last
    assert answer(build([returns(3)], replace(compiler, memory=None))[0]) == 3


def test_rubbish_from_a_compiler_is_an_error_and_is_not_kept(compiler, tmp_path):
    path = tmp_path / "rubbish"
    path.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\necho rubbish > "$2"\n')
    path.chmod(0o755)
    broken = replace(compiler, toolchain=replace(compiler.toolchain, command=(str(path),)))
    for _ in range(2):
        with pytest.raises(BuildError, match=r"(?s)library of 'answer'.*cannot be loaded.*Set WORKBENCH_CXX"):
            build([returns(1)], broken)
        assert compiler.cache.info().entries == 0


def test_where_nothing_can_be_loaded_the_next_place_is_tried(compiler, monkeypatch, tmp_path):
    """As on a file system that is mounted noexec, where the loader says so."""

    def problem(path):
        return f"{path}: failed to map segment from shared object" if path.is_relative_to(forbidden) else ""

    monkeypatch.setattr("workbench.backends.compile_pool.loading_problem", problem)
    monkeypatch.setattr("workbench.backends.cache_folder._left", {})
    forbidden = compiler.cache.folder
    with pytest.warns(UserWarning, match="lets no library be loaded from it"):
        (built,) = build([returns(7)], compiler)
    assert answer(built) == 7
    assert compiler.cache.info().entries == 0
    (again,) = build([returns(7)], compiler)
    assert again.from_cache
    assert again.path == built.path
    forbidden = Path("/")
    with pytest.raises(BuildError, match=r"(?s)failed to map segment.*Set WORKBENCH_CACHE.*noexec"):
        build([returns(8)], compiler)
