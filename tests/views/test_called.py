"""Views and card of machines that are called: pairs and arrays, values of several spaces."""

import pytest

import workbench as wb
from workbench.notebook.card_text import card_text
from workbench.notebook.defining import Wishes, define

CELLS = {
    "pairs": 'xi, = targets("x")\nxj, m = sources("x m")\nax, = totals("ax")\nax += m * (xj - xi)',
    "arrays": 'A = array("A", "rows", "columns")\nmean = fold(add, A) / size("columns")\noutput("centred", A - mean)',
    "grid": 'u = field("u", boundary="periodic")\nmean = reduce_sum(u, axis=1) / size(1)\nu.next = u - mean[+1]',
}


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("kind", ["graph", "plan", "source", "launch"])
def test_views_of_several_spaces_open_and_draw(name, kind):
    machine = wb.trace(CELLS[name], name=name)
    view = machine.view(kind)
    try:
        bundle = view._repr_mimebundle_()
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        assert any(key.startswith(("image/", "text/")) for key in data)
    finally:
        view.close()


@pytest.mark.parametrize("name", CELLS)
def test_an_inspector_opens(name):
    inspector = wb.trace(CELLS[name], name=name).inspect()
    inspector.close()


def test_the_card_says_what_is_given_and_what_a_call_returns():
    wishes = Wishes("dipole", None, "f64", None, "reference", None)
    cell = CELLS["pairs"] + '\nk = param("k", 2.0)\nax += k * m'
    _, card = define(cell, wishes, first_line=1, namespace={}, previous=None)
    text = card_text(card)
    assert "x.source  f64  given at the call, along j" in text
    assert "ax  f64  result, along i" in text
    assert "dipole(x=..., m=..., k=2.0)" in text
    assert "simulate" not in text
