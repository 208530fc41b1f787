"""What is selected, in words."""

from tests.views.machines import trade_off
from workbench.views.inspection.selection import SubkernelRef, value_named
from workbench.views.inspection.telling import describe_selection


def test_selections_in_words():
    plan = trade_off("manifest").plan()
    assert describe_selection(plan, None) == ""
    assert describe_selection(plan, value_named(plan, "b")) == "b: Manifest, line 4 of the cell"
    assert describe_selection(plan, SubkernelRef("step", "step_0_b")) == "sub-kernel step_0_b of kernel step"
