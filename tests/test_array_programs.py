"""Programs of whole arrays: an independent reference at two sizes, equal bits, and how many loops they have."""

import hashlib
import heapq
from functools import partial

import numpy as np
import pytest

import workbench as wb
from tests.kit.array_plans import loops_of_machine
from tests.kit.array_programs import same_bits as same_bits_on
from tests.kit.compiled_together import compiled_together
from workbench.pipeline import counters
from workbench.programs import canny, floyd_warshall, fluid, k_means, md5, radix_sort

WAYS = (("openmp", 1), ("openmp", 3), ("cuda-sim", 0))
same_bits = partial(same_bits_on, backends=WAYS)
LINE, PLANE, WORDS = np.ones(1), np.ones((1, 1)), np.ones((16, 1), np.uint32)


@pytest.fixture(scope="module", autouse=True)
def simulated():
    """The programs of this file on the simulated device, but for MD5, which proofs alone call."""
    calls = [
        (radix_sort.radix_sort, WORDS[0], LINE),
        (floyd_warshall.shortest_paths, PLANE.astype(np.int32)),
        (floyd_warshall.through, PLANE.astype(np.int32), 0),
        (k_means.nearest, LINE, LINE, LINE, LINE),
        (k_means.step, LINE, LINE, LINE, LINE),
        (k_means.centres, LINE, LINE, LINE, LINE),
        (canny.candidates, PLANE, 1.0, 2.0),
        (canny.edges, PLANE, 1.0, 2.0),
        (fluid.step, (PLANE, PLANE, PLANE), 0.5, 0.1, 0.0),
    ]
    with compiled_together("cuda-sim", [program.machine(*given) for program, *given in calls]):
        yield


def by_dijkstra(edges, start):
    far, waiting = {start: 0}, [(0, start)]
    while waiting:
        length, node = heapq.heappop(waiting)
        if length > far[node]:
            continue
        for other, weight in edges[node]:
            if length + weight < far.get(other, np.inf):
                far[other] = length + weight
                heapq.heappush(waiting, (length + weight, other))
    return far


@pytest.mark.parametrize("n", [0, 1, 240, 5000])
def test_radix_sort(n):
    draw = np.random.default_rng(n)
    keys = draw.integers(0, 2**32, n, dtype=np.uint32) & np.uint32(0xF0F0_00FF)  # many are equal
    keys[: n // 50] = 2**32 - 1
    number, order = np.sqrt(np.arange(1, n + 1)), np.argsort(keys, kind="stable")
    ordered, moved = same_bits(radix_sort.radix_sort, keys, number)
    assert np.array_equal(ordered, keys[order])
    assert np.array_equal(moved, number[order])


@pytest.mark.parametrize("backend", ["openmp", "cuda", "cuda-sim"])
def test_a_pass_of_the_radix_sort_is_two_loops_on_every_backend(backend):
    machine = radix_sort.radix_sort.machine(WORDS[0], WORDS[0])
    assert loops_of_machine(machine, backend)[0] == 9  # the last one takes the pairs apart


@pytest.mark.parametrize("n", [5, 70])
def test_floyd_warshall(n):
    draw = np.random.default_rng(n)
    none = 10**9
    lengths = np.where(draw.random((n, n)) < 3 / n, draw.integers(1, 100, (n, n)), none).astype(np.int32)
    np.fill_diagonal(lengths, 0)
    edges = [[(int(j), int(row[j])) for j in np.flatnonzero(row < none)] for row in lengths]
    found = same_bits(floyd_warshall.shortest_paths, lengths)
    assert found.dtype == np.int32
    for start in range(n):
        far = by_dijkstra(edges, start)
        assert found[start].tolist() == [far.get(node, none) for node in range(n)]
    same_bits(floyd_warshall.through, lengths, 2)
    assert loops_of_machine(floyd_warshall.through.machine(lengths, 0)) == (1, 0)
    plan = floyd_warshall.shortest_paths.machine(lengths).plan("openmp")
    turn = plan.kernels[-1].observed
    assert [len(turn.subkernels), len(plan.array_slots) - 2] == [1, 2]  # what a turn reads, and what it makes


@pytest.mark.parametrize("n", [3, 2000])
def test_md5(n):
    texts = [b"", b"a" * md5.MOST_BYTES, *(str(k * k).encode() for k in range(n))]
    words = md5.blocks(texts)
    found = same_bits(md5.digests, words)
    assert [md5.text_of(each) for each in np.transpose(found)] == [
        hashlib.md5(text).hexdigest() for text in texts
    ]  # what is computed
    for place in (0, 1, len(texts) - 1):
        wanted = md5.words_of(hashlib.md5(texts[place]).hexdigest())
        assert md5.first_match(words, wanted, backend="openmp") == place
    same_bits(md5.first_match, words, wanted)
    assert md5.first_match(words, md5.words_of(hashlib.md5(b"other").hexdigest()), backend="openmp") == len(texts)
    assert loops_of_machine(md5.digests.machine(words)) == (1, 0)
    assert loops_of_machine(md5.first_match.machine(words, wanted)) == (2, 0)  # one for the four numbers of the digest
    with pytest.raises(ValueError, match="a text has 56 bytes"):
        md5.blocks([b"", b"a" * 56])


@pytest.mark.parametrize(("n", "k"), [(20, 3), (3000, 11)])
def test_k_means(n, k):
    x, y = np.random.default_rng(n).normal(size=(2, n))
    first = x[:k].copy(), y[:k].copy()
    first[0][-1] = 1e6  # a centre without points stays
    *found, steps = same_bits(k_means.centres, x, y, *first)
    exact = np.array(first)
    for _ in range(steps):
        label = np.argmin((x[:, None] - exact[0]) ** 2 + (y[:, None] - exact[1]) ** 2, axis=1)
        exact = np.transpose(
            [(x[label == c].mean(), y[label == c].mean()) if (label == c).any() else exact[:, c] for c in range(k)]
        )
    np.testing.assert_allclose(found, exact, rtol=1e-12, atol=1e-14)
    assert same_bits(k_means.nearest, x, y, *found).tolist() == label.tolist()
    assert steps > 2
    one_more = k_means.step(x, y, *found, backend="openmp")
    assert all(np.array_equal(a, b) for a, b in zip(one_more, found, strict=True))
    cut = same_bits(k_means.centres, x, y, *first, 2)
    assert cut[2] == 2
    twice = k_means.step(x, y, *same_bits(k_means.step, x, y, *first), backend="openmp")
    assert all(np.array_equal(a, b) for a, b in zip(twice, cut[:2], strict=True))
    assert k_means.nearest(np.zeros(1), np.zeros(1), np.ones(2), np.ones(2), backend="openmp").tolist() == [0]
    loops, arrays = loops_of_machine(k_means.step.machine(x, y, *first))
    assert (loops, arrays) == (4, 5)  # the least distance, the centre, all sums, the means; no array of n x k
    slots = k_means.step.machine(x, y, *first).plan("openmp").array_slots
    assert all(len(slot.axes) == 1 for slot in slots)


def blurred(picture):
    weights = np.array([1, 4, 6, 4, 1]) / 16
    wide = np.pad(picture, 2, "edge")
    rows, columns = picture.shape
    across = sum(w * wide[:, k : k + columns] for k, w in enumerate(weights))
    return sum(w * across[k : k + rows] for k, w in enumerate(weights))


def edges_by_numpy(picture, low, high):
    """By the angle of the gradient in eight parts of a circle."""
    wide = np.pad(blurred(picture), 1, "edge")
    rows, columns = picture.shape
    at = {(i, j): wide[1 + i : 1 + i + rows, 1 + j : 1 + j + columns] for i in (-1, 0, 1) for j in (-1, 0, 1)}
    dx = sum(w * (at[i, 1] - at[i, -1]) for i, w in ((-1, 1), (0, 2), (1, 1)))
    dy = sum(w * (at[1, j] - at[-1, j]) for j, w in ((-1, 1), (0, 2), (1, 1)))
    size = np.hypot(dx, dy)
    part = np.round(np.arctan2(dy, dx) / (np.pi / 4)).astype(int) % 4
    step = np.array([(0, 1), (1, 1), (1, 0), (1, -1)])[part]
    i, j = np.mgrid[:rows, :columns]
    best = np.ones(picture.shape, bool)
    for sign in (1, -1):
        next_i, next_j = np.clip(i + sign * step[..., 0], 0, rows - 1), np.clip(j + sign * step[..., 1], 0, columns - 1)
        best &= size >= size[next_i, next_j]
    best &= (size >= low) & ((abs(dx) > low) | (abs(dy) > low))
    return np.where(best, np.where(size >= high, 1.0, 0.5), 0.0)


def flooded(candidates):
    """Edges by a flood from each strong pixel, with a stack."""
    is_edge = np.zeros(candidates.shape, bool)
    waiting = list(zip(*np.nonzero(candidates == 1), strict=True))
    while waiting:
        i, j = waiting.pop()
        if is_edge[i, j]:
            continue
        is_edge[i, j] = True
        rows, columns = range(max(i - 1, 0), i + 2), range(max(j - 1, 0), j + 2)
        waiting += [(k, m) for k in rows for m in columns if np.any(candidates[k : k + 1, m : m + 1])]
    return is_edge.astype(float)


@pytest.mark.parametrize("shape", [(7, 9), (120, 90)])
def test_canny(shape):
    i, j = np.mgrid[: shape[0], : shape[1]]
    picture = 255.0 * (np.hypot(i - shape[0] / 3, j - shape[1] / 2) < shape[0] / 4)
    picture += 30 * np.random.default_rng(1).random(shape)
    found = same_bits(canny.candidates, picture, 40.0, 90.0)
    assert np.array_equal(found, edges_by_numpy(picture, 40.0, 90.0))
    assert np.count_nonzero(found) > shape[0]
    edges = same_bits(canny.edges, picture, 40.0, 90.0)
    assert np.array_equal(edges, flooded(found))
    loops, arrays = loops_of_machine(canny.candidates.machine(picture))
    assert loops == 5  # two blurs, two differences in one, magnitude, and all that looks at its neighbours
    assert arrays == 3  # with two, what the last loop reads would lie where a call wants the result


def spiral(n):
    """A path of weak pixels that winds from a border to the middle, where a strong one is."""
    picture = np.zeros((n, n))
    i, j, down, right = 0, 0, 0, 1
    while True:
        picture[i, j] = 0.5
        ahead = i + 2 * down, j + 2 * right
        if not (0 <= i + down < n and 0 <= j + right < n) or (
            0 <= ahead[0] < n and 0 <= ahead[1] < n and picture[ahead]
        ):
            down, right = right, -down
            if picture[(i + 2 * down) % n, (j + 2 * right) % n]:
                picture[i, j] = 1
                return picture
        i, j = i + down, j + right


@pytest.mark.parametrize("backend", ["reference", "openmp", "cuda-sim"])
def test_weak_edges_are_edges_as_far_as_they_reach_from_a_strong_one(backend, monkeypatch):
    given = spiral(23)
    monkeypatch.setattr(canny, "candidates", lambda picture, low, high: picture)
    edges = wb.collective(canny.edges.__wrapped__)
    found = edges(given, 0.0, 0.0, backend=backend)
    assert np.array_equal(found, flooded(given))
    assert np.count_nonzero(found) > 200  # one a turn
    given[0, 4] = 0.0  # the path is cut near its end
    assert np.array_equal(edges(given, 0.0, 0.0, backend=backend), flooded(given))
    given[given == 1] = 0.5  # nothing is strong
    assert not edges(given, 0.0, 0.0, backend=backend).any()


def test_the_last_phase_keeps_a_byte_a_pixel_and_its_turns_compute_candidates_no_more():
    plan = canny.edges.machine(np.ones((8, 9))).plan("openmp")
    result, candidates, turn = (kernel.observed.subkernels for kernel in plan.kernels)
    assert [len(result), len(candidates), len(turn)] == [
        1,
        5,
        2,
    ]  # a turn: what touches an edge, and whether one is new
    arrays = [len(slot.axes) or plan.graph.dim for slot in plan.array_slots]
    assert arrays == [2] * 8  # the picture and the result, three for the candidates, and three of bytes


def zero_outside(u, i, j):
    return np.pad(u, 1)[1 + i : 1 + i + u.shape[0], 1 + j : 1 + j + u.shape[1]]


def around(u):
    return sum(zero_outside(u, *place) for place in ((0, -1), (0, 1), (-1, 0), (1, 0)))


def advected_by_numpy(u, x, y, dt):
    rows, columns = u.shape
    i, j = np.mgrid[:rows, :columns]
    row, column = np.clip(i - dt * y, 0, rows - 1), np.clip(j - dt * x, 0, columns - 1)
    a, b = np.floor(row).astype(int), np.floor(column).astype(int)
    c, d = np.minimum(a + 1, rows - 1), np.minimum(b + 1, columns - 1)
    s, t = row - a, column - b
    return (1 - s) * ((1 - t) * u[a, b] + t * u[a, d]) + s * ((1 - t) * u[c, b] + t * u[c, d])


def fluid_by_numpy(x, y, dye, dt, viscosity, diffusivity):
    def diffuse(u, amount):
        start = u
        for _ in range(fluid.JACOBI_STEPS if amount else 0):
            u = (start + amount * around(u)) / (1 + 4 * amount)
        return u

    def project(x, y):
        source = -0.5 * (
            zero_outside(x, 0, 1) - zero_outside(x, 0, -1) + zero_outside(y, 1, 0) - zero_outside(y, -1, 0)
        )
        p = np.zeros_like(x)
        for _ in range(fluid.JACOBI_STEPS):
            p = (source + around(p)) / 4
        along = zero_outside(p, 0, 1) - zero_outside(p, 0, -1), zero_outside(p, 1, 0) - zero_outside(p, -1, 0)
        return x - along[0] / 2, y - along[1] / 2

    x, y = project(diffuse(x, dt * viscosity), diffuse(y, dt * viscosity))
    x, y = project(advected_by_numpy(x, x, y, dt), advected_by_numpy(y, x, y, dt))
    return x, y, advected_by_numpy(diffuse(dye, dt * diffusivity), x, y, dt)


@pytest.mark.parametrize("shape", [(4, 5), (40, 33)])
def test_fluid(shape):
    x, y, dye = np.random.default_rng(3).normal(size=(3, *shape))
    state = exact = x, y, dye
    for _ in range(2):
        state = same_bits(fluid.step, state, 0.5, 0.1, 0.0)
        exact = fluid_by_numpy(*exact, 0.5, 0.1, 0.0)
    for mine, expected in zip(state, exact, strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-9, atol=1e-11)  # sums in another order, 160 times
    assert np.abs(state[0]).max() < np.abs(x).max()
    for program, given in [
        (fluid.diffused, (x, y, 0.3)),
        (fluid.divergence, (x, y)),
        (fluid.pressed, (x, y)),
        (fluid.without_gradient, (x, y, dye)),
        (fluid.advected, (dye, x, y, 0.5)),
    ]:
        same_bits(program, *given, backends=WAYS[:2])
        assert loops_of_machine(program.machine(*given)) == (1, 0)
    plan = fluid.step.machine((x, y, dye), 0.5, 0.1, 0.0).plan("openmp")
    loops = {kernel.kernel.name: len(kernel.observed.subkernels) for kernel in plan.kernels}
    assert [loops.pop(f"main_turn_{number}") for number in (1, 2, 3, 4)] == [1, 1, 1, 1]
    assert sum(loops.values()) == 11  # what the turns begin with, two gradients, three gathers, and what is returned
    assert len(plan.array_slots) - 6 == 10  # beside what is given and returned
    before = counters()
    fluid.step(state, 0.25, 0.2, 0.0, backend="openmp")
    assert counters() == before  # results are read where they lie, numbers are params
