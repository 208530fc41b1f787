"""Stages that apply their rules again run together: ghost cells in buffers have the bits of those in arrays.

pytest tests/run/test_rolling_ghosts.py             some rules, and a few random machines
pytest tests/run/test_rolling_ghosts.py -m proof    300 random machines
"""

import itertools
import random
import re
from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from tests.kit.optimised import optimised
from tests.kit.proofs import with_enough
from tests.kit.random_steps import random_rules
from workbench.backends.base import MarchRequest
from workbench.errors import ShapeError
from workbench.pipeline import plan_for
from workbench.planning import PlanChoices, plan_graph
from workbench.run import schedules
from workbench.solvers import wave

EXTENTS = {2: ((1, 1), (2, 3), (5, 40), (33, 17), (9, 7000)), 3: ((1, 2, 3), (4, 7, 5), (6, 60, 700))}
HEIGHTS = (0, 1, 3)  # planes of a block; 0: automatic
MIDPOINT = """
time = scalar("time")
u = field("u", boundary={rule})
a = manifest(u + 0.1 * (u[+1, 0] + u[-2, 0] + u[0, +1] + u[0, -1] - 4 * u))
b = extend(a, {rule})
u.next = b + 0.1 * (b[+1, 0] + b[-1, 0] + b[0, +1] + b[0, -2] - 4 * b) + 0.01 * b[-2, +1] + 0.001 * u
time.next = time + 0.125
"""
PROFILE = '{"x-": analytic(lambda i, j: 0.5 * i - time), "x+": fixed(time), "y": "periodic"}'
CASES = (
    '"periodic"', "neumann(0.25 * time, 1.0)",
    '{"x": "periodic", "y-": mirror(), "y+": constant(0.25)}', '{"x-": "outflow", "x+": fixed(time), "y": "periodic"}',
    PROFILE,
)  # fmt: skip


def random_stages(seed, dim):
    """The text of a cell of two to four stages, each of which extends the one before by the rules of the field."""
    rng = random.Random(f"stages {seed}")
    sides, _ = random_rules(rng, dim)
    if random.Random(f"profile {seed}").random() < 0.5:  # a value that knows one index may stand beside rings
        sides = re.sub(r"0\.5 \* i \+ 0\.25 \* [jk]", f"0.5 * {'ijk'[seed % dim]}", sides)
    lines = [
        'p = param("p", 0.3)',
        'time = scalar("time")',
        f'u = field("u", boundary={sides}, dtype="{rng.choice(("f32", "f64"))}")',
    ]
    now = "u"
    for number in range(rng.randint(2, 4)):
        reach = rng.choice((1, 1, 2, 3))
        places = [tuple(rng.randint(-reach, reach) for _ in range(dim)) for _ in range(rng.randint(1, 4))]
        reads = " + ".join(f"0.1 * {now}[{', '.join(map(str, place))}]" for place in places)
        more = rng.choice(("", " + 0.01 * index(0)", " + 0.001 * u"))
        lines += [f"s{number} = manifest(0.5 * {now} + {reads}{more})", f"e{number} = extend(s{number}, {sides})"]
        now = f"e{number}"
    lines += [f"u.next = 0.5 * {now} + 0.1 * {now}[{', '.join(['+1'] * dim)}]", "time.next = time + 0.125"]
    return "\n".join(lines)


def plan_with(made, **changes):
    return plan_for(made.graph, replace(made.choices, plan=made.choices.plan.changed(**changes)), "openmp")


def runs_together(plan):
    return any(chain.fills for chain in plan.main.plain.chains)


def contents(program, extents, threads):
    """The field after three steps; None for extents that the rules refuse."""
    try:
        instance = program.instantiate(extents, threads)
    except ShapeError:
        return None
    (field,) = program.plan.graph.fields
    instance.write_field("u", np.random.default_rng(7).random(extents).astype(field.type.numpy))
    instance.march(MarchRequest("step", 3))
    return instance.read_field("u").tobytes()


def random_cell(seed):
    """The text of a seed and its number of axes."""
    dim = 2 + seed % 3 // 2
    return random_stages(seed, dim), dim


def joins(text, dim):
    """Whether the loops of this cell can run together at all."""
    return runs_together(plan_with(wb.trace(text, name="cell", dim=dim), stages=True, tile=HEIGHTS[0]))


def check(cells):
    """All ways to cut blocks and to share them give what loops give that run apart; how many (text, dim) could join."""
    plans, dims = [], []
    for text, dim in cells:
        made = wb.trace(text, name="cell", dim=dim)
        together = [plan_with(made, stages=True, tile=height) for height in HEIGHTS]
        if runs_together(together[0]):
            plans += [plan_with(made, loops="apart"), *together]
            dims.append(dim)
    programs = iter(optimised("openmp", "1").compile_many(plans))
    for dim in dims:
        apart, *several = itertools.islice(programs, 1 + len(HEIGHTS))
        for extents in EXTENTS[dim]:
            expected = contents(apart, extents, 1)
            for program, threads in zip(several, (1, 2, 3), strict=True):
                where = f"{extents}, blocks of {program.plan.choices.plan.cpu.tile} planes, {threads} threads"
                assert contents(program, extents, threads) == expected, f"{where}\n{program.plan}"
    return len(dims)


def test_stages_with_ghost_cells_between_them_run_together_to_the_bit():
    assert check([(MIDPOINT.replace("{rule}", rule), 2) for rule in CASES]) == len(CASES)


def test_random_stages_run_together_to_the_bit():
    assert check([(random_stages(3, 2), 2), (random_stages(7, 3), 3)]) == 2


@pytest.mark.proof(seeds=range(100, 400), batch=10, sample=6)
def test_more_random_stages_run_together_to_the_bit(proof_seeds):
    seeds = with_enough(proof_seeds, lambda seed: joins(*random_cell(seed)), needed=2)
    assert check([random_cell(seed) for seed in seeds]) >= 2


@pytest.mark.parametrize(
    ("field", "stage"),
    [
        ("periodic(sign=-1)", "periodic(sign=-1)"),
        ('{"x": "periodic", "y": analytic(lambda i, j: 0.5 * i)}', '{"x": "periodic", "y": constant(index(0) * 0.5)}'),
        ('"outflow"', '"outflow"'),
    ],
)
def test_what_no_buffer_holds_is_filled_in_arrays(field, stage):
    """An image with another sign, a value that differs at a corner outside of a ring, and rules that reach far."""
    far = "17" if "outflow" in field else "1"
    text = MIDPOINT.replace("{rule}", field, 1).replace("{rule}", stage).replace("b[0, -2]", f"b[0, -{far}]")
    if "analytic" in field:
        text = text.replace(stage, field)
    made = wb.trace(text, name="cell", dim=2)
    assert not runs_together(plan_graph(made.graph, replace(made.choices, plan=PlanChoices().changed(stages=True))))


def test_only_what_leaves_the_last_cache_runs_in_stages_by_itself(monkeypatch):
    made = wb.trace(MIDPOINT.replace("{rule}", '"outflow"'), name="cell", dim=2)
    monkeypatch.setattr(schedules, "_gains", lambda *_: False)
    monkeypatch.setattr(schedules, "last_cache_bytes", lambda: 8 << 20)
    monkeypatch.setattr(schedules, "cache_bytes", lambda: 1 << 16)
    small, _ = schedules.resolved(made.graph, made.choices, "openmp", (400, 400), 1)
    large, why = schedules.resolved(made.graph, made.choices, "openmp", (2000, 2000), 1)
    assert (small.plan.cpu.stages, large.plan.cpu.stages) == (False, True)
    assert "its stages run together" in why


def test_stages_that_read_far_along_rows_run_one_by_one(monkeypatch):
    monkeypatch.setattr(schedules, "_gains", lambda *_: False)
    monkeypatch.setattr(schedules, "last_cache_bytes", lambda: 1 << 20)
    monkeypatch.setattr(schedules, "cache_bytes", lambda: 1 << 16)
    machine = wave.machine(2, order=4)

    def run_together():
        return schedules.resolved(machine.graph, machine.choices, "openmp", (500, 500), 1)[0].plan.cpu.stages

    assert not run_together()
    monkeypatch.setattr(schedules, "reads_far_rows", lambda kernel, axes: False)
    assert run_together()


def test_ghost_cells_in_buffers_need_no_array():
    text = MIDPOINT.replace("{rule}", '"periodic"').replace("u.next =", "c =")
    made = wb.trace(f'{text}d = extend(manifest(c), "periodic")\nu.next = u + d[+1, 0]\n', name="cell", dim=2)
    together, before = plan_with(made, stages=True), plan_with(made)
    assert (len(together.array_slots), len(before.array_slots)) == (2, 3)


def test_buffers_hold_what_ghost_cells_need():
    """Blocks grow alike on both sides of a wall, run ahead by all of the reach, and keep planes outside as well."""
    made = [wb.trace(MIDPOINT.replace("{rule}", rule), name="cell", dim=2) for rule in ('"outflow"', '"periodic"')]
    walls, rings = (plan_graph(m.graph, replace(m.choices, plan=PlanChoices().changed(stages=True))) for m in made)
    first = [plan.main.plain.chains[0].members[0] for plan in (walls, rings)]
    assert [(m.grown, m.ahead) for m in first] == [(((2, 2), (2, 2)), 2)] * 2
    assert [plan.main.plain.chains[0].rolling[0].planes for plan in (walls, rings)] == [16, 8]
