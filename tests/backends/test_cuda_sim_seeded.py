"""Wrong edits of generated CUDA text: the simulator catches each and names the line of the text and of the cell."""

from dataclasses import replace

import numpy as np
import pytest

from tests.backends.cell_plans import BACKEND, cell_plan
from tests.backends.device_cells import HEAT, WAVE
from workbench.backends import cuda_sim
from workbench.backends.base import MarchRequest
from workbench.backends.cuda_sim import KernelFaultError
from workbench.codegen.cuda.render import render_cuda

TALL = 'u = field("u")\ns = scalar("s")\nu.next = 0.5 * u\ns.next = reduce_sum(u)\n'


class Edit:
    """Replace `old` by `new` once, after `after`; `named` is on the line that must be named, `line` the cell's."""

    def __init__(self, cell, extents, after, old, new, kind, named, line=None):
        self.cell, self.extents, self.after, self.old, self.new = cell, extents, after, old, new
        self.kind, self.named, self.line = kind, named, line


EDITS = {
    "index beyond the array": Edit(
        WAVE,
        (37,),
        "sweep_step_observed_1",
        "u1_array[cell + 1]",
        "u1_array[cell + 99]",
        "read out of bounds",
        "+ 99",
        9,
    ),
    "store before the array": Edit(
        HEAT,
        (9, 37),
        "sweep_step_observed",
        "out_u_array[cell]",
        "out_u_array[i - 9]",
        "write out of bounds",
        "i - 9",
        7,
    ),
    "neighbour read and written in place": Edit(
        WAVE, (37,), "sweep_step_0", "= u_array[cell]", "= u_array[cell + 1]", "race", "u_array[cell"
    ),
    "all lanes store": Edit(
        WAVE, (37,), "sweep_step_observed", " && chunks.lane() == 0", "", "race", "_partials[chunk]"
    ),
    "barrier of the tree dropped": Edit(WAVE, (9000,), "tree_f64", "stencil::barrier();", "", "race", "partials["),
    "barrier inside a branch": Edit(
        WAVE,
        (9000,),
        "tree_f64",
        "stencil::barrier();",
        "if (threadIdx.x == 0) stencil::barrier();",
        "race|divergent",
        "partials[",
    ),
    "tiles left out": Edit(
        WAVE, (300,), "sweep_step_observed_1", "tile_x += gridDim.x", "tile_x += gridDim.x + 1", "uninitialised", "v"
    ),
    "planes left out": Edit(
        'u = field("u", boundary="outflow")\nu.next = 0.5 * (u[+1, 0] + u)\n',
        (9, 37),
        "sweep_step_0",
        "plane < planes.end;",
        "plane + 1 < planes.end;",
        "uninitialised",
        "u",
    ),
    "part of a tree too long": Edit(TALL, (1100, 3), "tree_f64", "beyond - reach", "each - reach", "race", "partials["),
    "last chunk left out": Edit(
        WAVE,
        (9000,),
        "chunks_of(shape)",
        "first < chunks.count;",
        "first < chunks.count - 2;",
        "uninitialised",
        "right",
    ),
    "ghost cells left out": Edit(
        HEAT, (9, 37), "fill_", "number < count;", "number < count - 40;", "uninitialised", "u_array[", 6
    ),
    "two threads a ghost cell": Edit(
        HEAT, (9, 37), "fill_", "grown, false, number,", "grown, false, number / 2,", "race", "u_array[ghost]"
    ),
}


def edited(plan, edit):
    text = render_cuda(plan)

    def wrong(whole):
        head, found, tail = whole.partition(edit.after)
        assert found, f"{edit.after!r} is not in the text"
        assert edit.old in tail, f"{edit.old!r} is not after {edit.after!r}"
        return head + found + tail.replace(edit.old, edit.new, 1)

    return replace(text, source=replace(text.source, text=wrong(text.source.text)), marked=wrong(text.marked))


def march(plan, extents):
    instance = BACKEND.compile(plan).instantiate(extents)
    rng = np.random.default_rng(1)
    for field in plan.graph.fields:
        instance.write_field(field.name, rng.normal(size=extents))
    return instance.march(MarchRequest("step", 3, observe_every=1))


@pytest.mark.parametrize("name", EDITS)
def test_wrong_text_is_caught_and_named(name, monkeypatch):
    edit = EDITS[name]
    plan = cell_plan(edit.cell, len(edit.extents), grid=4, block=64)
    assert march(plan, edit.extents).steps == 3
    wrong = edited(plan, edit)
    monkeypatch.setattr(cuda_sim, "render_cuda", lambda _: wrong)
    with pytest.raises(KernelFaultError, match=edit.kind) as caught:
        march(plan, edit.extents)
    text = str(caught.value)
    fault = caught.value.fault
    lines = wrong.source.text.splitlines()
    numbers = [n for n in (fault["line"], fault["other_line"]) if n]
    assert any(edit.named in lines[n - 1] for n in numbers), text
    assert all(f"{n} | {lines[n - 1].strip()}" in text for n in numbers)
    assert fault["kernel"] in dict(wrong.waits)
    assert f"in kernel {fault['kernel']}" in text
    assert "thread (" in text
    if edit.line is not None:
        assert edit.line in caught.value.origin_lines
        assert text.startswith(f"line {caught.value.origin_lines[0]}: ")


def test_a_fault_leaves_the_process_and_other_simulations_alone(monkeypatch):
    plan = cell_plan(WAVE, 1)
    healthy = BACKEND.compile(plan).instantiate((37,))
    edit = EDITS["index beyond the array"]
    wrong = edited(plan, edit)
    monkeypatch.setattr(cuda_sim, "render_cuda", lambda _: wrong)
    broken = BACKEND.compile(plan).instantiate((37,))
    for _ in range(2):
        with pytest.raises(KernelFaultError):
            broken.march(MarchRequest("step", 1))
    assert healthy.march(MarchRequest("step", 2)).steps == 2
