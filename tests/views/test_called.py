"""Views and card of machines that are called: pairs and arrays, values of several spaces."""

import re

import pytest

import workbench as wb
from workbench.backends.launch_trace import trace_plan
from workbench.notebook.card_html import card_html
from workbench.notebook.card_text import card_text
from workbench.notebook.defining import CellOptions, define
from workbench.planning.cost import ESTIMATE
from workbench.views.drawing.shapes import Label
from workbench.views.graph.marks import INSTRUCTIONS
from workbench.views.graph.summary import describe_graph, plan_line, summarise_graph
from workbench.views.graph.words import details_text
from workbench.views.launch.drawing import draw_launch
from workbench.views.launch.figure import _CellsFigure
from workbench.views.launch.summary import Findings, describe_launch, summarise_launch
from workbench.views.plan.messages import caption_of, columns_of, notes_of
from workbench.views.plan.summary import describe_plan, summarise_plan

CELLS = {
    "pairs": 'xi, = targets("x")\nxj, m = sources("x m")\nax, = totals("ax")\nax += m * (xj - xi)',
    "arrays": 'A = array("A", "rows", "columns")\nmean = fold(add, A) / size("columns")\noutput("centred", A - mean)',
    "sparse": 'n, c = array("n", "rows", dtype="i32"), array("c", "entries", dtype="i32")\n'
    'v, x = array("v", "entries"), array("x", "cols")\np = v * x[c]\n'
    'output("y", fold_segments(add, p, n))\noutput("s", scan(add, p, reverse=True))',
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
    options = CellOptions("dipole", None, "f64", None, "reference", None)
    cell = CELLS["pairs"] + '\nk = param("k", 2.0)\nax += k * m'
    _, card = define(cell, options, first_line=1, namespace={}, previous=None)
    text = card_text(card)
    assert "x.source  f64  given at the call, along j" in text
    assert "ax  f64  result, along i" in text
    assert "dipole(x=..., m=..., k=2.0)" in text
    assert "simulate" not in text


@pytest.mark.parametrize(
    ("name", "counted", "each"), [("pairs", "pairs", "a pair"), ("arrays", "elements", "an element")]
)
def test_the_card_of_a_called_machine_speaks_of_no_cells_and_steps(name, counted, each):
    _, card = define(
        CELLS[name], CellOptions("made", None, "f64", None, "openmp", None), first_line=1, namespace={}, previous=None
    )
    for text in (card_text(card), re.sub("<style>.*?</style>|<[^>]*>", " ", card_html(card), flags=re.DOTALL)):
        text = text.replace("\N{NO-BREAK SPACE}", " ")
        assert f"1,024 × 1,024 {counted}" in text
        assert f"{counted}/s" in text
        assert "launches a call: " in text
        assert each in text
        assert not re.search(r"\b((?<!next )cells?|steps?|halo|fields?|D machine)\b", text)


def test_a_number_of_the_card_and_its_unit_stay_in_one_line():
    options = CellOptions("made", None, "f64", None, "openmp", None)
    _, card = define(CELLS["arrays"], options, first_line=1, namespace={}, previous=None)
    values = re.findall('<div class="swb-value">([^<]*)</div>', card_html(card))
    assert re.fullmatch("[\\d.]+\N{NO-BREAK SPACE}[kMG]?elements/s", values[0])
    assert len(values) == 5
    assert not [value for value in values if " " in value]


def test_figures_are_of_whole_calls_where_no_value_has_all_axes():
    """A loop over entries and one over rows have no common element of which bytes could be told."""
    options = CellOptions("smvm", None, "f64", None, "openmp", None)
    _, card = define(CELLS["sparse"], options, first_line=1, namespace={}, previous=None)
    assert card.main_kernel.bytes_moved > 1000
    assert 0 < card.main_kernel.bound < 1e9
    for text in (card_text(card), re.sub("<style>.*?</style>|<[^>]*>", " ", card_html(card), flags=re.DOTALL)):
        assert re.search(r"bound [\d.]+ [kM]?calls/s", " ".join(text.split()))
        assert "elements/s" not in text
    assert "bytes and" in card_text(card)
    assert "flops a call" in card_text(card)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("pairs", "pairs, called"), ("arrays", "elements, called"), ("sparse", "elements, called"), ("grid", "2-D")],
)
def test_a_machine_prints_what_it_is(name, kind):
    assert str(wb.trace(CELLS[name], name="made")).splitlines()[0] == f"machine made: {kind}"


@pytest.mark.parametrize(
    ("name", "one", "counted"), [("pairs", "a pair", "pairs"), ("arrays", "an element", "elements")]
)
def test_the_plan_of_a_called_machine_speaks_of_its_calls(name, one, counted):
    plan = wb.trace(CELLS[name], name="made").plan("openmp")
    summary = summarise_plan(plan, extents=(64, 64), figures=ESTIMATE)
    told = (caption_of(summary), describe_plan(summary), plan_line(plan))
    assert f"64 × 64 {counted}" in told[0]
    assert " a call, " in told[0]
    assert f"{one}: " in told[1]
    assert told[2].endswith(f"bytes {one}")
    heads = [column.label for column in columns_of(summary)]
    assert f"flops {one}" in heads
    assert "predicted (a call)" in heads
    assert not re.search(r"\ba (cell|step)\b", " ".join((*told, *heads)))
    still = [note for note in notes_of(summary) if " moves next to nothing" in note]
    assert bool(still) == (name == "pairs")


@pytest.mark.parametrize("name", ["pairs", "arrays"])
@pytest.mark.parametrize("backend", ["openmp", "cuda"])
def test_graph_and_launches_of_a_called_machine_speak_of_no_cells(name, backend):
    plan = wb.trace(CELLS[name], name="made").plan(backend)
    graph = summarise_graph(plan, extents=(64, 64))
    told = [describe_graph(graph), describe_launch(summarise_launch(plan, extents=(64, 64), backend=backend))]
    told += [details_text(node, graph.cell) for node in graph.nodes]
    assert not re.search(r"\bcells?\b(?! lines?)", "\n".join(told))
    assert {"pairs": "64 x 64 pairs", "arrays": "64 x 64 elements"}[name] in told[1]


@pytest.mark.parametrize(
    ("cell", "place"),
    [
        ('A, B = array("A", "rows", "columns"), array("B", "rows", "columns")\noutput("C", A + B)', "element"),
        ('u = field("u", boundary="periodic")\nu.next = u - u[+1, 0]', "cell"),
    ],
)
def test_pictures_of_launches_name_elements_where_there_are_no_cells(cell, place):
    plan = wb.trace(cell, name="made").plan("cuda")
    traces = trace_plan(plan, (4, 4))
    found = Findings(traces=traces, trace_extents=(4, 4))
    options = {"extents": (4, 4), "backend": "cuda", "findings": found}
    summary = summarise_launch(plan, shown=traces[-1].kernel, **options)
    assert summary.trace is not None
    told = [shape.text for shape in draw_launch(summary).shapes if isinstance(shape, Label)]
    figure = _CellsFigure()
    figure.show(summary.trace, summary.terms)
    told += [figure.plot.title.text, figure.plot.xaxis.axis_label, str(figure._hover.tooltips)]
    assert f"which {place}" in told[-3]
    assert any(f"which block stores to which {place}" in words for words in told)
    assert bool(re.search(r"\bcells?\b", "\n".join(told))) == (place == "cell")


def test_what_instructions_do_is_said_without_cells():
    assert [kind for kind, words in INSTRUCTIONS.items() if re.search(r"\bcells?\b", words)] == ["Extend"]
