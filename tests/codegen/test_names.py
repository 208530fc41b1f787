"""Users' names in the C++ text: none hides a name that the text itself uses."""

import re

from workbench.backends.openmp import OpenmpBackend
from workbench.codegen.names import RESERVED
from workbench.frontend.cell import trace_cell
from workbench.planning import plan_graph

CHAINED = """\
part, tile, box = fields("part tile box", boundary="periodic")
turn = manifest(part[+1, 0] + part[0, -1] + tile)
blocks = manifest(turn[-1, 0] + turn[0, +1] * box)
part.next = turn[0, +1] - blocks[+1, 0]
tile.next = blocks[-1, 0]
box.next = turn + blocks
"""


def test_loops_that_run_together_may_use_any_names():
    plan = plan_graph(trace_cell(CHAINED, dim=2).graph)
    assert plan.main.plain.chains
    source = OpenmpBackend().compile(plan).source
    declared = re.findall(r"const double (?:\* ?const )?(\w+) = ", source.text)
    assert declared
    assert not RESERVED & set(declared)
