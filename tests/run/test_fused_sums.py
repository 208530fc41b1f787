"""t = fma(a, b, t): a product rounded together with the sum of a total, in the canonical order, on every backend."""

import re

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.backends.device_text import compile_for_device
from workbench.backends.nvrtc import find_compilers
from workbench.errors import TraceError
from workbench.graph.fused import fused_multiply_add
from workbench.graph.parse import parse
from workbench.pipeline import render

CELL = """
x, = targets("x", dim=3)
xs, = sources("x", dim=3)
m, = sources("m")
a, = totals("a", dim=3)
p, n = totals("p n")
d = xs - x
r = 1 / sqrt(fma(d[0], d[0], fma(d[1], d[1], fma(d[2], d[2], 1e-3))))
a = fma(m * r * (r * r), d, a)
p = fma(m, r, p)
n += r > 1
"""
TYPES = {"f32": np.float32, "f64": np.float64}


def stars(dtype, targets, sources):
    rng, type_ = np.random.default_rng(1), TYPES[dtype]
    numbers = (rng.standard_normal(shape).astype(type_) for shape in ((3, targets), (3, sources), sources))
    return tuple(numbers)


def canonical(a, b):
    """The sums over the last axis by hand: chunks of 1024, each from -0.0 by fma, then a tree of sums."""
    leaves = []
    for low in range(0, a.shape[-1], 1024):
        sum_ = np.full(a.shape[:-1], -0.0, a.dtype)
        for j in range(low, min(low + 1024, a.shape[-1])):
            sum_ = fused_multiply_add(a[..., j], b[..., j], sum_)
        leaves.append(sum_)
    while len(leaves) > 1:
        pairs = [leaves[k] + leaves[k + 1] for k in range(0, len(leaves) - 1, 2)]
        leaves = [*pairs, *leaves[2 * len(pairs) :]]
    return leaves[0]


@pytest.mark.parametrize("sources", [1, 1023, 1025, 2049])
@pytest.mark.parametrize("dtype", TYPES)
def test_terms_are_fused_in_lanes_and_trees_add(dtype, sources):
    machine = wb.trace('x, = targets("x")\ny, = sources("y")\nt, = totals("t")\nt = fma(x, y, t)', dtype=dtype)
    x, y = (each[0] for each in stars(dtype, 5, sources)[:2])
    expected = canonical(np.repeat(x[:, None], sources, axis=1), np.repeat(y[None], 5, axis=0))
    for backend in ("reference", "openmp"):
        assert_same_bits(machine(targets={"x": x}, sources={"y": y}, backend=backend)["t"], expected, backend)
    if sources > 1000:
        plain = wb.trace('x, = targets("x")\ny, = sources("y")\nt, = totals("t")\nt += x * y', dtype=dtype)
        assert (plain(targets={"x": x}, sources={"y": y}, backend="openmp")["t"] != expected).any()


@pytest.mark.parametrize(("targets", "sources"), [(0, 3), (3, 0), (37, 61), (70, 1030)])
@pytest.mark.parametrize("dtype", TYPES)
def test_backends_have_the_bits_of_the_reference(dtype, targets, sources):
    machine = wb.trace(CELL, name="stars", dtype=dtype)
    x, xs, m = stars(dtype, targets, sources)
    given = {"targets": {"x": x}, "sources": {"x": xs, "m": m}}
    expected = machine(backend="reference", **given)
    if targets * sources < 3000:
        found = machine(backend="cuda-sim", **given)
        assert all(not np.any(found[name] != values) for name, values in expected.items())
    for threads in (1, 2, 3):
        for choices in ({}, {"lanes": 64}, {"sources": 4}):
            found = machine.with_choices(**choices)(backend="openmp", threads=threads, **given)
            for name, values in expected.items():
                assert_same_bits(found[name], values, f"{name}, {threads} threads, {choices}")


def test_lanes_hold_numbers_and_no_records():
    plan = wb.trace(CELL, name="stars", dtype="f32").plan("openmp")
    text = render(plan, "openmp").text
    assert len(re.findall(r"_cells\[i - first\] = math::fma\(", text)) == 4
    assert "Leaf<pair_of" not in text


@pytest.mark.skipif(not find_compilers(), reason="no CUDA compiler: neither nvcc nor NVRTC was found")
def test_a_device_takes_terms_by_one_instruction():
    plan = wb.trace(CELL, name="stars", dtype="f32").plan("cuda")
    ptx = compile_for_device(plan, render(plan, "cuda"), "sm_90").ptx
    assert len(re.findall(r"\bfma\.rn\.f32\b", ptx)) % 7 == 0  # three of the distance and four of sums, a turn


def test_in_dd_it_is_the_sum_of_products():
    x, xs, m = stars("f64", 7, 40)
    given = {"targets": {"x": x}, "sources": {"x": xs, "m": m}, "backend": "openmp"}
    fused, plain = (
        CELL.replace('p, n = totals("p n")', 'p, = totals("p", dtype="dd")').replace("n += r > 1", ""),
        "p += dd(m) * r",
    )
    both = [wb.trace(text)(**given)["p"] for text in (fused, fused.replace("p = fma(m, r, p)", plain))]
    assert_same_bits(*(each["hi"] for each in both))
    assert_same_bits(*(each["lo"] for each in both))


def test_it_follows_a_choice_of_precision():
    """Of one total, of all values and narrower ones; in dd as `t += a * b` does, which the report counts on."""
    text = 'x, = targets("x")\ny, = sources("y")\nt, = totals("t")\n'
    fused, plain = wb.trace(text + "t = fma(x, y, t)", name="f"), wb.trace(text + "t += x * y", name="p")
    given = {"targets": {"x": np.array([1.0, 3.0])}, "sources": {"y": np.full(50, 1 / 3)}, "backend": "openmp"}
    expected = plain.with_precision("dd")(**given)["t"]
    for mine in (fused.with_precision("dd"), fused.with_precision(t="dd")):  # factors are widened, as operands are
        found = mine(**given)["t"]
        assert_same_bits(found["hi"], expected["hi"])
        assert_same_bits(found["lo"], expected["lo"])
    assert fused.with_precision("f32")(**given)["t"].dtype == np.float32
    report = fused.precision_report(targets=given["targets"], sources=given["sources"])
    assert 0 < report.largest_error < 1e-14
    for each in (fused, plain):
        report = each.with_precision(t="dd").precision_report(targets=given["targets"], sources=given["sources"])
        assert report.largest_error < 1e-15


def test_the_graph_can_be_read_back():
    graph = wb.trace(CELL, name="stars").graph
    assert str(parse(str(graph))) == str(graph)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t = fma(x, y, t)\nt += x * y", "t takes a fused product, which is its one contribution"),
        ("t += x * y\nt = fma(x, y, t)", "t takes several contributions, of which one is fused"),
        ("t = fma(x, 2, t)", "what is contributed to t depends on no source"),
        ("t += 0 * y\nn, = totals('n', dtype='i64')\nn = fma(x, y, n)", "n is i64, but fma computes floats"),
        ("t += 0 * y\nm, = totals('m', reduce='max')\nm = fma(x, y, m)", "m is the max over all sources"),
        ("t += fma(t, x, y)", "t is read, but it is complete only after all sources"),
    ],
)
def test_what_is_no_fused_sum_says_what_to_write(text, message):
    with pytest.raises(TraceError, match=re.escape(message)):
        wb.trace(f'x, = targets("x")\ny, = sources("y")\nt, = totals("t")\n{text}')


def test_a_cutoff_takes_near_terms_alone():
    text = 'x, = targets("x")\ny, = sources("x")\nt, = totals("t", cutoff=0.5, positions="x")\nt = fma(x, y, t)'
    x = np.random.default_rng(3).uniform(0, 4, 200)
    found = {backend: wb.trace(text)(x=x, backend=backend)["t"] for backend in ("reference", "openmp")}
    assert_same_bits(found["openmp"], found["reference"])
    near = (x[None] - x[:, None]) ** 2 <= 0.25
    np.testing.assert_allclose(found["openmp"], (near * x[:, None] * x).sum(axis=1), rtol=1e-13)
