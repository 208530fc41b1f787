"""What changed between two programs of the same name: nodes, fields, parameters, genome letters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from workbench.graph import Graph, Static
from workbench.planning.kernel_plan import KernelPlan, Storage
from workbench.planning.plan import Plan

_LETTERED = "CGMS"  # sections of a genome in which every letter has its place
_SHOWN = 6  # names listed before "and n more"


def graph_changes(before: Graph, after: Graph) -> tuple[str, ...]:
    """One sentence for each kind of difference between two graphs; empty if they mean the same.

    Nodes are compared by instruction, type and space, so an edited constant counts as one node less and one more and
    not as a change of everything that depends on it; the named values whose result changes are listed beside.
    """
    found = [*_static_changes(before, after)]
    kernels_before = {kernel.name: kernel for kernel in before.kernels}
    kernels_after = {kernel.name: kernel for kernel in after.kernels}
    found += [f"kernel {name} added" for name in kernels_after if name not in kernels_before]
    found += [f"kernel {name} removed" for name in kernels_before if name not in kernels_after]
    for name, kernel in kernels_after.items():
        old = kernels_before.get(name)
        if old is None or old.keys() == kernel.keys():
            continue
        own = Counter(repr((node.instruction, node.type, node.space)) for node in kernel.nodes)
        others = Counter(repr((node.instruction, node.type, node.space)) for node in old.nodes)
        added, removed = (own - others).total(), (others - own).total()
        nodes = (
            f"{_count(added, 'node')} added, {removed} removed" if added or removed else "same nodes, other operands"
        )
        keys_before = {label: key for node, key in zip(old.nodes, old.keys(), strict=True) for label in node.names}
        keys_after = {label: key for node, key in zip(kernel.nodes, kernel.keys(), strict=True) for label in node.names}
        new = [label for label in keys_after if label not in keys_before]
        gone = [label for label in keys_before if label not in keys_after]
        other = [label for label, key in keys_after.items() if keys_before.get(label, key) != key]
        parts = [
            f"{verb} {_listed(names)}" for verb, names in (("new", new), ("gone", gone), ("other", other)) if names
        ]
        found.append(f"kernel {name}: {nodes}" + (f" ({'; '.join(parts)})" if parts else ""))
    return tuple(found)


def plan_changes(before: Plan, after: Plan) -> tuple[str, ...]:
    """Named values that both plans compute alike but keep in another way: "y: Delayed → Manifest"."""
    old = {kernel.kernel.name: kernel for kernel in before.kernels}
    found: list[str] = []
    for kernel in after.kernels:
        if kernel.kernel.name in old:
            was, now = _storage(old[kernel.kernel.name]), _storage(kernel)
            found += [
                f"{name}: {was[name].value} → {now[name].value}"
                for name in now
                if was.get(name, now[name]) != now[name]
            ]
    return tuple(found)


def _storage(kernel: KernelPlan) -> dict[str, Storage]:
    """Where each value lives that has a name."""
    return {name: kept for node, kept in zip(kernel.kernel.nodes, kernel.storage, strict=True) for name in node.names}


def genome_changes(before: str, after: str) -> tuple[str, ...]:
    """Which letters of which sections of the genome differ; where a length differs, both texts."""
    found = []
    old, new = _sections(before), _sections(after)
    for name in dict.fromkeys((*old, *new)):
        was, now = old.get(name, ""), new.get(name, "")
        if was == now:
            continue
        places = [str(i + 1) for i, (a, b) in enumerate(zip(was, now, strict=False)) if a != b]
        if name not in _LETTERED:
            found.append(f"{name} from {was or 'nothing'} to {now or 'nothing'}")
        elif len(was) != len(now):
            found.append(f"{name} from {_count(len(was), 'letter')} to {len(now)}")
        else:
            found.append(f"{name} at {'letter' if len(places) == 1 else 'letters'} {_listed(places)}")
    return (f"genome: {', '.join(found)}",) if found else ()


def _sections(genome: str) -> dict[str, str]:
    """Name -> content; version and program stand before the first colon."""
    parts = (part.partition("=") for part in genome.partition(":")[2].split("/"))
    return {name: content for name, _, content in parts if name}


def captured_changes(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[str, ...]:
    """Values taken from the notebook that are new, gone or different."""
    found = [f"{name} is taken from the notebook now" for name in after if name not in before]
    found += [f"{name} is no longer taken from the notebook" for name in before if name not in after]
    for name, value in after.items():
        if name in before and repr(before[name]) != repr(value):
            found.append(f"{name} from the notebook: {before[name]} → {value}")
    return tuple(found)


def _static_changes(before: Graph, after: Graph) -> list[str]:
    old = {static.name: static for static in before.declared}
    new = {static.name: static for static in after.declared}
    found = [f"{static.role} {name} added" for name, static in new.items() if name not in old]
    found += [f"{static.role} {name} removed" for name, static in old.items() if name not in new]
    for name, static in new.items():
        if name in old:
            found += _differences(old[name], static)
    return found


def _differences(before: Static, after: Static) -> list[str]:
    aspects = (
        ("kind", before.role, after.role),
        ("type", before.type.name, after.type.name),
        ("boundary", before.boundary or "none", after.boundary or "none"),
        ("unit", before.unit or "none", after.unit or "none"),
        ("default", before.default, after.default),
    )
    return [f"{after.role} {after.name}: {what} {was} → {now}" for what, was, now in aspects if was != now]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _listed(names: list[str]) -> str:
    """The first few names, and how many follow."""
    if len(names) <= _SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[:_SHOWN])} and {len(names) - _SHOWN} more"
