"""Later calls of functions of arrays: one look for what is prepared, then nothing but lending and compiled code."""

import gc
import os
import subprocess
import sys
import weakref
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import workbench as wb
from tests.kit.at_the_same_time import at_the_same_time
from tests.kit.bits import assert_same_bits
from tests.kit.lent import Watched
from tests.kit.lines import Line
from workbench.errors import RunError
from workbench.frontend.captured import CapturedNameWarning
from workbench.language import while_loop
from workbench.programs import floyd_warshall

PACKAGE = Path(wb.__file__).parent
OF_CALLS = {
    "array_function.py",
    "backends/called_loops.py",
    "backends/looping.py",
    "backends/openmp_call.py",
    "backends/teams.py",
    "forking.py",
    "frontend/captured.py",
    "frontend/returned.py",
    "frontend/structures.py",
    "run/inputs.py",
    "run/one_call.py",
    "run/prepared.py",
}
"""Files whose functions may run in a later call; of the front end those that look at names and return structures."""


class LongerLine(NamedTuple):
    x: object
    slope: object
    step: object


@dataclass
class Point:
    x: object
    y: object


def python_calls(call):
    """How often each function of the package runs in a call, by file and name; others are not counted."""
    seen = Counter()

    def note(frame, event, argument):
        del argument
        path = Path(frame.f_code.co_filename)
        if event == "call" and PACKAGE in path.parents:
            seen[path.relative_to(PACKAGE).as_posix(), frame.f_code.co_name] += 1

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return seen


def turned(x, most):
    return while_loop(lambda v, n: n < most, lambda v, n: (2 * v, n + 1), (x, 0), at_most=60)


@pytest.mark.parametrize("most", [0, 3, 60])
def test_a_later_call_runs_few_functions_however_often_a_loop_turns(most):
    program, x = wb.collective(backend="openmp", threads=1)(turned), np.ones(5)
    program(x, 2)
    program(x, 2)
    seen = python_calls(lambda: program(x, most))
    assert {file for file, _ in seen} <= OF_CALLS
    assert sum(seen.values()) <= 40
    assert program(x, most)[1] == most


def test_a_later_call_of_a_program_of_the_library_plans_and_looks_nothing_up():
    lengths = np.random.default_rng(3).integers(1, 100, (20, 20)).astype(float)
    np.fill_diagonal(lengths, 0.0)
    first = floyd_warshall.shortest_paths(lengths, backend="openmp", threads=1)
    found = []
    seen = python_calls(lambda: found.append(floyd_warshall.shortest_paths(lengths, backend="openmp", threads=1)))
    assert {file for file, _ in seen} <= OF_CALLS
    assert "warn_of_changed_names" not in {name for _, name in seen}
    assert sum(seen.values()) <= 40
    assert_same_bits(found[0], first)


def test_named_tuples_are_read_once():
    program = wb.collective(backend="openmp", threads=1)(lambda lines, c: lines.x * lines.slope + lines.step * c)
    x = np.arange(4.0)
    for c in (1.0, 2.0):
        assert_same_bits(program(Line(x, x, x), c), x * x + x * c)
    seen = python_calls(lambda: program(Line(x, x, x), 3.0))
    assert {file for file, _ in seen} <= OF_CALLS
    assert not {"_readable", "structure_of"} & {name for _, name in seen}
    assert_same_bits(program(Line(x.tolist(), x, x), 3.0), x * x + x * 3.0)  # which is
    assert_same_bits(program(Line(x, x, 0.5), 3.0), x * x + 0.5 * 3.0)


@pytest.mark.parametrize("kind", [Line, Point, lambda x, y: (x, y)])
def test_records_of_numbers_are_known_while_a_function_is_traced(kind):
    def line(x, at):
        first, second = (at.x, at[1] if isinstance(at, tuple) else at.y) if hasattr(at, "x") else at
        return first * x + second

    program, x = wb.collective(backend="reference")(line), np.arange(3.0)
    for a, b in ((1.0, 2.0), (2.0, 3.0), (2, 3), (1.0, 2.0)):
        assert_same_bits(program(x, kind(a, b)), a * x + b)


def test_records_of_other_classes_are_other_calls():
    program, x = wb.collective(backend="reference")(lambda x, at: x * len(type(at).__name__) + at[0]), np.arange(3.0)
    for kind in (Line, LongerLine, Line):
        assert_same_bits(program(x, kind(1.0, 2.0, 3.0)), x * len(kind.__name__) + 1.0)


def test_arrays_that_cannot_be_lent_come_after_one_that_can():
    program = wb.collective(backend="openmp", threads=1)(lambda a, b: a * 2 + b)
    a = np.arange(12.0).reshape(3, 4)
    locked, bytes_ = a + 1, np.zeros(a.nbytes + 1, np.uint8)
    locked.flags.writeable = False
    shifted = bytes_[1:].view(np.float64).reshape(3, 4)
    shifted[:] = a + 2
    for given in (a, locked, shifted, np.asfortranarray(a + 3), (a + 4).view(np.matrix), a):
        before = np.array(given)
        assert_same_bits(program(given, a), 2 * before + a)
        assert_same_bits(np.array(given), before)


def test_an_array_between_two_words_is_copied():
    program, bytes_ = wb.collective(backend="openmp", threads=1)(lambda a: a + 1), np.zeros(97, np.uint8)
    shifted = bytes_[1:].view(np.float64)
    shifted[:] = np.arange(12.0)
    assert_same_bits(program(np.arange(12.0)), np.arange(12.0) + 1)
    (prepared,) = program._prepared.values()
    watched = Watched(prepared._idle[0])
    assert_same_bits(program(shifted), np.arange(12.0) + 1)
    assert all(values.ctypes.data % 8 == 0 for _, values in watched.seen)
    assert len(watched.seen) == 2


def test_half_words_that_begin_anywhere_are_lent_or_copied():
    program = wb.collective(backend="openmp", threads=1, dtype="f32")(lambda a: a + 1)
    whole = np.arange(20, dtype=np.float32)
    for first in range(5):
        assert_same_bits(program(whole[first : first + 10]), whole[first : first + 10] + 1)


def test_numbers_that_are_returned_stay_as_they_are():
    program = wb.collective(backend="openmp", threads=1)(lambda x: (np.sum(x), np.max(x) > 2, np.argmax(x), x[0]))
    one, other = program(np.array([1.0, 2.0])), program(np.array([3.0, 5.0]))
    assert [part.tolist() for part in one] == [3.0, False, 1, 1.0]
    assert [part.tolist() for part in other] == [8.0, True, 1, 3.0]
    for mine, exact in zip(
        one, wb.collective(backend="reference")(program.__wrapped__)(np.array([1.0, 2.0])), strict=True
    ):
        assert (type(mine), mine.dtype, mine.shape) == (type(exact), exact.dtype, exact.shape)


def test_params_of_all_types_go_the_short_way_or_the_long_one():
    program = wb.collective(backend="openmp", threads=1)(lambda x, c: x * c)
    x = np.arange(3.0)
    for c in (2.5, 3, np.float64(0.1), np.float32(0.1), np.int16(-4), np.True_, -0.0, 2**62, float("inf")):
        for _ in range(2):
            exact = wb.collective(backend="reference")(lambda x, c: x * c)(x, c)
            assert_same_bits(program(x, c), exact, repr(c))


def test_a_call_after_one_that_failed_in_a_turn():
    program = wb.collective(backend="openmp", threads=1)(
        lambda x, p, most: while_loop(lambda u, n: n < most, lambda u, n: (u[p + n], n + 1), (x, 0), at_most=4)[0]
    )
    x, right = np.arange(5.0), np.zeros(5, int)
    expected = program(x, right, 3)
    for place, most, message in ((right + 3, 3, "index 5"), (right, 5, "within 4 iterations")):
        with pytest.raises(RunError, match=message):
            program(x, place, most)
        assert_same_bits(program(x, right, 3), expected)


def test_loops_in_turns_of_loops():
    @wb.collective(threads=1)
    def nested(x, outer, inner):
        def turn(v, n):
            doubled, _ = while_loop(lambda w, k: k < inner, lambda w, k: (2 * w, k + 1), (v, 0), at_most=9)
            return doubled + 1, n + 1

        return while_loop(lambda v, n: n < outer, turn, (x, 0), at_most=9)

    x = np.arange(4.0)
    for outer, inner in ((3, 2), (0, 5), (2, 0), (9, 9), (3, 2)):
        exact = x
        for _ in range(outer):
            exact = exact * 2.0**inner + 1
        values, turns = nested(x, outer, inner, backend="openmp")
        assert_same_bits(values, exact)
        assert turns == outer
    for wrong in ((10, 1), (1, 10)):
        with pytest.raises(RunError, match="within 9 iterations"):
            nested(x, *wrong, backend="openmp")
        assert nested(x, 1, 1, backend="openmp")[0].tolist() == (2 * x + 1).tolist()


def test_memory_that_is_given_up_is_free_at_once():
    program = wb.collective(backend="openmp", threads=2)(turned)
    program(np.ones(300_000), 2)
    (prepared,) = program._prepared.values()
    seen = weakref.ref(prepared._idle[0]._instance._instance)
    gc.disable()  # which would find what refers to itself
    try:
        program.close()
        assert seen() is None
    finally:
        gc.enable()


def test_threads_call_programs_with_loops_and_records_at_the_same_time():
    program, wrong = wb.collective(backend="openmp", threads=1)(lambda at, most: turned(at.x + at.slope, most)[0]), []

    def work(seed):
        x = np.full(3000, float(seed))
        for most in range(40):
            if not np.array_equal(program(Line(x, x), most), 2 * x * 2.0**most):
                wrong.append((seed, most))

    at_the_same_time(work, range(4))
    assert not wrong


def test_parts_have_one_thread_in_a_forked_process():
    program, x = wb.collective(backend="openmp", threads=2)(turned), np.ones(300_000)
    program(x, 2)
    (prepared,) = program._prepared.values()
    instance = prepared._idle[0]._instance._instance
    assert {each.march.threads for each in instance._parts} == {2}
    instance.renew_in_child()
    assert {each.march.threads for each in instance._parts} == {1}
    assert program(x, 3)[1] == 3
    program.close()


RATES = [1.5]


def rated(x):
    return x * RATES[0]


def test_names_that_change_are_told_of():
    program, x = wb.collective(backend="reference")(rated), np.arange(3.0)
    before = RATES[0]
    program(x)
    RATES[0] = 2.5
    try:
        with pytest.warns(CapturedNameWarning, match="RATES"):
            program(x)
    finally:
        RATES[0] = before


FORKED = """
import os, signal, sys
import numpy as np
import workbench as wb
from workbench.language import while_loop

program = wb.collective(backend="openmp", threads=2)(
    lambda x, most: while_loop(lambda v, n: n < most, lambda v, n: (2 * v, n + 1), (x, 0), at_most=60)
)
x = np.ones(300_000)
program(x, 3)
child = os.fork()
if child == 0:
    signal.alarm(60)  # else it waits for threads that are not there
    values, turns = program(x, 4)
    os._exit(0 if (values == 16).all() and turns == 4 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert (program(x, 5)[0] == 32).all()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_calls_what_its_parent_has_called_on_several_threads():
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "runs on one and not on 2" in done.stderr
