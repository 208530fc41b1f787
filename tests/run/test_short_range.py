"""Sums over near sources: all pairs within the cutoff and no others, in one order everywhere, and what is refused."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

import workbench as wb
from tests.kit.backends import WAYS
from tests.kit.bits import assert_same_bits
from workbench.backends import interpreter
from workbench.backends.cuda_sim import CudaSimInstance
from workbench.errors import RunError, TraceError
from workbench.planning.choices import Choices
from workbench.run.calling import call
from workbench.run.given import Given

NAMES = "xyz"
FULL = """
{names_i} = targets("{names}"{dtype})
{names_j}, mj = sources("{names} m"{dtype})
rc = param("rc", 0.3)
near, = totals("near"{dtype}, cutoff=rc, positions="{names}")
full, = totals("full"{dtype})
count, = totals("count", dtype="i64", cutoff=rc, positions="{names}")
every, = totals("every", dtype="i64")
least, = totals("least", reduce="min"{dtype}, cutoff=rc, positions="{names}")
lowest, = totals("lowest", reduce="min"{dtype})
r2 = {square}
w = mj * (rc * rc - r2)
near += w
full += where(r2 <= rc * rc, w, 0)
count += where(index(0) != index(1), 1, 0)
every += where((index(0) != index(1)) & (r2 <= rc * rc), 1, 0)
least.include(w)
lowest.include(where(r2 <= rc * rc, w, inf))
"""
GAS = """
x, v = particles("x v", dim=2)
h = param("h", 0.15)
d = x.source - x
push = (h * h - dot(d, d)) * d
a = -reduce_sum({given})
x.next, v.next = x + 0.1 * (v + 0.1 * a), v + 0.1 * a
"""


def machine(dim, dtype=""):
    sides = {side: ", ".join(f"{name}{side}" for name in NAMES[:dim]) for side in "ij"}
    square = " + ".join(f"({name}j - {name}i) * ({name}j - {name}i)" for name in NAMES[:dim])
    text = FULL.format(
        names=" ".join(NAMES[:dim]),
        names_i=sides["i"] + ("," if dim == 1 else ""),
        names_j=sides["j"],
        square=square,
        dtype=f', dtype="{dtype}"' if dtype else "",
    )
    return wb.trace(text, name=f"near{dim}{dtype}")


def check(found, rtol=1e-13):
    """The sums are those over all pairs, up to rounding; numbers and least values are the same."""
    assert found["count"].tolist() == found["every"].tolist()
    assert_same_bits(found["least"], found["lowest"], "the least value")
    scale = np.abs(found["full"]).max(initial=1e-300)
    np.testing.assert_allclose(found["near"], found["full"], rtol=rtol, atol=rtol * scale)


def drawn(n, dim, seed=0):
    draw = np.random.default_rng(seed)
    return {**{name: draw.random(n) for name in NAMES[:dim]}, "m": draw.random(n)}


def in_cells(places, masses, cutoff):
    """The sums of `near`, one after the other as semantics §3 says, in Python."""
    low, width = places.min(axis=1), places.max(axis=1) - places.min(axis=1)
    n, wide, left = places.shape[1], cutoff * (1 + 2**-18), places.shape[1]
    counts = []
    for each in width[::-1]:
        counts.insert(0, int(min(max(each / wide // 1, 1), left)))
        left //= counts[0]
    step = np.maximum(width / counts, wide)
    at = [tuple(int(c) for c in np.minimum((places[:, j] - low) / step // 1, np.array(counts) - 1)) for j in range(n)]
    order, sums = sorted(range(n), key=lambda j: (at[j], j)), []
    for i in range(n):
        total = None
        for row in product((-1, 0, 1), repeat=len(counts) - 1):
            part = -0.0
            for j in order:
                beside = (
                    all(at[j][k] == at[i][k] + step for k, step in enumerate(row)) and abs(at[j][-1] - at[i][-1]) < 2
                )
                d = places[:, j] - places[:, i]
                r2 = sum((each * each for each in d[1:]), d[0] * d[0])
                part += masses[j] * (cutoff * cutoff - r2) if beside and r2 <= cutoff * cutoff else -0.0
            total = part if total is None else total + part
        sums.append(total)
    return np.array(sums)


def test_near_sources_are_summed_by_cells_on_every_backend():
    given = drawn(150, 2)
    expected = machine(2)(**given, rc=0.12, backend="reference")
    check(expected)
    places = np.array([given["x"], given["y"]])
    assert_same_bits(expected["near"], in_cells(places, given["m"], 0.12), "the order of cells")
    for backend, threads in (("openmp", 1), ("openmp", 3), ("cuda-sim", 0)):
        found = machine(2)(**given, rc=0.12, backend=backend, threads=threads)
        for name, values in found.items():
            assert_same_bits(values, expected[name], f"{name} on {backend}")


def test_sources_beyond_one_chunk_and_in_space_are_summed_alike():
    given = drawn(2500, 3)
    for rc in (0.02, 0.11, 3.0):  # hardly a pair; some; all, more than a chunk of 1024 in a part
        found = [machine(3)(**given, rc=rc, backend="openmp", threads=threads) for threads in (1, 2)]
        check(found[0])
        assert_same_bits(found[0]["near"], found[1]["near"], f"rc = {rc}")


@pytest.mark.parametrize(
    "places",
    [
        np.zeros(5),
        np.array([0.0, 0.3, 0.6, 0.9, 1.2]),
        np.array([0.0, 1e9, 0.2, -1e9, 1e9 + 0.25]),
        np.array([np.nan, 0.0, 0.1, np.inf, -np.inf]),
        np.array([-0.0]),
    ],
    ids=["together", "just at the cutoff", "far apart", "not finite", "one"],
)
def test_all_near_pairs_are_found_wherever_they_lie(places):
    found = machine(1)(x=places, m=np.arange(1.0, 1 + len(places)), backend="openmp")
    assert found["count"].tolist() == found["every"].tolist()
    np.testing.assert_array_equal(found["near"], found["full"])


def test_targets_lie_outside_of_the_sources_and_sources_may_be_none():
    own = {"x": np.array([-0.25, -5.0, 0.5, 1.25, 7.0]), "y": np.array([0.5, 0.5, -0.2, 1.1, -1e300])}
    for n in (40, 1, 0):
        check(machine(2)(targets=own, sources=drawn(n, 2)))
    assert machine(2)(targets=own, sources=drawn(40, 2))["count"].tolist()[1] == 0


@pytest.mark.parametrize(("dtype", "rtol"), [("f32", 1e-5), ("dd", 1e-28)])
def test_positions_have_any_float_type(dtype, rtol):
    given = drawn(60, 2)
    if dtype == "f32":
        given = {name: values.astype(np.float32) for name, values in given.items()}
    found, expected = (machine(2, dtype)(**given, backend=each) for each in ("openmp", "reference"))
    assert_same_bits(found["near"], expected["near"], dtype)
    assert found["count"].tolist() == found["every"].tolist()
    high = [found[name]["hi"] if dtype == "dd" else found[name] for name in ("near", "full")]
    np.testing.assert_allclose(*high, rtol=max(rtol, 1e-15), atol=1e-5 if dtype == "f32" else 1e-15)


def test_particles_feel_their_near_ones_step_by_step():
    near = wb.trace(GAS.format(given='push, over="source", cutoff=h, positions=x'), name="gas")
    full = wb.trace(GAS.format(given='where(dot(d, d) <= h * h, push, 0), over="source"'), name="gas_of_all")
    given = {"x": np.random.default_rng(1).random((2, 300)), "v": 0.0}
    expected = near.simulate(**given, backend="reference").run(3)
    for backend, threads in (("openmp", 2), ("cuda-sim", 1)):
        found = near.simulate(**given, backend=backend, threads=threads).run(3)
        assert_same_bits(found.x, expected.x, backend)
    np.testing.assert_allclose(expected.x, full.simulate(**given).run(3).x, rtol=1e-12)


@pytest.mark.simulator
def test_the_work_of_a_cutoff_grows_as_the_number_of_particles_does(monkeypatch):
    """With as many near ones for each: the pairs that are looked at, and all reads and writes of a device's threads."""
    machine, counted = wb.trace(GAS.format(given='push, over="source", cutoff=h, positions=x'), name="gas"), Counter()
    looked_at, near = interpreter.folded_parts, []

    def parts(nodes, index, lines, starts, lengths, count):
        counted["pairs"] += int(np.sum(lengths))
        return looked_at(nodes, index, lines, starts, lengths, count)

    def record(launch, accesses, sectors):
        counted["accesses"] += len(accesses)

    monkeypatch.setattr(interpreter, "folded_parts", parts)
    recorder = property(lambda instance: record, lambda instance, value: None)
    monkeypatch.setattr(CudaSimInstance, "recorder", recorder, raising=False)
    figures = []
    for n in (250, 500, 1000):
        counted.clear()
        x = np.random.default_rng(n).random((2, n)) * np.sqrt(n / 250)
        for backend in ("reference", "cuda-sim"):
            machine.simulate(x=x, v=0.0, h=0.1, backend=backend).run(1)
        figures.append((counted["pairs"], counted["accesses"]))
        near.append(np.sum(near_of(*x, 0.1)))
    for (pairs, accesses), (more, longer), close in zip(figures, figures[1:], near, strict=False):
        assert close < pairs < 6 * close
        assert 1.8 < more / pairs < 2.4  # borders have fewer near ones; all pairs would be 4 times as many
        assert 1.8 < longer / accesses < 2.4


def near_of(x, y, cutoff):
    """Whether each target and source are near, as semantics §2 says."""
    across, along = (each[None, :] - each[:, None] for each in (x, y))
    return across * across + along * along <= cutoff * cutoff


ALIKE = """
xi, yi, mi = targets("x y m")
xj, yj, mj = sources("x y m")
number, fewer = totals("number fewer", dtype="i64", cutoff=rc, positions="x y")
mine, both, fused = totals("mine both fused", cutoff=rc, positions="x y")
any_, = totals("any_", reduce="any", cutoff=rc, positions="x y")
v, = totals("v", dim=2, cutoff=rc, positions="x y")
total, = totals("total")
number += 1
fewer -= 1
mine += mi
both += mj
both += 1
fused = fma(mi, 2, fused)
any_.include(True)
v += (1, mi)
total += mj
"""


@pytest.mark.parametrize(("backend", "threads"), WAYS)
def test_what_is_the_same_for_all_sources_counts_once_for_each_near_one(backend, threads):
    machine, given = wb.trace(ALIKE, name="alike", namespace={"rc": 0.2}), drawn(150, 2)
    expected = machine(**given, backend="reference")
    near = near_of(given["x"], given["y"], 0.2)
    number, masses = near.sum(axis=1), given["m"]
    assert number.min() < number.max()
    assert expected["number"].tolist() == number.tolist()
    assert expected["fewer"].tolist() == (-number).tolist()
    assert expected["any_"].all()
    sums = {"mine": number * masses, "both": number + near @ masses, "fused": 2 * number * masses}
    for name, values in sums.items():
        np.testing.assert_allclose(expected[name], values, rtol=1e-14, err_msg=name)
    np.testing.assert_allclose(expected["v"], [number, number * masses], rtol=1e-14)
    for name, values in machine(**given, backend=backend, threads=threads).items():
        assert_same_bits(values, expected[name], name)


@pytest.mark.parametrize(("backend", "threads"), WAYS)
def test_particles_count_their_near_ones_and_add_what_these_have(backend, threads):
    text = """
x = particles("x", dim=2)[0]
m, mass = particles("m mass")
number, = particles("number", dtype="i64")
number.next = reduce_sum(1, over="source", cutoff=0.2, positions=x)
mass.next = reduce_sum(m.source, over="source", cutoff=0.2, positions=x)
m.next = m * reduce_max(mass.source, over="source", cutoff=0.2, positions=x)
x.next = x
"""
    machine, given = wb.trace(text, name="neighbours"), drawn(150, 2)
    start = {"x": np.array([given["x"], given["y"]]), "m": given["m"], "mass": 1.0, "number": 0}
    expected = machine.simulate(**start, backend="reference").run(2)
    assert_same_bits(expected.number, near_of(given["x"], given["y"], 0.2).sum(axis=1))
    once = near_of(given["x"], given["y"], 0.2) @ given["m"]
    np.testing.assert_allclose(expected.mass, once, rtol=1e-14)
    found = machine.simulate(**start, backend=backend, threads=max(threads, 1)).run(2)
    for name in ("number", "mass", "m"):
        assert_same_bits(getattr(found, name), getattr(expected, name), name)


@pytest.mark.parametrize("backend", ["reference", "openmp"])
def test_a_part_that_leaves_its_line_is_an_error_of_the_run(backend):
    text = str(machine(1).graph)
    cells, begin, length = text.partition("= segments sum ")[2].split()[:3]
    wrong = text.replace(f"{cells} {begin} {length}", f"{cells} {length} {length}")  # lengths for beginnings
    given = Given({"x": np.array([0.0, 0.1, 5.0]), "m": np.ones(3)})
    with pytest.raises(RunError, match="segment 0 has 2 cells from cell 2, but its line has 3"):
        call(wb.graph_from_text(wrong), Choices(), given, backend=backend)


PAIR = 'x, = targets("x")\nxj, = sources("x")\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (PAIR + 't, = totals("t", cutoff=1.0)\nt += xj', "line 3: totals: positions= is missing"),
        (PAIR + 't, = totals("t", positions="x")\nt += xj', "line 3: totals: cutoff= is missing"),
        (
            PAIR + 't = total("t", cutoff=1.0)\nt += xj',
            r'line 3: total: positions= is missing[^!]*Give both: total\("rho"',
        ),
        (PAIR + 't = total("t", reduce="mean")\nt += xj', "line 3: total: reduce='mean' is no reduction"),
        (PAIR + 't = total("t", cutoff=1.0, positions="q")\nt += xj', "line 3: total: the position q is not declared"),
        (PAIR + 't, = totals("t", cutoff=-1.0, positions="x")\nt += xj', "the cutoff is -1.0, not one length"),
        (PAIR + 't, = totals("t", cutoff=xj, positions="x")\nt += xj', "the cutoff is a value along j, not one length"),
        (PAIR + 't, = totals("t", cutoff=1.0, positions="y")\nt += xj', "the position y is not declared on both"),
        (
            'x, = particles("x")\nx.next = reduce_sum(x.source, over="source", cutoff=1.0)',
            "a cutoff is a length between",
        ),
        (
            'x, = particles("x")\nx.next = reduce_sum(x.source * x, over="source", cutoff=1.0, positions=2)',
            "line 2: .*: positions=2",
        ),
        (
            'x, = particles("x")\ny, = particles("y", of="stars")\n'
            'x.next = reduce_sum(y.source - x, over="source", cutoff=1.0, positions=x)',
            "line 3: .* the value has the axes particles, stars_source, not those of a particle and the same as source",
        ),
        (
            'x, = particles("x")\ny, = particles("y", of="stars")\n'
            'x.next = reduce_sum(x.source - x, over="source", cutoff=1.0, positions=y)',
            "line 3: .* the positions are not those of the particles",
        ),
        (
            'x, = particles("x")\nx.next = reduce_sum(1, over="particles", cutoff=1.0, positions=x)',
            "line 2: .* a cutoff limits sums over sources, not over 'particles'",
        ),
        (
            'x, = particles("x")\nx.next = reduce_sum(1, over="stars", cutoff=1.0, positions=x)',
            "line 2: .* cannot be reduced over 'stars'",
        ),
        (
            'x, = particles("x")\nx.next = reduce_sum(x.source > x, over="source", cutoff=1.0, positions=x)',
            "line 2: reduce_sum does not take bool",
        ),
        (
            'u = field("u")\nu.next = reduce_sum(1, over="source", cutoff=1.0, positions=u)',
            "line 2: .* over= names particles, and the cell has none",
        ),
    ],
)
def test_what_is_no_cutoff_is_refused_with_its_line(text, words):
    with pytest.raises(TraceError, match=words) as caught:
        wb.trace(text, name="wrong")
    assert str(caught.value).rstrip().endswith(".")
