"""What a cell ends with is drawn, with its own text beside, whether the extension is loaded or not."""

import pytest

from workbench.machine import trace
from workbench.views.page.live import MIME
from workbench.views.registry.snapshot import registry


@pytest.fixture
def twice():
    return trace('u = field("u")\nu.next = 2 * u', name="twice")


def values_of(machine):
    return machine, machine.graph, machine.plan(), machine.plan("cuda"), machine.source("openmp")


@pytest.mark.parametrize("extension", [False, True])
def test_machines_graphs_plans_and_texts_are_drawn_with_their_text(shell, twice, extension):
    if extension:
        shell.ip.run_line_magic("load_ext", "workbench")
    for shown in values_of(twice):
        data, _ = shell.ip.display_formatter.format(shown)
        assert data["text/plain"] == str(shown)
        assert {"image/png", "text/html"} & set(data)


def test_they_are_live(shell, twice):
    for shown in values_of(twice)[:-1]:
        data, _ = shell.ip.display_formatter.format(shown)
        assert MIME in data


def test_a_terminal_has_words_and_opens_no_view(shell, twice, monkeypatch):
    monkeypatch.setattr("workbench.views.display.open_graph_view", pytest.fail)
    monkeypatch.setattr("workbench.views.display.open_plan_view", pytest.fail)
    shell.ip.display_formatter.active_types = ["text/plain"]
    for shown in values_of(twice):
        data, _ = shell.ip.display_formatter.format(shown)
        assert data == {"text/plain": str(shown)}


def test_drawing_makes_no_further_machine(shell, twice):
    before = {machine.number for machine in registry().machines}
    for shown in values_of(twice):
        shell.ip.display_formatter.format(shown)
    assert {machine.number for machine in registry().machines} <= before  # some of other tests may be gone
