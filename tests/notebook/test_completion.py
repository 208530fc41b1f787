"""What completes in a `%%stencil` cell, without a front end."""

import math

import pytest

from workbench.frontend import language
from workbench.notebook.completion import body_completions, is_stencil_text, kind_of, option_completions
from workbench.notebook.word_help import InspectionHook, help_at

CELL = """%%stencil wave --dim 1
u, v = fields("u v", boundary="periodic")
energy = scalar("energy")
def flux(a):
    return a[+1] - a
u1 = u + v
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%%stencil wave", True),
        ("  %%stencil", True),
        ("%stencil wave", True),
        ("%%stencils", False),
        ("stencil", False),
    ],
)
def test_only_our_cells_are_meant(text, expected):
    assert is_stencil_text(text) is expected


@pytest.mark.parametrize(
    ("before", "token", "expected"),
    [
        ("%%stencil wave --ba", "--ba", ("--backend",)),
        ("%%stencil wave --b", "--b", ("--backend", "--boundary")),
        ("%%stencil wave --backend o", "o", ("openmp",)),
        ("%%stencil wave --backend=ref", "ref", ("reference",)),
        ("%%stencil wave --backend openmp --ba", "--ba", ()),
        ("%%stencil wave --boundary p", "p", ("periodic",)),
        ("%%stencil wave --h", "--h", ("--help",)),
        ("%stencil wa", "wa", ("wave",)),
        ("%%stencil wave wa", "wa", ()),
        ("%stencil --w", "--w", ("--words",)),
        ("%%stencil wave --w", "--w", ()),
    ],
)
def test_the_magic_s_line(before, token, expected):
    assert option_completions(before, token, ["wave", "heat"]) == expected


def test_every_option_is_offered_once():
    offered = option_completions("%%stencil wave ", "", ["wave"])
    assert offered == ("--dim", "--shape", "--dtype", "--backend", "--boundary", "--arithmetic", "--help")


def test_names_of_the_body_come_before_the_vocabulary():
    assert body_completions(CELL, "en", language.__all__, {})[0] == "energy"
    assert body_completions(CELL, "fl", language.__all__, {})[0] == "flux"
    assert body_completions(CELL, "u", (), {})[0] == "u1"
    assert "reduce_sum" in body_completions(CELL, "reduce_", language.__all__, {})


def test_a_field_s_members():
    assert body_completions(CELL, "u.n", language.__all__, {}) == ("u.next",)
    assert body_completions(CELL, "x.n", language.__all__, {}) == ()


def test_names_of_the_notebook_and_of_python():
    notebook = {"alpha": 0.3, "_hidden": 1, "math": math}
    assert body_completions(CELL, "alp", (), notebook) == ("alpha",)
    assert body_completions(CELL, "_hid", (), notebook) == ()
    assert "range" in body_completions(CELL, "ran", (), notebook)
    assert "lambda" in body_completions(CELL, "lam", (), notebook)
    assert body_completions(CELL, "math.sqr", (), notebook) == ("math.sqrt",)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("laplacian", "function"),
        ("pi", "instance"),
        ("energy", "instance"),
        ("flux", "function"),
        ("u.next", "property"),
        ("u.at", "function"),
        ("lambda", "keyword"),
        ("range", "class"),
        ("abs", "function"),
        ("math", "module"),
        ("math.sqrt", "function"),
        ("alpha", "instance"),
    ],
)
def test_what_a_name_is(name, kind):
    words = {name: getattr(language, name) for name in language.__all__}
    assert kind_of(name, CELL, words, {"math": math, "alpha": 0.3}) == kind


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        (CELL + "w = laplacian(", "laplacian(u, dx, accuracy=2, form='cross')"),
        (CELL + "w = u.at(", "u.at(offset, axis)"),
        (CELL + "energy", ""),
        (CELL + "e = 3\nw = e", ""),
        ("%%stencil laplacian", ""),
        ("w = laplacian(", ""),
    ],
)
def test_help_on_the_word_at_the_cursor(text, begins):
    found = help_at(text, len(text))
    assert found.startswith(begins)
    assert bool(found) == bool(begins)


class Asked:
    """In a kernel's place: answers with what it was asked."""

    def do_inspect(self, code, cursor_pos, detail_level=0):
        return code, cursor_pos, detail_level


def test_the_hook_leaves_other_questions_to_the_kernel_and_goes_away(shell):
    kernel = shell.ip.kernel = Asked()
    hook = InspectionHook(shell.ip)
    hook.attach()
    assert kernel.do_inspect("linspace(", 9, detail_level=1) == ("linspace(", 9, 1)
    text = CELL + "w = sqrt("
    answer = kernel.do_inspect(text, len(text), 0)
    assert answer["found"]
    assert answer["data"]["text/plain"].startswith("sqrt(x)")
    hook.detach()
    hook.detach()
    assert kernel.do_inspect(text, 3, 0) == (text, 3, 0)
    assert kernel.do_inspect("sqrt(", 5, 0) == ("sqrt(", 5, 0)


def test_words_are_explained_in_ordinary_cells_while_they_stand_for_nothing_else(loaded, monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.core.page.page", lambda said, *_, **__: shown.append(said["text/plain"]))
    loaded.run("laplacian?")
    loaded.run("?laplacian")
    assert len(shown) == 2
    assert all(text.startswith("laplacian(") for text in shown)
    loaded.run("def laplacian():\n    'of mine'")
    loaded.run("laplacian?")
    assert "of mine" in shown[2]
    assert "not found" in loaded.run("laplacians?").text
    loaded.run("sum??\nfield??")
    assert "Return the sum" in shown[3]
    assert shown[4].startswith("field(")
    assert len(shown) == 5
    loaded.ip.run_line_magic("unload_ext", "workbench")
    assert "not found" in loaded.run("field?").text


def test_shift_tab_explains_words_in_ordinary_cells(shell):
    kernel = shell.ip.kernel = Asked()
    InspectionHook(shell.ip).attach()
    assert kernel.do_inspect("x = grad(", 9)["data"]["text/plain"].startswith("grad(")
    assert kernel.do_inspect("x = sum(", 8) == ("x = sum(", 8, 0)
    shell.run("grad = 3")
    assert kernel.do_inspect("x = grad", 8) == ("x = grad", 8, 0)
