"""The one march rule: what it says of every step, and that the compiled march does just that on random requests."""

import ctypes
import random
from math import inf

import numpy as np
import pytest

from workbench.backends import march_record, openmp, openmp_instance
from workbench.backends.base import Condition, MarchRequest, StopFlag
from workbench.backends.compile_pool import Unit, build
from workbench.backends.march_objects import with_march_objects
from workbench.backends.march_rule import (
    diagnostic_scalars,
    ending_after,
    ending_before,
    holds,
    next_steps,
    watches,
)
from workbench.backends.openmp import OpenmpBackend
from workbench.codegen.cpp.headers import openmp_headers
from workbench.errors import BackendError
from workbench.frontend.cell import trace_cell
from workbench.graph.diagnostics import diagnostic_stores
from workbench.graph.types import F64
from workbench.planning import plan_graph
from workbench.planning.plan import GlobalSlot

# A step notes its variant, lets the only scalar be its number, and asks to stop if it is the one to do so.
TEXT = """\
#include "stencil_openmp.h"
static int64_t stop_at, *seen;
extern "C" __attribute__((visibility("default")))
int32_t probe(stencil::March* march, int64_t stop_at_step, int64_t* steps_seen) {
    using namespace stencil;
    stop_at = stop_at_step;
    seen = steps_seen;
    return run_march<1>(
        *march, 1, [](const Shape<1>&, int, int64_t) { return int64_t(0); },
        [](const Shape<1>&, unsigned char*) {},
        [](Run<1>& run, int) {
            const int64_t done = run.march.done;
            seen[done] = (run.observed ? 1 : 0) + (run.listed ? 2 : 0);
            write_global<double>(run.march.globals, 0, double(done + 1));
            if (done + 1 == stop_at) *const_cast<int32_t*>(run.march.stop) = 1;
            end_step(run, Rotation<0>{});
        });
}
"""
WAVE = """\
u, v = fields("u v", boundary="periodic")
energy = scalar("energy")
u.next = u + 0.1 * v
v.next = v + 0.1 * (u[+1] - 2.0 * u + u[-1])
energy.next = reduce_sum(u * u + v * v)
"""


def compiled_probe():
    (built,) = build([with_march_objects(Unit("march", TEXT, headers=openmp_headers(TEXT)))])
    return ctypes.CDLL(str(built.path)).probe


def compiled_march(probe, request, diagnostics, stop_at, depth=1, pace=0.0):
    """(ended, variants of the steps done, numbers of those listed, whether the last one was observed).

    depth: steps that tiles may do together. pace: seconds that a step took before, as far as anybody knows.
    """
    seen, globals_, shape = np.zeros(request.steps + 1, np.int64), np.zeros(1), np.ones(7, np.int64)
    rows, values = march_record.condition_table(request.until, [GlobalSlot(0, "n", "scalar", F64)] * len(request.until))
    listed, recorded = np.zeros(request.steps + 1, np.int64), np.zeros(request.steps + 1, np.uint64)
    slots = np.zeros(1, np.int64)
    march = openmp.MarchRecord(
        steps=request.steps,
        first_step=request.first_step,
        observe_every=request.observe_every,
        observe_last=request.observe_last,
        depth=depth,
        pace=pace,
        always_observe=watches(request, diagnostics),
        threads=1,
        conditions=len(rows),
        scalars=1,
        condition_rows=rows.ctypes.data,
        condition_values=values.ctypes.data,
        scalar_slots=slots.ctypes.data,
        stop=request.stop.words.ctypes.data,
        seconds=request.seconds,
        shape=shape.ctypes.data,
        globals=globals_.ctypes.data,
        observed_steps=listed.ctypes.data,
        observed_values=recorded.ctypes.data,
    )
    assert probe(ctypes.byref(march), ctypes.c_int64(stop_at), ctypes.c_void_p(seen.ctypes.data)) == 0
    ended = openmp_instance._ENDINGS[march.ended]
    return ended, seen[: march.done].tolist(), listed[: march.observed].tolist(), bool(march.current)


def march_by_rule(request, diagnostics, stop_at, depth=1):
    """The same by the rule; the clock shows no second unless a request gives none."""
    variants, listed, current = [], [], False
    ended = ending_before(request)
    while ended is None:
        coming = next_steps(request, len(variants), diagnostics, depth)
        assert 1 <= coming.count <= depth
        assert coming.count == 1 or not coming.observed
        current = coming.observed
        variants += [int(coming.observed) + 2 * coming.listed] * coming.count
        if coming.listed:
            listed.append(request.first_step + len(variants))
        if len(variants) == stop_at:
            request.stop.set()
        met = bool(request.until) and all(holds(c, float(len(variants))) for c in request.until)
        ended = ending_after(request, len(variants), met=met, seconds=0.0)
    return ended, variants, listed, current


def random_request(rng):
    conditions = [Condition("n", rng.choice(("<", "<=", ">", ">=", "==", "!=")), rng.randint(0, 12)) for _ in range(2)]
    request = MarchRequest(
        "step",
        rng.choice((-1, 0, 1, 2, 5, 12)),
        rng.randint(0, 20),
        rng.choice((0, 0, 1, 2, 3, 5, 100)),
        rng.random() < 0.5,
        tuple(conditions[: rng.choice((0, 0, 1, 2))]),
        seconds=rng.choice((inf, inf, 0.0)),
    )
    return request, rng.choice((frozenset(), frozenset({"n"}))), rng.choice((-1, -1, 0, 1, 3))


def test_the_compiled_march_follows_the_rule():
    probe, endings = compiled_probe(), set()
    for seed in range(2000):
        results = []
        for march in (march_by_rule, lambda *given: compiled_march(probe, *given)):
            request, diagnostics, stop_at = random_request(random.Random(seed))
            if stop_at == 0:
                request.stop.set()
            results.append(march(request, diagnostics, stop_at))
        assert results[0] == results[1], f"seed {seed}: {request}"
        endings.add(results[0][0])
    assert endings == {"done", "until", "stopped", "time"}


def test_depth_changes_no_step():
    for seed in range(500):
        request, diagnostics, _ = random_request(random.Random(seed))
        request = MarchRequest(
            "step", request.steps, request.first_step, request.observe_every, request.observe_last, stop=StopFlag()
        )
        one = march_by_rule(request, diagnostics, -1)
        assert march_by_rule(request, diagnostics, -1, depth=seed % 7 + 1) == one, f"seed {seed}: {request}"


def test_many_steps_end_at_what_is_observed():
    request = MarchRequest("step", 20, first_step=3, observe_every=5)
    counts = []
    while sum(counts) < 20:
        counts.append(next_steps(request, sum(counts), frozenset(), 100).count)
    assert counts == [1, 1, 4, 1, 4, 1, 4, 1, 2, 1]  # steps 4; 5; 6 to 9; 10; ...; 21 and 22; 23, the last one


@pytest.mark.parametrize(
    ("pace", "together"),
    [(0.0, 1), (1e-5, 64), (0.003, 64), (0.0041, 48), (0.035, 5), (0.06, 4), (0.12, 4), (0.62, 4), (0.63, 1), (0.7, 1)],
)
def test_a_march_in_tiles_stops_after_a_fifth_of_a_second_of_steps(pace, together):
    """Asked to in the first of the steps that run together, it does the rest of them and no further one.

    Four may take two and a half seconds, of steps that take longer one runs alone.
    """
    ended, steps, _, _ = compiled_march(compiled_probe(), MarchRequest("step", 1000), frozenset(), 1, 64, pace)
    assert (ended, len(steps)) == ("stopped", together)
    assert together == 1 or together * pace <= (2.5 if together == 4 else 0.2)


def test_slow_steps_run_together_no_more_than_tiles_are_deep():
    _, steps, _, _ = compiled_march(compiled_probe(), MarchRequest("step", 1000), frozenset(), 1, 3, 0.1)
    assert len(steps) == 3


def test_diagnostic_scalars_are_those_of_the_graph():
    plan = plan_graph(trace_cell(WAVE, dim=1).graph)
    kernel = plan.kernel("step")
    assert diagnostic_scalars(plan, kernel) == diagnostic_stores(plan.graph, kernel.kernel) == {"energy"}


def test_a_library_with_another_march_record_is_refused(monkeypatch):
    program = OpenmpBackend().compile(plan_graph(trace_cell(WAVE, dim=1).graph))
    ours = ctypes.sizeof(openmp.MarchRecord)

    class Longer(ctypes.Structure):
        _fields_ = (*openmp.MarchRecord._fields_, ("depth", ctypes.c_int64))

    monkeypatch.setattr(march_record, "MarchRecord", Longer)
    with pytest.raises(BackendError) as caught:
        openmp.OpenmpProgram(program.plan, program.source, program.built)
    assert f"{ours} bytes" in str(caught.value)
    assert f"{ours + 8}" in str(caught.value)
    assert "Run workbench cache clear" in str(caught.value)
