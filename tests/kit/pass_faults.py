"""Wrong edits of planning's passes; each must be noticed by the symbolic executor and, where it can, by the checks.

Known faults of Paraiso's generator (systems' notes §4) are marked with [P].
"""

from dataclasses import dataclass, replace

from workbench.graph import Extend, Load
from workbench.planning import allocation, assembly, emission, fields, grouping, memory, passes, reach, simplify
from workbench.planning.kernel_plan import Storage
from workbench.planning.schedules import stepwise


@dataclass(frozen=True)
class PassFault:
    """`edit(patch)` installs the fault with patch(module, name, value)."""

    name: str
    edit: object
    graph: str = "random"  # or "simplify": needs constants


def _after(function, change):
    return lambda *a, **k: change(function(*a, **k))


def _moved_backwards(margins, offset):
    return tuple((max(m[0] - o, 0), max(m[1] + o, 0)) for m, o in zip(margins, offset, strict=True))


def _moved_one_short(margins, offset):
    return tuple((max(m[0] + o - 1, 0), max(m[1] - o - 1, 0)) for m, o in zip(margins, offset, strict=True))


def _no_margins(margins):
    return tuple(((0, 0),) * len(m) for m in margins)


def _free_though_neighbours_read(self, slot, number, subkernel):
    return self.occupant[slot].last <= number


def _second_rules_share(kernel, step):
    aliases, filled = memory_aliased(kernel, step)
    return aliases | filled, filled


def _ghosts_round_values_needed_outside(kernel, step):
    aliases, filled = memory_aliased(kernel, step)
    by_operand = {kernel.nodes[e].operands[0]: e for e in filled - aliases}
    return aliases | frozenset(by_operand.values()), filled


memory_aliased = memory.aliased_extends


def _all_copies_rotate(ends):
    return tuple(replace(e, way="rotate") if e.way == "copy" else e for e in ends)


def _kept_fields_lose_their_array(graph, kernel):
    ends = list(fields.end_fields(graph, kernel))
    stored = dict(kernel.stores())
    for i, end in enumerate(ends):
        node = stored.get(end.field)
        if end.way == "copy" and node is not None and isinstance(kernel.nodes[node].instruction, Load):
            ends[i] = replace(end, way="rotate")
    return tuple(ends)


def _no_wait_for_reductions(kernel, storage, root):
    needs = emission.direct_needs(kernel, storage, root)
    return frozenset(n for n in needs if storage[n] is not Storage.GLOBAL)


def _extends_dropped_by_direct_use(graph):
    def rule(builder, node, operands):
        bare = [builder.node(o).operands[0] if isinstance(builder.node(o).instruction, Extend) else o for o in operands]
        return simplify.copy(builder, node, tuple(bare) if node.is_local else operands)

    return simplify.rewrite(graph, rule)


def _extended_values_delayed(allocation):
    found, forced = allocation
    pairs = zip(found.storage, forced, strict=True)
    changed = (Storage.DELAYED if s is Storage.MANIFEST and "extend" in f else s for s, f in pairs)
    return replace(found, storage=tuple(changed)), forced


def _use_as_if_same_cell(self, launch, subkernel=-1, same_cell=False):
    if launch > self.last:
        self.last, self.readers = launch, set()
    if launch == self.last:
        self.readers.add((subkernel, True))


def _first_axes(kernel, replicate):
    return tuple(range(len(true_projection(kernel, replicate))))


def _folds_with_other_loops(kernel, root):
    return grouping_loop_of(kernel, root)[0], ()


grouping_loop_of, true_projection = grouping.loop_of, reach.projection

FAULTS = (
    PassFault("a Replicate is read at the first of its indices", lambda p: (
        p(emission, "projection", _first_axes), p(reach, "projection", _first_axes))),
    PassFault("a Fold is a loop over what it keeps", lambda p: p(grouping, "loop_of", _folds_with_other_loops)),
    PassFault("[P] a value is grouped before what it needs", lambda p: p(grouping, "_made", lambda *a: -1)),
    PassFault("[P] loops start at the domain whatever the margins", lambda p: p(
        passes, "group_writes", lambda k, s, m, *r: tuple(
            replace(g, margins=((0, 0),) * len(g.margins)) for g in grouping.group_writes(k, s, m, *r)))),
    PassFault("a Shift is followed in the wrong direction", lambda p: p(reach, "moved", _moved_backwards)),
    PassFault("a Shift reaches one cell too little", lambda p: p(reach, "moved", _moved_one_short)),
    PassFault("the last use counts instead of the largest", lambda p: p(reach, "union", lambda a, b: b)),
    PassFault("nothing is needed outside", lambda p: p(
        passes, "find_margins", _after(reach.find_margins, _no_margins))),
    PassFault("values are written over what neighbours read", lambda p: p(
        memory._Placement, "_is_free", _free_though_neighbours_read)),
    PassFault("arrays of fields are used for temporaries at the end", lambda p: p(memory, "inf", -1)),
    PassFault("two sets of rules share one ring of ghost cells", lambda p: (
        p(memory, "aliased_extends", _second_rules_share), p(passes, "aliased_extends", _second_rules_share))),
    PassFault("ghosts are put round a value whose own outside is read", lambda p: (
        p(memory, "aliased_extends", _ghosts_round_values_needed_outside),
        p(passes, "aliased_extends", _ghosts_round_values_needed_outside))),
    PassFault("no ghost cell is filled", lambda p: p(
        passes, "aliased_extends", _after(memory.aliased_extends, lambda r: (r[0], frozenset())))),
    PassFault("fills run before their operand is made", lambda p: p(
        stepwise.Ordering, "_fillable", lambda self, extend: True)),
    PassFault("dependent loops share a launch", lambda p: p(
        stepwise.Ordering, "_may_join", lambda self, *a: bool(self.open) and not a[3])),
    PassFault("reductions are read before they are finished", lambda p: p(
        stepwise, "reductions_below", lambda *a: frozenset())),
    PassFault("a loop does not wait for the reduction that it reads", lambda p: p(
        grouping, "direct_needs", _no_wait_for_reductions)),
    PassFault("fields do not rotate", lambda p: p(
        assembly, "rotation_of", lambda ends, pool: tuple(range(len(pool.types))))),
    PassFault("two fields are given one array", lambda p: p(
        passes, "end_fields", _after(fields.end_fields, _all_copies_rotate))),
    PassFault("a field takes the array of a field that keeps it", lambda p: p(
        passes, "end_fields", _kept_fields_lose_their_array)),
    PassFault("reads are not followed through Shift", lambda p: p(
        memory._Array, "use", _use_as_if_same_cell)),
    PassFault("the operand of extend() is recomputed", lambda p: p(
        passes, "choose_allocation", _after(allocation.choose_allocation, _extended_values_delayed))),
    PassFault("an Extend is dropped wherever it is read unshifted", lambda p: p(
        passes, "simplify", _extends_dropped_by_direct_use)),
)  # fmt: skip
