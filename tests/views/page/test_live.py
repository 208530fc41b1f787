import pytest
from IPython.core import getipython as ipython

from workbench.views.page.live import MIME, WIDGET_MIME, live_entries


class Shell:
    def __init__(self, **names):
        self.user_ns = names


@pytest.fixture(autouse=True)
def outside(monkeypatch):
    monkeypatch.delenv("VSCODE_PID", raising=False)


def test_a_notebook_keeps_only_our_own_form_so_that_it_reopens_without_errors():
    assert live_entries("one") == {MIME: {"version": 1, "model_id": "one"}}


@pytest.mark.parametrize("started_by_vs_code", [False, True])
def test_vs_code_gets_the_form_of_ipywidgets_too(monkeypatch, started_by_vs_code):
    if started_by_vs_code:
        monkeypatch.setenv("VSCODE_PID", "1234")
    else:  # a kernel process of a server elsewhere
        monkeypatch.setattr(ipython, "get_ipython", lambda: Shell(__vsc_ipynb_file__="a.ipynb"))
    entries = live_entries("one")
    assert entries[WIDGET_MIME] == {"version_major": 2, "version_minor": 0, "model_id": "one"}
    assert entries[MIME] == {"version": 1, "model_id": "one"}


def test_other_names_of_a_notebook_do_not_matter(monkeypatch):
    monkeypatch.setattr(ipython, "get_ipython", lambda: Shell(x=1))
    assert WIDGET_MIME not in live_entries("one")
