"""Machine: a value that is traced, printed, annotated, planned and simulated."""

from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from tests.programs import all_programs, dimension
from tests.programs.hello import TEXT as HELLO
from tests.programs.wave import TEXT as WAVE
from workbench.errors import PlanError, RunError
from workbench.frontend.captured import CapturedNameWarning
from workbench.graph import Arith
from workbench.graph.rewrite import copy, rewrite
from workbench.language import field
from workbench.planning import Choices, Meaning, simplify
from workbench.planning.kernel_plan import Storage
from workbench.planning.letters import bits_of


def storage_of(machine, name):
    kernel = machine.plan().kernel("step")
    return kernel.storage[kernel.kernel.find(name)]


def test_text_and_function_give_the_same_program():
    def wave():
        u = field("u", boundary="periodic")
        u.next = u[+1] - u[-1]

    text = 'u = field("u", boundary="periodic")\nu.next = u[+1] - u[-1]'
    decorated = wb.stencil(dim=1)(wave)
    assert decorated.name == "wave"
    assert decorated.graph.fingerprint() == wb.trace(text).graph.fingerprint()


def test_decorator_without_parentheses_says_so():
    with pytest.raises(wb.StencilError, match="stencil needs parentheses"):
        wb.stencil(lambda: None)


def test_dimension_comes_from_the_reads_or_from_the_user():
    assert wb.trace('u = field("u", boundary="periodic")\nu.next = u[+1, 0, 0]').graph.dim == 3
    assert wb.trace('u = field("u")\nu.next = u', 2).graph.dim == 2


def test_str_tells_the_program():
    text = str(wb.trace(WAVE, name="wave"))
    assert text.splitlines()[:2] == ["machine wave: 1-D", "  fields: u f64 (periodic), v f64 (periodic)"]
    assert "params: c f64" in text


@pytest.mark.parametrize("program", all_programs(), ids=repr)
def test_the_plan_has_the_machine_s_own_graph(program):
    machine = wb.trace(program.text, dim=dimension(program), name=program.name)
    assert machine.plan().graph == machine.graph


def test_annotate_names_a_value_whatever_rewrites_the_graph(monkeypatch):
    def doubled(builder, node, operands):  # x + x becomes 2 * x
        if node.instruction == Arith("add") and operands[0] == operands[1]:
            two = builder.imm(2.0, node.type, node.space)
            return builder.arith("multiply", two, operands[0])
        return copy(builder, node, operands)

    rows = (*simplify.REWRITES, simplify.Rewrite("doubled", lambda graph: rewrite(graph, doubled)))
    monkeypatch.setattr(simplify, "REWRITES", rows)
    hello = wb.trace(HELLO, name="hello_doubled")
    assert "multiply" in str(hello.graph)
    assert "add" not in str(hello.graph)
    assert hello.plan().graph == hello.graph
    for name in ("y", "z"):
        assert storage_of(hello.annotate(name, "manifest"), name) is Storage.MANIFEST
    assert hello.with_genome(hello.genome).genome == hello.genome


def test_annotate_names_a_value_in_another_precision():
    hello = wb.trace(HELLO, name="hello")
    single = hello.with_choices(Choices(meaning=Meaning(precision=(("density", "f32"),))))
    assert storage_of(single.annotate("y", "manifest"), "y") is Storage.MANIFEST
    assert storage_of(single.annotate("y", "delayed"), "y") is Storage.DELAYED


def test_annotate_returns_a_new_machine():
    hello = wb.trace(HELLO, name="hello")
    stored, computed = hello.annotate("y", "manifest"), hello.annotate("y", "delayed")
    assert storage_of(stored, "y") is Storage.MANIFEST
    assert storage_of(computed, "y") is Storage.DELAYED
    assert storage_of(stored.annotate("y", "delayed"), "y") is Storage.DELAYED
    assert hello == wb.trace(HELLO, name="hello")
    assert len(stored.plan().kernel("step").plain.subkernels) == 2
    assert len(computed.plan().kernel("step").plain.subkernels) == 1


def test_annotate_takes_any_case():
    hello = wb.trace(HELLO, name="hello")
    assert hello.annotate("y", "Manifest") == hello.annotate("y", "manifest")
    assert hello.annotate("y", "DELAYED") == hello.annotate("y", "delayed")
    with pytest.raises(wb.StencilError, match="allocation 'Stored' is unknown"):
        hello.annotate("y", "Stored")


def bits_that_differ(one, other):
    """(section, number of the bit) of what two genomes of one program say differently."""
    found = []
    for mine, others in zip(one.partition(":")[2].split("/"), other.partition(":")[2].split("/"), strict=True):
        texts = [bits_of(part[2:], 2 * len(part[2:])) for part in (mine, others)]
        found += [(mine[0], k) for k, (a, b) in enumerate(zip(*texts, strict=True)) if a != b]
    return found


TABLE_3 = """
density = field("density")
x = sync(density, "before")
y = manifest(x * x)
z = y + y
density.next = z
"""


def test_the_columns_of_table_3_differ_in_the_papers_two_bits():
    hello = wb.trace(HELLO, name="hello").with_choices(grid=32, block=32)
    left = hello.annotate("y", "delayed")
    right = hello.annotate("y", "manifest").annotate("x", sync="before")
    hinted = wb.trace(TABLE_3, name="hello").with_choices(grid=32, block=32)
    assert bits_that_differ(left.genome, right.genome) == [("M", 1), ("S", 0)]  # y is Manifest, a barrier before x
    assert right.genome == hinted.genome
    assert right.genome.endswith("/G=AAAAAGAAAAAAAGAA/M=C/S=GAA")


def test_choices_are_set_by_name():
    hello = wb.trace(HELLO, name="hello")
    chosen = hello.with_choices(block=128, grid=0, threads=2)
    assert (chosen.choices.plan.device.block, chosen.choices.plan.cpu.threads) == (128, 2)
    assert chosen.with_choices(threads=3, loops="apart").choices.plan.device.block == 128
    assert hello.with_choices(chosen.choices, block=64).choices.plan.cpu.threads == 2
    with pytest.raises(PlanError, match="block is 0\nUse a number from 1 to 1024"):
        hello.with_choices(block=0)
    with pytest.raises(PlanError, match=r"no choice called 'blok'; did you mean 'block'\?"):
        hello.with_choices(blok=64)


def test_a_machine_lists_what_may_be_chosen_on_a_backend():
    hello = wb.trace(HELLO, name="hello")
    on = {backend: [t.name for t in hello.tunables(backend)] for backend in ("reference", "openmp", "cuda")}
    assert "threads" in on["openmp"]
    assert "block" not in on["openmp"]
    loop = f"block of {hello.plan().subkernels[0].name}"
    assert {"block", loop} <= set(on["cuda"])
    assert hello.with_choices(**{loop: 64}).choices.plan.largest_block == 256
    assert hello.with_choices(**{loop: 512}).choices.plan.largest_block == 512
    assert "threads" not in on["cuda"]
    assert not {"threads", "block"} & set(on["reference"])
    for tunable in hello.tunables("openmp"):
        now = tunable.read(hello.choices.plan)
        assert tunable.read(hello.with_choices(**{tunable.name: now}).choices.plan) == now


def test_barriers_are_annotated_and_taken_away_by_name():
    hello = wb.trace(HELLO, name="hello").annotate("y", "manifest")
    before = hello.annotate("y", sync="before")
    assert before.choices.plan.barriers.before
    assert storage_of(before, "y") is Storage.MANIFEST
    both = before.annotate("y", "delayed", sync="both")
    assert both.choices.plan.barriers.after == before.choices.plan.barriers.before
    assert both.annotate("y", sync="none").choices == hello.annotate("y", "delayed").choices
    assert hello.annotate("density", sync="before").choices == hello.annotate("x", sync="before").choices


def test_genomes_of_both_allocations_differ_in_at_most_two_letters():
    hello = wb.trace(HELLO, name="hello")
    stored, computed = (hello.annotate("y", a).genome for a in ("manifest", "delayed"))
    assert sum(a != b for a, b in zip(stored, computed, strict=True)) in (1, 2)
    assert storage_of(hello.with_genome(stored), "y") is Storage.MANIFEST
    assert storage_of(hello.with_genome(computed), "y") is Storage.DELAYED
    assert hello.with_genome(stored).genome == stored
    assert hello.with_genome(stored).annotate("y", "delayed").genome == computed
    with pytest.raises(wb.StencilError):
        wb.trace(WAVE).with_genome(stored)


def test_choices_that_leave_the_text_alone_compile_nothing():
    hello = wb.trace(HELLO, name="hello").annotate("y", "delayed")
    hello.simulate(density=[1.0]).run(1)
    before = wb.counters().compiled
    plan = hello.choices.plan.changed(threads=1, grid=64, tile=8)
    hello.with_choices(replace(hello.choices, plan=plan)).simulate(density=np.ones(99)).run(1)
    assert wb.counters().compiled == before


def test_annotations_change_no_result():
    given = {"density": np.linspace(0, 1, 11)}
    hello = wb.trace(HELLO, name="hello")
    results = [m.simulate(**given).run(3).density for m in (hello, hello.annotate("y", "manifest"))]
    assert results[0].tobytes() == results[1].tobytes()


@pytest.mark.parametrize(
    ("name", "allocation", "text"),
    [
        ("yy", "manifest", "computes nothing called 'yy'\nUse one of x, y, z"),
        ("density", "delayed", "density is state"),
        ("y", "stored", "allocation 'stored' is unknown"),
        ("y", None, "nothing is asked of y"),
    ],
)
def test_annotate_refuses(name, allocation, text):
    with pytest.raises(wb.StencilError, match=text):
        wb.trace(HELLO).annotate(name, allocation)


def test_annotate_refuses_an_unknown_place_of_a_barrier():
    with pytest.raises(PlanError, match="sync 'here' is unknown"):
        wb.trace(HELLO).annotate("y", sync="here")


def test_plan_refuses_an_unknown_backend():
    with pytest.raises(wb.StencilError, match="did you mean 'openmp'"):
        wb.trace(HELLO).plan(backend="openm")


def test_source_is_text_with_the_names_of_the_cell():
    for backend, mark in (("openmp", "static STENCIL_PROCEDURE void sweep_step"), ("cuda", "__global__")):
        text = str(wb.trace(HELLO, name="hello").annotate("y", "manifest").source(backend))
        assert "sweep_step_0_y" in text
        assert mark in text
    with pytest.raises(wb.StencilError, match="no source is generated for backend 'reference'"):
        wb.trace(HELLO).source("reference")


def test_changed_captured_name_is_told_and_kept():
    namespace = {"alpha": 0.5}
    machine = wb.trace('u = field("u")\nu.next = alpha * u', namespace=namespace)
    assert "taken from outside of its text: alpha = 0.5" in str(machine)
    machine.simulate(u=[2.0])
    namespace["alpha"] = 0.25
    with pytest.warns(CapturedNameWarning, match="alpha was 0.5 when machine was traced and is 0.25 now"):
        simulation = machine.simulate(u=[2.0])
    assert simulation.run(1).u[0] == 1.0


@pytest.mark.filterwarnings("error")
def test_same_value_in_other_clothes_is_no_change():
    define = "def double(x):\n    return 2 * x"
    namespace = {"alpha": 0.5}
    exec(define, namespace)
    machine = wb.trace('u = field("u")\nu.next = double(alpha * u)', namespace=namespace)
    exec(define, namespace)
    namespace["alpha"] = np.float64(0.5)
    assert machine.simulate(u=[2.0]).run(1).u[0] == 2.0


def test_equal_programs_compile_once():
    wb.trace(WAVE, name="wave").simulate(u=0, v=0, shape=8).run(1)
    before = wb.counters()
    wb.trace(WAVE, name="wave").simulate(u=0, v=0, shape=4000, c=1.0).run(1)
    assert wb.counters() == before


def test_auto_says_which_backend_and_why():
    simulation = wb.trace(HELLO).simulate(density=[1.0])
    selection = simulation.compiled.selection
    assert selection.name == simulation.backend
    assert selection.reason
    assert f"{selection.name} ({selection.reason})" in " ".join(repr(simulation).split())


def test_vector_components_are_stacked():
    traced = wb.trace('a, b = fields("momentum0 momentum1")\na.next = a\nb.next = b + 1', 2)
    statics = [replace(s, group="momentum", component=(k,)) for k, s in enumerate(traced.graph.statics)]
    machine = wb.Machine(replace(traced.graph, statics=tuple(statics)))
    given = np.arange(24.0).reshape(2, 3, 4)
    simulation = machine.simulate(momentum=given, backend="reference")
    assert np.array_equal(simulation["momentum"], given)
    simulation.run(1)
    simulation["momentum"] = simulation["momentum"] * 2
    assert np.array_equal(simulation.momentum, 2 * (given + np.arange(2.0)[:, None, None]))
    with pytest.raises(wb.StencilError, match=r"momentum has components of shape \(2,\)"):
        simulation.set(momentum=given[:1])


def test_a_machine_has_views_of_its_own():
    machine = wb.trace("u = field('u', boundary='periodic')\nu.next = u[+1]")
    view = machine.view("source", backend="openmp")
    assert "sweep_step_0" in repr(view)
    view.close()
    with pytest.raises(RunError, match="no view 'field'"):
        machine.view("field")


def test_rolling_is_a_hint_of_the_cell_and_no_annotation():
    machine = wb.trace('u = field("u")\ny = u * u\nu.next = y + y')
    with pytest.raises(PlanError, match=r'y cannot be annotated "rolling".*\nWrite rolling\(y\) in the cell'):
        machine.annotate("y", "rolling")


@pytest.mark.parametrize("given", ["best", {}, 3])
def test_what_is_no_record_of_choices_is_refused(given):
    called = wb.trace('x = array("x", "n")\noutput("y", 2 * x)')
    with pytest.raises(
        wb.StencilError, match=r"choices=.* is no record of choices(.*\n)*Pass the choices of a machine"
    ):
        called(x=[1.0], choices=given)
    with pytest.raises(wb.StencilError, match="is no record of choices"):
        wb.collective(lambda x: 2 * x)([1.0], choices=given)
    if given != "best":
        with pytest.raises(wb.StencilError, match="is no record of choices"):
            wb.trace(HELLO).simulate(density=[1.0], choices=given)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"backend": ["openmp"]}, r"there is no backend \['openmp'\]"),
        ({"threads": [2]}, r"threads=\[2\] is no number of"),
    ],
)
def test_a_list_among_the_options_of_a_call_is_named(options, what):
    called = wb.trace('x = array("x", "n")\noutput("y", 2 * x)')
    for call in (lambda: called(x=[1.0], **options), lambda: wb.collective(lambda x: 2 * x)([1.0], **options)):
        with pytest.raises(wb.StencilError, match=what):
            call()


@pytest.mark.parametrize("name", ["run", "u", "energy"])
def test_what_only_simulations_have_is_told_of_a_machine(name):
    machine = wb.trace(WAVE, name="wave")
    assert not hasattr(machine, name)
    with pytest.raises(wb.StencilError) as caught:
        getattr(machine, name)
    what, advice = str(caught.value).splitlines()
    assert what == f"wave is a machine, a program without data: '{name}' belongs to its simulations"
    assert advice == f"Write sim = wave.simulate(...), then sim.{name}."
    with pytest.raises(AttributeError, match="machine wave has no 'simulat'"):
        machine.simulat  # noqa: B018


def test_a_program_without_names_says_how_to_give_one():
    still = wb.trace('u = field("u")\nu.next = 2 * u', 1, name="still")
    for ask in (lambda: still.annotate("flux", "manifest"), lambda: still.plan().explain("flux", "u")):
        with pytest.raises(PlanError, match=r"Give the value a name in the cell, such as flux = \.\.\."):
            ask()


def test_initial_values_without_names_are_refused_with_what_to_write():
    machine = wb.trace('u = field("u")\nv = vector("v")\nu.next = u + v[0] * v[1]', 2, name="still")
    for given, call in ((np.zeros((4, 4)), "still.simulate(u=..., v=...)"), ({"u": 1.0}, "still.simulate(**values)")):
        with pytest.raises(RunError, match="still takes its initial values by their names") as caught:
            machine.simulate(given)
        assert f"Write {call}." in str(caught.value)
