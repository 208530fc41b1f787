"""What the simulator records of a launch: owners of cells, footprints, sectors; against what the text says."""

import numpy as np
import pytest

from tests.backends.cell_plans import cell_plan
from tests.programs.wave import TEXT as WAVE
from workbench.backends.cuda_sim import CudaSimBackend
from workbench.backends.launch_trace import cells_of, trace_step
from workbench.planning.layout import lay_out

HEAT = """\
u = field("u", boundary="periodic")
u.next = u + 0.2 * (u[+1, 0] + u[-1, 0] + u[0, +1] + u[0, -1] - 4 * u)
"""
BACKEND = CudaSimBackend()


@pytest.fixture(scope="module")
def heat():
    (trace,) = trace_step(BACKEND.compile(cell_plan(HEAT, 2, block=64)), (12, 40))
    return trace


def test_every_cell_has_its_thread(heat):
    rows, columns = np.indices((12, 40))
    assert np.array_equal(heat.thread_of, 64 * rows + columns)
    assert (heat.grid, heat.block, heat.items, heat.array) == ((1, 1, 12), (64, 1, 1), 1, "out_u_array")


def test_footprint_is_the_stencil(heat):
    assert heat.probed == (6, 20)
    assert set(heat.reads) == {("u_array", cell) for cell in ((6, 20), (7, 20), (5, 20), (6, 21), (6, 19))}


def test_reads_beside_a_line_need_another_sector(heat):
    stores = [access for access in heat.accesses if access.store]
    reads = [access for access in heat.accesses if not access.store]
    assert [access.efficiency for access in stores] == [1.0]
    assert sorted(access.efficiency for access in reads) == pytest.approx([120 / 144] * 2 + [1.0] * 3)
    assert {access.warp_accesses for access in heat.accesses} == {24}


def test_a_small_grid_gives_a_thread_several_cells():
    plan = cell_plan(HEAT, 2, block=32, grid=2)
    (trace,) = trace_step(BACKEND.compile(plan), (12, 40))
    assert trace.items == np.unique(trace.thread_of, return_counts=True)[1].max() > 1


def test_launches_come_in_order_and_sums_are_none_of_them():
    plan = cell_plan(WAVE, 1)
    traces = trace_step(BACKEND.compile(plan), (70,))
    assert [trace.kernel for trace in traces] == ["sweep_step_0_u1", "sweep_step_1_v1"]
    assert all(trace.thread_of.shape == (70,) and (trace.thread_of >= 0).all() for trace in traces)


def test_cells_are_found_again_behind_halo_and_padding():
    layout = lay_out((5, 7, 6), ((1, 2), (0, 3), (2, 1)), 8)
    wanted = [(k, j, i) for k in range(-1, 7) for j in range(10) for i in range(-2, 7)]
    elements = layout.start + np.array(wanted) @ np.array(layout.strides)
    cells, inside = cells_of(elements, layout)
    assert cells.tolist() == [list(cell) for cell in wanted]
    assert inside.tolist() == [all(0 <= n < e for n, e in zip(cell, (5, 7, 6), strict=True)) for cell in wanted]
