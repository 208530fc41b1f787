"""fma(a, b, c) in cells: one rounding on every backend, also for a processor without the instruction."""

import re
from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from tests.kit.capabilities import backends_here
from workbench.backends.base import MarchRequest
from workbench.backends.compile_pool import default_compiler
from workbench.backends.device_text import compile_for_device
from workbench.backends.nvrtc import find_compilers
from workbench.backends.openmp import OpenmpBackend
from workbench.backends.toolchain import X86
from workbench.errors import TraceError
from workbench.frontend.cell import trace_cell
from workbench.graph.extended import sequences
from workbench.graph.extended_numbers import join
from workbench.graph.fused import fused_multiply_add
from workbench.graph.sequences import apply
from workbench.pipeline import render
from workbench.planning import plan_graph

CELL = 'a, b, c, d = fields("a b c d", dtype="{}")\nd.next = fma(a, b, c) * fma(-a, b, 2.0)'
TYPES = {"f32": np.float32, "f64": np.float64}


def operands(dtype):
    """Numbers of like size, products that nearly cancel, and ends of the number range; 400 of each operand."""
    rng, type_ = np.random.default_rng(1), TYPES[dtype]
    a, b, c = rng.standard_normal((3, 400)).astype(type_)
    c[:150] = -(a * b)[:150]
    info = np.finfo(type_)
    ends = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, info.max, info.tiny, info.smallest_subnormal, 1, -1], type_)
    a[150:350], b[150:350], c[150:350] = rng.choice(ends, (3, 200))
    return {"a": a, "b": b, "c": c}


def expected(given):
    a, b, c = given["a"], given["b"], given["c"]
    with np.errstate(all="ignore"):
        return fused_multiply_add(a, b, c) * fused_multiply_add(-a, b, np.full_like(a, 2))


def on_openmp(dtype, given, compiler=None):
    """What the text gives, with its library built by a compiler, and that library's program."""
    program = OpenmpBackend(compiler).compile(plan_graph(trace_cell(CELL.format(dtype), name="fused", dim=1).graph))
    instance = program.instantiate((400,), 1)
    for name, values in given.items():
        instance.write_field(name, values)
    instance.march(MarchRequest("step", 1))
    found = instance.read_field("d").copy()
    instance.close()
    return found, program


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("backend", [name for name in backends_here() if name != "reference"])
def test_a_product_and_a_sum_are_rounded_once(backend, dtype):
    given = operands(dtype)
    with wb.trace(CELL.format(dtype), name="fused").simulate(**given, d=0.0, backend=backend) as sim:
        found = sim.step()["d"]
    assert_same_bits(found, expected(given))
    assert (found[:150] != 0).sum() > 140  # two roundings give 0


@pytest.mark.parametrize("dtype", TYPES)
def test_a_processor_without_the_instruction_gives_the_same_bits(dtype):
    compiler = default_compiler()
    oldest = ("-march=x86-64", "-mtune=generic") if X86 & set(compiler.toolchain.system.split()) else ("-O1",)
    chain = replace(compiler.toolchain, flags=(*compiler.toolchain.flags, *oldest))
    given = operands(dtype)
    found, program = on_openmp(dtype, given, replace(compiler, toolchain=chain))
    assert_same_bits(found, expected(given))
    assert program.built.key != on_openmp(dtype, given)[1].built.key


def test_of_dd_it_is_the_product_and_the_sum():
    rng = np.random.default_rng(2)
    given = {name: np.zeros(50, [("hi", "f8"), ("lo", "f8")]) for name in "abc"}
    for each in given.values():
        each[:] = join(rng.standard_normal(50), rng.standard_normal(50) * 2.0**-56)
    parts = [each[part] for each in given.values() for part in ("hi", "lo")]
    product = apply(sequences()["multiply"], parts[:4])
    hi, lo = apply(sequences()["add"], [*product, *parts[4:]])
    machine = wb.trace('a, b, c, d = fields("a b c d", dtype="dd")\nd.next = fma(a, b, c)', name="fused")
    for backend in backends_here():
        with machine.simulate(**given, d=0.0, backend=backend) as sim:
            found = sim.step()["d"]
        assert_same_bits(found["hi"], hi)
        assert_same_bits(found["lo"], lo)


def test_a_more_precise_program_knows_it():
    machine = wb.trace('u, v = fields("u v", dtype="f32")\nw = fma(u, u, -1.0)\nv.next = w', name="fused", dim=1)
    u = np.full(4, 1 + 2.0**-20, np.float32)
    given = {"u": u, "v": 0.0, "backend": "openmp"}
    for precision, exact in (("f64", 2.0**-19 + 2.0**-40), ("dd", 2.0**-19 + 2.0**-40)):
        with machine.with_precision(precision).simulate(**given) as sim:
            found = sim.step()["v"]
        assert (found["hi"] if precision == "dd" else found)[0] == exact
    report = machine.precision_report(u=u, v=0.0)
    assert "w" in str(report)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n.next = fma(n, n, 1)", "n is i64, but n.next is given f64"),
        ("u.next = fma(u, 2j, u)", "complex numbers such as 2j have no storage type"),
        ("u.next = fma(u > 0, u, u)", "a condition (bool) cannot be combined with a number (f64)"),
        ("u.next = fma(u, u)", "missing 1 required positional argument: 'c'"),
        ("import math\nu.next = math.atan2(u, u)", "Use arctan2(a, b) of the cell's vocabulary."),
    ],
)
def test_mistakes_say_what_to_write(text, message):
    with pytest.raises(TraceError, match=re.escape(message)):
        wb.trace(f'u = field("u")\nn = field("n", dtype="i64")\nu.next = u\n{text}', name="wrong", dim=1)


def test_operands_of_several_types_take_the_usual_one():
    text = 'u, v = fields("u v", dtype="f32")\nn = field("n", dtype="i32")\nx = field("x")\n'
    graph = wb.trace(f"{text}v.next = fma(n, u, 1)\nx.next = fma(u, n, x)", name="mixed", dim=1).graph
    made = [str(n.value_type) for n in graph.kernels[0].nodes if getattr(n.instruction, "operator", "") == "fma"]
    assert made == ["f32", "f64"]


def test_vectors_take_it_component_by_component():
    machine = wb.trace(
        'v, w = vector("v"), vector("w")\nc = param("c", 3.0)\nw.next = fma(c, v, w)', name="axpy", dim=2
    )
    rng = np.random.default_rng(3)
    v, w = rng.standard_normal((2, 2, 4, 5))
    with machine.simulate(v=v, w=w, backend="openmp") as sim:
        assert_same_bits(sim.step()["w"], fused_multiply_add(np.full_like(v, 3.0), v, w))


@pytest.mark.skipif(not find_compilers(), reason="no CUDA compiler")
def test_a_device_has_one_instruction_for_it():
    for dtype in TYPES:
        plan = wb.trace(CELL.format(dtype), name="fused", dim=1).plan("cuda")
        ptx = compile_for_device(plan, render(plan, "cuda"), "sm_90").ptx
        fused, products = (len(re.findall(rf"\b{name}(?:\.rn)?\.{dtype}\b", ptx)) for name in ("fma", "mul"))
        assert fused == 2 * products > 0  # of each cell; some compilers do several cells a turn
