"""Segments on a device: a block reads the cells of its segments together, and adds each in the canonical order."""

from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from tests.backends.nvrtc_path import nvrtc_path
from tests.kit.array_programs import program_of
from tests.kit.backend_agreement import assert_folds_agree
from tests.kit.bits import assert_same_bits
from tests.kit.collective_programs import segments
from tests.kit.optimised import optimised
from workbench.backends.device_instance import layout_of
from workbench.backends.launch_sequence import launches_of
from workbench.codegen.cuda.render import render_cuda
from workbench.errors import RunError
from workbench.language import add, fold_segments, scan_segments
from workbench.planning import Choices, PlanChoices, plan_graph

LENGTHS = {
    "none": [0, 0, 0],
    "one huge": [3 * 2048 + 1025],
    "huge among empty": [0, 5000, 0, 0, 1],
    "about a chunk": [1023, 1024, 1025, 0, 2048, 2047, 2049],
    "many": [(7 * k * k) % 23 for k in range(700)],
    "of one": [1] * 300,
    "long beside short": [5000, 31, 0, 32, 33, 1025, 1, 0, 40_000, 1024, 7, 1023],
    "a long one across blocks": [*[3] * 31, 9000, *[5] * 70],
}


def product(lengths, columns, v, x):
    return fold_segments(add, v * x[columns], lengths)


def mixed(lengths, columns, v, x):
    whole = columns * 3 - 7
    pairs = fold_segments(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (whole, columns), lengths, identity=(1, 0))
    small = fold_segments(np.maximum, v.astype("f4"), lengths)
    return (
        *pairs,
        small,
        fold_segments(add, (v * x[columns]).astype("dd"), lengths, start=0.5),
        scan_segments(add, v, lengths),
    )


def given(lengths):
    count, draw = sum(lengths), np.random.default_rng(5)
    return np.array(lengths), draw.integers(0, 50, count), draw.normal(size=count), draw.normal(size=50)


def alike(function, arguments, **choices):
    program = program_of(function)
    expected = program(*arguments, backend="reference")
    found = program(*arguments, backend="cuda-sim", choices=Choices(plan=PlanChoices().changed(**choices)))
    for mine, bits in zip(*((r if isinstance(r, tuple) else (r,)) for r in (found, expected)), strict=True):
        assert_same_bits(mine, bits)
    return expected


@pytest.mark.parametrize("name", LENGTHS)
@pytest.mark.parametrize("function", [product, mixed])
def test_segments_of_any_length_have_the_reference_s_bits(function, name):
    alike(function, given(LENGTHS[name]))


@pytest.mark.parametrize(("grid", "block"), [(1, 32), (2, 33), (0, 96), (3, 1024)])
def test_grid_and_block_change_no_bit(grid, block):
    plan = plan_graph(segments(), Choices(plan=PlanChoices().changed(grid=grid, block=block)))
    (program,) = optimised("cuda-sim", 0).compile_many([plan])
    for extents in ((5, 9001), (700, 4000), (40, 7), (1, 34_000)):
        assert_folds_agree(program, extents, (1,))


@pytest.mark.parametrize("block", [33, 1024])
def test_segments_that_go_on_in_several_blocks_of_other_sizes(block):
    alike(product, given(LENGTHS["many"]), grid=2, block=block)
    alike(mixed, given(LENGTHS["a long one across blocks"]), block=block)


def test_short_segments_go_on_in_the_next_part():
    alike(product, given([900, 1, 700, 0, 1024, 1000, 3, 999, 5] + [0] * 60))


def test_a_segment_of_more_chunks_than_threads():
    alike(product, given([3, 71 * 1024 + 5, 9]), block=32)


@pytest.mark.parametrize("block", [32, 96, 256])
def test_chunks_of_a_long_segment_are_combined_in_order(block):
    lengths, columns, _, _ = given([1025, 3, 0, 5 * 1024, 33, 35 * 1024 + 1])

    def affine(lengths, columns):
        pairs = (columns * 2 + 1, columns)
        return fold_segments(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), pairs, lengths, identity=(1, 0))

    alike(affine, (lengths, columns), block=block)


def test_few_segments_have_a_block_each_and_many_share_blocks():
    plan = plan_graph(segments())
    for extents, blocks in (((5, 9001), 5), ((1 << 22, 1 << 24), (1 << 22) // 256)):
        layout = replace(layout_of(plan, (5, 9001)), extents=extents)
        for step in render_cuda(plan).kernels:
            made = launches_of(step.plain, layout, plan.choices.plan)
            streamed = [launch for launch in made if launch.kernel == "segments_step_3_sums_value"]
            assert [(each.grid, each.block) for each in streamed] == [((blocks, 1, 1), (256, 1, 1))]


def test_only_what_reads_arrays_in_segments_one_after_another_goes_through_shared_memory():
    def streams(function, *arguments):
        return "fold_streamed" in wb.collective(function).machine(*arguments).source("cuda").text

    x, lengths = np.ones(4), np.array([2, 2])
    assert streams(product, *given([2, 1]))
    assert streams(lambda x, k: fold_segments(add, x, k), x, lengths)
    assert streams(lambda a, k: fold_segments(add, a, k), np.ones((3, 4)), lengths)
    assert not streams(lambda x, k: scan_segments(add, x, k), x, lengths)  # whose segments are of indices


@pytest.mark.parametrize("wrong", [[2, -1, 3], [-2, 6, 0], [9, -5, 0], [4, 1, 0], [2, 1, 0], [2**62, 2**62, 2**62]])
def test_lengths_that_do_not_fit_are_an_error_and_read_nothing_else(wrong):
    arguments = given([2, 1, 1])
    with pytest.raises(RunError, match="segment"):
        wb.collective(product)(np.array(wrong), *arguments[1:], backend="cuda-sim")


def test_an_index_outside_is_told():
    lengths, columns, v, x = given([2, 1, 1])
    columns[2] = 50
    with pytest.raises(RunError, match="x is read at index 50, for element 2"):
        wb.collective(product)(lengths, columns, v, x, backend="cuda-sim")


@pytest.mark.parametrize("types", ["f4", "f8"])
def test_a_device_keeps_segments_in_registers_and_16_kib_of_shared_memory(types, monkeypatch, tmp_path):
    path = nvrtc_path(monkeypatch, tmp_path)
    path.fake.capability = "90"
    lengths, columns, v, x = given([2, 1])
    for function in (product, mixed):
        machine = wb.collective(function).machine(lengths, columns.astype("i4"), v.astype(types), x.astype(types))
        resources = path.backend.compile(machine.plan("cuda")).resources()
        streamed = [each for each in resources if each.kernel.startswith("segments") and each.shared_bytes]
        assert streamed
        assert all(each.spill_store_bytes == each.spill_load_bytes == 0 for each in resources)
        assert all(each.shared_bytes <= 17 << 10 and each.registers <= 64 for each in streamed)
