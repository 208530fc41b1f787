"""Scatters on a device: senders that store, combine, are elected or stand in lists, with the bits of the reference."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.backend_agreement import assert_folds_agree
from tests.kit.bits import assert_same_bits
from tests.kit.collective_programs import counted, moved_apart, sent_beyond
from tests.kit.optimised import optimised
from workbench.backends import nvrtc
from workbench.backends.base import MarchRequest
from workbench.backends.device_instance import layouts_of
from workbench.backends.launch_sequence import launches_of
from workbench.codegen.cuda.render import inlined, render_cuda
from workbench.errors import RunError
from workbench.graph import Scatter
from workbench.language import add, generate, maximum, minimum, multiply, ranks, scatter
from workbench.planning import Choices, PlanChoices, plan_graph
from workbench.planning.partials import list_lengths
from workbench.planning.sending import sending_of


def by_ranks(zeros, x, keep):
    places = ranks(x, bits=3)
    return (
        scatter(None, 0 * x, places, x),
        scatter(None, zeros, places, x),
        scatter(None, zeros - 1, places, x, where=keep),
        scatter(lambda new, old: new - 2 * old, zeros + 5, places, x, where=keep),
        scatter(None, generate((x.shape[0] + 3,), lambda i: i), places, x),
    )


def by_counts(zeros, x, keep):
    up_to = np.cumsum(keep)
    return (
        scatter(None, zeros, up_to - 1, x, where=keep),
        scatter(add, zeros + 7, up_to - 1, x, where=keep),
        x[keep],
    )


def records_by_ranks(zeros, x, keep):
    return scatter(None, (zeros, zeros, zeros), ranks(x, bits=2), (x, x + 1, keep.astype(x.dtype)))


def last_ones(zeros, x, keep):
    """Many senders of one place, also of none and of one, and parts of records."""
    rows = generate((7, 5), lambda i, j: i - j)
    places = x % np.minimum(zeros.shape[0], 7)
    return (
        scatter(None, zeros, x % zeros.shape[0], x + 1),
        scatter(None, rows, (places, x % 5), x, where=keep),
        *scatter(None, (zeros, zeros - 1, zeros), places, (x, x * 3, x + 2)),
        scatter(None, zeros, places, x[x % x.shape[0]]),
    )


def near_misses(zeros, x, keep):
    """Places that may be alike: what is counted is another condition, or another thing."""
    few = x % np.minimum(zeros.shape[0], 3)
    return (
        scatter(None, zeros, np.cumsum(x > 4) * few // 999, x, where=keep),
        scatter(None, zeros, np.cumsum(x > 4), x, where=~keep & (np.cumsum(x > 4) < zeros.shape[0])),
        scatter(None, zeros, ranks(x, bits=3) // 2, x),
        scatter(lambda new, old: old, zeros, few, x),
        scatter(lambda new, old: (old[0], new[1]), (zeros, zeros), few, (x, x)),
        scatter(lambda new, old: (new[1], new[0]), (zeros, zeros), few, (x, x + 1)),
    )


def given(n, type_=np.int64):
    draw = np.random.default_rng(n)
    return np.zeros(n, type_), draw.integers(0, max(n, 9), n).astype(type_), draw.random(n) < 0.6


def agree(body, *arrays):
    program = wb.collective(body)
    expected, found = (program(*arrays, backend=backend) for backend in ("reference", "cuda-sim"))
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else ((found, expected),)
    for place, (mine, bits) in enumerate(pairs):
        assert_same_bits(mine, bits, f"result {place}")


def ways_of(body, *arrays):
    machine = wb.collective(body).machine(*arrays)
    nodes = machine.graph.kernels[0].nodes
    return [sending_of(nodes, k) for k, node in enumerate(nodes) if isinstance(node.instruction, Scatter)]


BODIES = [(by_ranks, "stored"), (by_counts, "stored"), (records_by_ranks, "stored"), (last_ones, "elected")]


def test_where_places_differ_senders_store_and_else_the_last_is_elected():
    for body, way in BODIES:
        assert {sending.way for sending in ways_of(body, *given(40))} == {way}, body.__name__
    assert [sending.fills for sending in ways_of(by_ranks, *given(40))] == [True, False, False, False, False]
    assert [sending.way for sending in ways_of(near_misses, *given(40))] == ["elected"] * 3 + ["listed"] * 3


@pytest.mark.parametrize("n", [0, 1, 33, 700])
@pytest.mark.parametrize("body", [*(body for body, _ in BODIES), near_misses])
def test_bits_are_those_of_the_reference(body, n):
    agree(body, *given(n))


def test_senders_that_store_and_that_are_elected():
    """With grids of one block and of several, in which blocks run in other orders."""
    plans = [
        plan_graph(moved_apart(), Choices(plan=PlanChoices().changed(grid=grid, block=block)))
        for grid, block in ((0, 256), (1, 32), (3, 96))
    ]
    for program in optimised("cuda-sim", 0).compile_many(plans):
        nodes = program.plan.graph.kernels[0].nodes
        ways = [sending_of(nodes, k).way for k, node in enumerate(nodes) if isinstance(node.instruction, Scatter)]
        assert sorted(ways) == ["elected"] * 2 + ["stored"] * 4
        for n in (1, 33, 700):
            assert_folds_agree(program, (n,), (1,))


def test_a_place_outside_is_noted():
    (program,) = optimised("cuda-sim", 0).compile_many([plan_graph(sent_beyond())])
    with pytest.raises(RunError, match="scatter sends to an index outside"):
        program.instantiate((40,)).march(MarchRequest("step", 1))


OPERATORS = {
    "add": (add, lambda new, old: old + new),
    "multiply": (multiply,),
    "minimum": (minimum, lambda new, old: np.minimum(old, new)),
    "maximum": (maximum,),
    "bitwise_and": (lambda new, old: new & old,),
    "bitwise_or": (lambda new, old: new | old,),
    "bitwise_xor": (lambda new, old: new ^ old,),
}


def all_operators(defaults, places, x, keep):
    chosen = [each for several in OPERATORS.values() for each in several]
    return tuple(scatter(op, defaults, places, x, where=keep) for op in chosen)


def wide(type_, n, places):
    """Numbers of all bits, so that sums and products wrap around and carry."""
    draw, kind = np.random.default_rng(places), np.dtype(type_)
    x = np.frombuffer(draw.bytes(n * kind.itemsize), kind)
    defaults = np.frombuffer(draw.bytes(places * kind.itemsize), kind)
    return defaults, draw.integers(0, places, n), x, draw.random(n) < 0.9


@pytest.mark.parametrize("places", [1, 7, 5000])
@pytest.mark.parametrize("type_", ["i4", "u4", "i8", "u8"])
def test_whole_numbers_are_combined_in_any_order(type_, places):
    assert {sending.way for sending in ways_of(all_operators, *wide(type_, 40, 3))} == {"combined"}
    agree(all_operators, *wide(type_, 1500, places))


def test_small_whole_numbers_and_floats_stand_in_lists():
    for type_ in ("i1", "u2"):
        assert {sending.way for sending in ways_of(all_operators, *wide(type_, 40, 3))} == {"listed"}
    floats = ways_of(lambda z, i: (scatter(add, z, i, 1.0), scatter(maximum, z, i, 1.0)), np.ones(3), np.array([0, 1]))
    assert [sending.way for sending in floats] == ["listed", "listed"]


def test_tables_of_several_axes_have_the_bits_of_the_reference():
    """Few and many destinations of one axis and of two, in arrays with padding, from senders of three axes."""
    (program,) = optimised("cuda-sim", 0).compile_many([plan_graph(counted())])
    assert "Table::take" in program.source.text
    for extents in ((3, 5, 300), (60, 70, 2), (6, 3, 2)):
        assert_folds_agree(program, extents, (1,))


@pytest.mark.parametrize("index", [-1, 40, 2**40])
@pytest.mark.parametrize(
    "body",
    [
        lambda z, i, keep: scatter(None, z, i, 1, where=keep),
        lambda z, i, keep: scatter(add, z, i, 1, where=keep),
        lambda z, i, keep: scatter(lambda new, old: new - old, z, i, 1, where=keep),
    ],
    ids=["elected", "combined", "listed"],
)
def test_a_place_outside_is_an_error_unless_nothing_is_sent(body, index):
    program, places, all_ = wb.collective(body), np.array([3, index, 3]), np.ones(3, np.bool_)
    z, some = np.zeros(40, np.int64), np.array([True, False, True])
    assert_same_bits(program(z, places, some, backend="cuda-sim"), program(z, places, some, backend="reference"))
    with pytest.raises(RunError, match=f"scatter sends to index {index}, for element 1, but the result has 40"):
        program(z, places, all_, backend="cuda-sim")


def test_a_place_outside_is_an_error_where_places_differ():
    program = wb.collective(lambda z, x: scatter(None, z, ranks(x, bits=3), x))
    with pytest.raises(RunError, match="scatter sends to index 5, for element 0, but the result has 5 elements"):
        program(np.zeros(5, np.int64), np.array([7, 1, 0, 2, 3, 4]), backend="cuda-sim")


def test_lists_are_there_where_they_are_needed():
    def lengths(body):
        machine = wb.collective(body).machine(np.zeros(3, np.int64), np.zeros(50, np.int64))
        plan = machine.plan("cuda-sim")
        extents = tuple({"3": 3, "50": 50}.get(str(axis), 50) for axis in plan.graph.space.axes)
        return len(list_lengths(plan, extents))

    assert lengths(lambda z, i: scatter(add, z, i, 1)) == 0
    assert lengths(lambda z, i: scatter(None, z, i, 1)) == 1
    assert lengths(lambda z, i: scatter(lambda new, old: new - old, z, i, 1)) == 2
    assert lengths(lambda z, i: (scatter(None, z, i, 1), scatter(lambda new, old: new - old, z, i, 1))) == 2


def counts(zeros, x):
    return scatter(add, zeros, x, 1)


def test_blocks_with_tables_are_few_and_each_goes_on():
    machine = wb.collective(counts).machine(np.zeros(256, np.int64), np.zeros(9, np.int32))
    plan = machine.plan("cuda-sim")
    step = render_cuda(plan).kernels[0].plain
    (send,) = (launch for launch in step.launches if launch.kernel.startswith("send"))
    assert send.tabled
    assert [launch.kernel.split("_")[0] for launch in step.launches][:2] == ["defaults", "send"]
    extents = tuple(20_000_000 for _ in plan.graph.space.axes)
    layout = layouts_of(plan, extents)[()]
    blocks = {made.kernel: np.prod(made.grid) for made in launches_of(step, layout, plan.choices.plan)}
    assert blocks[send.kernel] == 1024


@pytest.mark.parametrize("index", ["int32_t", "int64_t"])
@pytest.mark.parametrize("type_", ["i4", "u4", "i8", "u8"])
def test_they_compile_for_sm_90(type_, index):
    compilers = nvrtc.find_compilers() or pytest.skip("no CUDA compiler: neither nvcc nor NVRTC was found")
    machines = [wb.collective(all_operators).machine(*wide(type_, 9, 3))]
    if type_ in ("i8", "u4"):
        machines += [wb.collective(body).machine(*given(9, np.dtype(type_))) for body, _ in BODIES]
    for machine in machines:
        text = render_cuda(plan_graph(machine.graph))
        flags = nvrtc.compile_options(256, index)
        resources = nvrtc.compile_cuda(inlined(text.source.text), compiler=compilers[-1], flags=flags).resources
        assert {entry.kernel for entry in resources} == {name for name, _ in text.waits}
        sending = [entry for entry in resources if entry.kernel.split("_")[0] in ("send", "defaults", "elect")]
        assert sending
        assert all(entry.spill_store_bytes == 0 and entry.shared_bytes <= 16 << 10 for entry in sending)
