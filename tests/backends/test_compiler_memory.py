"""How much memory a compiler may take, and how it is told."""

import subprocess

import pytest

from workbench.backends.compiler_memory import bounded, exhausted, is_exhausted, memory_limit
from workbench.errors import BuildError

GB = 10**9


def test_half_of_the_memory_unless_somebody_says_otherwise(tmp_path):
    group = tmp_path / "memory.max"
    group.write_text(f"{6 * GB}\n")
    assert memory_limit({}, group) <= 3 * GB
    group.write_text(f"{GB}\n")
    assert memory_limit({}, group) == 2 * GB
    group.write_text("max\n")
    assert memory_limit({}, group) == memory_limit({}, tmp_path / "none") >= 2 * GB
    assert memory_limit({"WORKBENCH_COMPILER_MEMORY": "1.5"}, group) == 3 * GB // 2
    assert memory_limit({"WORKBENCH_COMPILER_MEMORY": "0"}, group) == 0


@pytest.mark.parametrize("text", ["much", "-1", "nan", "inf"])
def test_a_bound_that_is_no_number_is_refused(text):
    with pytest.raises(BuildError, match=f"WORKBENCH_COMPILER_MEMORY is '{text}'\nGive GB"):
        memory_limit({"WORKBENCH_COMPILER_MEMORY": text})


def test_a_bounded_command_keeps_its_arguments_and_has_its_bound():
    command = bounded(["/bin/sh", "-c", 'ulimit -v; echo "$1|$2"', "sh", "a b", "$c"], GB)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"{GB >> 10}\na b|$c\n"
    assert bounded(["g++", "x"], 0) == ["g++", "x"]


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        ("cc1plus: out of memory allocating 65536 bytes after a total of 9 bytes", True),
        ("virtual memory exhausted: Cannot allocate memory", True),
        ("g++: fatal error: Killed signal terminated program cc1plus", True),
        ("terminate called after throwing an instance of 'std::bad_alloc'", True),
        ("error: 'memory' was not declared in this scope", False),
    ],
)
def test_messages_of_compilers_without_memory_are_known(report, expected):
    assert is_exhausted(report, 4 * GB) is expected


def test_without_a_bound_nothing_more_can_be_allowed():
    assert "WORKBENCH" not in str(exhausted("x", 0))


@pytest.mark.parametrize(
    "report",
    [
        "g++: internal compiler error: Segmentation fault signal terminated program cc1plus",
        "g++: error while loading shared libraries: libc.so.6: failed to map segment from shared object",
    ],
)
def test_under_a_limit_too_small_for_any_kernel_every_failure_is_its_doing(report):
    assert is_exhausted(report, GB // 50)
    assert not is_exhausted(report, 4 * GB)


def test_a_limit_too_small_for_any_kernel_is_named_as_the_cause():
    told = str(exhausted("x", GB // 50))
    assert "WORKBENCH_COMPILER_MEMORY allows 20 MB" in told
    assert "WORKBENCH_COMPILER_MEMORY=4" in told
    assert "Manifest" not in told
    assert "Manifest" in str(exhausted("x", 2 * GB))
