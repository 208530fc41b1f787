"""Graphs and plans show themselves as text, never as a dump of their records."""

import workbench

MACHINE = workbench.trace('u = field("u", boundary="periodic")\na = u[+1] - u\nu.next = a')


def test_str_is_the_stable_text():
    assert str(MACHINE.graph).startswith("graph machine")
    assert str(MACHINE.plan("reference")).startswith("plan of machine")


def test_repr_is_one_short_line():
    for shown in (MACHINE.graph, MACHINE.plan("reference")):
        assert repr(shown).count("\n") == 0
        assert len(repr(shown)) < 120


def test_a_cell_shows_the_text():
    from IPython.lib.pretty import pretty

    assert pretty(MACHINE.graph).rstrip() == str(MACHINE.graph).rstrip()
    assert pretty(MACHINE.plan("reference")).rstrip() == str(MACHINE.plan("reference")).rstrip()


def test_a_plan_explains_itself():
    assert "u" in MACHINE.plan("reference").explain("u", "a")
