"""Scans and ranks on a device, in parts: the canonical order for every type, axis, size, grid and block."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.backend_agreement import assert_folds_agree, at_origin
from tests.kit.bits import assert_same_bits
from tests.kit.collective_programs import mixing, ranked, scans
from tests.kit.optimised import optimised
from tests.kit.oracle_orders import fold_pairs
from tests.kit.spaced_programs import Program
from workbench.backends import part_launches
from workbench.backends.base import MarchRequest
from workbench.backends.launch_sequence import launches_of
from workbench.graph.types import I64
from workbench.planning import Choices, PlanChoices, plan_graph
from workbench.planning.partials import rank_threads, scan_threads

WAYS = ({}, {"reverse": True}, {"exclusive": True}, {"reverse": True, "exclusive": True})


def mixed(a, b):
    return (2 * a - b + 2**63) % 2**64 - 2**63


def scanned_from(values, origin, *, reverse=False, exclusive=False):
    """From the text of the semantics: a line that begins at this global index, by 2 a - b."""
    chunks, runs, run, last, before, found = [], [], None, None, [], 0
    results = [0] * len(values)
    for i in range(len(values))[:: -1 if reverse else 1]:
        at = origin + i
        if last is not None and at // 32 != last // 32:
            runs, run = [*runs, run], None
            if at // 1024 != last // 1024:
                chunks, runs = [*chunks, fold_pairs(mixed, runs)], []
            before = [fold_pairs(mixed, each) for each in (chunks, runs) if each]
        run = values[i] if run is None else mixed(run, values[i])
        inclusive = mixed(mixed(*before) if len(before) > 1 else before[0], run) if before else run
        results[i], found, last = found if exclusive else inclusive, inclusive, at
    return np.array(results)


def in_all_ways():
    p = Program(1, I64)
    for number, way in enumerate(WAYS):
        p.field(f"way_{number}", p.b.scan(mixing(), p.u, 0, **way))
    return p.graph("ways")


def simulated(graph, **choices):
    plan = plan_graph(graph, Choices(plan=PlanChoices().changed(**choices)))
    (program,) = optimised("cuda-sim", 0).compile_many([plan])
    return program


@pytest.mark.parametrize("n", [1, 1023, 1024, 1025, 3100, 33 * 1024 + 5])
def test_a_line_of_any_length(n):
    assert_folds_agree(simulated(in_all_ways()), (n,), (1,))


@pytest.mark.parametrize(("grid", "block"), [(1, 32), (2, 33), (0, 96), (3, 1024)])
def test_grid_and_block_change_no_bit(grid, block):
    assert_folds_agree(simulated(scans(1), grid=grid, block=block), (5000,), (1,))
    assert_folds_agree(simulated(scans(2), grid=grid, block=block), (5, 3100), (1,))
    assert_folds_agree(simulated(scans(2), grid=grid, block=block), (1300, 3), (1,))


@pytest.mark.parametrize("extents", [(40, 33), (33, 40), (65, 7), (7, 65), (1, 1000)])
def test_several_short_lines_share_a_warp(extents):
    assert_folds_agree(simulated(scans(2)), extents, (1,))


@pytest.mark.parametrize("joined", [2, 4])
def test_trees_are_joined_in_several_launches(joined, monkeypatch):
    monkeypatch.setattr(part_launches, "_JOINED", joined)
    program = simulated(in_all_ways(), block=64)
    for chunks in (2, 7, 19):
        assert_folds_agree(program, (1024 * chunks - 3,), (1,))


@pytest.mark.parametrize(("n", "origin"), [(1100, 20), (2500, 300), (2047, 1024 + 1), (2500, 31)])
def test_a_line_may_begin_inside_a_chunk(n, origin):
    instance = simulated(in_all_ways()).instantiate((n,))
    values = np.random.default_rng(n).integers(-9, 9, n)
    instance.write_field("u", values)
    at_origin(instance, [origin], [origin + n])
    instance.march(MarchRequest("step", 1))
    for number, way in enumerate(WAYS):
        assert_same_bits(
            instance.read_field(f"way_{number}"), scanned_from(values.tolist(), origin, **way), f"{way} from {origin}"
        )


CELLS = """
A = array("A", "rows", "columns", dtype="TYPE")
output("right", scan(add, A * A))
output("left", scan(add, A, reverse=True, exclusive=True))
output("down", scan(add, A, axis="rows", exclusive=True))
output("up", scan(maximum, A, axis="rows", reverse=True))
"""


@pytest.mark.parametrize("dtype", ["f32", "f64", "dd", "i32", "u8"])
@pytest.mark.parametrize("shape", [(3, 2100), (2050, 3)])
def test_values_of_any_size(dtype, shape):
    A = np.random.default_rng(3).normal(size=shape) * 9
    A = A.astype({"f32": np.float32, "i32": np.int32, "u8": np.int8}.get(dtype, np.float64))
    A = A.astype(np.uint8) if dtype == "u8" else A
    machine = wb.trace(CELLS.replace("TYPE", dtype), name="cells")
    expected, found = (machine(A=A, backend=backend) for backend in ("reference", "cuda-sim"))
    for name, values in expected.items():
        assert_same_bits(found[name], values, name)


@pytest.mark.parametrize("shape", [(2, 2200), (2200, 2)])
def test_records_too_large_for_tiles(shape):
    machine = wb.trace(
        """
A = array("A", "rows", "columns")
def both(a, b):
    return a[0] + b[0], a[1] * 0.5 + b[1], where(b[2] > a[2], b[2], a[2])
for axis in ("rows", "columns"):
    found = scan(both, (A, A * 2, -A), identity=(0.0, 0.0, -inf), axis=axis, exclusive=axis == "rows")
    for number, values in enumerate(found):
        output(f"{axis}_{number}", values)
""",
        name="records",
    )
    A = np.random.default_rng(4).normal(size=shape)
    expected, found = (machine(A=A, backend=backend) for backend in ("reference", "cuda-sim"))
    for name, values in expected.items():
        assert_same_bits(found[name], values, name)


def test_short_lines_are_one_launch_and_long_ones_three_or_more():
    program = simulated(in_all_ways())
    kinds = {}
    for n in (1024, 1025, 600 * 1024, 1100 * 1024, 1 << 27):
        instance = program.instantiate((1,))
        layout = instance.layout
        instance.close()
        step = program.text.kernels[0].plain
        sized = type(layout)(**{**{f: getattr(layout, f) for f in layout.__slots__}, "extents": (n,)})
        made = [launch for launch in launches_of(step, sized, program.plan.choices.plan) if launch.code < 1]
        kinds[n] = [launch.kernel.split("_")[0] for launch in made]
    assert kinds[1024] == ["scan"]
    assert kinds[1025] == ["totals", "subtrees", "scan"]
    assert kinds[600 * 1024] == ["totals", "subtrees", "scan"]  # the tree over 600 has none over 1024
    assert kinds[1100 * 1024] == kinds[1 << 27] == ["totals", "subtrees", "subtrees", "scan"]


def test_threads_share_at_most_48_kib():
    for itemsize in (1, 2, 4, 8, 16, 24, 40, 128, 512):
        for across in (False, True):
            threads = scan_threads(itemsize, across=across)
            tile = 33 * threads * itemsize if not across and itemsize <= 16 else 0
            assert tile + (3 if tile else 2) * threads * itemsize <= 48 << 10
    for digits in (2, 256, 512, 1024, 2048):
        assert rank_threads(digits) // 32 * digits * 8 <= 32 << 10


@pytest.mark.parametrize("joined", [4, 512])
@pytest.mark.parametrize("n", [1, 1023, 1024, 1025, 7200])
def test_ranks_of_several_parts(n, joined, monkeypatch):
    monkeypatch.setattr(part_launches, "_JOINED", joined)
    assert_folds_agree(simulated(ranked()), (n,), (1,))


@pytest.mark.parametrize(("grid", "block"), [(1, 32), (2, 33), (0, 1024)])
def test_grid_and_block_change_no_rank(grid, block):
    assert_folds_agree(simulated(ranked(), grid=grid, block=block), (6100,), (1,))


def test_a_thousand_chunks():
    cell = 'xs = array("xs", "n")\noutput("y", scan(add, xs))\noutput("z", scan(add, xs, reverse=True, exclusive=True))'
    machine = wb.trace(cell, name="long")
    xs = np.random.default_rng(0).normal(size=1100 * 1024 + 77)
    expected, found = (machine(xs=xs, backend=backend) for backend in ("reference", "cuda-sim"))
    for name, values in expected.items():
        assert_same_bits(found[name], values, name)
