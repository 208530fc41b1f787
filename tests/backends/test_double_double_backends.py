"""Type dd on all backends: the bits of the reference, whatever the extents, the threads and the schedule."""

import pytest

from tests.backends.nvrtc_path import nvrtc_path
from tests.kit.backend_agreement import assert_agrees, bits, random_cells, state_after
from tests.kit.fake_cubins import Parameter, parameter
from tests.kit.fake_cupy import FakeCupy
from tests.kit.optimised import optimised
from workbench.backends import cuda_instance
from workbench.backends.base import MarchRequest
from workbench.backends.compile_pool import Unit
from workbench.backends.cuda import CudaBackend
from workbench.backends.cuda_sim import CudaSimBackend
from workbench.backends.device_text import flushing
from workbench.backends.openmp import OpenmpBackend, OpenmpProgram
from workbench.backends.reference import ReferenceInstance
from workbench.backends.vectorisation import inner_loops
from workbench.frontend.cell import trace_cell
from workbench.planning import Choices, PlanChoices, plan_graph
from workbench.planning.choices import TilingChoices
from workbench.planning.schedules.locality import tile_sizes

HEAT = """
k = param("k", 0.1, dtype="dd")
u = field("u", dtype="dd", boundary={"x-": "reflect", "x+": fixed(k), "y-": "outflow", "y+": neumann(k / 3, 0.5)})
total, least = scalar("total", dtype="dd"), scalar("least", dtype="dd")
scale = scalar("scale", dtype="dd")

lap = u[-1, 0] + u[+1, 0] + u[0, -1] + u[0, +1] - 4 * u
u.next = u + k * lap + scale / 7
total.next = reduce_sum(u * u)
least.next = reduce_min(u) - reduce_max(u) * reduce_product(where(u > 0, 1 + u / 1000, 1))
scale.next = scale * 0.5 + total
"""
RULES = (
    '"periodic"',
    "periodic(sign=-1)",
    '"outflow"',
    '"reflect"',
    '"mirror"',
    "reflect(sign=-1)",
    "constant(edge)",
    "fixed(edge * 3)",
    "neumann(edge, 0.5)",
    "analytic(lambda i: astype(i, 'dd') * edge)",
)
OUTSIDE = 'edge = param("edge", 0.1, dtype="dd")\n' + "".join(
    f'u{n} = field("u{n}", dtype="dd", boundary={rule})\nu{n}.next = u{n}[-2] + u{n}[+2] * u{n}[+1]\n'
    for n, rule in enumerate(RULES)
)
FOLDS = """
v = field("v", dtype="dd", boundary="periodic")
w = field("w", dtype="f64")
s = reduce_sum(v * v, axis=1)
p = reduce_product(v + 1, axis=0)
m = reduce_max(v, axis=0) - reduce_min(w * v, axis=0)
v.next = v / (1 + s) + p * m
w.next = astype(s, "f64")
"""
MIXED = """
p = field("p", dtype="f32")
q = field("q", dtype="f64", boundary="outflow")
n = field("n", dtype="i64")
total = scalar("total", dtype="dd")
count = scalar("count", dtype="i64")
mean = scalar("mean", dtype="f64")

exact = astype(p, "dd") * q[+1] + n
p.next = p * 0.5
q.next = astype(exact / 3, "f64")
n.next = astype(exact * 1000, "i64")
total.next = reduce_sum(exact)
count.next = reduce_sum(astype(exact > 1, "i64"))
mean.next = astype(total, "f64") / 2
"""
OPERATORS = """
a, b, c = fields("a b c", dtype="dd")
d, e, f, g, h = fields("d e f g h", dtype="dd")
flags = field("flags", dtype="i32")
small = field("small", dtype="i8")
big = field("big", dtype="u64")
single = field("single", dtype="f32")
d.next = (a + b) * (a - b)
e.next = sqrt(a) / b
f.next = where(a < b, minimum(a, b), -maximum(a, c)) + dd("0.1")
g.next = abs(a) * sign(b) + astype(small, "dd") + astype(big, "dd") + astype(single, "dd")
h.next = where(isnan(a) | ~isfinite(b), 0.0, b) + astype(a == b, "dd") + astype(a != c, "dd")
flags.next = astype(a <= b, "i32") + 2 * astype(a > b, "i32") + 4 * astype(a >= c, "i32")
small.next = astype(a, "i8")
big.next = astype(b * 1e18, "u64")
single.next = astype(a / 3, "f32")
"""
STAGES = """
x = field("x", dtype="dd", boundary="periodic")
one = manifest(x[-1, 0] + 2 * x + x[+1, 0])
two = manifest(one[-1, 0] - one[+1, 0] / 3)
x.next = two[0, -1] + two[0, +1] * x
"""
SUMMED = """
c = param("c", 0.1, dtype="dd")
u = field("u", dtype="dd", boundary="periodic")
s = scalar("s", dtype="dd")
u.next = (u[-1] + u[+1]) * c
s.next = s / 3 + reduce_sum(u)
"""
LINE, PLANE = OUTSIDE + MIXED + OPERATORS, HEAT + FOLDS + STAGES
EXTENTS = {1: ((1,), (2,), (37,), (1025,)), 2: ((1, 1), (3, 7), (2, 1025))}


def planned(text, dim, **choices):
    graph = trace_cell(text, name="pairs", dim=dim).graph
    return plan_graph(graph, Choices(plan=PlanChoices().changed(**choices)))


def assert_agree(programs):
    """Every program of one graph, on 1, 2 and 3 threads where it has threads, against one run of the reference."""
    graph = programs[0].plan.graph
    for extents in EXTENTS[graph.dim]:
        right = state_after(ReferenceInstance(graph, extents), graph, extents)
        for program in programs:
            for threads in (1, 2, 3) if isinstance(program, OpenmpProgram) else (1,):
                mine = program.instantiate(extents, threads)
                for name, found in state_after(mine, graph, extents).items():
                    assert bits(found) == bits(right[name]), f"{program}: {name}, {extents}, {threads} threads"
                mine.close()


@pytest.mark.parametrize(("text", "dim"), [(LINE, 1), (PLANE, 2)])
def test_compiled_backends_have_the_bits_of_the_reference(text, dim):
    plan = planned(text, dim)
    assert_agree([backend.compile(plan) for backend in (OpenmpBackend(), CudaSimBackend())])


def test_loops_over_cells_are_vectorised():
    program = OpenmpBackend().compile(planned(PLANE, 2))
    loops = inner_loops(program.source, program.built.report, Unit(program.built.name, "").file_name)
    scalar = [program.source.text.splitlines()[loop.line - 1] for loop in loops if not loop.vectors]
    assert loops
    assert not scalar


def test_params_and_scalars_have_two_words():
    plan = planned(SUMMED, 1)
    assert [slot.index for slot in plan.global_slots] == [0, 2, 4]
    assert_agrees(optimised("openmp", 0).compile(plan), (37,), MarchRequest("step", 3, observe_every=1))


def test_several_steps_in_tiles_have_the_bits_of_steps():
    text = 'u = field("u", dtype="dd", boundary=constant(0.25))\nu.next = u[-1, 0] / 3 - u[0, +1] * u'
    plan, extents = planned(text, 2, schedule="diamond"), (13, 40)
    program, cells = optimised("openmp", 1).compile(plan), random_cells(plan.graph.fields[0], extents)
    right = ReferenceInstance(plan.graph, extents)
    for threads in (1, 2):
        mine = program.instantiate(extents, threads)
        mine.tiles = (tile_sizes(plan.main, extents, TilingChoices("diamond", 4, (5, 9)), threads),)
        assert mine.tiles[0].depth > 1
        for instance in (mine, right):
            instance.write_field("u", cells)
            instance.march(MarchRequest("step", 9, observe_last=False))
        assert bits(mine.read_field("u")) == bits(right.read_field("u"))
        mine.close()


def test_the_stand_in_for_cupy_has_the_bits_of_the_reference(monkeypatch):
    monkeypatch.setattr(cuda_instance, "SLICE_SECONDS", 60.0)  # on a slow machine too, batches are long enough
    fake = FakeCupy()
    program = CudaBackend(fake, fake.cubins).compile(planned(SUMMED, 1))
    assert_agrees(program, (37,), MarchRequest("step", 70, observe_every=30))  # launches one by one
    assert "capture" not in fake.log
    assert_agrees(program, (37,), MarchRequest("step", 70))
    assert "capture" in fake.log  # and in graphs


def test_the_stand_in_for_cupy_knows_the_bytes_of_a_cell():
    """Else an array seems longer than it is, and to overlap with those that happen to lie behind it."""
    assert parameter("stencil::array<const dd> u_array") == Parameter("u_array", True, 16)
    with pytest.raises(KeyError, match="quad"):
        parameter("stencil::array<quad> u_array")


def test_the_text_compiles_for_a_device(monkeypatch, tmp_path):
    path = nvrtc_path(monkeypatch, tmp_path)
    path.fake.capability = "90"
    resources = path.backend.compile(planned(PLANE, 2)).resources()
    assert not any(kernel.spill_store_bytes for kernel in resources if "fold" not in kernel.kernel)
    (binary,) = path.binaries
    assert flushing(binary.ptx) == ()
    assert "st.global.v2.f64" in binary.ptx  # both parts at once
    assert "ld.global.nc.v2.f64" in binary.ptx or "ld.global.v2.f64" in binary.ptx


def test_a_view_of_a_device_has_a_last_axis_for_the_parts():
    program = CudaSimBackend().compile(planned(PLANE, 2))
    instance = program.instantiate((3, 5))
    cells = random_cells(program.plan.graph.fields[0], (3, 5))
    instance.write_field("u", cells)
    view = instance.device_view("u")
    assert view.shape == (3, 5, 2)
    assert view.tolist() == [[list(pair) for pair in row] for row in cells.tolist()]
    view[1, 2, 0], view[1, 2, 1] = 0.5, 2.0**-60
    assert instance.read_field("u")[1, 2].item() == (0.5, 2.0**-60)


@pytest.mark.proof
@pytest.mark.parametrize("preset", ["as_manifest", "as_delayed"])
@pytest.mark.parametrize(("text", "dim"), [(LINE, 1), (PLANE, 2)])
def test_choices_change_no_bit(text, dim, preset):
    openmp = [planned(text, dim, preset=preset)]
    device = [planned(text, dim, preset=preset, block=block, grid=grid) for block, grid in ((1, 1), (96, 2))]
    assert_agree([*optimised("openmp", 1).compile_many(openmp), *CudaSimBackend().compile_many(device)])
