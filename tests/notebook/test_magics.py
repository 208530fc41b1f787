"""`%%stencil` and `%stencil` in a shell."""

import linecache
import uuid

import numpy as np
import pytest

from tests.kit.ear import Ear
from tests.notebook.cells import BAD, HEAT
from workbench.machine import Machine
from workbench.notebook.magics import StencilMagics
from workbench.views.field.summary import Look, plain_axes
from workbench.views.field.view import FieldView
from workbench.views.graph.view import GraphView
from workbench.views.inspection.inspection import Inspection
from workbench.views.launch.view import LaunchView
from workbench.views.plan.view import PlanView
from workbench.views.source.view import SourceView


def test_a_cell_binds_its_name_and_nothing_else(loaded):
    before = loaded.names
    ran = loaded.run(HEAT)
    assert ran.error is None
    assert loaded.names - before == {"heat"}
    machine = loaded.ip.user_ns["heat"]
    assert isinstance(machine, Machine)
    sim = machine.simulate(u=np.eye(1, 8)[0], k=0.25)
    sim.run(1)
    assert sim.u.tolist() == [0.5, 0.25, 0, 0, 0, 0, 0, 0.25]


def test_the_card_has_a_text_and_an_html_form(loaded):
    (output,) = loaded.run(HEAT).outputs
    assert set(output.data) == {"text/plain", "text/html"}
    assert output.data["text/plain"].startswith("heat: 1-D machine, runs on reference (asked for)")
    assert "sim = heat.simulate(u=..., k=0.2)" in output.data["text/plain"]
    assert output.data["text/html"].startswith('<div class="swb-card"')


def test_names_of_the_notebook_are_taken_and_listed(loaded):
    loaded.run("alpha = 0.3\nunused = 7")
    card = loaded.run('%%stencil heat\nu = field("u", boundary="periodic")\nu.next = u + alpha * u[+1]\n').card
    assert "taken from the notebook: alpha = 0.3" in card
    assert "unused" not in card
    assert loaded.ip.user_ns["alpha"] == 0.3


def test_running_a_cell_again_says_what_changed(loaded):
    assert "changed" not in loaded.run(HEAT).card
    assert "nothing changed: compiled nothing" in loaded.run(HEAT).card
    card = loaded.run(HEAT.replace("0.2", "0.1")).card
    assert "param k: default 0.2 → 0.1" in card
    assert "compiled nothing" in card
    assert "1 node added, 1 removed" in loaded.run(HEAT.replace("0.2", "0.1").replace("2 * u", "3 * u")).card


def test_only_another_text_is_compiled(loaded):
    cell = HEAT.replace(" --backend reference", "")
    first = loaded.run(cell).card
    anew = "compiled nothing" if "runs on reference" in first else "compiled anew"
    assert "nothing changed: compiled nothing" in loaded.run(cell + "# a comment\n").card
    assert "compiled nothing" in loaded.run(cell.replace("0.2", "0.3")).card
    unseen = uuid.uuid4().int  # a constant that no build cache knows
    assert anew in loaded.run(cell.replace("2 * u", f"{unseen}e-40 * u")).card


def test_an_error_names_the_line_of_the_cell(loaded):
    ran = loaded.run(BAD)
    assert str(ran.error).startswith("line 3: 'if' needs one true or false")
    assert 'File "<stencil bad>", line 3' in ran.text
    assert "    if u > 0:" in ran.text
    assert "Use where(u > 0, a, b)." in ran.text
    assert "site-packages" not in ran.text
    assert "magics.py" not in ran.text
    assert "bad" not in loaded.names


def test_an_error_of_the_planner_shows_the_line_too(loaded):
    ran = loaded.run('%%stencil bad\nu = field("u")\nu.next = u - u[-1]\n')
    assert "PlanError: line 3: u is read 1 cell outside at side x-" in ran.text
    assert "    u.next = u - u[-1]" in ran.text


def test_a_failed_cell_keeps_the_machine_there_was(loaded):
    loaded.run(HEAT)
    machine = loaded.ip.user_ns["heat"]
    assert loaded.run(HEAT + "u.next = u\n").error is not None
    assert loaded.ip.user_ns["heat"] is machine


def test_the_user_s_own_frames_stay(loaded):
    loaded.run("def helper(a):\n    return a.no_such_thing\n")
    ran = loaded.run('%%stencil bad\nu = field("u")\nu.next = helper(u)\n')
    assert str(ran.error).startswith("line 3: ")
    assert "return a.no_such_thing" in ran.text
    assert "u.next = helper(u)" in ran.text


def test_lines_of_the_cell_can_be_looked_up(loaded):
    loaded.run(HEAT)
    assert linecache.getline("<stencil heat>", 1) == "%%stencil heat --dim 1 --backend reference\n"
    assert linecache.getline("<stencil heat>", 2).startswith("u = field")


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("%%stencil heat --backend tpu\npass", "argument --backend: invalid choice: 'tpu'"),
        ("%%stencil heat --no-such\npass", "unrecognized arguments: --no-such"),
        ("%%stencil heat --dim two\npass", "argument --dim: invalid int value: 'two'"),
        ("%%stencil heat --shape 3x\npass", "argument --shape: '3x' is no shape"),
        ("%%stencil\npass", "a name is missing"),
        ("%%stencil 2d\npass", "'2d' is no name for a variable"),
        ("%%stencil for\npass", "'for' is no name for a variable"),
        ("%%stencil sum\npass", "sum is a word of Python, which the machine would hide from all later cells"),
        ("%stencil nothing", "nothing is no machine. There is none yet"),
        ("# heat\n%%stencil heat --dim 1\npass", "%%stencil heat --dim 1: this must be the first line of its cell"),
        ("# all\n%%tune blocks\npass", "%%tune blocks: this must be the first line of its cell"),
    ],
)
def test_a_mistake_on_the_magic_s_line_is_a_usage_error(loaded, cell, text):
    ran = loaded.run(cell)
    assert f"UsageError: {text}" in ran.text
    assert "Traceback" not in ran.text


def test_a_module_of_the_notebook_is_not_hidden_by_a_machine(loaded):
    loaded.run("import math")
    assert "UsageError: math is a module in this notebook" in loaded.run(HEAT.replace("heat", "math", 1)).text
    assert loaded.ip.user_ns["math"].pi > 3


def test_a_shape_of_another_dimension_is_refused(loaded):
    ran = loaded.run(HEAT.replace("--dim 1", "--dim 1 --shape 8x8"))
    assert "--shape has 2 extents, but heat has 1" in ran.text
    assert "heat" not in loaded.names


def test_shape_sizes_the_figures_only(loaded):
    large = loaded.run(HEAT.replace("--dim 1", "--shape 4096")).card
    assert "4,096 cells: " in large
    assert "nothing changed: compiled nothing" in loaded.run(HEAT.replace("--dim 1", "--shape 64")).card


def test_defaults_are_traits_and_options_win(loaded):
    loaded.run('%config StencilMagics.backend = "reference"\n%config StencilMagics.boundary = "outflow"')
    card = loaded.run('%%stencil heat\nu = field("u")\nu.next = u[+1]\n').card
    assert "runs on reference (asked for)" in card
    assert "u  f64  outflow" in card
    assert "u  f64  periodic" in loaded.run('%%stencil heat --boundary periodic\nu = field("u")\nu.next = u[+1]').card
    assert loaded.ip.user_ns["heat"].backend == "reference"
    loaded.run('%config StencilMagics.backend = "tpu"')  # IPython logs what is wrong and keeps the old value
    assert "runs on reference" in loaded.run("%%stencil heat\nu = field('u')\nu.next = u").card


def test_the_machine_s_type(loaded):
    card = loaded.run('%%stencil heat --dtype f32\nu = field("u", boundary="periodic")\nu.next = 0.5 * u[+1]\n').card
    assert "u  f32  periodic" in card


@pytest.mark.parametrize("line", ["%stencil --help", "%stencil -h", "%%stencil --help\npass"])
def test_help_shows_options_and_examples(loaded, line):
    text = loaded.run(line).text
    assert "--boundary RULE" in text
    assert "%%stencil heat --dim 2 --shape 512x512" in text


def test_a_question_mark_finds_the_magic(loaded):
    found = loaded.ip.object_inspect_text("%%stencil")
    assert "--boundary RULE" in found
    assert loaded.ip.object_inspect("%stencil")["found"]


def test_the_list_of_what_is_alive(loaded):
    assert "none: define one with %%stencil NAME" in loaded.run("%stencil").text
    loaded.run(HEAT)
    loaded.run("import numpy as np\nrod = heat.simulate(u=np.ones(64))\nrod.run(3)")
    text = loaded.run("%stencil").text
    assert "heat         1-D, fields u; 1 sub-kernel" in text
    assert "rod          of heat, 64 cells on reference, 3 steps, idle" in text
    assert "a step; interpreted" in text
    assert "builds" in text
    loaded.run("rod.close()")
    assert "rod " not in loaded.run("%stencil").text


def test_what_a_cell_returned_is_listed_by_its_number(loaded):
    loaded.run(HEAT)
    loaded.ip.user_ns["_7"] = loaded.ip.user_ns["heat"].simulate(u=1.0, shape=32)
    assert "Out[7]       of heat, 32 cells" in loaded.run("%stencil").text
    loaded.ip.user_ns.pop("_7").close()


def test_the_card_once_more(loaded):
    loaded.run(HEAT)
    assert loaded.run("%stencil heat").card.startswith("heat: 1-D machine")
    assert "UsageError: cool is no machine. There are: heat." in loaded.run("%stencil cool").text
    assert "UsageError: --dim, --dtype: only %%stencil" in loaded.run("%stencil heat --dim 7 --dtype f32").text


def test_options_and_parser_agree():
    from workbench.notebook.options import OPTIONS

    documented = StencilMagics.stencil.__doc__
    assert all(f"--{option.name}" in documented for option in OPTIONS)
    assert documented.count("  --") == len(OPTIONS) + 1  # and --words, of the line magic alone


def test_words_are_listed_and_explained(loaded):
    listed = loaded.run("%stencil --words").text
    assert "Reductions: reduce_sum, reduce_product, reduce_min" in listed
    assert "laplace is no word of a cell\nAsk for laplacian." in loaded.run("%stencil --words laplace").text
    explained = loaded.run("%stencil --words reduce_sum").text
    assert explained.startswith(
        "reduce_sum(value, axis=None, over=None, *, cutoff=None, positions=None, tree=None, weights=None)"
        "\n\nSum over all cells"
    )
    assert "# a step makes u = [1, 2, 3], total = 6" in explained


def test_simulations_of_the_program_before_say_so(loaded):
    loaded.run(HEAT)
    sim = loaded.ip.user_ns["sim"] = loaded.ip.user_ns["heat"].simulate(u=np.zeros(8))
    view = FieldView(sim, "u", plain_axes((8,)), Look())
    ear = Ear()
    view.attach(ear)
    view.ready()
    assert ear.wait("status").content["note"] == ""
    assert "program of before" not in loaded.run(HEAT + "# a comment\n").card
    assert "program of before" not in repr(sim)
    card = loaded.run(HEAT.replace("u[+1]", "2 * u[+1]")).card
    assert "of the program of before: " in card
    assert "sim; make new ones by heat.simulate(...)" in card
    assert "heat was changed, and this simulation runs the program of before" in " ".join(repr(sim).split())
    assert ear.wait("status", lambda m: m.content["note"]).content["note"] in " ".join(repr(sim).split())
    fresh = loaded.ip.user_ns["heat"].simulate(u=np.zeros(8))
    assert "program of before" not in repr(fresh)
    loaded.run(HEAT)
    assert "program of before" not in repr(sim)
    view.close()


def test_views_of_the_program_before_say_so(loaded):
    loaded.run(HEAT)
    heat = loaded.ip.user_ns["heat"]
    inspection = Inspection(heat, backend="openmp")
    ears = Ear(), Ear()
    views = [
        GraphView(inspection),
        LaunchView(inspection),
        PlanView(inspection, ears[0]),
        SourceView(inspection, ears[1]),
    ]
    for ear in ears:
        ear.listener.ready()
        assert "program of before" not in ear.wait("status").content["text"]
    loaded.run(HEAT + "# a comment\n")
    assert "program of before" not in "".join(map(repr, views))
    loaded.run(HEAT.replace("u[+1]", "2 * u[+1]"))
    why = "heat was changed, and this view shows the program of before. Open a new one: "
    for view in views:
        assert repr(view).count(why) == 1
    for ear in ears:
        ear.wait("status", lambda m: why in m.content["text"])
        ear.listener.ready()
        ear.wait("status", lambda m, ear=ear: m is ear.of("status")[-1] and why in m.content["text"])
    assert why in views[0].words()
    assert why in views[1].words()
    assert "program of before" not in repr(GraphView(Inspection(loaded.ip.user_ns["heat"])))
    inspection.on("outdated", lambda _: 1 / 0)
    assert loaded.run(HEAT).error is None  # a view that fails costs no cell
    assert inspection.status.problem
    assert "program of before" not in "".join(map(repr, views))
    for view in views:
        view.close()
