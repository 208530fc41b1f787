"""Users' names in the C++ text: none hides a name that the text itself uses."""

import re

from workbench.backends.cuda_sim import CudaSimBackend
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


def test_scalars_may_be_called_like_what_ends_a_step():
    text = """\
u = field("u", boundary="periodic")
t = scalar("t", default=0.5)
lap = u[+1] - 2.0 * u + u[-1]
end_step = t * t
uniforms_step = end_step * t + end_step
u.next = u + t / 3.0 * lap
t.next = uniforms_step + end_step
"""
    plan = plan_graph(trace_cell(text, dim=1).graph)
    source = OpenmpBackend().compile(plan).source
    assert "const double end_step_" in source.text
    assert "const double lap = " in source.text
    CudaSimBackend().compile(plan)
