"""What only some plans or a later decomposition ask of the CUDA kernels: origins, neighbours, 64 bits."""

import struct

import numpy as np
import pytest

from tests.backends.cell_plans import BACKEND, cell_plan, chosen
from tests.backends.graphs import field_graph, reducing_graph
from tests.kit.backend_agreement import at_origin, bits
from tests.kit.hand_plans import plan_by_hand
from workbench.backends.base import MarchRequest
from workbench.backends.cuda_sim import CudaSimInstance
from workbench.backends.launch_sequence import launches_of
from workbench.codegen.cuda.render import render_cuda
from workbench.errors import PlanError
from workbench.graph.reduction import reduce_canonically
from workbench.graph.side_rules import Fixed, Outflow, Periodic
from workbench.graph.types import F64
from workbench.planning.layout import lay_out


@pytest.mark.parametrize("origin", [1, 15, 1000, 1024, 3000])
def test_sums_of_a_part_keep_the_order_of_the_whole(origin):
    instance = BACKEND.compile(plan_by_hand(reducing_graph(1), 0)).instantiate((100,))
    values = np.random.default_rng(origin).normal(size=100)
    instance.write_field("u", values)
    at_origin(instance, [origin], [origin + 100])
    launches = [launch for launch in instance.sequence(instance._kernels["step"].observed) if launch.numbers == ()]
    chunks = next(launch for launch in launches if any(a.kind == "partials" for a in launch.arrays))
    instance._partials = [np.zeros(2 * 8, np.uint8) for _ in instance._partials]  # one may lie across two chunks
    instance.operands = lambda launch: [
        instance._memory[instance._order[a.index]].view(np.float64)
        if a.kind == "slot"
        else instance._partials[a.index].view(np.float64)
        for a in launch.arrays
    ]
    instance._launch(chunks)
    found = instance.operands(chunks)[next(k for k, a in enumerate(chunks.arrays) if a.parameter.startswith("s_sum"))]
    first, last = origin // 1024, (origin + 99) // 1024
    for chunk in range(first, last + 1):
        whole = np.full(1024, -0.0)
        inside = np.arange(max(origin, 1024 * chunk), min(origin + 100, 1024 * (chunk + 1)))
        whole[inside - 1024 * chunk] = values[inside - origin]
        assert bits(found[chunk - first]) == bits(reduce_canonically("sum", whole, F64))


def test_indices_and_sizes_are_those_of_the_whole_domain():
    text = 'u = field("u")\nu.next = u + 100 * index(0) + index(1) + 10000 * size(0)\n'
    instance = BACKEND.compile(cell_plan(text, 2)).instantiate((3, 4))
    at_origin(instance, [7, 20], [50, 60])
    instance.march(MarchRequest("step", 1))
    rows, columns = np.meshgrid(np.arange(7, 10), np.arange(20, 24), indexing="ij")
    assert np.array_equal(instance.read_field("u"), 100.0 * rows + columns + 500000)


def test_a_fill_leaves_the_cells_of_a_neighbour_alone():
    plan = plan_by_hand(field_graph(1, ((Outflow(), Fixed(1)),), F64, 1), 1)
    instance = BACKEND.compile(plan).instantiate((5,))
    words = list(struct.unpack(f"<{len(instance.shape) // 8}q", instance.shape))
    words[4] = 0  # below lies a neighbour
    instance.shape = struct.pack(f"<{len(words)}q", *words)
    cells = instance._memory[0].view(np.float64)
    start = instance.layout.start
    cells[start - 1] = cells[start + 5] = 7.0
    fill = instance.sequence(instance._kernels["step"].plain)[0]
    instance._launch(fill)
    assert cells[start - 1] == 7.0
    assert cells[start + 5] != 7.0


def test_64_bit_element_numbers_give_the_same_bits():
    plan = plan_by_hand(field_graph(2, ((Periodic(), Periodic()), (Outflow(), Fixed(1))), F64, 2), 2)
    program = BACKEND.compile(plan)
    results = []
    for library in (program.built, program.wide()):
        instance = CudaSimInstance(program, (6, 35), library)
        instance.write_field("u", np.random.default_rng(5).normal(size=(6, 35)))
        instance.march(MarchRequest("step", 3))
        results.append(instance.read_field("u"))
    assert program.wide().path != program.built.path
    assert bits(results[0]) == bits(results[1])


@pytest.mark.parametrize(
    ("grid", "block", "words"), [(0, 0, "block is 0"), (0, 1025, "block is 1025"), (-1, 32, "grid is -1")]
)
def test_impossible_blocks_are_refused(grid, block, words):
    plan = plan_by_hand(reducing_graph(1), 0, chosen(grid=grid, block=block))
    with pytest.raises(PlanError, match=words):
        launches_of(render_cuda(plan).kernels[0].plain, lay_out((10,), plan.halo, 8), plan.choices.plan)
