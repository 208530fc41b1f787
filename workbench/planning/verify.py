"""Verify: named checks that a plan keeps its promises; they look at the finished plan only, not at how it was made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from workbench.errors import PlanError
from workbench.graph import Extend, Kernel, Load, Reduce, value_name
from workbench.graph.instructions import places_of_arrays
from workbench.planning.axes import along, axes_of, in_frame, kept_axes, loop_margins
from workbench.planning.emission import EMISSION_LIMIT, STORED, Emission, box_of, direct_needs, reductions_below
from workbench.planning.grouping import loop_of
from workbench.planning.kernel_plan import KernelPlan, Margins, Step, Storage, Subkernel
from workbench.planning.plan import Plan
from workbench.planning.reach import Offset, moved, no_margins, rank_of, union
from workbench.planning.reads import emission_in
from workbench.planning.slot_contents import misread_slots

Found = Iterator[str]


@dataclass(frozen=True, slots=True)
class Fault:
    """A promise that a plan breaks: which check found it, in which step, and what is wrong."""

    check: str
    step: str
    what: str

    def __str__(self) -> str:
        return f"{self.check} ({self.step}): {self.what}"


def verify_plan(plan: Plan) -> None:
    """Raise PlanError with every broken promise; a sound plan returns. For tests and for plans read from files."""
    faults = find_faults(plan)
    if faults:
        raise PlanError("\n".join(map(str, faults)), advice="Report this plan; passes never make one like it.")


def find_faults(plan: Plan) -> tuple[Fault, ...]:
    """Return all that CHECKS find in all steps of all kernels."""
    faults = [Fault(check, "plan", what) for check, run in PLAN_CHECKS for what in run(plan)]
    for kernel in plan.kernels:
        steps = {"plain": kernel.plain}
        if kernel.has_diagnostics:
            steps["observed"] = kernel.observed
        for name, step in steps.items():
            view = StepView(plan, kernel, step)
            where = f"{kernel.kernel.name}, {name}"
            faults += [Fault(check, where, what) for check, run in STEP_CHECKS for what in run(view)]
    return tuple(faults)


class StepView:
    """A step with what the checks ask about it."""

    def __init__(self, plan: Plan, kernel: KernelPlan, step: Step) -> None:
        self.plan, self.plans, self.step = plan, kernel, step
        self.kernel: Kernel = kernel.kernel
        self.dim = plan.graph.dim
        self.made_by = {h.node: s for s in step.subkernels for h in s.outputs}
        self.reduced_by = {r: s for s in step.subkernels for r in s.reductions}
        self.filled = {f.node: f for f in step.fills}

    def name(self, node: int) -> str:
        """What to call a node."""
        return value_name(self.kernel, node)

    def emission(self, subkernel: Subkernel) -> Emission:
        """What the sub-kernel's body consists of."""
        return emission_in(self.plans, self.step, subkernel)

    def available(self, node: int) -> Margins:
        """How far outside a stored node may be read in this step."""
        if node in self.filled:
            return self.filled[node].margins
        if node in self.made_by and not isinstance(self.kernel.nodes[node].instruction, Load):
            return self.made_by[node].margins
        return no_margins(rank_of(self.kernel, node))

    def needed_of(self, subkernel: Subkernel, node: int) -> Margins:
        """How far beyond the domain a loop goes along the axes of a value that it reads at its own cell."""
        outside = in_frame(loop_margins(subkernel, self.dim), subkernel.axes, self.dim)
        return along(outside, axes_of(self.kernel.nodes[node].space, self.kernel.space))

    def group_of(self, need: int) -> int:
        """The last sub-kernel that must have run before the value is there; -1 if none."""
        instruction = self.kernel.nodes[need].instruction
        if isinstance(instruction, Load):
            return -1
        if isinstance(instruction, Extend):
            return max(self.group_of(n) for n in direct_needs(self.kernel, self.plans.storage, need))
        maker = (self.reduced_by if isinstance(instruction, Reduce) else self.made_by).get(need)
        return len(self.step.subkernels) if maker is None else maker.index


def _slots_begin_with_fields(plan: Plan) -> Found:
    for index, field in enumerate(plan.graph.arrays):
        if index >= len(plan.slots) or plan.slots[index].field != field.name:
            yield f"slot {index} is not field {field.name}"
        elif plan.slots[index].axes != axes_of(field.space, plan.graph.space):
            yield f"slot {index} has other axes than {field.name}"
        elif plan.slots[index].itemsize != field.type.itemsize:
            yield f"slot {index} has items of {plan.slots[index].itemsize} bytes, {field.name} has {field.type}"
    for number, slot in enumerate(plan.slots):
        if slot.index != number:
            yield f"slot {number} is numbered {slot.index}"


def _global_slots_are_complete(plan: Plan) -> Found:
    statics = [s.name for s in plan.graph.statics if s.role != "field"]
    if [g.name for g in plan.global_slots if g.is_static] != statics:
        yield "params and scalars are not in the order of the graph's statics"
    reduced = {(g.kernel, g.node) for g in plan.global_slots if g.role == "reduction"}
    for kernel in plan.graph.kernels:
        for index, node in enumerate(kernel.nodes):
            if isinstance(node.instruction, Reduce) and (kernel.name, index) not in reduced:
                yield f"the reduction at node {index} of {kernel.name} has no slot"


def _halo_covers_margins(plan: Plan) -> Found:
    for kernel in plan.kernels:
        for step in (kernel.plain, kernel.observed):
            dim, nodes = plan.graph.dim, kernel.kernel.nodes
            loops = [in_frame(loop_margins(s, dim), s.axes, dim) for s in step.subkernels]
            spaces = [axes_of(nodes[f.node].space, plan.graph.space) for f in step.fills]
            fills = [in_frame(f.margins, axes, dim) for f, axes in zip(step.fills, spaces, strict=True)]
            for margins in (*loops, *fills):
                if not covers(plan.halo, margins):
                    yield f"halo {plan.halo} is smaller than the margins {margins} in {kernel.kernel.name}"


def _storage_is_legal(view: StepView) -> Found:
    storage = view.plans.storage
    for index, node in enumerate(view.kernel.nodes):
        if storage[index] is Storage.ROLLING:
            yield f"{view.name(index)} is Rolling, which no schedule supports"
        if node.is_global != (storage[index] is Storage.GLOBAL):
            yield f"{view.name(index)} is {storage[index].value}"
        for operand in (node.operands[number] for number in places_of_arrays(node.instruction)):
            if view.kernel.nodes[operand].is_local and storage[operand] not in STORED:
                yield f"{view.name(operand)} must be an array but is {storage[operand].value}"


def _everything_is_made_once(view: StepView) -> Found:
    wanted = [h.node for h in view.step.homes if view.plans.storage[h.node] is Storage.MANIFEST]
    groups = [{h.node for h in s.outputs} for s in view.step.subkernels]
    for node in wanted:
        if sum(node in g for g in groups) != 1:
            yield f"{view.name(node)} is made by {sum(node in g for g in groups)} sub-kernels"
    for subkernel in view.step.subkernels:
        for home in subkernel.outputs:
            if view.plans.storage[home.node] not in STORED:
                yield f"{subkernel.name} stores {view.name(home.node)}, which is Delayed"
    reductions = [r for s in view.step.subkernels for r in s.reductions]
    if sorted(reductions) != sorted(f.node for f in view.step.finishers) or len(set(reductions)) != len(reductions):
        yield f"reductions {reductions} have finishers {[f.node for f in view.step.finishers]}"


def _groups_follow_their_needs(view: StepView) -> Found:
    for subkernel in view.step.subkernels:
        for root in (*(h.node for h in subkernel.outputs), *subkernel.reductions):
            for need in direct_needs(view.kernel, view.plans.storage, root):
                if view.group_of(need) >= subkernel.index:
                    yield f"{view.name(root)} is in sub-kernel {subkernel.index} but needs {view.name(need)}"


def _margins_cover_reads(view: StepView) -> Found:
    for subkernel in view.step.subkernels:
        for read in subkernel.reads:
            least, largest = zip(*read.box, strict=True)
            outside = view.needed_of(subkernel, read.node)
            needed = union(*(moved(outside, tuple(-offset for offset in corner)) for corner in (least, largest)))
            if read.anywhere and not any(map(any, read.box)):  # on the domain of the value alone
                continue
            if not covers(view.available(read.node), needed):
                yield f"{subkernel.name} reads {view.name(read.node)} at {read.box} beyond {view.available(read.node)}"


def _reads_are_listed(view: StepView) -> Found:
    for subkernel in view.step.subkernels:
        emission = view.emission(subkernel)
        places: dict[int, list[Offset]] = {}
        for node, offset in emission.reads:
            places.setdefault(node, []).append(offset)
        real = {node: (box_of(found), node in emission.anywhere) for node, found in places.items()}
        listed = {read.node: (read.box, read.anywhere) for read in subkernel.reads}
        if real != listed or len(listed) != len(subkernel.reads):
            yield f"{subkernel.name} reads {dict(sorted(real.items()))} but lists {listed}"


def _reductions_see_the_domain_only(view: StepView) -> Found:
    for subkernel in view.step.subkernels:
        if subkernel.reductions and any(map(any, subkernel.margins)):
            yield f"{subkernel.name} reduces over the margins {subkernel.margins}"


def _loops_have_the_axes_of_their_values(view: StepView) -> Found:
    for subkernel in view.step.subkernels:
        for home in subkernel.outputs:
            if loop_of(view.kernel, home.node) != (subkernel.axes, subkernel.reduced, subkernel.alone):
                yield f"{subkernel.name} makes {view.name(home.node)}, which has a loop over other axes"
        for reduction in subkernel.reductions:
            if loop_of(view.kernel, reduction) != (subkernel.axes, subkernel.reduced, subkernel.alone):
                yield f"{subkernel.name} reduces {view.name(reduction)}, which has a loop over other axes"
        if len(subkernel.margins) != len(kept_axes(subkernel, view.dim)):
            yield f"{subkernel.name} has margins along {len(subkernel.margins)} axes"


def _slots_have_the_axes_of_their_values(view: StepView) -> Found:
    slots = view.plan.slots
    fills = [(f.node, s) for f in view.step.fills for s in (f.source, f.target)]
    reads = [(r.node, r.slot) for s in view.step.subkernels for r in s.reads]
    written = [(h.node, h.slot) for s in view.step.subkernels for h in s.outputs]
    for node, slot in (*fills, *reads, *written):
        instruction, space = view.kernel.nodes[node].instruction, view.kernel.nodes[node].space
        if isinstance(instruction, Load) and instruction.along:  # the array of the particles' own axis
            space = view.plan.graph.static(instruction.name).space
        if slots[slot].axes != axes_of(space, view.kernel.space):
            yield f"slot {slot} has other axes than {view.name(node)}"


def _launches_hold_everything_once(view: StepView) -> Found:
    kinds = {"fill": view.step.fills, "subkernel": view.step.subkernels, "finisher": view.step.finishers}
    for kind, things in kinds.items():
        members = [m for launch in view.step.launches if launch.kind == kind for m in launch.members]
        if members != list(range(len(things))):
            yield f"launches run {kind}s {members} of {len(things)}"


def _launches_are_in_order(view: StepView) -> Found:
    if any(_launches_hold_everything_once(view)):
        return  # that check reports it
    finished: set[int] = set()
    for launch in view.step.launches:
        if launch.kind == "finisher":
            finished |= {view.step.finishers[m].node for m in launch.members}
            continue
        for member in launch.members:
            if launch.kind == "fill":
                node = view.kernel.nodes[view.step.fills[member].node]
                numbers = reductions_below(view.kernel, node.operands[1:])
                name = f"the fill of {view.name(view.step.fills[member].node)}"
            else:
                numbers = reductions_below(view.kernel, view.emission(view.step.subkernels[member]).globals)
                name = view.step.subkernels[member].name
            for number in sorted(numbers - finished):
                yield f"{name} reads {view.name(number)} before it is finished"


def _slots_hold_what_is_read(view: StepView) -> Found:
    if any(_launches_hold_everything_once(view)):
        return
    yield from misread_slots(view.plan, view.plans, view.step)


def _rotation_is_a_permutation(view: StepView) -> Found:
    rotation = view.step.rotation
    if sorted(rotation) != list(range(len(view.plan.slots))):
        yield f"rotation {rotation} is no permutation of {len(view.plan.slots)} slots"
        return
    for slot, source in enumerate(rotation):
        if view.plan.slots[slot].itemsize != view.plan.slots[source].itemsize:
            yield f"rotation moves slot {source} to {slot}, whose items have another size"
        if view.plan.slots[slot].axes != view.plan.slots[source].axes:
            yield f"rotation moves slot {source} to {slot}, which has other axes"


def _emission_is_bounded(view: StepView) -> Found:
    for subkernel in view.step.subkernels:
        count = len(view.emission(subkernel).operations)
        if count != subkernel.emitted:
            yield f"{subkernel.name} predicts {subkernel.emitted} operations of {count}"
        if count > EMISSION_LIMIT:
            yield f"{subkernel.name} holds {count} operations"


def _scalars_are_stored(view: StepView) -> Found:
    scalars = {g.name: g.index for g in view.plan.global_slots if g.role == "scalar"}
    stores = {scalars[name]: value for name, value in view.kernel.stores() if name in scalars}
    for store in view.step.scalar_stores:
        if stores.pop(store.slot, None) != store.node:
            yield f"Global slot {store.slot} takes node {store.node}"
    if stores and view.step is view.plans.observed:
        yield f"Global slots {sorted(stores)} are not stored"


def covers(available: Margins, needed: Margins) -> bool:
    """Whether margins reach at least as far as others on every side."""
    return all(a[0] >= n[0] and a[1] >= n[1] for a, n in zip(available, needed, strict=True))


PLAN_CHECKS: tuple[tuple[str, Callable[[Plan], Found]], ...] = (
    ("slots begin with the fields", _slots_begin_with_fields),
    ("every Global has a slot", _global_slots_are_complete),
    ("the halo covers all margins", _halo_covers_margins),
)
STEP_CHECKS: tuple[tuple[str, Callable[[StepView], Found]], ...] = (
    ("storage is legal", _storage_is_legal),
    ("every value is made once", _everything_is_made_once),
    ("groups follow what they need", _groups_follow_their_needs),
    ("margins cover every read", _margins_cover_reads),
    ("every read is listed", _reads_are_listed),
    ("reductions see the domain only", _reductions_see_the_domain_only),
    ("loops have the axes of their values", _loops_have_the_axes_of_their_values),
    ("slots have the axes of their values", _slots_have_the_axes_of_their_values),
    ("launches hold everything once", _launches_hold_everything_once),
    ("Globals are finished before they are read", _launches_are_in_order),
    ("slots hold what is read", _slots_hold_what_is_read),
    ("the rotation is a permutation", _rotation_is_a_permutation),
    ("the operations are as predicted", _emission_is_bounded),
    ("scalars are stored", _scalars_are_stored),
)
