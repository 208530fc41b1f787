"""The CUDA text of small programs, byte by byte, and that NVIDIA's compilers take it."""

import re

import pytest

from tests.kit.agreement import make_pair
from tests.kit.collective_programs import ranked, scans, scatters, segments
from tests.kit.golden_programs import CASES, planned
from tests.programs import all_programs, dimension
from workbench.backends import nvrtc
from workbench.codegen.cuda.render import inlined, render_cuda
from workbench.codegen.names import RESERVED
from workbench.frontend.cell import trace_cell
from workbench.planning import Choices, PlanChoices, plan_graph

ON_DEVICES = [name for name in CASES if not planned(name).main.plain.chains]  # devices run loops apart


def compilers():
    found = nvrtc.find_compilers()
    return found or pytest.skip("no CUDA compiler: neither nvcc nor NVRTC was found")


def compile_for_sm_90(text, index="int32_t", block=32):
    """With NVRTC if it is there, because it is faster."""
    compiler = compilers()[-1]
    flags = nvrtc.compile_options(block, index)
    return nvrtc.compile_cuda(inlined(text.source.text), compiler=compiler, flags=flags)


@pytest.mark.parametrize("name", ON_DEVICES)
def test_text_is_the_golden_one(name, golden):
    golden(f"{name}.cuda.cu", render_cuda(planned(name)).source.text)


@pytest.mark.parametrize("index", ["int32_t", "int64_t"])
@pytest.mark.parametrize("name", ON_DEVICES)
def test_golden_texts_compile_for_sm_90(name, index):
    text = render_cuda(planned(name))
    binary = compile_for_sm_90(text, index)
    kernels = {entry.kernel for entry in binary.resources}
    assert kernels == {kernel for kernel, _ in text.waits}
    sweeps = [entry for entry in binary.resources if entry.kernel.startswith("sweep")]
    assert sweeps
    assert all(entry.spill_store_bytes == 0 for entry in sweeps)


@pytest.mark.parametrize("kind", ["nvcc", "nvrtc"])
def test_both_compilers_take_the_text(kind):
    chosen = [compiler for compiler in compilers() if compiler.kind == kind]
    if not chosen:
        pytest.skip(f"no CUDA compiler: {kind} was not found")
    gathered = trace_cell('x = array("x", "n")\nk = array("k", "m", dtype="i64")\noutput("y", x[k])', name="gathered")
    for plan in (planned("wave"), plan_graph(gathered.graph)):
        binary = nvrtc.compile_cuda(inlined(render_cuda(plan).source.text), compiler=chosen[0])
        assert binary.cubin.startswith(b"\x7fELF")


@pytest.mark.parametrize("preset", ["as_manifest", pytest.param("cost", marks=pytest.mark.proof)])
def test_all_programs_compile_for_sm_90(preset):
    texts = {}
    for program in all_programs():
        graph = trace_cell(program.text, name=program.name, dim=dimension(program)).graph
        text = render_cuda(plan_graph(graph, Choices(plan=PlanChoices().changed(preset=preset))))
        texts[text.digest] = text
    kernels = 0
    for text in texts.values():
        kernels += len(compile_for_sm_90(text).resources)
    print(f"{len(texts)} texts with {kernels} kernels compiled for sm_90 by {compilers()[-1].kind}")
    assert len(texts) >= 20
    assert kernels >= 2 * len(texts)


@pytest.mark.parametrize(
    "seeds", [range(1000, 1006), pytest.param(range(1006, 1020), marks=pytest.mark.proof)], ids=["a few", "more"]
)
def test_random_programs_compile_for_sm_90(seeds):
    texts = [render_cuda(make_pair(seed).plan) for seed in seeds]
    kernels = sum(len(compile_for_sm_90(text).resources) for text in texts)
    print(f"{len(texts)} random programs with {kernels} kernels compiled for sm_90 by {compilers()[-1].kind}")
    assert kernels == sum(len(text.waits) for text in texts)


def test_text_knows_nothing_of_grid_and_block():
    texts = {
        render_cuda(planned("heat", grid=grid, block=block)).source.text
        for grid, block in ((0, 256), (32, 32), (7, 1024))
    }
    assert len(texts) == 1


def test_barriers_that_were_asked_for_stand_around_the_cells():
    text, dim, _ = CASES["hello_manifest"]
    graph = trace_cell(text, dim=dim).graph
    kernel = graph.kernels[0]
    key = kernel.keys()[kernel.find("z")]
    plain = render_cuda(plan_graph(graph))
    before = render_cuda(plan_graph(graph, Choices(plan=PlanChoices().changed(before=frozenset({key})))))
    both = Choices(plan=PlanChoices().changed(before=frozenset({key}), after=frozenset({key})))
    after = render_cuda(plan_graph(graph, both))
    counts = [t.source.text.count("stencil::barrier();") for t in (plain, before, after)]
    assert counts == [0, 1, 2]
    assert [dict(t.waits)["sweep_step_0_z"] for t in (plain, before, after)] == [False, True, True]
    compile_for_sm_90(after)


def line_holding(source, part):
    (number,) = (n for n, line in enumerate(source.text.splitlines(), start=1) if part in line)
    return number


def test_line_map_leads_from_text_to_cell_and_back():
    plan = planned("heat")
    source = render_cuda(plan).source
    line = line_holding(source, "out_u_array[cell] = ")
    (origin,) = source.origins(line)
    assert origin.cell_lines == (3,)
    assert origin.subkernel == plan.kernels[0].plain.subkernels[0].name
    for node in origin.nodes:
        assert line in source.lines_of_node("step", node)


def test_names_are_the_users_and_never_taken_ones():
    cell = """
cell, tile, chunk, end, array = fields("cell tile chunk end array", boundary="periodic")
row = cell[+1] + tile[-1]
step = row * chunk
cell.next, tile.next, chunk.next = step, row, end[+2] + array
end.next = row + 1
array.next = step - row
"""
    text = render_cuda(plan_graph(trace_cell(cell, dim=1).graph))
    compile_for_sm_90(text)
    declared = re.findall(r"const double (\w+) = ", text.source.text)
    assert declared
    assert not RESERVED & set(declared)


def test_a_variable_may_be_called_like_a_function_of_the_library():
    cell = """
u, hypot = fields("u hypot", boundary="periodic")
rint = exp(u) + hypot
pow = rint * rint
u.next = sin(pow) + atan2(rint, pow)
hypot.next = pow[+1]
"""
    text = render_cuda(plan_graph(trace_cell(cell.replace("atan2", "arctan2"), dim=1).graph))
    assert "const double rint_ = " in text.source.text
    compile_for_sm_90(text)


def test_scans_segments_scatters_and_gathers_compile_for_sm_90_in_both_index_types():
    graphs = ((segments(), "int32_t"), (scans(2), "int64_t"), (ranked(), "int64_t"), (scatters(2), "int32_t"))
    for graph, index in graphs:
        text = render_cuda(plan_graph(graph))
        assert {entry.kernel for entry in compile_for_sm_90(text, index).resources} == {name for name, _ in text.waits}
    assert "stencil_cuda_scatters.h" in text.source.text
    assert "stencil_cuda_scans.h" in render_cuda(plan_graph(scans(1))).source.text
    assert "stencil_cuda_scans.h" not in render_cuda(planned("wave")).source.text


CUMULATED = """
xs = array("xs", "n", dtype="TYPE")
output("up_to", scan(add, xs))
output("behind", scan(add, xs, reverse=True, exclusive=True))
"""


@pytest.mark.parametrize("dtype", ["f32", "f64", "dd", "i64"])
def test_scans_spill_nothing(dtype):
    text = render_cuda(plan_graph(trace_cell(CUMULATED.replace("TYPE", dtype), name="cumulated").graph))
    kernels = {entry.kernel.split("_")[0]: entry for entry in compile_for_sm_90(text, block=1024).resources}
    assert set(kernels) == {"scan", "totals", "subtrees"}
    assert all(entry.spill_store_bytes == 0 and entry.registers <= 64 for entry in kernels.values())
    assert all(entry.shared_bytes <= 48 << 10 for entry in kernels.values())


def test_ranks_spill_nothing():
    resources = compile_for_sm_90(render_cuda(plan_graph(ranked())), block=1024).resources
    assert {entry.kernel.split("_")[0] for entry in resources} == {"rank", "counts", "subtrees"}
    assert all(entry.spill_store_bytes == 0 for entry in resources)
