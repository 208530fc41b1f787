"""The machines of several solvers at once."""

import pytest

from workbench.errors import StencilError
from workbench.solvers.catalogue import ALL, machines_of


def found(names, dims, dtypes):
    return [(m.name, m.graph.dim, str(m.graph.fields[0].type)) for m in machines_of(names, dims, dtypes)]


def test_all_solvers_come_in_the_dimensions_that_they_have():
    everything = found(ALL, (2, 3), ("f32",))
    assert len(everything) == len(set(everything))
    assert {dim for name, dim, _ in everything if name == "shallow_water"} == {2}
    assert {dim for name, dim, _ in everything if name == "hydro"} == {2, 3}
    assert [row for row in everything if row[0] == "life"] == [("life", 2, "u8")]


def test_what_was_named_is_made_or_refused():
    assert found(("heat", "wave"), (2,), ("f32", "f64")) == [
        ("heat", 2, "f32"),
        ("heat", 2, "f64"),
        ("wave", 2, "f32"),
        ("wave", 2, "f64"),
    ]
    for names, dims, dtypes, words in (
        (("heta",), (1,), ("f64",), "there is no solver 'heta'"),
        (("exact_riemann",), (1,), ("f64",), "there is no solver 'exact_riemann'"),
        (("all", "heat"), (1,), ("f64",), "there is no solver 'all'"),
        (("shallow_water",), (3,), ("f64",), "dim=3"),
        (ALL, (0,), ("f64",), "dim=0"),
        (ALL, (2,), ("f16",), "'f16'"),
    ):
        with pytest.raises(StencilError, match=words):
            found(names, dims, dtypes)
