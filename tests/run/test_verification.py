"""Verification: equal bits are recognised, and so is every other outcome."""

import numpy as np
import pytest

import workbench as wb
from tests.programs.wave import TEXT as WAVE
from workbench.backends import registry
from workbench.backends.base import Availability
from workbench.backends.reference import ReferenceBackend
from workbench.graph.deviation import is_exact
from workbench.graph.types import BOOL, F32, F64, I64
from workbench.run.verification import Deviation, Verification, distance

NAN = float("nan")


class WrongBackend(ReferenceBackend):
    """The reference with one bit wrong."""

    name = "wrong"

    def compile(self, plan, cancel=None):
        program = super().compile(plan)

        class WrongProgram(type(program)):
            def instantiate(self, extents, threads=0):
                instance = super().instantiate(extents, threads)
                march = instance.march

                def wrong_march(request):
                    result = march(request)
                    instance.write_field("u", np.nextafter(instance.read_field("u"), 9))
                    return result

                instance.march = wrong_march
                return instance

        return WrongProgram(plan)


class AbsentBackend(ReferenceBackend):
    """A backend that is not here."""

    name = "absent"

    def availability(self):
        return Availability(False, "no such device", "Buy one.")


@pytest.fixture
def rows(monkeypatch):
    module = __name__

    def set_rows(*classes):
        loaded = [registry.BackendRow(c.name, module, c.__name__, "") for c in classes]
        monkeypatch.setattr(registry, "BACKENDS", (registry.BACKENDS[0], *loaded))
        monkeypatch.setattr(registry, "_load", lambda row: known.get(row.name) or loaded_reference())
        known = {c.name: c() for c in classes}
        loaded_reference = ReferenceBackend

    return set_rows


@pytest.mark.parametrize(
    ("found", "expected", "type_", "ulp"),
    [
        ([1.0, 2.0], [1.0, 2.0], F64, 0),
        ([1.0, np.nextafter(2.0, 3)], [1.0, 2.0], F64, 1),
        ([-0.0], [0.0], F64, 1),
        ([5e-324], [-5e-324], F64, 3),
        ([NAN], [NAN], F64, 0),
        ([NAN], [1.0], F64, 2**63 - 1),
        ([np.inf], [-np.inf], F32, 2**32 - 2**24 + 1),
        ([np.inf], [-np.inf], F64, 2**64 - 2**53 + 1),
        ([2**62], [-(2**62)], I64, 2**63),
        ([True, False, True], [False, False, False], BOOL, 2),
    ],
)
def test_distance_counts_representable_numbers(found, expected, type_, ulp):
    assert distance(np.array(found), np.array(expected), type_) == ulp


def test_every_backend_here_has_the_bits_of_the_reference():
    result = wb.trace(WAVE, name="wave").verify()
    assert result.exact
    assert result.passed
    assert result.extents == (37,)
    assert {d.name for d in result.deviations} <= {"u", "v", "energy"}


def test_a_terminal_shows_the_table():
    result = wb.trace(WAVE, name="wave").verify(steps=2)
    assert repr(result) == str(result)


def test_a_wrong_bit_is_found(rows):
    rows(WrongBackend)
    result = wb.trace('u = field("u")\nu.next = u').verify(steps=4)
    assert result.deviations == (Deviation("wrong", "u", 1, 2),)  # two marches: one step, three steps
    assert not result.passed
    assert "FAILED" in str(result)
    assert "<td>wrong<td>u<td>1<td>2" in result._repr_html_()


def test_absent_backends_are_listed_with_their_reason(rows):
    rows(AbsentBackend)
    result = wb.trace('u = field("u")\nu.next = u').verify()
    assert result.absent == (("absent", "no such device"),)
    assert "no backend but the reference" in str(result)
    assert "not here: absent: no such device" in str(result)


def test_values_with_a_bound_are_judged_by_it_and_values_without_are_not():
    machine = wb.trace('u = field("u")\nu.next = sin(u)')
    assert not is_exact(machine.graph)
    allowed = Verification("m", (3,), 2, False, (Deviation("other", "u", 4, 999, 4, None),), ())
    assert allowed.passed
    assert not allowed.equal
    assert "within the bounds of functions like sin; not judged, because computed from their results: u" in str(allowed)
    assert "other    u      4 (bound 4)       999 (no bound)" in str(allowed)
    broken = Verification("m", (3,), 2, False, (Deviation("other", "u", 5, 5, 4, None),), ())
    assert not broken.passed
    assert "FAILED: beyond the bounds of the operators: u" in str(broken)


def test_a_wrong_bit_is_found_beside_an_operator_with_a_bound(rows):
    rows(WrongBackend)
    result = wb.trace('u, v = fields("u v")\nu.next = u * 2\nv.next = sin(u)').verify(steps=4)
    found = {d.name: (d.after_one, d.bound_one, d.bound_all) for d in result.deviations}
    assert found == {"u": (1, 0, 0), "v": (0, 4, 4)}
    assert not result.passed


def test_what_init_makes_with_a_bound_is_no_start_of_equal_bits():
    text = 's = scalar("s")\nu = field("u")\nu.next = u * s\n@kernel\ndef init():\n    s.next = sin(reduce_max(u * 0))'
    result = wb.trace(text, name="m").verify(steps=2)
    bounds = {d.name: (d.bound_one, d.bound_all) for d in result.deviations}
    assert bounds == {"s": (4, 4), "u": (None, None)}
    assert result.passed


def test_given_values_and_shape_are_used():
    machine = wb.trace('u = field("u")\nu.next = u + 1')
    assert machine.verify(u=np.zeros(5)).extents == (5,)
    assert machine.verify(shape=9).extents == (9,)


def test_a_vector_may_be_given():
    machine = wb.trace('v = vector("v", boundary="periodic")\nv.next = v.at(+1, 0) + v', dim=2)
    found = machine.verify(v=np.arange(24.0).reshape(2, 3, 4), steps=2)
    assert found.extents == (3, 4)
    assert found.passed
