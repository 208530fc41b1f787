"""The search for what to store: the loops that it counts with are those of the plan."""

import random
import signal
from collections import Counter

import pytest

import workbench as wb
from tests.kit.random_programs import random_program
from tests.planning.long_programs import smoothed, smoothed_in_two_dimensions
from tests.planning.random_graphs import random_graph
from workbench.planning import placing, search, walking
from workbench.planning.draft import Draft
from workbench.planning.estimate import Estimate
from workbench.planning.fields import copied_loads, end_fields
from workbench.planning.kernel_plan import Storage
from workbench.planning.passes import PASSES, plan_graph
from workbench.planning.reach import find_margins
from workbench.planning.rolling import ChainSearch
from workbench.planning.schedules.stepwise import Ordering
from workbench.planning.variants import live_nodes


def graphs():
    """Random ones; in some a Store that the plain step lacks is why a Shift is stored."""
    yield from (random_graph(seed) for seed in range(30))
    yield from (random_program(seed, nodes=(8, 40))[0] for seed in range(8))


def test_estimates_are_of_the_loops_that_the_plan_has():
    loops = 0
    for graph in graphs():
        draft = Draft(graph, plan_graph(graph).choices)
        for each in PASSES:
            draft = each.run(draft)
            if each.name == "grouping":
                break
        for kernel in draft.kernels:
            for step in (kernel.plain, kernel.observed):
                copies = [r for group in step.groups for r in group.copies]
                estimate = Estimate(kernel.kernel, step.margins, step.live, sorted(copies), True)
                roots = [group.roots for group in step.groups]
                assert [group.roots for group in estimate.groups(kernel.storage)] == roots, graph.name
                loops += len(roots)
    assert loops > 100


def estimate_of(plan, through_fills=False):
    """(estimate of the observed step, the values that may be stored or not)"""
    kernel = plan.main.kernel
    live = live_nodes(kernel)
    copies = copied_loads(kernel, end_fields(plan.graph, kernel))
    estimate = Estimate(kernel, find_margins(kernel, live), live, copies, True, through_fills)
    return estimate, [i for i, reason in enumerate(plan.main.forced) if not reason and i in live]


def stages():
    """Planes of three values in stages, with ghost cells that are filled between them and a number that all need."""
    lines = [f'{name} = field("{name.upper()}", boundary="outflow")' for name in "uvw"]
    lines += ["first, most = [u, v, w], reduce_max(u)", "for i in range(4):"]
    lines += [f'    {name} = extend({name} + most * (u[+1, 0] - v[0, -1]) * w, "outflow")' for name in "uvw"]
    lines += [f"first[{i}].next = {name}[0, +1] + {name}[-1, 0]" for i, name in enumerate("uvw")]
    return wb.trace("\n".join(lines), name="stages").graph


def chained():
    """Programs over a plane whose loops run together, some of them through fills of ghost cells."""
    yield from ((smoothed_in_two_dimensions(times).graph, False) for times in (4, 9))
    yield wb.solvers.advection.machine(3).graph, False
    yield wb.solvers.hydro.machine(2, order=1).graph, False
    yield random_program(35, nodes=(40, 90))[0], False
    yield from ((made, fills) for made in (stages(), wb.solvers.gray_scott.machine(2).graph) for fills in (False, True))


def assert_alike(trial, fresh):
    assert (trial.cost, trial.placed.groups, trial.bodies) == (fresh.cost, fresh.placed.groups, fresh.bodies)
    assert (trial.placed.order, trial.parts) == (fresh.placed.order, fresh.parts)
    if trial.chained is not None:
        assert trial.chained.together == fresh.chained.together


def changed_and_compared(graph, fills, times, rng):
    """Change values at random, and compare each estimate with one from nothing; how many there are, and chains."""
    plan, changes, chains = plan_graph(graph), 0, 0
    estimate, free = estimate_of(plan, fills)
    now = estimate.of(plan.main.storage)
    for _ in range(times if free else 0):
        nodes = rng.sample(free, min(len(free), rng.randint(1, 3)))
        storage = list(now.storage)
        for node in nodes:
            storage[node] = rng.choice((Storage.MANIFEST, Storage.DELAYED))
        trial, fresh = estimate.of(storage, now, nodes), estimate.of(storage)
        assert_alike(trial, fresh)
        chains += len(fresh.chained.together) if fresh.chained is not None else 0
        now, changes = trial if rng.random() < 0.5 else now, changes + 1
    return changes, chains


@pytest.fixture(params=["shorter", "always"])
def walks_again(request, monkeypatch):
    """Walks go on from those before where that is shorter, as in long loops, or whatever changes."""
    if request.param == "always":
        monkeypatch.setattr(walking, "_PART_AGAIN", 0.01)


@pytest.mark.usefixtures("walks_again")
def test_an_estimate_from_a_similar_allocation_is_that_from_nothing():
    rng = random.Random(5)
    assert sum(changed_and_compared(graph, False, 20, rng)[0] for graph in graphs()) > 300


@pytest.mark.usefixtures("walks_again")
def test_so_it_is_where_loops_run_together():
    rng = random.Random(7)
    assert sum(changed_and_compared(graph, fills, 12, rng)[1] for graph, fills in chained()) > 100


# Stored steps that read their own cell: what comes after them is in no chain with what comes before.
FAR = "v = {}\nfor _ in range(27):\n    v = manifest(sqrt(v) + 1)\n"
# Programs in which storing x changes what becomes of loops that neither make nor read it.
FAR_CHANGES = {
    "a number is there earlier": """
n = reduce_max(w)
x = sqrt(w) * n
e = extend(manifest(sqrt(u)), "outflow")
a = manifest(e[+1, 0] + e)
"""
    + FAR.format("manifest(a[0, +1] * n)")
    + "u.next = v + x",
    "a loop belongs to an earlier chain": """
own = manifest(sqrt(w) + u[+1, 0])
g = manifest(sqrt(u[+1, 0]))
x = sqrt(u[0, +1] * 3)
s = reduce_sum(manifest(g[+1, 0] * x[+1, 0]))
"""
    + FAR.format("manifest(own * s)")
    + "u.next = v + x[+1, 0]",
    "a loop may move into a later chain no longer": """
own = manifest(sqrt(w) + u[+1, 0])
g = manifest(sqrt(u[+1, 0]))
x = sqrt(w) * 3
s = reduce_sum(manifest(g[+1, 0] * 2))
"""
    + FAR.format("manifest(own * s)")
    + "u.next = v + x + g[+1, 0]",
    "ghost cells are too many for a chain": """
e = extend(manifest(sqrt(u + w)), "outflow")
p = manifest(e[+1, 0] + e[-1, 0])
x = sqrt(e[+9, 0]) * reduce_max(p)
u.next = x[+9, 0] + p
""",
    "ghost cells are filled earlier": """
k = manifest(sqrt(u + w))
x = sqrt(extend(k, "outflow")[+1, 0])
other = manifest(k * 2)
r = manifest(x + other)
u.next = extend(other, "outflow")[+1, 0] * r
""",
    "what a loop makes comes later": """
f = manifest(sqrt(u))
x = sqrt(w)
q = manifest(sqrt(f))
r = manifest(sqrt(x))
p = manifest(r[+1, 0] * 2)
u.next = p + q[+1, 0]
""",
    "a copy belongs to another loop": """
x = sqrt(u) + 1
u.next = sqrt(x)
copied = field("copied", boundary="outflow")
copied.next = w
""",
}


@pytest.mark.usefixtures("walks_again")
@pytest.mark.parametrize("lines", FAR_CHANGES.values(), ids=FAR_CHANGES)
def test_a_change_is_noticed_where_it_changes_other_loops(lines):
    fields = 'u, w = field("u", boundary="outflow"), field("w", boundary="outflow")'
    plan = plan_graph(wb.trace(f"{fields}{lines}", name="far").graph)
    estimate, _ = estimate_of(plan, through_fills=True)
    (x,) = (i for i, node in enumerate(plan.main.kernel.nodes) if "x" in node.names)
    stored, recomputed = (
        estimate.of(search._changed(plan.main.storage, (x,), to)) for to in (Storage.MANIFEST, Storage.DELAYED)
    )
    assert stored.parts != recomputed.parts or stored.chained.together != recomputed.chained.together
    assert_alike(estimate.of(stored.storage, recomputed, (x,)), stored)
    assert_alike(estimate.of(recomputed.storage, stored, (x,)), recomputed)


def mesh(rng):
    """Values over a plane, each of a few before it, some filled anew outside and some with a number that all need."""
    names = ["u", "v"]
    lines = ['u, v = field("u", boundary="outflow"), field("v", boundary="periodic")']
    for number in range(rng.randint(10, 30)):
        a, b, c = (rng.choice(names[-6:]) for _ in range(3))
        reads = [f"{name}[{rng.randint(-2, 2)}, {rng.randint(-2, 2)}]" for name in (a, b)]
        formula = f"{reads[0]} + {reads[1]} * {c}"
        if rng.random() < 0.15:
            formula = f'extend({formula}, "{rng.choice(("outflow", "periodic"))}")'
        if rng.random() < 0.08:
            formula += f" + reduce_max({a})"
        lines.append(f"w{number} = {formula}")
        names.append(f"w{number}")
    sums = [" + ".join(names[k::2]) for k in (0, 1)]
    return wb.trace("\n".join([*lines, f"u.next, v.next = {sums[0]}, {sums[1]}"]), name="mesh").graph


@pytest.mark.proof(seeds=range(3000), batch=300, sample=40)
@pytest.mark.usefixtures("walks_again")
def test_estimates_of_random_programs_are_those_from_nothing(proof_seeds):
    changes = chains = 0
    for seed in proof_seeds:
        rng = random.Random(seed)
        made = mesh(rng) if seed % 2 else random_program(seed, nodes=(40, 90))[0]
        for fills in (False, True):
            more = changed_and_compared(made, fills, 15, rng)
            changes, chains = changes + more[0], chains + more[1]
    assert changes > len(proof_seeds)
    assert chains > len(proof_seeds)


@pytest.mark.parametrize("program", [smoothed, smoothed_in_two_dimensions])
def test_a_change_of_one_value_looks_at_no_more_in_a_longer_program(program, monkeypatch):
    looked = Counter()

    def counted(name, whole):
        def counting(*arguments):
            looked[name] += 1
            return whole(*arguments)

        return counting

    for owner, name in ((placing._Turn, "put"), (Ordering, "_may_join"), (ChainSearch, "chain")):
        monkeypatch.setattr(owner, name, counted(name, getattr(owner, name)))
    found = []
    for times in (12, 36):
        plan = plan_graph(program(times).graph)
        estimate, free = estimate_of(plan)
        base = estimate.of([Storage.MANIFEST if i in free else s for i, s in enumerate(plan.main.storage)])
        looked.clear()
        for node in free:
            estimate.of(search._changed(base.storage, (node,), Storage.DELAYED), base, (node,))
        found.append({name: calls / len(free) for name, calls in looked.items()})
    print(found)
    assert {"put", "_may_join"} <= found[0].keys() == found[1].keys()
    assert all(found[1][name] < 1.2 * calls for name, calls in found[0].items())


def test_a_long_loop_is_not_walked_through_anew_because_one_of_its_roots_changes(monkeypatch):
    turn = "    w = sqrt(u[+1] * (i + 0.5) + u[-1])\n    v = v + w[+1] * w[-1]\n"
    made = wb.trace(f'u = field("u", boundary="periodic")\nv = u\nfor i in range(40):\n{turn}u.next = v', name="long")
    plan = plan_graph(made.graph)
    estimate, _ = estimate_of(plan)
    roots = [i for i, node in enumerate(plan.main.kernel.nodes) if "w" in node.names]
    base = estimate.of(search._changed(plan.main.storage, roots, Storage.MANIFEST))
    monkeypatch.setattr(walking.Walking, "of", None)  # from nothing
    for node in roots[1:]:  # a loop goes by its first root
        trial = estimate.of(search._changed(base.storage, (node,), Storage.DELAYED), base, (node,))
        assert estimate.of(base.storage, trial, (node,)).bodies == base.bodies


def test_the_change_of_no_single_value_gains_anything_after_a_search():
    """What was refused is tried again once another change is made: that may be worth it only then."""
    changes = 0
    for seed in (5, 9, 21, 31, 37):
        plan = plan_graph(mesh(random.Random(seed)))
        assert not plan.main.search_ended
        estimate, free = estimate_of(plan)
        found = estimate.of(plan.main.storage)
        times = found.times()
        for node in free:
            is_stored = found.storage[node] is Storage.MANIFEST
            if is_stored or times[node] > 1:
                other = search._changed(found.storage, (node,), Storage.DELAYED if is_stored else Storage.MANIFEST)
                assert estimate.of(other, found, (node,)).cost > found.cost - 1e-6, (seed, node)
                changes += 1
    assert changes > 100


def test_a_value_whose_only_user_may_be_stored_instead_is_not_tried(monkeypatch):
    graphs = [wb.solvers.hydro.machine(2).graph, wb.solvers.shallow_water.machine(1).graph]
    plans = [plan_graph(graph) for graph in (*graphs, *(random_graph(seed) for seed in range(40)))]
    searches = [(*estimate_of(plan)[::-1], plan.main.storage) for plan in plans]

    def found():
        """The costs and the efforts of all searches."""
        results = []
        for free, estimate, storage in searches:
            estimate.effort = 0
            wanted = [None if i in free else each for i, each in enumerate(storage)]
            cost = estimate.of(search.cheapest_allocation(estimate, wanted).storage).cost
            results.append((cost, estimate.effort))
        return results

    quick = found()
    monkeypatch.setattr(search._Descent, "_is_taken_up", lambda descent, node: False)
    whole = found()
    assert [cost for cost, _ in quick] == [cost for cost, _ in whole]
    assert all(less <= more for (_, less), (_, more) in zip(quick, whole, strict=True))
    assert all(less < 0.75 * more for (_, less), (_, more) in zip(quick[:2], whole[:2], strict=True))


def test_only_users_compute_with_a_value_at_its_cell_and_take_no_more_to_store():
    lines = """
u, half = field("u", boundary="periodic"), field("half", dtype="f32", boundary="periodic")
alone = 2 * u  # its square is all that takes it
moved = 3 * u  # taken beside its cell
twice = 4 * u  # taken by two
narrow = 5 * half  # its user is twice as long
u.next = alone * alone + moved[+1] + (twice + 1) * (twice - 1) + astype(narrow, "f64") * u
half.next = half
"""
    estimate, _ = estimate_of(plan_graph(wb.trace(lines, name="users").graph))
    nodes = estimate.kernel.nodes
    named = {name: i for i, node in enumerate(nodes) for name in node.names}
    square = next(i for i, n in enumerate(nodes) if n.operands == (named["alone"], named["alone"]))
    assert estimate.only_users[named["alone"]] == square
    assert [estimate.only_users[named[name]] for name in ("moved", "twice", "narrow")] == [-1, -1, -1]


def test_a_search_tries_no_change_twice(monkeypatch):
    tried, whole = [], Estimate.of

    def noted(self, storage, base=None, changed=()):
        tried.append((self, tuple(storage), tuple(changed)))
        return whole(self, storage, base, changed)

    monkeypatch.setattr(Estimate, "of", noted)
    plan_graph(smoothed(30).graph)
    changes = [(id(estimate), storage) for estimate, storage, changed in tried if changed]
    assert len(changes) > 20
    # Two ways may lead to one allocation: a frontier of some values, or one of them after the others.
    assert len(changes) - len(set(changes)) <= 2


def test_an_interrupt_ends_planning_at_once_and_leaves_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))  # where an earlier run of the tests has left its plan
    machine, whole, calls = smoothed(25), Estimate.of, []

    def interrupted(self, *arguments):
        calls.append(self)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return whole(self, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(Estimate, "of", interrupted)
        with pytest.raises(KeyboardInterrupt):
            machine.plan()
    assert len(calls) == 3
    assert str(machine.plan()) == str(plan_graph(machine.graph))


def test_a_weight_may_be_a_whole_number(monkeypatch):
    """As that of an operator on dd: Python 3.11 asks floats alone whether they are whole."""
    monkeypatch.setattr(walking, "weight_of_cell", lambda kernel, index: 3)
    plan = plan_graph(smoothed(2).graph)
    assert walking.Walking(plan.main.kernel, find_margins(plan.main.kernel, live_nodes(plan.main.kernel))).are_exact
