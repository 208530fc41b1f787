"""The toolchain: which compiler is taken, what it can do, and what is said when there is none."""

import os
import platform
import shutil
import subprocess
import sys

import pytest

from workbench.backends import toolchain
from workbench.backends.build_cache import BuildCache
from workbench.backends.toolchain import Missing, Toolchain, find_toolchain, install_command, resolved_features
from workbench.errors import BuildError

PATH = os.environ["PATH"]


@pytest.fixture
def notes(tmp_path):
    return BuildCache(tmp_path / "cache")


def script(path, body):
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def test_the_host_compiler_is_found_with_the_flags_of_the_meaning(notes):
    found = find_toolchain({"PATH": PATH}, notes)
    assert isinstance(found, Toolchain), found
    assert {"-std=c++17", "-O3", "-ffp-contract=off", "-fwrapv", "-fno-math-errno", "-shared"} <= set(found.flags)
    assert not any("fast" in flag or "unsafe" in flag or "finite" in flag for flag in found.flags)
    assert found.version in str(found)
    assert platform.machine() in found.identity
    if platform.machine() == "x86_64":
        assert "sse2" in found.cpu_features.split()
        is_wide = "avx512f" in found.cpu_features.split()
        assert ("-mprefer-vector-width=512" in found.flags) == is_wide
        assert ("-DSTENCIL_SHIFTED" in found.flags) == (is_wide and found.kind == "gcc")


def test_a_second_look_starts_no_process(notes, monkeypatch):
    first = find_toolchain({"PATH": PATH}, notes)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("a process was started"))
    assert find_toolchain({"PATH": PATH}, notes) == first


def test_another_cpu_or_another_compiler_file_is_probed_again(notes, tmp_path, monkeypatch):
    real = shutil.which("g++")
    log = tmp_path / "log"
    fake = script(tmp_path / "bin" / "mycxx", f'echo "$1" >> {log}\nexec {real} "$@"')
    environ = {"PATH": PATH, "WORKBENCH_CXX": str(fake)}
    find_toolchain(environ, notes)
    runs = len(log.read_text().splitlines())
    assert runs > 0
    find_toolchain(environ, notes)
    assert len(log.read_text().splitlines()) == runs
    os.utime(fake, (1, 1))
    find_toolchain(environ, notes)
    assert len(log.read_text().splitlines()) == 2 * runs
    monkeypatch.setattr(toolchain, "processor_text", lambda: "another CPU")
    find_toolchain(environ, notes)
    assert len(log.read_text().splitlines()) == 3 * runs


def test_a_damaged_note_is_probed_again(notes):
    first = find_toolchain({"PATH": PATH}, notes)
    (note,) = (notes.folder / "notes").iterdir()
    for damage in ("{", '{"kind": "fortran"}', "[]"):
        note.write_text(damage)
        assert find_toolchain({"PATH": PATH}, notes) == first


def test_the_order_of_search(notes, tmp_path):
    real = shutil.which("g++")
    names = ("mine", "general", "g++", "clang++", "c++")
    paths = {name: script(tmp_path / "bin" / name, f'exec {real} "$@"') for name in names}
    path = f"{tmp_path / 'bin'}{os.pathsep}{PATH}"
    environ = {"PATH": path, "CXX": "general", "WORKBENCH_CXX": "mine"}
    assert find_toolchain(environ, notes).compiler == str(paths["mine"])
    del environ["WORKBENCH_CXX"]
    assert find_toolchain(environ, notes).compiler == str(paths["general"])
    del environ["CXX"]
    for name in names[2:]:
        assert find_toolchain(environ | {"PATH": str(tmp_path / "bin")}, notes).compiler == str(paths[name])
        paths[name].unlink()


def test_arguments_in_the_variable_belong_to_the_command(notes):
    found = find_toolchain({"PATH": PATH, "CXX": "g++ -DSPECIAL=1"}, notes)
    assert found.command[1:] == ("-DSPECIAL=1",)
    assert "-DSPECIAL=1" in found.identity


def test_texts_do_without_the_library_of_the_language_where_the_compiler_can(notes, tmp_path):
    real = shutil.which("g++")
    found = find_toolchain({"PATH": PATH}, notes)
    assert "-fno-exceptions" in found.alone
    assert find_toolchain({"PATH": PATH, "CXX": "g++ -fsanitize=address"}, notes).alone == ()
    refused = f'for a in "$@"; do [ "$a" = -nodefaultlibs ] && exit 1; done\nexec {real} "$@"'
    other = find_toolchain({"PATH": PATH, "WORKBENCH_CXX": str(script(tmp_path / "bin" / "needy", refused))}, notes)
    assert other.alone == (() if other.kind == "gcc" else found.alone)
    assert other.flags == found.flags


def test_a_relative_path_is_made_absolute(notes, tmp_path, monkeypatch):
    script(tmp_path / "bin" / "g++", f'exec {shutil.which("g++")} "$@"')
    monkeypatch.chdir(tmp_path)
    found = find_toolchain({"PATH": PATH, "WORKBENCH_CXX": "bin/g++"}, notes)
    assert found.compiler == str(tmp_path / "bin" / "g++")


def test_a_broken_compiler_is_passed_over(notes, tmp_path):
    broken = script(tmp_path / "bin" / "broken", "exit 1")
    assert isinstance(find_toolchain({"PATH": PATH, "CXX": str(broken)}, notes), Toolchain)
    found = find_toolchain({"PATH": PATH, "WORKBENCH_CXX": str(broken)}, notes)
    assert isinstance(found, Missing)
    assert "that $WORKBENCH_CXX names" in found.reason
    assert "does not answer --version" in found.reason


def test_a_compiler_that_cannot_link_says_why(notes, tmp_path):
    body = 'case "$1" in --version) echo "g++ 1.0";; *) echo "ld: error: no room" >&2; exit 1;; esac'
    fake = script(tmp_path / "bin" / "g++", body)
    found = find_toolchain({"PATH": str(fake.parent)}, notes)
    assert isinstance(found, Missing)
    assert "cannot make a shared library (ld: error: no room)" in found.reason
    assert not (notes.folder / "notes").exists(), "a failure may be gone next time"


def test_without_an_openmp_library_one_thread_remains(notes, tmp_path):
    real = shutil.which("g++")
    body = (
        f'for a in "$@"; do [ "$a" = -fopenmp ] && {{ echo "error: no libomp" >&2; exit 1; }}; done\nexec {real} "$@"'
    )
    fake = script(tmp_path / "bin" / "nothreads", body)
    found = find_toolchain({"PATH": PATH, "WORKBENCH_CXX": str(fake)}, notes)
    assert not found.openmp
    assert "-fopenmp-simd" in found.flags
    assert "-fopenmp" not in found.flags
    assert "one thread" in str(found)


def test_a_compiler_that_does_not_know_the_cpu_compiles_for_any(notes, tmp_path):
    real = shutil.which("g++")
    body = (
        f'for a in "$@"; do case "$a" in -m*=native) echo "error: native?" >&2; exit 1;; esac; done\nexec {real} "$@"'
    )
    fake = script(tmp_path / "bin" / "baseline", body)
    found = find_toolchain({"PATH": PATH, "WORKBENCH_CXX": str(fake)}, notes)
    assert found.openmp
    assert not any("native" in flag or "vector-width" in flag for flag in found.flags)


def test_no_compiler_gives_the_command_that_installs_one(notes, tmp_path):
    found = find_toolchain({"PATH": str(tmp_path)}, notes)
    assert found.tried == ("g++", "clang++", "c++")
    assert "g++ is not on the path" in found.reason
    assert found.install == install_command()
    assert str(found.error()).splitlines()[-1] == f"Install a compiler: {found.install}"
    assert isinstance(found.error(), BuildError)


@pytest.mark.parametrize(
    ("system", "release", "compiler", "openmp"),
    [
        ("Linux", 'NAME="Debian"\nID=debian\n', "sudo apt install g++", "sudo apt install libomp-dev"),
        ("Linux", 'ID=linuxmint\nID_LIKE="ubuntu debian"\n', "sudo apt install g++", "sudo apt install libomp-dev"),
        (
            "Linux",
            'ID="rocky"\nID_LIKE="rhel centos fedora"\n',
            "sudo dnf install gcc-c++",
            "sudo dnf install libomp-devel",
        ),
        ("Linux", "ID=arch\n", "sudo pacman -S gcc", "sudo pacman -S openmp"),
        ("Linux", "", "conda install -c conda-forge cxx-compiler", "conda install -c conda-forge llvm-openmp"),
        ("Darwin", "", "xcode-select --install", "brew install libomp"),
        ("Windows", "", "wsl --install", "wsl --install"),
    ],
)
def test_the_install_command_of_each_system(system, release, compiler, openmp):
    assert toolchain._install_command("compiler", system, release) == compiler
    assert toolchain._install_command("openmp", system, release) == openmp


def test_features_are_read_from_what_the_driver_shows():
    gcc = (
        'Target: x86_64\n /usr/lib/cc1plus -E "-march=rocketlake" -mavx2 -mno-sse4a -mavx512f --param l1=48 -mtune=x\n'
    )
    assert resolved_features(gcc, "gcc") == "rocketlake avx2 avx512f"
    clang = '"clang" "-cc1" "-target-cpu" "znver4" "-target-feature" "+avx2" "-target-feature" "-sse4a"\n'
    assert resolved_features(clang, "clang") == "znver4 avx2"
    arm = "cc1plus -quiet -mcpu=neoverse-v1+crypto -mlittle-endian\n"
    assert resolved_features(arm, "gcc") == "neoverse-v1+crypto little-endian"


@pytest.mark.parametrize(
    "flag", ["-ffast-math", "-Ofast", "-funsafe-math-optimizations", "-mdaz-ftz", "-ffp-model=fast"]
)
def test_flags_that_change_results_are_refused(notes, flag):
    named = find_toolchain({"PATH": PATH, "WORKBENCH_CXX": f"g++ {flag}"}, notes)
    assert isinstance(named, Missing)
    assert f"it is given {flag}, which changes results" in named.reason
    general = find_toolchain({"PATH": PATH, "CXX": f"g++ {flag}"}, notes)
    assert isinstance(general, Toolchain), general
    assert flag not in general.command


@pytest.mark.parametrize("flag", ["-ffast-math", "-ffinite-math-only"])
def test_a_script_that_adds_such_flags_is_noticed(notes, tmp_path, flag):
    fake = script(tmp_path / "bin" / "eager", f'exec {shutil.which("g++")} {flag} "$@"')
    found = find_toolchain({"PATH": PATH, "WORKBENCH_CXX": str(fake)}, notes)
    assert isinstance(found, Missing), found
    assert "change the results of floating-point arithmetic" in found.reason


def test_numpy_keeps_subnormal_numbers_whatever_cxx_says(tmp_path):
    text = (
        "import numpy as np, workbench as wb\n"
        "machine = wb.trace('u = field(\"u\")\\nu.next = u * 0.5')\n"
        'with machine.simulate(u=np.full(3, 1e-310), backend="openmp", threads=1) as simulation:\n'
        "    print(simulation.run(1).u[0])\n"  # as text: a process that takes them for zero also compares them so
        "print((np.array([1e-310]) * 0.5)[0])\n"
    )
    environ = os.environ | {"CXX": "g++ -ffast-math", "WORKBENCH_CACHE": str(tmp_path)}
    environ.pop("WORKBENCH_CXX", None)
    done = subprocess.run([sys.executable, "-c", text], env=environ, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["5e-311"] * 2, done.stderr
