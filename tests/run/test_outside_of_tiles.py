"""Values computed outside of the domain, in arrays whose ghost cells tiles write too: tiles keep every bit.

Ghost cells of the next step must not come before the last reader of what was computed there, nor be what it is made
of. Where all is periodic, tiles write images in place of what would be computed.
"""

import random

import numpy as np
import pytest

from tests.kit.optimised import optimised
from tests.kit.symbolic_tiles import TiledMachine
from tests.run.tiled import state_of, with_tiles
from workbench.backends.base import MarchRequest
from workbench.machine import trace
from workbench.planning import plan_graph
from workbench.planning.choices import TilingChoices
from workbench.planning.schedules.locality import tile_sizes

RULES = ('"periodic"', "mirror()", '"outflow"', "constant(0.5)", "fixed(0.25)", "periodic(sign=-1)", "constant(t)")
IN_PLACE = "v1 = v + 0.1 * (u1[+1] - 2 * u1 + u1[-1])\nu.next, v.next = u1, v1"
BEND = "0.1 * (u[+1] - 2 * u + u[-1])"
FORMS = {
    "in place": f"u1 = u + 0.1 * v\n{IN_PLACE}",
    "with the index": f"u1 = u + 0.001 * v * index(0)\n{IN_PLACE}",
    "stored": f"a = manifest(v + {BEND})\nu.next = u + 0.1 * (a[+1] - a[-1])\nv.next = a",
    "stages": f"a = manifest(u + {BEND})\nu.next = a + 0.1 * (a[+1] - 2 * a + a[-1])\nv.next = v",
    "beside": f"a = manifest({BEND} + v)\nu.next = u + 0.1 * (a[+1] - a[-1])\nv.next = 0.5 * v + 0.1 * a",
}
SHARED = ("in place", "with the index", "stored")  # one array holds what is computed outside, then a field


def planned(form, rule):
    text = f't = scalar("t")\nt.next = t + 0.125\nu, v = fields("u v", boundary={rule})\n{FORMS[form]}'
    made = trace(text, 1, name="outside").with_choices(schedule="diamond")
    return plan_graph(made.graph, made.choices)  # not one that is kept


@pytest.mark.parametrize("rule", RULES)
def test_ghost_cells_wait_for_readers_of_what_was_computed_there(rule):
    """In a level of their own, or they are images of what is computed inside."""
    for form in FORMS:
        tiling, is_bare = planned(form, rule).main.tiling, rule == RULES[0] and form != "with the index"
        assert bool(tiling.bare) == is_bare
        assert tiling.loops == ((-1, 0, 1) if form in SHARED and not is_bare else (0, 1))


@pytest.mark.parametrize("rule", RULES)
def test_symbols_of_tiles_are_those_of_steps(rule):
    for form in FORMS:
        plan = planned(form, rule)
        for seed in range(8):
            rng = random.Random(seed)
            symbols = TiledMachine(plan, (rng.randint(4, 14),), rng)
            assert symbols.run_tiles("step", plan.main.tiling, rng.randint(2, 6), rng.randint(1, 9), 1) > 0


@pytest.mark.parametrize("rule", [RULES[0], RULES[1], RULES[5], RULES[6]])
def test_tiles_have_the_bits_of_steps(rule):
    programs = optimised("openmp", "0").compile_many([planned(form, rule) for form in FORMS])
    draw = np.random.default_rng(1)
    for form, program in zip(FORMS, programs, strict=True):
        for extent, threads in ((9, 1), (30, 2), (157, 1), (300, 2)):
            pair = program.instantiate((extent,), 1), program.instantiate((extent,), threads)
            sizes = tile_sizes(program.plan.main, (extent,), TilingChoices("diamond", 5, (8,)), threads)
            for name in "uv":
                values = draw.normal(size=extent)
                for instance in pair:
                    instance.write_field(name, values)
            for instance, tiles in zip(pair, (None, sizes), strict=True):
                with_tiles(instance, tiles)
                instance.march(MarchRequest("step", 23, observe_last=False))
            assert sizes is not None
            assert all(np.array_equal(a, b) for a, b in zip(*map(state_of, pair), strict=True)), (form, extent)


def test_the_wave_of_the_course_keeps_its_energy_on_a_large_grid():
    """Under "auto", at a size at which a program that can be tiled is."""
    text = f'u, v = fields("u v", boundary="periodic")\n{FORMS["in place"]}'
    x = np.linspace(0, 2 * np.pi, 1 << 20, endpoint=False)
    runs = []
    for schedule in ("auto", "stepwise"):
        with trace(text, 1, name="wave").simulate(u=np.sin(x), v=np.cos(3 * x), schedule=schedule) as sim:
            runs.append(sim.run(1).run(40).to_dict())
    assert all(np.array_equal(runs[0][name], runs[1][name]) for name in "uv")
