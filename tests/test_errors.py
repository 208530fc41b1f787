"""Errors: the text, the place, and what IPython shows."""

import linecache
import os
import subprocess
import sys
from pathlib import Path

import pytest

from workbench import errors
from workbench.errors import BuildError, FieldError, ShapeError, StencilError
from workbench.machine import trace

ROOT = Path(__file__).resolve().parent.parent


def raised(error):
    try:
        raise error
    except StencilError as caught:
        return caught


def test_text_has_line_cause_caret_and_advice():
    error = StencilError(
        "field u is read 2 cells away, but its halo is 1: u[+2]",
        advice='Declare field("u", halo=2).',
        line=3,
        source="    v = u[+2] - u",
        column=8,
    )
    assert str(error).splitlines() == [
        "line 3: field u is read 2 cells away, but its halo is 1: u[+2]",
        "    v = u[+2] - u",
        "        ^",
        'Declare field("u", halo=2).',
    ]


def test_text_without_a_place_is_cause_and_advice():
    assert str(BuildError("no C++ compiler found", advice="Type: sudo apt install g++")) == (
        "no C++ compiler found\nType: sudo apt install g++"
    )
    assert str(FieldError("no field w")) == "no field w"


def test_source_without_column_has_no_caret():
    assert str(StencilError("bad", line=1, source="u + w")) == "line 1: bad\n    u + w"


def test_outer_place_does_not_replace_the_inner_one():
    error = StencilError("bad").located(2, "inner()", 0)
    assert error.located(7, "outer()", 3) is error
    assert str(error) == "line 2: bad\n    inner()\n    ^"


def test_every_error_is_a_stencil_error_named_error():
    found = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, Exception)]
    assert len(found) > 5
    for error in found:
        assert issubclass(error, StencilError)
        assert error.__name__.endswith("Error")
        assert error.__doc__


def test_catching_the_family_catches_the_member():
    with pytest.raises(FieldError, match=r"^line 4: u has shape \(3,\), but v \(4,\)$"):
        raise ShapeError("u has shape (3,), but v (4,)", line=4)


def test_rendered_traceback_is_lines_and_keeps_the_users_frames():
    lines = raised(StencilError("bad", advice="Mend it."))._render_traceback_()
    assert all(isinstance(line, str) and "\n" not in line for line in lines)
    assert any(Path(__file__).name in line for line in lines)
    assert lines[-2:] == ["StencilError: bad", "Mend it."]


def test_rendered_traceback_shows_a_line_of_a_cell_once(monkeypatch):
    text = "u = field('u')\nu.next = u + bar(u)"
    monkeypatch.setitem(linecache.cache, "<stencil once>", (len(text), None, text.splitlines(keepends=True), ""))
    with pytest.raises(errors.TraceError) as caught:
        trace(text, name="once")
    lines = caught.value._render_traceback_()
    assert '  File "<stencil once>", line 2, in <module>' in lines
    assert len([line for line in lines if "u.next = u + bar(u)" in line]) == 1


def test_rendered_traceback_hides_frames_of_the_package(monkeypatch):
    monkeypatch.setattr(errors, "_MACHINERY", (str(Path(__file__).parent),))
    assert raised(StencilError("bad"))._render_traceback_() == ["StencilError: bad"]


def test_ipython_shows_the_message_and_no_machinery(tmp_path):
    cell = tmp_path / "cell.ipy"
    cell.write_text(
        "from workbench.errors import TraceError\n"
        "def body():\n"
        "    raise TraceError('u is no field', advice='Declare u = field(\"u\").', line=1, source='u + 1', column=0)\n"
        "body()\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "IPYTHONDIR": str(tmp_path), "NO_COLOR": "1"}
    shown = subprocess.run(
        [sys.executable, "-m", "IPython", "--no-banner", "--HistoryManager.enabled=False", str(cell)],
        capture_output=True,
        text=True,
        env=environment,
    )
    text = shown.stdout + shown.stderr
    assert text.rstrip().endswith('TraceError: line 1: u is no field\n    u + 1\n    ^\nDeclare u = field("u").')
    assert "in body" in text
    assert "site-packages" not in text


def test_a_line_with_an_owner_names_it_and_keeps_the_inner_one():
    error = StencilError("bad", line=4).belonging("workbench/solvers/heat.py")
    assert str(error.belonging("elsewhere.py")) == "line 4 of workbench/solvers/heat.py: bad"
    assert str(StencilError("bad").belonging("heat.py").located(2)) == "line 2: bad"


def test_paths_are_shown_from_the_package_or_from_where_the_process_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert errors.shown_path(errors.__file__) == "workbench/errors.py"
    assert errors.shown_path(str(tmp_path / "limiters.py")) == "limiters.py"
    assert errors.shown_path("/elsewhere/limiters.py") == "/elsewhere/limiters.py"
