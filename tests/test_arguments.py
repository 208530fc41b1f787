"""Arguments: each public method says which of its arguments is wrong, and never fails by an error of Python's own."""

import inspect

import numpy as np
import pytest

import workbench as wb
from workbench.arguments import explains_arguments
from workbench.errors import ArgumentError, FieldError, PlanError, ShapeError, StencilError
from workbench.planning.plan import Plan
from workbench.run.simulation import Simulation
from workbench.tuning.study import Study

WAVE = wb.trace('u = field("u", boundary="periodic")\ny = u * u\nu.next = y[+1] + y[-1]', name="wave")
OBJECTS = {
    wb.Machine: lambda: WAVE,
    Simulation: lambda: WAVE.simulate(u=np.ones(8)),
    Plan: WAVE.plan,
    Study: lambda: Study.__new__(Study),
}
METHODS = [
    (kind, name)
    for kind in OBJECTS
    for name, member in inspect.getmembers(kind, inspect.isfunction)
    if not name.startswith("_") and (kind, name) != (Study, "listen")
]
SAID = [
    (
        lambda m: m.verify(np.ones(4)),
        r"machine\.verify takes none .* array of shape \(4,\)\nWrite machine\.verify\(",
    ),
    (lambda m: m.verify(steps=None), r"machine\.verify: steps is None, but must be a whole number\nPass steps="),
    (lambda m: m.annotate(), r"machine\.annotate needs name\nWrite machine\.annotate\(name=, allocation=, sync=\)\."),
    (lambda m: m.annotate("y", allocation=np.ones(2)), r"allocation is an array .* must be a text or None"),
    (lambda m: m.annotate("y", name="y"), r"was given name twice"),
    (lambda m: m.plan(backnd="cuda"), r"machine\.plan has no argument 'backnd'\nWrite machine\.plan\(backend=\)\."),
    (lambda m: m.restore(3), r"path is 3, but must be a text or a path"),
    (lambda m: m.with_genome(b"A"), r"genome is b'A', but must be a text"),
    (lambda m: m.converge(abs, sizes=3), r"sizes is 3, but must be a list or tuple"),
    (lambda m: m.plan().explain(), r"plan\.explain needs a"),
    (
        lambda m: m.with_precision("dd", "f32"),
        r"at most 1 .* given 'f32'\nWrite machine\.with_precision\(every\)",
    ),
    (lambda m: wb.Study.attach(7), r"path is 7, but must be a text or a path"),
    (lambda m: m.simulate(u=np.ones(8))[3], r"name is 3, but must be a text"),
    (lambda m: m.simulate(u=np.ones(8)).set(np.ones(8)), r"simulation\.set takes none .*\nWrite .* by their names"),
]


@pytest.mark.parametrize(("call", "says"), SAID)
def test_an_error_names_the_argument_the_value_and_what_to_do(call, says):
    with pytest.raises(ArgumentError, match=says) as caught:
        call(WAVE)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize(("kind", "name"), METHODS)
def test_no_method_fails_by_the_form_of_its_call(kind, name):
    method = getattr(OBJECTS[kind](), name)
    with pytest.raises((ArgumentError, StencilError)):
        method(*range(20))


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: WAVE.verify(shape=-3), ShapeError, "below 1"),
        (lambda: WAVE.verify(shape="wide"), ShapeError, "shape='wide' is no tuple of whole numbers"),
        (lambda: WAVE.tune(np.ones(64)), ShapeError, r"shape=an array of shape \(64,\) is no tuple of whole numbers"),
        (lambda: WAVE.simulate(u=np.ones(8), backnd="cuda"), FieldError, r"no 'backnd'(.*\n)*Did you mean backend=\?"),
        (lambda: WAVE.tune(u=np.ones(8), budgt=3), FieldError, r"no 'budgt'(.*\n)*Did you mean budget=\? Use"),
        (lambda: WAVE.verify(w=np.ones(8)), FieldError, r"no 'w'(.*\n)*Use one of u\."),
        (lambda: WAVE.with_choices("fast"), PlanError, "no record of choices"),
        (lambda: WAVE.with_precision(np.ones(2)), PlanError, "is no storage type"),
    ],
)
def test_values_are_refused_by_the_methods_themselves(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_errors_of_what_a_method_calls_stay_as_they_are():
    with pytest.raises(TypeError, match="unsupported operand") as caught:
        WAVE.converge(lambda extents, time: 1 + "one")
    assert not isinstance(caught.value, StencilError)


def test_names_signatures_and_help_stay():
    assert str(inspect.signature(WAVE.annotate)).startswith("(name: ")
    assert WAVE.verify.__doc__.startswith("Run the same initial state")

    @explains_arguments
    class Twice:
        def of(self, n: int) -> int:
            return 2 * n

    assert Twice().of(3) == 6
