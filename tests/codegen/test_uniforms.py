"""Values that are the same in all cells: computed once a phase into words behind the Globals, read by every loop."""

import re

import pytest

from tests.kit.backend_agreement import bits, random_cells
from tests.kit.uniform_divisions import functions, uniform_divisions
from tests.programs import all_programs, dimension
from workbench.backends.base import MarchRequest
from workbench.backends.reference import ReferenceBackend
from workbench.backends.registry import get_backend
from workbench.codegen.cpp.render import render_openmp
from workbench.codegen.cuda.render import render_cuda
from workbench.frontend.cell import trace_cell
from workbench.graph import Arith, Imm
from workbench.planning import Choices, PlanChoices, plan_graph
from workbench.solvers import hydro

# dt needs one reduction and `slope` two, one after the other; `half` and the side need a scalar that each step changes,
# `cells` a size where there is no shape, and `energy` is for observed steps only.
STAGED = """\
a = param("a", 0.75)
t = scalar("t", default=0.25)
energy = scalar("energy")
u = field("u", boundary=constant(a * t))
dx = a / astype(size(0), "f64")
dt = dx / (reduce_max(abs(u)) + a)
v = manifest(u - dt * (u - u[-1]) / dx)
cells = reduce_sum(astype(v > a, "i64")) - size(0)
slope = 1.0 / (dt + reduce_min(v) ** 2 + astype(cells, "f64") ** 2)
half = t * t / 3.0
u.next = v + half * (v[+1] - v[-1]) * slope
t.next = t + dt
energy.next = reduce_sum((u * (a / dx)) ** 2)
"""
READ = re.compile(r"const (\w+) \w+ = (?:read_global<\1>\(globals, \d+\)|shape\.global_extents\[\d\]);")


def planned(text, dim=1, preset="cost"):
    graph = trace_cell(text, name="staged", dim=dim).graph
    return plan_graph(graph, Choices(plan=PlanChoices().changed(preset=preset)))


def before_the_cells(source):
    """Lines of each loop that stand ahead of its rows and cells."""
    found = []
    for body in re.findall(r"^[^\n]* sweep_\w+\($.*?^}", source.text, re.MULTILINE | re.DOTALL):
        ahead = body.split("(void)globals;\n", 1)[1]
        ahead = re.split(r"const (?:Margins|Tiles|Planes)|Index strides|const int64_t first =|Row<", ahead, maxsplit=1)[
            0
        ]
        found.append([line.strip() for line in ahead.splitlines() if line.strip()])
    return found


@pytest.mark.parametrize("render", [render_openmp, lambda plan: render_cuda(plan).source])
def test_no_loop_computes_what_is_the_same_in_all_cells(render):
    plans = [planned(p.text, dimension(p)) for p in all_programs()]
    plans += [planned(STAGED), hydro.machine(dim=2).plan()]
    reads = 0
    for plan in plans:
        for lines in before_the_cells(render(plan)):
            assert [line for line in lines if not READ.fullmatch(line)] == []
            reads += len(lines)
    assert reads > 50


def test_hydro_divides_nothing_that_is_the_same_in_all_cells():
    source = render_cuda(hydro.machine(dim=2).plan()).source
    ahead = before_the_cells(source)
    assert len(ahead) >= 4
    assert not any("/" in line for lines in ahead for line in lines)
    words = {word.index for word in source.words}
    read = {int(n) for lines in ahead for line in lines for n in re.findall(r"globals, (\d+)", line)}
    assert words & read


LOOP = """\
__global__ void sweep(stencil::array<const uint64_t> globals, const stencil::Shape<1> shape) {
    const double c = read_global<double>(globals, 4);
    for (Index i = first(shape); i < last(shape); ++i) {
        const double u = u_array[i];
        const double t1 = u / c + c * u / c;
        const double half = static_cast<double>(c);
        u_array[i] = (u + c) / half%s;
    }
}
"""


@pytest.mark.parametrize(
    ("text", "number"),
    [("", 0), (" + c / u", 0), (" + 1.0 / half", 1), (" - u * (c * half / (c + 0x1p-1 /* 0.5 */))", 1), (" / half", 0)],
)
def test_a_division_of_uniform_values_in_a_loop_is_found(text, number):
    ((name, body),) = functions(LOOP % text)
    divisions, found = uniform_divisions(body)
    assert name == "sweep"
    assert divisions == 3 + text.count(" / ")
    assert len(found) == number


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_no_loop_of_hydro_on_a_device_divides_what_is_the_same_in_all_cells(dim):
    found = functions(render_cuda(hydro.machine(dim=dim).plan()).source.text)
    loops = {name: uniform_divisions(body) for name, body in found if "for (" in body}
    once = [uniform_divisions(body) for name, body in found if name.startswith("uniforms_")]
    assert {name: lines for name, (_, lines) in loops.items() if lines} == {}
    assert sum(count for count, _ in loops.values()) > 20
    assert sum(len(lines) for _, lines in once) > 5  # which are those that loops would do


def test_the_table_stands_behind_the_slots_and_says_what_each_word_waits_for():
    plan = planned(STAGED, preset="as_manifest")
    source = render_openmp(plan)
    assert source.words == render_cuda(plan).source.words
    first = len(plan.global_slots)
    assert [word.index for word in source.words] == list(range(first, first + len(source.words)))
    nodes = plan.main.kernel.nodes
    assert all(isinstance(nodes[word.node].instruction, Arith | Imm) or word.after == () for word in source.words)
    named = {nodes[word.node].names[0]: (word.when, len(word.after)) for word in source.words if nodes[word.node].names}
    assert named["dx"] == ("march", 0)
    assert named["half"] == ("step", 0)
    assert named["dt"] == ("finisher", 1)
    assert named["slope"] == ("finisher", 3)


def test_words_are_computed_where_what_they_need_is_there():
    text = render_openmp(planned(STAGED, preset="as_manifest")).text
    phases = text.split("static void run_step(", 1)[1].split("\n}\n")[0].split("barrier(team")
    called = [re.findall(r"(uniforms_\w+|reduce_partials|end_step)\(", part) for part in phases]
    called = [names for names in called if names]
    assert next(names for names in called if "reduce_partials" in names) == ["reduce_partials", "uniforms_step_1"]
    assert called[-1] == ["uniforms_step_0", "end_step"]  # for t changes
    steady = render_openmp(
        planned("u = field('u', boundary='periodic')\na = param('a', 2)\nu.next = u + a / 3.0 * u[1]\n")
    )
    assert steady.text.count("uniforms_step(") == 2  # defined, and called before the first step of a march


@pytest.mark.parametrize("preset", ["as_manifest", "as_delayed"])
@pytest.mark.parametrize("name", ["openmp", "cuda-sim"])
def test_every_phase_has_its_values(name, preset):
    plan = planned(STAGED, preset=preset)
    program = get_backend(name).compile(plan)
    for threads in (1, 2) if name == "openmp" else (1,):
        mine, reference = (p.instantiate((23,), threads) for p in (program, ReferenceBackend().compile(plan)))
        for instance in (mine, reference):
            instance.write_field("u", random_cells(plan.graph.fields[0], (23,)))
            instance.march(MarchRequest("step", 3, observe_last=False))
            instance.write_global("a", 1.25)  # between two marches, as whoever turns a knob does
            instance.march(MarchRequest("step", 3, observe_every=2))
        for static in ("u", "t", "energy", "a"):
            read = [i.read_field(static) if static == "u" else i.read_global(static) for i in (mine, reference)]
            assert bits(read[0]) == bits(read[1]), static
        mine.close()
