"""Explain: why two values are, or are not, in one sub-kernel; every reason is one that the grouping really had."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from workbench.errors import PlanError
from workbench.graph import Extend, Load, Reduce, Store, value_name
from workbench.graph.naming import advice_on_names
from workbench.planning.axes import axes_text
from workbench.planning.emission import EMISSION_LIMIT, direct_needs
from workbench.planning.kernel_plan import KernelPlan, Margins, Step, Storage, Subkernel
from workbench.planning.rerolling import seen_by

Reason = Literal["together", "needs", "axes", "margins", "waits", "length", "kernels", "nowhere"]
Role = Literal["made", "recomputed", "read", "ahead"]

_ROLES: dict[Role, str] = {
    "made": "made in",
    "recomputed": "recomputed in",
    "read": "read by",
    "ahead": "recomputed ahead of the loops of",
}


@dataclass(frozen=True, slots=True)
class Membership:
    """In which sub-kernels of a step (indices, ascending) a node takes part, and how."""

    node: int
    role: Role
    subkernels: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why two nodes share a sub-kernel or not, of the observed step.

    reason: "together"; "needs" (`path`: the later value, the stored values between, the earlier value), "axes" and
    "margins" (loops of two kinds or sizes), "waits" (`path`: the later value and what it waits for), "length" (the
    two sub-kernels are too long for one), "kernels" (they belong to two kernels), "nowhere" (one of them is in no
    sub-kernel). `subkernels`: the pair compared, or the one that they share.
    """

    reason: Reason
    text: str
    path: tuple[int, ...] = ()
    subkernels: tuple[int, ...] = ()


def explain(kernel: KernelPlan, first: str, second: str) -> str:
    """Return in words why two named values of a kernel are, or are not, computed in one sub-kernel.

    Raises PlanError for a name that no value of the kernel has.
    """
    a, b = (_find(kernel, name) for name in (first, second))
    return explain_nodes((kernel, a), (kernel, b), (first, second)).text


def explain_value(kernel: KernelPlan, name: str) -> str:
    """Return in words how a named value of a kernel is stored, and which sub-kernels make, recompute and read it.

    Raises PlanError for a name that no value of the kernel has.
    """
    node, step = _find(kernel, name), kernel.observed
    about = membership_of(kernel, step, node)
    reason = f" ({kernel.forced[node]})" if kernel.forced[node] else ""
    readers = [s.index for s in step.subkernels if any(h.node == node for h in s.reads)]
    uses = {_ROLES[about.role]: about.subkernels, _ROLES["read"]: tuple(readers)}
    said = [f"{word} {', '.join(step.subkernels[s].name for s in used)}" for word, used in uses.items() if used]
    where = "; ".join(said) or "in no sub-kernel: only ghost cells, scalars or nothing at all need it"
    return f"{name} is {kernel.storage[node].value}{reason}: {where}."


def explain_nodes(
    first: tuple[KernelPlan, int], second: tuple[KernelPlan, int], names: tuple[str, str] | None = None
) -> Explanation:
    """Return why two nodes of a plan, each with its kernel, share a sub-kernel or not; `names`: what to call them."""
    (one, a), (two, b) = first, second
    name_a, name_b = names or (value_name(one.kernel, a), value_name(two.kernel, b))
    if one.kernel.name != two.kernel.name:
        text = (
            f"{name_a} belongs to kernel {one.kernel.name} and {name_b} to {two.kernel.name}: kernels run one after "
            "another."
        )
        return Explanation("kernels", text)
    memberships = tuple(membership_of(one, one.observed, node) for node in (a, b))
    return _Pair(one, memberships[0], memberships[1], name_a, name_b).explain()


def membership_of(kernel: KernelPlan, step: Step, node: int) -> Membership:
    """Return the sub-kernels that store or reduce a node, recompute it, read its array, or compute it ahead."""
    makers = tuple(s.index for s in step.subkernels if node in s.reductions or node in _outputs(s))
    if makers:
        return Membership(node, "made", makers)
    if kernel.storage[node] in (Storage.EXISTING, Storage.MANIFEST):
        return Membership(node, "read", tuple(s.index for s in step.subkernels if any(h.node == node for h in s.reads)))
    role: Role = "ahead" if kernel.storage[node] is Storage.GLOBAL else "recomputed"
    return Membership(node, role, tuple(s.index for s in step.subkernels if node in evaluated(kernel, step, s)))


def evaluated(kernel: KernelPlan, step: Step, subkernel: Subkernel) -> frozenset[int]:
    """Return the nodes whose formulas a sub-kernel follows, Global arithmetic ahead of its loop included."""
    nodes, storage = kernel.kernel.nodes, seen_by(kernel.storage, step, subkernel)
    made = [h.node for h in subkernel.outputs if not isinstance(nodes[h.node].instruction, Load)]
    waiting = [operand for node in made for operand in nodes[node].operands]
    waiting += [nodes[r].operands[0] for r in subkernel.reductions]
    found: set[int] = set(made)
    while waiting:
        node = waiting.pop()
        stored = storage[node] in (Storage.EXISTING, Storage.MANIFEST)
        if node not in found and not stored and not isinstance(nodes[node].instruction, Reduce):
            found.add(node)
            waiting.extend(nodes[node].operands)
    return frozenset(found)


def _outputs(subkernel: Subkernel) -> frozenset[int]:
    return frozenset(h.node for h in subkernel.outputs)


def _find(kernel: KernelPlan, name: str) -> int:
    """The node that a person means: the value that is stored if a field is named that carries no name itself."""
    node = kernel.kernel.find(name)
    if node is None:
        node = dict(kernel.kernel.stores()).get(name)
    if node is None or isinstance(kernel.kernel.nodes[node].instruction, Store):
        raise PlanError(f"no value of {kernel.kernel.name} is called {name!r}", advice=advice_on_names([kernel.kernel]))
    return node


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two nodes of one kernel."""

    kernel: KernelPlan
    a: Membership
    b: Membership
    name_a: str
    name_b: str

    @property
    def step(self) -> Step:
        return self.kernel.observed

    def explain(self) -> Explanation:
        about = self._about()
        for membership, name in ((self.a, self.name_a), (self.b, self.name_b)):
            if not membership.subkernels:
                text = f"{name} is in no sub-kernel: only ghost cells, scalars or nothing at all need it."
                return Explanation("nowhere", text)
        common = tuple(sorted(set(self.a.subkernels) & set(self.b.subkernels)))
        if common:
            return self._together(common, about)
        # Of all pairs of sub-kernels that the values are in, the nearest two.
        pairs = [(abs(i - j), i, j) for i in self.a.subkernels for j in self.b.subkernels]
        _, i, j = min(pairs)
        both_made = self.a.role == self.b.role == "made"
        early, late = sorted((i, j))
        names = (self.name_a, self.name_b) if i < j else (self.name_b, self.name_a)
        if both_made:
            roots = (self.a.node, self.b.node) if i < j else (self.b.node, self.a.node)
            return self._apart(early, late, roots, names, "")
        return self._apart_subkernels(early, late, about)

    def _about(self) -> str:
        """What is to be said of values that are not made by one sub-kernel."""
        said = []
        for membership, name in dict.fromkeys(((self.a, self.name_a), (self.b, self.name_b))):
            if membership.role != "made" and membership.subkernels:
                storage = self.kernel.storage[membership.node].value
                forced = self.kernel.forced[membership.node]
                reason = f" ({forced})" if forced else ""
                where = ", ".join(self._name(s) for s in membership.subkernels)
                said.append(f"{name} is {storage}{reason}: {_ROLES[membership.role]} {where}.")
        return " ".join(said)

    def _together(self, common: tuple[int, ...], about: str) -> Explanation:
        where = ", ".join(self._name(s) for s in common)
        word = "sub-kernel" if len(common) == 1 else "sub-kernels"
        if self.a.node == self.b.node:
            text = about or f"{self.name_a} is made in sub-kernel {where}."
        elif self.a.role == self.b.role == "made":
            text = (
                f"{self.name_a} and {self.name_b} are in {word} {where}: neither needs the other, and their margins "
                "are equal."
            )
        else:
            text = f"{about} {self.name_a} and {self.name_b} are both in {word} {where}."
        return Explanation("together", text, (), common)

    def _apart_subkernels(self, early: int, late: int, about: str) -> Explanation:
        """Two sub-kernels: apart because of their own values, of which a needed one explains most."""
        candidates = [
            self._apart(early, late, (x, y), (self._value(x), self._value(y)), f"{about} ")
            for x in self._roots(early)
            for y in self._roots(late)
        ]
        order: tuple[Reason, ...] = ("needs", "axes", "margins", "waits", "length")
        return min(candidates, key=lambda found: (order.index(found.reason), len(found.path)))

    def _apart(self, early: int, late: int, roots: tuple[int, int], names: tuple[str, str], about: str) -> Explanation:
        """Two values made in different sub-kernels; the earlier one first."""
        pair = (early, late)
        path = self._path(roots[1], roots[0])
        if path is not None:
            through = f" through {', '.join(self._described(n) for n in path)}" if path else ""
            text = f"{about}{names[1]} is in a later sub-kernel than {names[0]}, because it needs {names[0]}{through}."
            return Explanation("needs", text, (roots[1], *path, roots[0]), pair)
        one, two = self.step.subkernels[early], self.step.subkernels[late]
        if (one.axes, one.reduced, one.alone) != (two.axes, two.reduced, two.alone):
            text = (
                f"{about}{names[0]} is made by a loop over {self._axes(one)} and {names[1]} by one over "
                f"{self._axes(two)}: a sub-kernel has one kind of loop."
            )
            return Explanation("axes", text, (), pair)
        if one.margins != two.margins:
            text = (
                f"{about}{names[0]} is needed {_box(one.margins)} cells outside the domain and {names[1]} "
                f"{_box(two.margins)}: a sub-kernel has one size of loop."
            )
            return Explanation("margins", text, (), pair)
        blocker = self._blocker(roots[1], early)
        if blocker is not None:
            made = self._made_in(blocker)
            where = "the same sub-kernel" if made == early else f"the later sub-kernel {self._name(made)}"
            text = (
                f"{about}{names[1]} does not need {names[0]}, but it needs {self._value(blocker)}, which is made in "
                f"{where}{f' as {names[0]}' if made == early else ''}."
            )
            return Explanation("waits", text, (roots[1], blocker), pair)
        text = (
            f"{about}{names[0]} and {names[1]} do not need each other, but their sub-kernels of {one.emitted} and "
            f"{two.emitted} operations together would hold more than {EMISSION_LIMIT}, too many for compilers."
        )
        return Explanation("length", text, (), pair)

    def _roots(self, subkernel: int) -> tuple[int, ...]:
        found = self.step.subkernels[subkernel]
        return (*sorted(_outputs(found)), *found.reductions)

    def _name(self, subkernel: int) -> str:
        return self.step.subkernels[subkernel].name

    def _axes(self, subkernel: Subkernel) -> str:
        frame = self.kernel.kernel.space
        folds = f" that folds {axes_text(frame, subkernel.reduced)}" if subkernel.reduced else ""
        alone = " of its own" if subkernel.alone >= 0 else ""
        return axes_text(frame, subkernel.axes) + folds + alone

    def _value(self, node: int) -> str:
        return value_name(self.kernel.kernel, node)

    def _described(self, node: int) -> str:
        """A value on the way; an Extend is the ghost cells, which are filled when all of the value is there."""
        name = self._value(node)
        return f"the ghost cells of {name}" if isinstance(self.kernel.kernel.nodes[node].instruction, Extend) else name

    def _needs(self, node: int) -> frozenset[int]:
        if not self.kernel.kernel.nodes[node].operands:
            return frozenset()
        return direct_needs(self.kernel.kernel, self.kernel.storage, node)

    def _path(self, late: int, early: int) -> tuple[int, ...] | None:
        """Stored values between two, if the late one needs the early one by way of them; None if it does not."""
        came_from: dict[int, int] = {}
        waiting = [late]
        while waiting:
            node = waiting.pop(0)
            for need in sorted(self._needs(node)):
                if need not in came_from:
                    came_from[need] = node
                    waiting.append(need)
        if early not in came_from:
            return None
        path: list[int] = []
        node = came_from[early]
        while node != late:
            path.append(node)
            node = came_from[node]
        return tuple(path)

    def _blocker(self, late: int, group: int) -> int | None:
        """The first value that `late` needs and that is made in `group` or after it."""
        waiting: Iterable[int] = sorted(self._needs(late))
        for node in waiting:
            instruction = self.kernel.kernel.nodes[node].instruction
            if isinstance(instruction, Extend):
                found = self._blocker(node, group)
                if found is not None:
                    return found
            elif not isinstance(instruction, Load) and self._made_in(node) >= group:
                return node
        return None

    def _made_in(self, node: int) -> int:
        made = (s.index for s in self.step.subkernels if node in s.reductions or node in _outputs(s))
        return next(made, -1)


def _box(margins: Margins) -> str:
    return " ".join(f"{below}+{above}" for below, above in margins)
