"""manifest, delayed and annotate on arrays: the loops and the arrays before and after, and what is refused."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.annotated_arrays import CASES, CELL, FORCED, HINTS, OTHER, PLACES, A, X, plain
from tests.kit.array_plans import array_of, loops_of_machine
from workbench import language
from workbench.errors import PlanError

BY_NAME = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def machine_of(function):
    return wb.collective(function).machine(A, X, PLACES)


def assert_stored_otherwise(machine, case):
    """The value lies in an array of its own, or in none."""
    slot = array_of(machine.plan("openmp"), case.name)
    assert loops_of_machine(machine) == case.other
    assert (slot is None) == (case.allocation == "delayed")
    if slot is not None:
        assert len(slot.axes) in (case.axes, 0)
        assert case.axes == len(slot.axes or machine.graph.kernels[0].space.axes)


@BY_NAME
def test_a_word_in_the_function_stores_an_array_or_computes_it_again(case):
    assert loops_of_machine(machine_of(case.written(plain))) == case.own
    assert_stored_otherwise(machine_of(case.written(HINTS[case.allocation])), case)


@BY_NAME
def test_annotate_does_what_the_word_does_and_takes_it_back(case):
    own = machine_of(case.written(plain))
    other, kept = own.annotate(case.name, case.allocation), OTHER[case.allocation]
    assert_stored_otherwise(other, case)
    hinted = machine_of(case.written(HINTS[case.allocation]))
    assert [k.observed for k in hinted.plan("openmp").kernels] == [k.observed for k in other.plan("openmp").kernels]
    for back in (other.annotate(case.name, kept), hinted.annotate(case.name, kept)):  # choices win over words
        assert loops_of_machine(back) == (case.annotated or case.own)
        assert (array_of(back.plan("openmp"), case.name) is None) == (kept == "delayed")


@BY_NAME
def test_neither_changes_what_is_computed(case):
    draw = np.random.default_rng(1)
    given = draw.random(A.shape), draw.random(X.shape), draw.permutation(PLACES)
    expected = wb.collective(case.written(plain))(*given, backend="reference")
    found = wb.collective(case.written(HINTS[case.allocation]))(*given, backend="reference")
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    assert all(np.array_equal(mine, exact) for mine, exact in pairs)


@pytest.mark.parametrize("written", FORCED, ids=lambda written: written.__name__)
def test_an_array_that_must_be_stored_is_not_computed_again(written):
    why = FORCED[written].replace("(", r"\(").replace(")", r"\)")
    stored = machine_of(written(HINTS["manifest"]))
    assert loops_of_machine(stored) == loops_of_machine(machine_of(written(plain))) == (2, 1)
    with pytest.raises(
        PlanError, match=f"{written.__name__} cannot be Delayed: it is Manifest, because {why}"
    ) as caught:
        machine_of(written(HINTS["delayed"])).plan("openmp")
    assert "line " in str(caught.value)
    with pytest.raises(PlanError, match=why):
        stored.annotate(written.__name__, "delayed").plan("openmp")


def test_arrays_that_are_given_are_stored_already_and_others_are_unknown():
    machine = machine_of(CASES[0].written(plain))
    with pytest.raises(PlanError, match="x is state, which is stored anyway"):
        machine.annotate("x", "manifest")
    with pytest.raises(PlanError, match=r"computes nothing called 'product'(.*\n)*.*products"):
        machine.annotate("product", "manifest")


@pytest.mark.parametrize("word", ["manifest", "delayed"])
def test_a_cell_of_arrays_says_it_in_a_line_of_its_own(word):
    expected = {"manifest": (3, 1), "delayed": (2, 0)}[word]
    machine = wb.trace(CELL, name="ranges")
    assert loops_of_machine(machine) == (2, 0)
    annotated = machine.annotate("centred", word)
    written = wb.trace(f"{CELL}{word}(centred)\n", name="ranges")
    assert loops_of_machine(annotated) == loops_of_machine(written) == expected
    if word == "manifest":
        assert array_of(annotated.plan("openmp"), "centred") is not None


@pytest.mark.parametrize("word", ["compute", "manifest", "delayed"])
def test_a_hint_reaches_copies_of_copies_of_a_square_array(word):
    """The second sum copies the copy of the first one's sines back along their own axes."""
    square = np.random.default_rng(2).random((3, 3))

    def sums(a):
        s = np.sin(a)
        once = s + s.T
        twice = once + once.T
        getattr(language, word)(s)
        return twice

    once = np.sin(square) + np.sin(square).T
    assert np.array_equal(wb.collective(sums)(square, backend="reference"), once + once.T)
    assert loops_of_machine(wb.collective(sums).machine(square)) == ((1, 0) if word == "delayed" else (2, 0))
