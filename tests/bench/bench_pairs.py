"""Speed of sums over pairs: python -m tests.bench.bench_pairs [gravity | ladder | integral ...] [--rounds N].

gravity: 16,384 bodies, one thread, processor time, with and without fma written out, in turn with Numba where that is
installed: with fastmath, and with IEEE square root and division as the cell has them; and with a loop by hand
(hand_pairs.cpp) where the processor has AVX-512. chain: products and sums of dd one after the other, in turn with one
by hand and with NumPy's longdouble, which has 64 bits. ladder: the same sums as one step of unrolling after the other,
from one target and one source a turn to several of both, as ratios of the first. integral: the Feynman loop integral in
f64 and dd, Gflop/s by the 28 operations a point that its literature counts. hermite: a step in f64, mixed types and dd,
with the error of the energy. device: registers, spilled bytes and static instructions of a pair on sm_90, counted in
the innermost loop of the PTX, for which NVRTC must be installed, and of what the device executes where there is
nvdisasm (pip install nvidia-cuda-nvdisasm). Figures are the best of the rounds.
"""

import argparse
import ctypes
import re
import shutil
import subprocess
import tempfile
import time
from functools import cache
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np

import workbench as wb
from workbench.backends.device_text import compile_for_device
from workbench.backends.toolchain import find_toolchain
from workbench.pipeline import render
from workbench.programs import hermite, loop_integral
from workbench.run.progress import silent

CELL = """
xi, yi, zi, e2 = targets("x y z e2", dtype="{dtype}")
xj, yj, zj, m = sources("x y z m", dtype="{dtype}")
ax, ay, az = totals("ax ay az", dtype="{dtype}")
dx, dy, dz = xj - xi, yj - yi, zj - zi
r1i = {root}(dx**2 + dy**2 + dz**2 + e2)
af = m * r1i**3
ax += af * dx
ay += af * dy
az += af * dz
"""
FUSED = CELL.replace("dx**2 + dy**2 + dz**2 + e2", "fma(dx, dx, fma(dy, dy, fma(dz, dz, e2)))")
FUSED_SUMS = re.sub(r"(a.) \+= af \* (d.)", r"\1 = fma(af, \2, \1)", FUSED)
CHAIN = """
x, a, y = fields("x a y", dtype="dd")
z = x
for _ in range({links}):
    z = z * a + x
y.next = z
"""
BODIES = 16384
ELEMENTS, LINKS, TURNS = 1 << 13, (2, 4, 8, 16), 500
LADDER = 4096
DEVICE_RUNGS = [(1, 1), (4, 1), (4, 4), (8, 1)]
RUNGS = [(lanes, sources) for lanes in (1, 4, 8, 16, 64) for sources in (1, 2, 4)]


def best(contenders, rounds, clock=time.process_time):
    """The least seconds of each, called in turn after a call that does not count."""
    for run in contenders.values():
        run()
    taken = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            begin = clock()
            run()
            taken[name].append(clock() - begin)
    return {name: min(seconds) for name, seconds in taken.items()}


def bodies(dtype):
    draw = np.random.default_rng(1)
    return {name: draw.uniform(-1, 1, BODIES).astype(dtype) for name in "xyz"} | {
        "m": (draw.uniform(0.5, 1.5, BODIES) / BODIES).astype(dtype)
    }


def numba_gravity(given, fastmath):
    """The same formula as a double loop that Numba compiles."""
    from numba import njit

    @njit(fastmath=fastmath, error_model="numpy")
    def attract(x, y, z, m, found, e2):
        for i in range(len(x)):
            ax = ay = az = x.dtype.type(0)
            for j in range(len(x)):
                dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
                r1i = x.dtype.type(1) / np.sqrt(dx * dx + dy * dy + dz * dz + e2)
                af = m[j] * r1i * r1i * r1i
                ax += af * dx
                ay += af * dy
                az += af * dz
            found[0, i], found[1, i], found[2, i] = ax, ay, az

    arrays = [given[name] for name in "xyzm"]
    found = np.zeros((3, BODIES), arrays[0].dtype)
    return lambda: attract(*arrays, found, arrays[0].dtype.type(1e-3))


@cache
def by_hand():
    """The functions of hand_pairs.cpp, compiled as kernels are; None where the processor has no AVX-512."""
    tools = find_toolchain()
    asked = subprocess.run(
        [*tools.command, *tools.flags, "-dM", "-E", "-x", "c++", "/dev/null"],
        check=True,
        capture_output=True,
        text=True,
    )
    if "__AVX512F__" not in asked.stdout:
        return None
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "hand.so")
        source = Path(__file__).with_name("hand_pairs.cpp")
        subprocess.run([*tools.command, source, *tools.flags, "-fvisibility=default", "-o", library], check=True)
        return ctypes.CDLL(str(library))


def hand_gravity(given, dtype):
    """The loop by hand on these arrays, and where it leaves what it finds."""
    found = np.zeros((3, BODIES), given["x"].dtype)
    pointers = [ctypes.c_void_p(given[name].ctypes.data) for name in "xyzm"]
    function = getattr(by_hand(), f"gravity_{dtype}")
    last = ctypes.c_void_p(found.ctypes.data), ctypes.c_double(1e-3)
    return lambda: function(ctypes.c_long(BODIES), *pointers, *last), found


def gravity(rounds):
    """Ginteractions a second."""
    for dtype in ("f32", "f64"):
        given = bodies({"f32": np.float32, "f64": np.float64}[dtype])
        contenders = {}
        forms = {"rsqrt": CELL, "rsqrt, fma": FUSED, "rsqrt, fma sums": FUSED_SUMS, "1 / sqrt": CELL}
        for name, cell in forms.items():
            machine = wb.trace(cell.format(dtype=dtype, root=name.split(",")[0]))
            contenders[name] = lambda m=machine, given=given: m(**given, e2=1e-3, backend="openmp", threads=1)
        if find_spec("numba"):
            contenders["Numba fastmath"] = numba_gravity(given, True)
            contenders["Numba IEEE"] = numba_gravity(given, False)
        if by_hand() is not None:
            contenders["by hand"], found = hand_gravity(given, dtype)
            contenders["by hand"]()
            ours = contenders["rsqrt"]()
            np.testing.assert_allclose(found[0], ours["ax"], rtol=1e-3, atol=1e-4 if dtype == "f32" else 1e-12)
        taken = best(contenders, rounds)
        for name, seconds in taken.items():
            of_hand = f"  {taken['by hand'] / seconds:5.2f} of by hand" if "by hand" in taken else ""
            print(f"gravity {dtype} {name:15} {BODIES**2 / seconds / 1e9:6.2f} Ginteractions/s{of_hand}")


def chain(rounds):
    """Millions of products and sums a second, each one of both, of arrays that the caches hold.

    One thread by processor seconds. As many as a run takes by itself by the clock, and apart: a thread that waits for
    work counts in the process's seconds.
    """
    draw = np.random.default_rng(1)
    given = {name: np.zeros(ELEMENTS, [("hi", "f8"), ("lo", "f8")]) for name in "xay"}
    for name, low in (("x", 1.0), ("a", 0.1)):
        given[name]["hi"] = draw.uniform(low, low + 0.8, ELEMENTS)
        given[name]["lo"] = 1e-17 * given[name]["hi"]
    x, a = (given[name]["hi"].astype(np.longdouble) + given[name]["lo"] for name in "xa")
    found = np.empty_like(given["y"])
    pointers = [ctypes.c_void_p(each.ctypes.data) for each in (given["x"], given["a"], found)]
    for links in LINKS:
        machine = wb.trace(CHAIN.format(links=links), name="chain", dim=1)
        sim, shipped = machine.simulate(**given, backend="openmp", threads=1), machine.simulate(**given)

        def in_numpy(links=links):
            for _ in range(TURNS):
                y = x.copy()
                for _ in range(links):
                    np.multiply(y, a, out=y)
                    np.add(y, x, out=y)

        def hand(links=links):
            for _ in range(TURNS):
                by_hand().chain(ctypes.c_long(ELEMENTS), ctypes.c_long(links), *pointers)

        contenders = {"dd": lambda sim=sim: sim.run(TURNS, progress=silent), "NumPy longdouble": in_numpy}
        if by_hand() is not None:
            contenders["by hand"] = hand
            hand()
            ours = sim.run(1, progress=silent).y
            np.testing.assert_allclose(found["hi"] - ours["hi"] + (found["lo"] - ours["lo"]), 0, atol=1e-29)
        taken = best(contenders, rounds)
        every = {"dd, as shipped": lambda shipped=shipped: shipped.run(TURNS, progress=silent)}
        for name, seconds in (taken | best(every, rounds, time.perf_counter)).items():
            rate = ELEMENTS * links * TURNS / seconds / 1e6
            others = [other for other in ("NumPy longdouble", "by hand") if other in taken]
            ratios = ", ".join(f"{taken[other] / seconds:5.2f} x {other}" for other in others)
            print(f"chain {links:2} {name:16} {rate:8.1f} million products and sums a second, {ratios}")


def ladder(rounds):
    """How many times as fast as one target and one source at a time: targets side by side and sources a turn."""
    print("ladder, rsqrt      f32       f64   times as fast as one target and one source")
    found = []
    for dtype, sized in (("f32", np.float32), ("f64", np.float64)):
        given = {name: values[:LADDER] for name, values in bodies(sized).items()}
        machine, contenders = wb.trace(CELL.format(dtype=dtype, root="rsqrt")), {}
        for lanes, sources in RUNGS:
            rung = machine.with_choices(lanes=lanes, sources=sources)
            contenders[lanes, sources] = lambda m=rung, g=given: m(**g, e2=1e-3, backend="openmp", threads=1)
        found.append(best(contenders, rounds))
    for lanes, sources in RUNGS:
        first, second = (seconds[1, 1] / seconds[lanes, sources] for seconds in found)
        print(f"targets {lanes:2} x sources {sources} {first:7.2f} {second:9.2f}")


def integral(rounds):
    """The pairs alone: nodes of high precision are made before."""
    print("integral      N      f64       dd  Gflop/s of one thread")
    for count in (256, 512, 1024):
        rates = []
        for precision in ("double", "quadruple"):
            machine = loop_integral.machine(precision)
            nodes, weights = loop_integral.nodes(count)
            x = np.array([float(node) for node in nodes])
            rest = 1 - x
            targets = {"xx": np.repeat(x, count), "yy": np.outer(rest, x).ravel(), "cnt4": np.outer(rest, rest).ravel()}
            sources = {"x30_1": x, "gw30": np.array([float(weight) for weight in weights])}
            params = dict.fromkeys(("ramda", "fme", "fmf", "one"), 1) | {"s": 0, "tt": 0}
            kept = dict(targets=targets, sources=sources, backend="openmp", threads=1, **params)
            seconds = best({"": lambda m=machine, kept=kept: m(**kept)}, max(1, rounds // (count // 256) ** 2))[""]
            rates.append(loop_integral.OPERATIONS * count**3 / seconds / 1e9)
        print(f"integral {count:6} {rates[0]:8.2f} {rates[1]:8.2f}")


def cluster(count):
    draw = np.random.default_rng(1)
    return {
        "x": draw.normal(size=(3, count)),
        "v": 0.3 * draw.normal(size=(3, count)),
        "m": np.full(count, 1 / count),
    }


def mixed_hermite(rounds):
    """Processor seconds a step and error of the energy after 32 steps, 512 bodies."""
    runs, errors = {}, {}
    for precision in ("f64", "mixed", "dd"):
        sim = hermite.machine(precision).simulate(**cluster(512), a=0.0, j=0.0, dt=1e-4, backend="openmp", threads=1)
        sim.call("prepare")
        before = hermite.energy(sim.x, sim.v, sim.m)
        sim.run(32, progress=silent)
        errors[precision] = float(abs(hermite.energy(sim.x, sim.v, sim.m) / before - 1))
        runs[precision] = lambda sim=sim: sim.run(4, progress=silent)
    seconds = best(runs, rounds)
    for name, taken in seconds.items():
        print(f"hermite {name:5} {1e3 * taken / 4:8.2f} ms a step, energy error {errors[name]:.1e}")
    print(f"hermite mixed is {seconds['dd'] / seconds['mixed']:.1f} times as fast as dd")


# Of a text of instructions, line by line: a label, where a branch goes, an instruction, a root.
PTX = r"(\$\w+):", r"\bbra(?:\.uni)?\s+(\$\w+)", r"(@!?%p\d+\s+)?[a-z]", r"\b(rsqrt|sqrt)\."
SASS = r"(\.L\w+):", r"\bBRA.*`\((\.L\w+)\)", r"/\*[0-9a-f]+\*/", r"\bMUFU\.RSQ"


def innermost(text, label, branch, instruction, root):
    """Of the loops with a square root and no such loop inside, the one with most roots: its instructions and roots."""
    lines = [line.strip() for line in text.splitlines()]
    labels = {found[1]: number for number, line in enumerate(lines) if (found := re.fullmatch(label, line))}
    loops = []
    for number, line in enumerate(lines):
        target = re.search(branch, line)
        begin = labels.get(target[1], number) if target else number
        body = [text for text in lines[begin : number + 1] if re.match(instruction, text)]
        roots = sum(re.search(root, text) is not None for text in body)
        if begin < number and roots:
            loops.append((begin, number, len(body), roots))
    inner = [a for a in loops if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
    return max(inner, key=lambda loop: loop[3])[2:]


@cache
def disassembler():
    """NVIDIA's nvdisasm, of CUDA or of the package nvidia-cuda-nvdisasm; None where there is none."""
    packages = find_spec("nvidia")
    places = [*packages.submodule_search_locations] if packages else []
    found = (next(Path(place).glob("*/bin/nvdisasm"), None) for place in places)
    return shutil.which("nvdisasm") or next(filter(None, found), None)


def disassembled(cubin):
    """What the device executes, as text."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        return subprocess.run([disassembler(), "-c", file.name], check=True, capture_output=True, text=True).stdout


def device(rounds):
    """Nothing is timed: `rounds` is not needed."""
    del rounds
    for dtype, root, (targets, sources) in product(("f32", "f64"), ("rsqrt", "1 / sqrt"), DEVICE_RUNGS):
        machine = wb.trace(CELL.format(dtype=dtype, root=root))
        plan = machine.with_choices(targets=targets, sources=sources).plan()
        binary = compile_for_device(plan, render(plan, "cuda"), "sm_90")
        (kernel,) = binary.resources
        texts = {"PTX": (binary.ptx, *PTX)}
        if disassembler():
            texts["SASS"] = disassembled(binary.cubin), *SASS
        counts = {name: innermost(*text) for name, text in texts.items()}
        spilled = kernel.spill_store_bytes + kernel.spill_load_bytes
        print(
            f"device sm_90 {dtype} {root:8} targets {targets} x sources {sources}: "
            f"{kernel.registers} registers, {spilled} bytes spilled, instructions a pair: "
            + ", ".join(f"{count / roots:.1f} {name} ({roots} a turn)" for name, (count, roots) in counts.items())
        )


TABLES = {
    "gravity": gravity,
    "chain": chain,
    "ladder": ladder,
    "integral": integral,
    "hermite": mixed_hermite,
    "device": device,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", choices=[[], *TABLES], default=[])
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    for name in arguments.tables or TABLES:
        TABLES[name](arguments.rounds)


if __name__ == "__main__":
    main()
