"""Bad cells: each gives the right line, names the value and says what to do."""

import numpy as np
import pytest

from tests.frontend.bad_array_cells import BAD_ARRAYS
from tests.frontend.bad_cells import BAD, NAMESPACE, K, U
from workbench.errors import TraceError
from workbench.frontend.cell import trace_cell, trace_function
from workbench.language import field

EVERY = [*BAD, *BAD_ARRAYS]


@pytest.fixture(autouse=True)
def short_limits(monkeypatch):
    """Runaway cells end sooner, so that the table stays quick."""
    monkeypatch.setattr("workbench.frontend.trace.MOST_NODES", 5_000)
    monkeypatch.setattr("workbench.frontend.trace.MOST_TURNS", 20_000)


def error_of(text):
    with pytest.raises(TraceError) as caught:
        trace_cell(text, namespace=NAMESPACE)
    return str(caught.value).splitlines()


@pytest.mark.parametrize(("text", "line", "what", "advice"), EVERY, ids=[repr(row[0][-40:]) for row in EVERY])
def test_bad_cell_is_explained(text, line, what, advice):
    lines = error_of(text)
    assert lines[0].startswith(f"line {line}: ")
    assert what in lines[0]
    assert advice in lines[-1]
    assert lines[-1].endswith(".")
    cell = text.splitlines()
    if cell:
        assert lines[1] == "    " + cell[line - 1].strip()


@pytest.mark.parametrize(
    ("formula", "advice"),
    [
        ("np.sqrt(u)", 'trace(text, namespace={"np": np}), or begin the text with import numpy as np.'),
        ("numpy.sqrt(u)", 'trace(text, namespace={"numpy": numpy}), or begin the text with import numpy.'),
        ("gibberish * u", 'trace(text, namespace={"gibberish": value})'),
    ],
)
def test_a_text_without_a_namespace_is_told_how_to_get_one(formula, advice):
    with pytest.raises(TraceError, match=r"line 2: the name [a-z]+ is not defined\n") as caught:
        trace_cell(f"{U}u.next = {formula}")
    assert advice in str(caught.value).splitlines()[-1]
    assert "cell" not in str(caught.value)


def test_a_text_gets_numpy_by_its_namespace_or_by_an_import():
    for text, namespace in ((U, {"np": np}), (f"import numpy as np\n{U}", None)):
        trace_cell(f"{text}u.next = np.sqrt(u)", namespace=namespace)


def test_a_function_is_told_to_import_where_it_is_defined():
    def cell():
        u = field("u")
        u.next = numpy.sqrt(u)  # noqa: F821  # the fault

    def outside(a):
        return numpy.sqrt(a)  # noqa: F821  # the fault

    with pytest.raises(TraceError, match=r"numpy is not defined\n(.*\n)*Write import numpy where the function is def"):
        trace_function(cell)
    with pytest.raises(TraceError, match=r"outside the cell\n(.*\n)*Write import numpy where the function is defined"):
        trace_cell(f"{U}u.next = outside(u)", namespace={"outside": outside})


def test_table_is_large_enough():
    cells, advices = {text for text, *_ in EVERY}, {advice for *_, advice in EVERY}
    print(f"{len(cells)} cells, {len(advices)} different advices")
    assert len(cells) >= 60
    assert len(advices) >= 30


def test_caret_points_at_the_operation():
    lines = error_of(U + "u.next = 1.0 + math.sqrt(u)")
    assert lines[1:3] == ["    u.next = 1.0 + math.sqrt(u)", "    " + " " * 15 + "^"]


def test_columns_count_characters():
    """A letter of two bytes before the fault does not move the caret."""
    lines = error_of(U + "µ = 1; u.next = 1.0 + math.sqrt(u)")
    assert lines[2] == "    " + " " * 22 + "^"


def test_lines_count_as_the_user_sees_them():
    with pytest.raises(TraceError, match=r"^line 12: 'if' needs") as caught:
        trace_cell(U + "if u > 0: pass", first_line=11)
    assert caught.value.source == "if u > 0: pass"
    with pytest.raises(TraceError, match=r"^line 12: this is no valid Python"):
        trace_cell(U + "u.next = = u", first_line=11)


def test_fault_inside_a_function_of_the_cell_shows_its_line():
    lines = error_of(U + "def flux(a):\n    return a[1:]\nu.next = flux(u)")
    assert lines[0].startswith("line 3: a[1:]")


def test_a_sum_that_python_cannot_parse_is_explained():
    text = U + "\nw = u * 2\nu.next = " + " + ".join(["u"] * 20_000) + "\n"
    lines = error_of(text)
    assert lines[0] == "line 4: a formula of 20,000 terms and factors is too long for Python"
    assert lines[1].startswith("    u.next = u + u + u")
    assert len(lines[1]) < 80
    assert lines[-1].startswith("Write it as a loop: total = 0, then for term in terms")


def test_a_sum_of_900_terms_is_read():
    trace_cell(U + "u.next = " + " + ".join(["u"] * 900))


def test_the_power_of_a_whole_number_by_a_wrong_sign_is_noted():
    traced = trace_cell(K + "k.next = k^2\n")
    assert traced.warnings == ("line 2: k^2 is the exclusive or; write k**2 for the power",)
    assert trace_cell(K + "k.next = k ^ (k << 1)\n").warnings == ()


def test_tuples_of_fields_join_and_count():
    text = 'a, b, c = fields("a b") + fields("c")\npair = fields("d e")\nd = pair[0]\n'
    traced = trace_cell(text + "for f in (a, b, c, d, pair[1]):\n    f.next = f + len(pair)\n")
    assert [f.name for f in traced.graph.fields] == ["a", "b", "c", "d", "e"]


def test_a_tuple_of_fields_is_a_state_of_a_step_in_time():
    traced = trace_cell(
        'state = fields("u v")\nafter = midpoint(state, lambda u, v: (v, -u), 0.1)\n'
        "for f, value in zip(state, after):\n    f.next = value\n"
    )
    assert [name for name, _ in traced.graph.kernels[0].stores()] == ["u", "v"]
