"""What the graph view shows, where, and what its words say."""

from importlib import import_module
from typing import get_args

import pytest

from tests.kit.cells import CHAIN, HELLO
from tests.kit.rolled import TWICE, plan_of
from tests.programs import all_programs
from workbench.graph import Kernel, formula, own_name
from workbench.graph.instructions import Instruction
from workbench.machine import trace
from workbench.planning import Choices, PlanChoices, plan_graph
from workbench.solvers import NAMES as SOLVERS
from workbench.views.drawing.shapes import text_width, to_svg
from workbench.views.graph.drawing import draw_graph
from workbench.views.graph.figure import GraphFigure
from workbench.views.graph.layout import default_folds, lay_out_graph
from workbench.views.graph.marks import INSTRUCTIONS, MARKS, STORAGES, storage_label
from workbench.views.graph.summary import describe_graph, summarise_graph
from workbench.views.graph.symbols import symbol
from workbench.views.graph.walk import hull_at, neighbour, node_at, search
from workbench.views.graph.words import details_text, storage_text
from workbench.views.plan.summary import rolling_text

WAVE = """
u, v = fields("u v", boundary="periodic")
energy = scalar("energy")
c = param("c", 3.43)
dx = 2 * pi / size(0)
dt = dx / c
u1 = u + dt * v
a = c**2 / dx**2 * (u1[+1] - 2 * u1 + u1[-1])
v1 = where(index(0) < 3, v, v + dt * a)
u.next, v.next = u1, v1
energy.next = reduce_sum(-0.5 * v1**2)
"""


def summary_of(text, *flips, compared=None, name="m"):
    machine = trace(text, name=name)
    for value, allocation in flips:
        machine = machine.annotate(value, allocation)
    return summarise_graph(machine.plan(), (64,), compared=compared)


def named(summary, wanted):
    return next(node for node in summary.nodes if node.title == wanted)


def test_hello_is_one_sub_kernel_and_two_after_the_flip():
    before, after = summary_of(HELLO), summary_of(HELLO, ("y", "manifest"))
    assert (len(before.groups), before.bytes_moved) == (1, 16)
    assert (len(after.groups), after.bytes_moved) == (2, 32)
    assert named(before, "y").storage == "Delayed"
    assert named(after, "y").storage == "Manifest"
    assert named(before, "y").subkernels == (before.groups[0].ref.name,)
    assert after.line == "m: 2 sub-kernels; 2 Manifest, 0 Delayed; 32 bytes a cell"


def test_summary_of_hello_in_full():
    summary = summary_of(HELLO)
    assert [(n.title, n.symbol, n.instruction, n.storage, n.operands, n.cell_lines) for n in summary.nodes] == [
        ("density", "", "Load", "Existing", (), (3,)),
        ("y", "×", "Arith", "Delayed", (0,), (4,)),
        ("z", "+", "Arith", "Manifest", (1,), (5,)),
        ("density.next", "=", "Store", "", (2,), (6,)),
    ]
    assert [n.forced for n in summary.nodes] == [
        "a field is an array already",
        "",
        "its array becomes field density",
        "a Store has no value",
    ]


def test_recomputed_values_say_how_often():
    plan = plan_graph(trace(CHAIN, name="m").graph, Choices(plan=PlanChoices().changed(preset="as_delayed")))
    summary = summarise_graph(plan, (64,))
    assert named(summary, "a").evaluations == 4  # c at -1 and +1 needs b at -2, 0 and 2, and those a at -3, -1, 1, 3
    assert named(summary, "b").evaluations == 3
    assert named(summary, "c").evaluations == 2
    assert named(summary, "a").loads == 1
    assert named(summary_of(CHAIN, ("a", "manifest")), "a").evaluations == 1
    assert "computed 4 × a cell" in details_text(named(summary, "a"))


def test_region_and_barriers_are_said():
    plan = trace(CHAIN, name="m").annotate("a", "manifest").plan()
    a = next(n for n in summarise_graph(plan, (64,)).nodes if n.title == "a")
    assert a.outside
    assert f"needed {a.outside} cells outside the domain" in details_text(a)
    marked = summary_of('u = field("u")\ny = sync(manifest(2 * u))\nu.next = y + 1')
    assert "barrier" in details_text(named(marked, "y"))
    assert storage_text(named(marked, "y")) == "Manifest"
    assert storage_text(marked.nodes[-1]) == "no value"


def test_a_value_that_asks_to_roll_says_what_became_of_it():
    text = TWICE.replace("manifest", "rolling")
    together, apart = (summarise_graph(plan_of(text, loops=loops), (8, 8)) for loops in ("together", "apart"))
    asked = "line 3 asks that it is stored where it rolls"
    assert storage_text(named(together, "a")) == f"Manifest: {asked}, and it does; {rolling_text(4)}"
    assert storage_text(named(apart, "a")) == f"Delayed: {asked}, and here it does not"


@pytest.mark.parametrize("words", [str, lambda plan: summarise_graph(plan, (8, 8))])
def test_work_on_the_whole_kernel_is_done_once_not_for_each_value(words, monkeypatch):
    hashed = []
    keys = Kernel.keys
    monkeypatch.setattr(Kernel, "keys", lambda kernel: hashed.append(kernel.name) or keys(kernel))
    asked = {}
    for lines in (3, 60):
        more = "".join(f"b{n} = rolling(u * {n + 2}.0)\n" for n in range(lines))
        total = " + ".join(f"b{n}[+1, 0]" for n in range(lines))
        plan = plan_of(f'u = field("u", boundary="periodic")\n{more}u.next = {total}\n', loops="together")
        hashed.clear()
        words(plan)
        asked[lines] = len(hashed)
    assert asked[60] == asked[3]


def test_formulas_speak_the_cells_language():
    kernel = trace(WAVE, name="wave").plan().main.kernel

    def text(name):
        return formula(kernel, kernel.find(name))

    assert text("dt") == "dx / c"
    assert text("u1") == "u + (dt * v)"
    assert text("a").endswith("* ((u1[+1] - (2 * u1)) + u1[-1])")
    assert text("v1") == "where((index(0) < 3), v, (v + (dt * a)))"
    store = next(i for i, n in enumerate(kernel.nodes) if own_name(kernel, i) == "energy.next")
    assert formula(kernel, kernel.nodes[store].operands[0]).startswith("sum of ")
    assert all(len(symbol(kernel, i)) <= 7 for i in range(len(kernel.nodes)))
    assert symbol(kernel, kernel.find("u1")) == "+"


def test_numbers_known_before_the_step_are_told_apart():
    summary = summary_of(WAVE)
    assert named(summary, "dt").is_number
    assert named(summary, "c").is_number
    assert not named(summary, "u1").is_number
    assert not named(summary, "energy.next").is_number
    drawn = {summary.nodes[n].title for n, _, _ in lay_out_graph(summary).places}
    assert "dt" not in drawn
    assert "u1" in drawn
    assert "dt" in {summary.nodes[n].title for n, _, _ in lay_out_graph(summary, (), True).places}


def test_comparison_names_what_is_stored_otherwise():
    other = trace(HELLO, name="m").plan()
    summary = summary_of(HELLO, ("y", "manifest"), compared=other)
    assert summary.changed == (1,)
    assert describe_graph(summary).endswith("stored otherwise: y")


def test_words_of_a_graph():
    assert describe_graph(summary_of(HELLO)) == (
        "graph of m, kernel step: 4 values, 1 sub-kernel, 16 bytes and 2 flops a cell\n"
        "Manifest: z; 1 Delayed, 1 Existing, 0 Global\n"
        "sub-kernel step_0_z makes z: 16 bytes, 2 flops, 1 load a cell"
    )


def test_values_lie_in_the_hulls_of_their_sub_kernels():
    summary = summary_of(WAVE)
    layout = lay_out_graph(summary)
    assert len(layout.hulls) == len(summary.groups) == 3
    for node, x, y in layout.places:
        hull = hull_at(layout, x, y)
        assert (hull is None) == (not summary.nodes[node].subkernels and summary.nodes[node].storage != "Delayed")
        if hull is not None and summary.nodes[node].subkernels:
            assert summary.groups[hull.group].ref.name == summary.nodes[node].subkernels[0]


def test_folded_sub_kernel_is_one_box_with_its_links():
    summary = summary_of(HELLO, ("y", "manifest"))
    open_layout = lay_out_graph(summary)
    layout = lay_out_graph(summary, {summary.groups[0].ref.name})
    assert [hull.folded for hull in layout.hulls] == [True, False]
    assert layout.node_place(1) is None
    assert open_layout.node_place(1) is not None
    assert [(link.start, link.end) for link in layout.links] == [(0, None), (None, 2), (2, 3)]
    assert default_folds(summary) == frozenset()


def test_large_graph_is_folded_at_first():
    text = 'u = field("u")\nx = u\n' + "x = sin(x) * u\n" * 200 + "u.next = x"
    summary = summary_of(text)
    assert default_folds(summary) == {group.ref.name for group in summary.groups}
    assert len(lay_out_graph(summary, default_folds(summary)).places) < 10
    assert len(lay_out_graph(summary).places) > 400


def test_pointer_finds_the_nearest_value():
    layout = lay_out_graph(summary_of(HELLO))
    x, y = layout.node_place(1)
    assert node_at(layout, x + 10, y - 10) == 1
    assert node_at(layout, x + 10, y - 40) is None
    assert hull_at(layout, -50, -50) is None


def test_arrows_walk_operands_consumers_and_columns():
    summary = summary_of(WAVE)
    layout = lay_out_graph(summary)
    u1 = named(summary, "u1").ref.node
    left = neighbour(summary, layout, u1, "left")
    assert left in summary.nodes[u1].operands
    assert neighbour(summary, layout, left, "right") is not None
    first = neighbour(summary, layout, None, "right")
    assert first == min((x, n) for n, x, _ in layout.places)[1] or first in {n for n, _, _ in layout.places}
    up, down = neighbour(summary, layout, u1, "up"), neighbour(summary, layout, u1, "down")
    heights = {n: y for n, _, y in layout.places}
    assert up == u1 or heights[up] < heights[u1]
    assert down == u1 or heights[down] > heights[u1]


@pytest.mark.parametrize(("wanted", "found"), [("u1", "u1"), ("8", "a"), ("energ", "energy.next"), ("dx / c", "dt")])
def test_search_by_name_line_beginning_and_formula(wanted, found):
    summary = summary_of(WAVE)
    node = search(summary, wanted)
    assert summary.nodes[node].title == found or found == "a"
    if found == "a":
        assert 8 in summary.nodes[node].cell_lines


def test_search_goes_round():
    summary = summary_of(WAVE)
    first = search(summary, "v")
    hits, at = [first], search(summary, "v1")
    assert search(summary, "nothing of this") is None
    assert search(summary, " ") is None
    line = search(summary, "8")
    assert search(summary, "line 8") == line
    for _ in range(len(summary.nodes)):
        following = search(summary, "8", line)
        hits.append(following)
        line = following
    assert len(set(hits)) > 2
    assert at is not None


def test_every_instruction_and_storage_has_its_mark():
    assert set(MARKS) == set(INSTRUCTIONS) == {kind.__name__ for kind in get_args(Instruction)}
    # The same for some axes, or at a computed place; the symbol inside tells them apart.
    alike = {
        "Fold": "Reduce",
        "Replicate": "Broadcast",
        "Gather": "Shift",
        "Scan": "Reduce",
        "SegmentedReduce": "Reduce",
        "Scatter": "Reduce",
        "Join": "Reduce",
        "Rank": "Reduce",
        "Loop": "Arith",
    }
    assert all(MARKS[one] == MARKS[other] for one, other in alike.items())
    assert len({mark.bokeh for mark in MARKS.values()}) == len(MARKS) - len(alike)
    assert not [mark.bokeh for mark in MARKS.values() if mark.bokeh.endswith(("_dot", "_x", "_cross", "_y"))]  # symbols
    assert len(set(STORAGES.values())) == len(STORAGES)
    for text in (HELLO, CHAIN, WAVE):
        for node in summary_of(text).nodes:
            assert node.instruction in MARKS
            assert storage_label(node.storage, node.forced) in STORAGES


def test_picture_holds_names_and_key():
    summary = summary_of(WAVE)
    svg = to_svg(draw_graph(summary, lay_out_graph(summary)))
    for words in (">u1<", ">energy.next<", "Manifest, forced", "read at a neighbour", "3 sub-kernels"):
        assert words in svg


def test_sub_kernel_is_called_after_what_it_makes():
    text = 'u = field("u", boundary="outflow")\nu.next = manifest(2 * u)[+1] + manifest(3 * u)[+1]'
    assert [group.label for group in summary_of(text).groups] == ["2 * u (line 2), 3 * u (line 2)", "u.next"]


def machines_of_the_project():
    solvers = [import_module(f"workbench.solvers.{name}") for name in SOLVERS]
    yield from (solver.machine() for solver in solvers if hasattr(solver, "machine"))
    yield from (trace(program.text, name="program") for program in all_programs())


@pytest.mark.parametrize("machine", tuple(machines_of_the_project()), ids=lambda machine: machine.graph.name)
def test_no_two_values_have_one_label(machine):
    plan = machine.plan()
    for kernel in plan.kernels:
        labels = {}
        for node in summarise_graph(plan, (8,) * plan.graph.dim, kernel.kernel.name).nodes:
            labels.setdefault(node.label, []).append(node)
        for label, nodes in labels.items():
            # On purpose: a Store is called as what it writes, ghost cells and a number in all cells as what they are.
            others = [node for node in nodes if node.instruction not in ("Store", "Extend", "Broadcast")]
            # So are equal constants, one in all cells and one for numbers that every cell shares.
            same_number = len({node.formula for node in others}) == 1 and all(n.instruction == "Imm" for n in others)
            assert len(others) <= 1 or same_number, f"{label}: {nodes}"


def test_the_line_is_about_a_usual_step_and_says_what_an_observed_one_has():
    text = """
u, v = fields("u v", boundary="periodic")
energy = scalar("energy")
v1 = v + 0.1 * (u[+1] + u[-1] - 2 * u)
u1 = u + v1
u.next, v.next = u1, v1
energy.next = reduce_sum(v1**2 + (u1[+1] - u1)**2)
"""
    summary = summary_of(text)
    usual, observed = "2 sub-kernels; 2 Manifest,", "where scalars are observed 3 sub-kernels, 64 bytes a cell"
    assert summary.line.startswith(f"m: {usual}")
    assert summary.line.endswith(f"; 48 bytes a cell; {observed}")
    assert "3 sub-kernels, 64 bytes and" in describe_graph(summary)
    assert "flops a cell, where scalars are observed\n" in describe_graph(summary)
    assert "observed" not in describe_graph(summary_of(HELLO))


def test_no_outline_crosses_the_sign_of_an_offset():
    """A triangle is narrower at its middle than "-1,0" is; its outline took the sign away."""
    machine = trace('u = field("u", boundary="periodic")\nu.next = u[-1, 0] + u[0, +1]', 2, name="m")
    summary = summarise_graph(machine.plan(), (64, 64))
    shifts = [node for node in summary.nodes if node.instruction == "Shift"]
    assert [node.symbol for node in shifts] == ["-1,0", "0,+1"]
    drawn = draw_graph(summary, lay_out_graph(summary)).shapes
    for node in shifts:
        number, label = next((i, each) for i, each in enumerate(drawn) if getattr(each, "text", "") == node.symbol)
        behind = drawn[number - 1]
        fill = STORAGES[storage_label(node.storage, node.forced)]
        assert (behind.fill, behind.outline) == (fill, "")
        (left, _), (right, _) = behind.points[:2]
        assert (left + right) / 2 == pytest.approx(label.at[0])
        assert right - left >= text_width(node.symbol, 11)
    figure = GraphFigure(lay_out_graph(summary))
    figure.show(summary, lay_out_graph(summary), frozenset())
    backs = dict(zip(figure._symbols.data["text"], figure._symbols.data["back"], strict=True))
    assert backs["-1,0"] == fill
    assert backs["+"] == "#00000000"
