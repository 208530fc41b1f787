"""2-D Euler equations beside Numba and hand-written peers: interleaved rounds, medians of ratios.

Run it by itself: `python tests/bench/bench_euler2d.py [--cells 1024] [--types f64 f32] [--hints MM ...] [--peers DIR]`.
All advance by the midpoint rule with a half step of first and a full step of second order (minmod on primitive
variables, HLLC), periodic. The peers take a fixed time step and have no floors. Two contenders are ours:

- "as shipped", `workbench DM` and so on: `hydro.machine`, which also finds the time step by a reduction over the
  grid, limits density and pressure from below and reads gamma, cell sizes and floors at run time;
- "same work", `fixed dt DM` and so on: the same functions of the solver without these, with dt / dx as a param.

A machine that others use as well divides its time unevenly: ratios of processor time say more there.

--peers DIR (or $WORKBENCH_PEERS) holds p3_euler2d.py, whose contenders --contenders names. The Numba version here
needs no such file: primitive variables, fluxes of both axes and the update are one parallel pass each.
"""

import argparse
import os
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

GAMMA, RATIO = 1.4, 0.16  # RATIO: dt / dx of the contenders
TYPE_NAMES = {np.float32: "f32", np.float64: "f64"}
VARIABLES = ("density", "momentum1", "momentum0", "energy")  # axis 1 is the contenders' x
HINTS = {  # what is stored: results of interpolation and Riemann solver; P: primitive variables in place of the stage
    "DD": ("stage",),
    "MD": ("interpolation", "stage"),
    "DM": ("riemann", "stage"),
    "MM": ("interpolation", "riemann", "stage"),
    "PDD": ("primitives",),
    "PDM": ("primitives", "riemann"),
    "default": None,
}

NUMBA = """
import numpy as np
from math import sqrt
from numba import njit, prange
R = np.REAL
GAMMA, ZERO, ONE, HALF, EIGHTH = R(1.4), R(0), R(1), R(0.5), R(0.125)
SHOCK, INVERSE, LESS = R(2.4 / 2.8), R(1 / 0.4), R(0.4)

@njit(inline="always")
def pick(c, a, b):
    return a if c else b

@njit(inline="always", fastmath=True, error_model="numpy")
def minmod(a, b):
    return pick(a * b > ZERO, pick(abs(a) < abs(b), a, b), ZERO)

@njit(inline="always", fastmath=True, error_model="numpy")
def hllc(rl, ul, vl, pl, rr, ur, vr, pr):
    cl, cr = sqrt(GAMMA * pl / rl), sqrt(GAMMA * pr / rr)
    star = max(ZERO, HALF * (pl + pr) - EIGHTH * (rl + rr) * (cl + cr) * (ur - ul))
    dl = -cl * sqrt(ONE + SHOCK * max(ZERO, star / pl - ONE))
    dr = cr * sqrt(ONE + SHOCK * max(ZERO, star / pr - ONE))
    sl, sr = ul + dl, ur + dr
    ss = (pr - pl + rl * ul * dl - rr * ur * dr) / (rl * dl - rr * dr)
    left = ss > ZERO
    r, u, v, p = pick(left, rl, rr), pick(left, ul, ur), pick(left, vl, vr), pick(left, pl, pr)
    d, outer = pick(left, dl, dr), pick(left, sl, sr)
    s = pick(left, min(sl, ZERO), max(sr, ZERO))
    e = p * INVERSE + HALF * r * (u * u + v * v)
    rs = r * d / (outer - ss)
    es = rs * (e / r + (ss - u) * (ss + p / (r * d)))
    f0, f1 = r * u + s * (rs - r), r * u * u + p + s * (rs * ss - r * u)
    return f0, f1, r * u * v + s * v * (rs - r), u * (e + p) + s * (es - e)

@njit(parallel=True, fastmath=True, error_model="numpy")
def primitives(U, P):
    ny, nx = U.shape[1], U.shape[2]
    for j in prange(ny):
        for i in range(nx):
            r = U[0, j, i]; u = U[1, j, i] / r; v = U[2, j, i] / r
            P[0, j + 2, i + 2] = r; P[1, j + 2, i + 2] = u; P[2, j + 2, i + 2] = v
            P[3, j + 2, i + 2] = LESS * (U[3, j, i] - HALF * r * (u * u + v * v))
        for q in range(4):
            for g in range(2):
                P[q, j + 2, g] = P[q, j + 2, nx + g]
                P[q, j + 2, nx + 2 + g] = P[q, j + 2, 2 + g]
    for q in range(4):
        for g in range(2):
            P[q, g] = P[q, ny + g]
            P[q, ny + 2 + g] = P[q, 2 + g]

@njit(parallel=True, fastmath=True, error_model="numpy")
def update(S, N, FX, FY, k):
    for j in prange(S.shape[1]):
        for q in range(4):
            for i in range(S.shape[2]):
                N[q, j, i] = S[q, j, i] + k * ((FX[q, j, i] - FX[q, j, i + 1]) + (FY[q, j, i] - FY[q, j + 1, i]))
"""


def numba_fluxes():
    """The texts of flux1 and flux2: fluxes through the lower faces along both axes, by order of reconstruction."""
    text = ""
    for order in (1, 2):
        bodies = []
        for target, move, variables in (
            ("FX", "j + 2, i + 2 + {}", (0, 1, 2, 3)),
            ("FY", "j + 2 + {}, i + 2", (0, 2, 1, 3)),
        ):
            a, b, c, d = ([f"P[{q}, {move.format(o)}]" for q in variables] for o in (-2, -1, 0, 1))
            left, right = b, c
            if order == 2:
                left = [f"{y} + HALF * minmod({y} - {x}, {z} - {y})" for x, y, z in zip(a, b, c, strict=True)]
                right = [f"{z} - HALF * minmod({z} - {y}, {w} - {z})" for y, z, w in zip(b, c, d, strict=True)]
            stores = "; ".join(f"{target}[{q}, j, i] = f{k}" for k, q in enumerate(variables))
            bodies.append(f"f0, f1, f2, f3 = hllc({', '.join(left + right)}); {stores}")
        text += f"""
@njit(parallel=True, fastmath=True, error_model="numpy")
def flux{order}(P, FX, FY):
    ny, nx = P.shape[1] - 4, P.shape[2] - 4
    for j in prange(ny + 1):
        for i in range(nx + 1):
            {bodies[0]}
        for i in range(nx):
            {bodies[1]}
"""
    return text


def start(cells, dtype):
    """A shear layer: density, momentum along the last and the first axis, energy; shape (4, cells, cells)."""
    x = (np.arange(cells) + 0.5) / cells
    along, across = np.meshgrid(x, x)
    band = abs(across - 0.5) < 0.25
    density = np.where(band, 2.0, 1.0) + 0.01 * np.sin(2 * np.pi * along)
    u = np.where(band, 0.5, -0.5) + 0.01 * np.sin(4 * np.pi * along)
    v = 0.05 * np.sin(4 * np.pi * along) * np.cos(2 * np.pi * across)
    pressure = 2.5 + 0.1 * np.cos(2 * np.pi * (along + across))
    energy = pressure / (GAMMA - 1) + 0.5 * density * (u * u + v * v)
    return np.stack([density, density * u, density * v, energy]).astype(dtype)


def numba_march(cells, steps, dtype, threads):
    import numba

    numba.set_num_threads(threads)
    names = {}
    exec((NUMBA + numba_fluxes()).replace("REAL", np.dtype(dtype).name), names)  # the contender's own text
    state = start(cells, dtype)
    middle = state.copy()
    padded = np.zeros((4, cells + 4, cells + 4), dtype)
    fluxes = np.zeros((4, cells + 1, cells + 1), dtype), np.zeros((4, cells + 1, cells + 1), dtype)

    def march():
        for _ in range(steps):
            names["primitives"](state, padded)
            names["flux1"](padded, *fluxes)
            names["update"](state, middle, *fluxes, dtype(RATIO / 2))
            names["primitives"](middle, padded)
            names["flux2"](padded, *fluxes)
            names["update"](state, state, *fluxes, dtype(RATIO))

    return march, lambda: state


def instance_of(machine, cells, dtype, threads):
    """The machine compiled for the CPU, with the contenders' initial state."""
    from workbench.backends.openmp import OpenmpBackend
    from workbench.planning import plan_graph

    program = OpenmpBackend().compile(plan_graph(machine.graph, machine.choices))
    instance = program.instantiate((cells, cells), threads)
    for name, values in zip(VARIABLES, start(cells, dtype), strict=True):
        instance.write_field(name, np.ascontiguousarray(values))
    return instance


def read_state(instance):
    return np.stack([instance.read_field(name) for name in VARIABLES])


def workbench_march(hint, cells, steps, dtype, threads):
    """`march` advances by the CFL condition; `until` by steps of the contenders' length, which the CFL step exceeds."""
    from workbench.backends.base import MarchRequest
    from workbench.solvers import hydro

    machine = hydro.machine(dim=2, order=(1, 2), dtype=TYPE_NAMES[dtype], manifest=HINTS[hint])
    instance = instance_of(machine, cells, dtype, threads)
    for axis in range(2):
        instance.write_global(f"dx{axis}", 1 / cells)

    def by_steps_of_the_contenders():
        for step in range(steps):
            instance.write_global("until", (step + 1) * RATIO / cells)
            instance.march(MarchRequest("step", 1))

    march = lambda: instance.march(MarchRequest("step", steps, observe_last=False))  # noqa: E731
    return march, lambda: read_state(instance), by_steps_of_the_contenders


def fixed_step_machine(hint, dtype_name):
    """The solver's scheme as the peers have it: dt / dx is the param `ratio`, and nothing is limited from below."""
    from workbench import language as cell
    from workbench import stencil
    from workbench.solvers import hydro
    from workbench.solvers.hydro.midpoint import advance

    def store(name, value, ask=cell.manifest):
        return ask(value) if name in (HINTS[hint] or ()) else value

    @stencil(2, name="fixed", dtype=dtype_name)
    def solver():
        gamma, ratio = cell.param("gamma", GAMMA), cell.param("ratio", RATIO)
        density, momentum, energy = (
            cell.field("density", boundary="periodic"),
            cell.vector("momentum", boundary="periodic"),
            cell.field("energy", boundary="periodic"),
        )
        start = hydro.Conserved(density, momentum, energy)
        gas = hydro.GasState.of(start, gamma)
        for part in [gas.volume, gas.sound_speed, gas.pressure]:
            store("primitives", part, cell.rolling)
        middle = advance(start, gas, hydro.constant, hydro.hllc, [0.5 * ratio] * 2, store)
        middle = middle.map(lambda u: store("stage", u))
        halfway = hydro.GasState.of(middle, gamma).map(lambda u: store("primitives", u))
        end = advance(start, halfway, hydro.minmod, hydro.hllc, [1.0 * ratio] * 2, store)
        density.next, momentum.next, energy.next = end

    if HINTS[hint] is None:
        return solver
    return solver.with_choices(replace(solver.choices, plan=solver.choices.plan.changed(preset="as_delayed")))


def fixed_step_march(hint, cells, steps, dtype, threads):
    """`march` does the peers' work and no more."""
    from workbench.backends.base import MarchRequest

    instance = instance_of(fixed_step_machine(hint, TYPE_NAMES[dtype]), cells, dtype, threads)
    march = lambda: instance.march(MarchRequest("step", steps, observe_last=False))  # noqa: E731
    return march, lambda: read_state(instance)


def peer_marches(folder, wanted, cells, steps, dtype):
    sys.path.insert(0, folder)
    import common
    import p3_euler2d

    del p3_euler2d  # it registers its contenders
    marches = {}
    for name in wanted:
        made = common.CONT[name]["f"](cells, steps, dtype)
        marches[f"{name}"] = (made["run"], made["get"])
    return marches


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--types", nargs="+", default=["f64", "f32"], choices=["f64", "f32"])
    parser.add_argument("--hints", nargs="+", default=list(HINTS), choices=list(HINTS))
    parser.add_argument("--peers", default=os.environ.get("WORKBENCH_PEERS", ""))
    parser.add_argument("--contenders", nargs="*", default=["halide", "cpp_fast", "cpp", "torch_compile"])
    parser.add_argument("--no-numba", action="store_true")
    options = parser.parse_args()
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    for name in options.types:
        compare(replace_type(options, name))


def replace_type(options, name):
    options.dtype = {"f64": np.float64, "f32": np.float32}[name]
    return options


def compare(options):
    cells, steps, dtype, threads = options.cells, options.steps, options.dtype, options.threads
    check(dtype, threads)
    marches = {}
    for hint in options.hints:
        marches[f"workbench {hint}"] = workbench_march(hint, cells, steps, dtype, threads)
        marches[f"fixed dt {hint}"] = fixed_step_march(hint, cells, steps, dtype, threads)
    ours = tuple(marches)
    if not options.no_numba:
        marches["numba"] = numba_march(cells, steps, dtype, threads)
    if options.peers:
        marches |= peer_marches(options.peers, options.contenders, cells, steps, dtype)
    for march, *_ in marches.values():
        march()
    seconds = {name: [] for name in marches}
    busy = {name: [] for name in marches}
    for _ in range(options.rounds):
        for name, (march, *_) in marches.items():
            begin, used = time.perf_counter(), time.process_time()
            march()
            seconds[name].append(time.perf_counter() - begin)
            busy[name].append(time.process_time() - used)
    work = cells * cells * steps / 1e6
    print(
        f"{np.dtype(dtype).name}, {cells} x {cells} cells, {threads} threads; Mcups by the clock and by processor time"
    )
    for name, times in seconds.items():
        print(
            f"  {name:18} {work / statistics.median(times):7.1f}"
            f" (best {work / min(times):7.1f}, worst {work / max(times):7.1f});"
            f" by processor time {work * threads / statistics.median(busy[name]):7.1f}"
        )
    for title, word in (("same work", "fixed"), ("as shipped", "workbench")):
        best = min((n for n in ours if n.startswith(word)), key=lambda name: statistics.median(busy[name]))
        print(f"  {title}: rate of {best} to each other, medians of ratios within a round")
        for name in (n for n in marches if n != best):
            clock, used = (
                statistics.median(b / a for a, b in zip(taken[best], taken[name], strict=True))
                for taken in (seconds, busy)
            )
            print(f"    {name:18} {clock:6.2f}; by processor time {used:6.2f}")


def check(dtype, threads, cells=64, steps=10):
    """Same steps, same result, up to rounding: the largest difference relative to the largest value."""
    march, read = numba_march(cells, steps, dtype, threads)
    march()
    _, ours, by_steps = workbench_march("DM", cells, steps, dtype, threads)
    by_steps()
    fixed, same_work = fixed_step_march("DM", cells, steps, dtype, threads)
    fixed()
    for title, values in (("as shipped", ours()), ("same work", same_work())):
        difference = np.abs(values - read()).max() / np.abs(read()).max()
        print(f"after {steps} equal steps of {cells} x {cells} cells, {title}: differs from Numba by {difference:.1e}")


if __name__ == "__main__":
    main()
