"""The launch view's choices, and what its page offers."""

import pytest

from tests.kit.cells import HELLO
from workbench.errors import PlanError
from workbench.machine import trace
from workbench.views.inspection.inspection import Inspection
from workbench.views.launch.pane import LaunchPane
from workbench.views.launch.view import LaunchView

HEAT = 'u = field("u", boundary="periodic")\nu.next = 0.5 * (u[-1, 0] + u[0, 1])'


@pytest.fixture
def view():
    view = LaunchView(Inspection(trace(HEAT, dim=2, name="heat")))
    yield view
    view.close()


def padding_of(pane):
    return next(state for state in pane._states() if state.name == "padding")


def test_padding_is_chosen_on_the_page(view):
    pane = LaunchPane(view)
    state = padding_of(pane)
    assert (state.value, state.options, state.hidden) == ("automatic", ("automatic", "0", "1"), False)
    pane._use("padding", "1")
    assert view.inspection.plan.choices.plan.layout.padding == (1,)
    assert padding_of(pane).value == "1"
    pane._use("padding", "automatic")
    assert view.inspection.plan.choices.plan.layout.padding == ()
    pane.close()


def test_a_padding_that_is_not_listed_is_kept_and_shown(view):
    view.choose(padding=(7,))
    pane = LaunchPane(view)
    assert padding_of(pane).options == ("automatic", "0", "1", "7")
    with pytest.raises(PlanError, match="heat has 2 axes"):
        view.choose(padding=(1, 1))
    pane.close()


def test_one_row_has_no_padding_to_choose():
    view = LaunchView(Inspection(trace(HELLO, name="hello")))
    pane = LaunchPane(view)
    assert padding_of(pane).hidden
    pane.close()
    view.close()
