"""A machine that counts its steps in every cell, and what a whole state of it is."""

import workbench as wb

# After every step all cells hold the step's number: any torn or miscounted state shows.
TEXT = """\
u = field("u")
n = scalar("n", dtype="i64")
top = scalar("top")
u.next = u + 1
n.next = n + 1
top.next = reduce_max(u) + 1
"""
MACHINE = wb.trace(TEXT, name="count")


def assert_whole(simulation):
    state = simulation.to_dict()
    assert state["u"].min() == state["u"].max() == state["n"] == state["top"]
    return state["n"]
