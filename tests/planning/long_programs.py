"""Programs that repeat a turn, as long as one wants."""

import workbench as wb


def smoothed(times):
    """A program of 7 nodes a turn that reads one cell farther in every turn."""
    return repeated(times, "k * (v[+1] - 2 * v + v[-1])")


def smoothed_in_two_dimensions(times):
    """The same over a plane, where loops run together."""
    return repeated(times, "k * (v[+1, 0] + v[-1, 0] + v[0, +1] + v[0, -1] - 4 * v)")


def products(times):
    """Values that are read beside their cell, whose sum is one loop."""
    turn = "    w = sqrt(u[+1] * (i + 0.5) + u[-1])\n    v = v + w[+1] * w[-1]"
    lines = ['u = field("u", boundary="periodic")', "v = u", f"for i in range({times}):"]
    return wb.trace("\n".join([*lines, turn, "u.next = v"]), name="products")


def repeated(times, change):
    lines = ['u = field("u", boundary="periodic")', 'k = param("k", 0.1)', "v = u", f"for _ in range({times}):"]
    return wb.trace("\n".join([*lines, f"    v = v + {change}", "u.next = v"]), name="smoothed")
