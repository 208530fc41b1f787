"""Precision by name, applied before anything else."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.paper_graphs import wave
from tests.kit.random_kernels import larger
from tests.kit.random_programs import random_program
from tests.kit.symbolic import Meaning, domain_of
from tests.planning.numbers import Numbers
from workbench.backends.interpreter import interpret
from workbench.errors import PlanError
from workbench.graph import GLOBAL, Arith, Broadcast, Graph, KernelBuilder, Loop, Static, grid_space
from workbench.graph.instructions import arrays_read
from workbench.graph.types import DD, F32, F64, I32
from workbench.graph.verify import verify
from workbench.planning import Choices, plan_graph
from workbench.planning import Meaning as MeaningChoice
from workbench.planning.choices import EVERY
from workbench.planning.retype import retype

LINE = grid_space(1)


def precise(*pairs):
    return MeaningChoice(precision=pairs)


def test_no_choice_changes_nothing():
    graph = wave()
    assert retype(graph, MeaningChoice()) is graph


def test_a_field_in_single_precision_takes_everything_along():
    graph = retype(wave(), precise(("f", "f32"), ("g", "f32")))
    locals_ = [n for n in graph.kernels[0].nodes if n.is_local]
    assert {n.type for n in locals_} == {F32}
    assert graph.static("f").type == F32
    assert graph.static("dt").type == F64  # a Global is rounded once, where it meets the Local
    casts = [n for n in graph.kernels[0].nodes if n.instruction == Arith("cast")]
    assert all(n.is_global for n in casts)
    plan = plan_graph(wave(), Choices(precise(("f", "f32"), ("g", "f32"))))
    assert [s.itemsize for s in plan.slots[:2]] == [4, 4]
    assert plan.graph.static("f").type == F32


def test_two_widths_meet_in_the_wider():
    graph = retype(wave(), precise(("f", "f32")))
    kernel = graph.kernels[0]
    stored = dict(kernel.stores())
    assert kernel.nodes[stored["f"]].type == F32
    assert kernel.nodes[stored["g"]].type == F64


def named():
    statics = (
        Static("u", "field", F64, LINE),
        Static("n", "field", I32, LINE),
        Static("p", "param", F64, GLOBAL, 1.0),
    )
    b = KernelBuilder(LINE, statics)
    third = b.arith("divide", b.load("u"), b.broadcast(b.load("p")))
    b.annotate(third, name="third")
    b.store("u", b.arith("add", third, b.load("u")))
    return Graph("g", LINE, statics, (b.finish("step"),))


def test_a_named_value_is_rounded_where_it_is_made():
    graph = retype(named(), precise(("third", "f32")))
    kernel = graph.kernels[0]
    cells = list(domain_of((3,)))
    state = {"u": {c: np.float64(1.0 + c[0]) for c in cells}, "p": np.float64(3.0)}
    meaning = Meaning(Numbers((3,)), kernel, (3,), state)
    for cell in cells:
        u = state["u"][cell]
        assert meaning(kernel.stores()[0][1], cell) == np.float64(np.float32(u / 3.0)) + u
    assert any(isinstance(n.instruction, Broadcast) for n in kernel.nodes)


def test_a_wider_value_is_computed_in_its_type():
    kernel = retype(named(), precise(("third", "dd"))).kernels[0]
    third = kernel.nodes[kernel.find("third")]
    assert (third.instruction, third.type) == (Arith("divide"), DD)


@pytest.mark.parametrize(
    ("pair", "says"),
    [
        (("nothing", "f32"), "no value is called 'nothing'"),
        (("u", "f16"), "'f16' is no storage type"),
        (("u", "i32"), "i32 is no float"),
        (("n", "f32"), "i32 is no float"),
    ],
)
def test_impossible_requests(pair, says):
    with pytest.raises(PlanError, match=says):
        retype(named(), precise(pair))


def test_a_region_keeps_its_type_and_its_operand_is_rounded_to_it():
    statics = (Static("u", "field", F64, LINE), Static("most", "scalar", F64, GLOBAL, 0.0))
    b = KernelBuilder(LINE, statics)
    u = b.load("u")
    b.store("most", b.reduce(larger(F64), u))
    b.store("u", b.arith("negative", u))
    graph = retype(Graph("g", LINE, statics, (b.finish("step"),)), precise(("u", "f32")))
    verify(graph)
    state = {"u": np.array([1.0, -3.0, 2.0], np.float32), "most": np.array(0.0)}
    assert interpret(graph, "step", (3,), state, 1)["most"] == 2.0


def test_where_two_widths_meet_the_operator_computes_in_the_wider():
    statics = (Static("u", "field", F64, LINE), Static("v", "field", F64, LINE))
    b = KernelBuilder(LINE, statics)
    b.store("v", b.arith("multiply", b.load("u"), b.load("v")))
    graph = retype(Graph("g", LINE, statics, (b.finish("step"),)), precise(("u", "f32")))
    state = {"u": np.array([0.1], np.float32), "v": np.array([0.1])}
    assert interpret(graph, "step", (1,), state, 1)["v"] == np.float64(np.float32(0.1)) * 0.1


def test_random_programs_in_one_type_stay_legal_and_have_no_other_float():
    for seed in range(0, 60, 2):
        graph = random_program(seed, cells=20)[0]
        for name in ("f32", "dd"):
            found = retype(graph, precise((EVERY, name)))
            verify(found)
            assert {s.type.name for s in found.statics if s.type.is_float} <= {name}
            left = {n.type.name for k in found.kernels for n in k.nodes if n.type is not None and n.type.is_float}
            assert left <= {name, "f64"}  # of operators that dd has not


def test_random_programs_under_random_precision_stay_legal_and_change_only_what_was_asked():
    changed = casts = 0
    for seed in range(200):
        graph = random_program(seed, cells=20)[0]
        names = [s.name for s in graph.fields if s.type.is_float]
        for name, type_ in ((n, t) for n in names for t in (F32, F64)):
            found = retype(graph, precise((name, type_.name)))
            verify(found)
            assert found.static(name).type == type_
            assert [s for s in found.statics if s.name != name] == [s for s in graph.statics if s.name != name]
            assert [k.stores()[i][0] for k in found.kernels for i in range(len(k.stores()))] == [
                n for k in graph.kernels for n, _ in k.stores()
            ]
            if graph.static(name).type == type_:
                assert found.fingerprint() == graph.fingerprint()
            else:
                changed += 1
                casts += sum(n.instruction == Arith("cast") for k in found.kernels for n in k.nodes)
            assert retype(found, precise((name, type_.name))).fingerprint() == found.fingerprint()
    print(f"{changed} fields changed, {casts} casts afterwards")
    assert changed > 100


def test_a_loop_inside_a_loop_changes_its_type_too():
    cell = 'x = array("x", "n")\noutput("y", repeat(3, lambda v: repeat(2, lambda w: 0.5 * w, v), x))'
    graph = retype(wb.trace(cell, name="halves").graph, precise((EVERY, "f32")))
    verify(graph)
    found = wb.trace(cell, name="halves").with_precision("f32")(x=np.array([64.0, 3.0]))["y"]
    assert found.dtype == np.float32
    assert found.tolist() == [1.0, 3 / 64]


def test_a_loop_reads_elements_in_the_type_in_which_they_are_stored():
    """No array is converted as a whole; what is read is cast to the type in which the body computes."""
    cell = """
u, v = fields("u v")
w = 3.0 * u

def body(k, s):
    inner = repeat(2, lambda t: t / 3.0 + gather(w, k % 4), s)
    return k + 1, inner + gather(u, 3 - k % 4)

v.next = repeat(3, body, (index(0), v))[1]
u.next = u
"""
    machine = wb.trace(cell, dim=1, name="elements")
    choices = precise(("u", "f32"))
    graph = retype(machine.graph, choices)
    verify(graph)
    kernel = graph.kernels[0]
    loop = next(n for n in kernel.nodes if isinstance(n.instruction, Loop))
    assert [kernel.nodes[o].type for o in arrays_read(loop)] == [F32, F32]
    assert loop.type == F64
    u, v = np.linspace(1.0, 2.0, 4) / 3, np.linspace(-1.0, 1.0, 4)
    state = {"u": u.astype("f4"), "v": v}
    found = interpret(graph, "step", (4,), state)
    for cell in range(4):
        total = v[cell]
        for k in range(cell, cell + 3):
            for _ in range(2):
                total = total / 3.0 + float(np.float32(3.0) * state["u"][k % 4])
            total += float(state["u"][3 - k % 4])
        assert found["v"][cell] == total
    in_f32 = retype(machine.graph, precise((EVERY, "f32")))
    verify(in_f32)
    assert {n.type for n in in_f32.kernels[0].nodes if isinstance(n.instruction, Loop)} == {F32}
    assert interpret(in_f32, "step", (4,), {n: a.astype("f4") for n, a in (("u", u), ("v", v))})["v"].dtype == "f4"
