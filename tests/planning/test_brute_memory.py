"""Memory against brute force: who is written when and last read when, listed naively; arrays in one slot never meet."""

from dataclasses import dataclass, field, replace
from math import inf

from tests.planning.random_graphs import random_choices, random_graph
from tests.planning.small_graphs import assignments, small_graph
from tests.planning.walk import reads_of
from workbench.graph import Extend, Load
from workbench.planning import plan_graph


@dataclass
class Lifetime:
    """An array of one step: its slot, the launch that writes it (-1: there from the start), and every use of it.

    uses: (launch, reader, at other cells too); the reader is a sub-kernel's number, "fill" or "end".
    """

    slot: int
    born: int
    what: str
    uses: list = field(default_factory=list)

    @property
    def last(self):
        return max((launch for launch, *_ in self.uses), default=self.born)


def plans():
    found = [(f"small {seed}", plan) for seed in range(16) for _, plan in assignments(small_graph(seed), most=4)]
    for seed in range(60):
        graph = random_graph(seed)
        found.append((f"random {seed}", plan_graph(graph, random_choices(graph, seed))))
    return found


def lifetimes(plan, each, step):
    """All arrays of a step, by following its launches; AssertionError where a read finds no array or another one."""
    kernel = each.kernel
    loads = dict(kernel.loads())
    arrays = [Lifetime(s, -1, f.name) for s, f in enumerate(plan.graph.fields)]
    holder = {loads[f.name]: arrays[s] for s, f in enumerate(plan.graph.fields) if f.name in loads}
    to_fill = {f.node for f in step.fills}
    copies = []

    def find(node):
        """The array that has a node's values; an Extend nobody fills is its operand."""
        is_plain_extend = isinstance(kernel.nodes[node].instruction, Extend) and node not in to_fill
        return holder[kernel.nodes[node].operands[0] if is_plain_extend else node]

    def use(node, slot, number, reader, elsewhere):
        array = find(node)
        assert array.slot == slot, f"node {node} is in slot {array.slot}, read from {slot}"
        array.uses.append((number, reader, elsewhere))

    for number, launch in enumerate(step.launches):
        new = {}
        for member in launch.members:
            if launch.kind == "fill":
                fill = step.fills[member]
                use(kernel.nodes[fill.node].operands[0], fill.source, number, "fill", True)
                if fill.source == fill.target:
                    new[fill.node] = find(kernel.nodes[fill.node].operands[0])
                else:
                    new[fill.node] = Lifetime(fill.target, number, f"copy for node {fill.node}")
                    arrays.append(new[fill.node])
            elif launch.kind == "subkernel":
                loop = step.subkernels[member]
                slots = {h.node: h.slot for h in loop.reads}
                for node, cell in reads_of(kernel, step, loop)[0]:
                    use(node, slots[node], number, member, any(cell))
                for home in loop.outputs:
                    array = Lifetime(home.slot, number, f"node {home.node}")
                    arrays.append(array)
                    if home.node in new or isinstance(kernel.nodes[home.node].instruction, Load):
                        copies.append((home.node, array))
                    else:
                        new[home.node] = array
        holder |= new
    finish(plan, each, step, arrays, holder, copies)
    return arrays


def finish(plan, each, step, arrays, holder, copies):
    """Every field needs the array that it is afterwards, to the end; it must have the value that is stored."""
    stored = dict(each.kernel.stores())
    taken = set()
    for slot, name in enumerate(f.name for f in plan.graph.fields):
        value = stored.get(name, dict(each.kernel.loads()).get(name))
        possible = [arrays[slot]] if value is None else [holder[value], *(a for n, a in copies if n == value)]
        final = [a for a in possible if a.slot == step.rotation[slot]]
        assert final, f"field {name} ends in slot {step.rotation[slot]}, which never had its value"
        final[0].uses.append((inf, "end", True))
        taken.add(step.rotation[slot])
    assert len(taken) == len(plan.graph.fields), "two fields end in one slot"


def in_place(old, new):
    """Whether a loop may write where it reads: it alone reads in that launch, and only the cell that it writes."""
    there = [(reader, elsewhere) for launch, reader, elsewhere in old.uses if launch == new.born]
    return old.last == new.born and len({reader for reader, _ in there}) == 1 and not any(e for _, e in there)


def test_arrays_in_one_slot_never_meet():
    pairs = placed = 0
    for name, plan in plans():
        for each in plan.kernels:
            for step in (each.plain, each.observed):
                arrays = lifetimes(plan, each, step)
                for old in arrays:
                    for new in arrays:
                        if (
                            old is new
                            or old.slot != new.slot
                            or (old.born, arrays.index(old)) > (new.born, arrays.index(new))
                        ):
                            continue
                        pairs += 1
                        free = old.last < new.born or in_place(old, new)
                        assert free, f"{name}: {new.what} is put over {old.what}, which is still read"
                        placed += old.last == new.born
    print(f"{pairs} pairs of arrays in one slot, {placed} in place")
    assert pairs > 150
    assert placed > 20


def most_alive(arrays):
    """Arrays alive at once at the worst launch: less than these no memory can do. One written in place counts once."""
    launches = {a.born for a in arrays}
    found = 0
    for now in launches:
        alive = [a for a in arrays if a.born <= now <= a.last]
        moved = sum(any(in_place(old, new) for old in arrays if old.born < now) for new in alive if new.born == now)
        found = max(found, len(alive) - moved)
    return found


def test_slots_are_few():
    """One slot more than arrays alive at once at most; exactly as many in nearly all steps with one type of array."""
    exact = total = 0
    for name, given in plans():
        # Values that roll keep the arrays that their chain reads; of those `Plan.array_slots` tells.
        choices = replace(given.choices, plan=given.choices.plan.changed(loops="apart"))
        plan = plan_graph(given.graph, choices)
        if len(plan.kernels) > 1 or len({s.itemsize for s in plan.slots}) > 1 or plan.main.has_diagnostics:
            continue
        arrays = lifetimes(plan, plan.main, plan.main.plain)
        needed = max(most_alive(arrays), len(plan.graph.fields))
        assert needed <= len(plan.slots) <= needed + 1, f"{name}: {len(plan.slots)} slots, {needed} arrays at once"
        exact += len(plan.slots) == needed
        total += 1
    print(f"{total} steps, as few slots as possible in {exact}")
    assert total > 25
    assert exact >= 0.8 * total
