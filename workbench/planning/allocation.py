"""Allocation: which values are stored (Manifest) and which recomputed (Delayed); terms as in Paraiso and REPA."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from workbench.errors import PlanError
from workbench.graph import (
    Extend,
    Fold,
    Kernel,
    Load,
    Store,
    value_name,
)
from workbench.graph.instructions import places_on_domain, traits_of
from workbench.planning.choices import ValueChoices, names_node
from workbench.planning.emission import gathered_by
from workbench.planning.estimate import Estimate
from workbench.planning.kernel_plan import Storage
from workbench.planning.search import Found, cheapest_allocation

AllocationSearch = Callable[[Estimate, Sequence[Storage | None]], Found]


def forced_storage(kernel: Kernel) -> tuple[tuple[Storage | None, str], ...]:
    """Return for each node its storage and the reason if nothing else is possible, else (None, "")."""
    arrays = _needed_as_arrays(kernel)
    evaluated = _evaluated_in_cells(kernel)
    forced: list[tuple[Storage | None, str]] = []
    for index, node in enumerate(kernel.nodes):
        if not node.is_local:
            forced.append(_not_local(kernel, index))
        elif isinstance(node.instruction, Load):
            forced.append((Storage.EXISTING, "a field is an array already"))
        elif isinstance(node.instruction, Extend):
            forced.append((Storage.EXISTING, "ghost cells are filled in an array"))
        elif index in arrays:
            forced.append((Storage.MANIFEST, arrays[index]))
        elif isinstance(node.instruction, Fold):
            forced.append((Storage.MANIFEST, "a fold over some axes is stored"))
        elif traits_of(node.instruction).is_collective:
            forced.append((Storage.MANIFEST, "what is made of many cells is stored"))
        elif index not in evaluated:
            forced.append((Storage.DELAYED, "only boundary rules use it, in ghost cells"))
        else:
            forced.append(_cheap(kernel, index))
    return tuple(forced)


def _needed_as_arrays(kernel: Kernel) -> dict[int, str]:
    """The values that must lie in arrays for others to use them, and why; the strongest reason counts."""
    stored: dict[int, str] = {}
    extended: set[int] = set()
    for node in kernel.nodes:
        if isinstance(node.instruction, Store):
            stored.setdefault(node.operands[0], f"its array becomes field {node.instruction.name}")
        elif isinstance(node.instruction, Extend):
            extended.add(node.operands[0])
    gathered = gathered_by(kernel, range(len(kernel.nodes)))
    return {
        **dict.fromkeys(gathered, "it is read at computed places"),
        **dict.fromkeys(extended, "extend() fills ghost cells from its array"),
        **stored,
    }


def choose_allocation(
    kernel: Kernel,
    choices: ValueChoices,
    estimates: Sequence[Estimate] = (),
    unrolled: Collection[int] = (),
    search: AllocationSearch | None = None,
) -> tuple[Found, tuple[str, ...]]:
    """Decide the storage of every node; also return why it is forced ("" where it was free).

    Before: no Store or Reduce takes an Extend. After: operands of Store are Manifest or Loads, those of Extend are
    arrays, Shifts are Delayed (unless stored). Unlike Paraiso a Reduce does not make its operand Manifest, because
    sub-kernels accumulate without storing. Choices win over hints, hints over the preset. Raises PlanError for what
    cannot be honoured.

    Values hinted `rolling` are Manifest; those in `unrolled`, which `plan_graph` found not to roll, are Delayed.

    search: finds what `cheapest_allocation` finds, that itself if None.

    The preset "cost" takes the cheapest allocation that it finds by `estimates` of the steps: first that of the plain
    step, then, with its values decided, the observed one (workbench.planning.search). Of small programs tried in all
    ways it found the best in nearly all (tests/planning/test_brute_allocation).
    """
    forced = forced_storage(kernel)
    keys = kernel.keys()
    asking = asks_to_roll(kernel, choices)
    wanted: list[Storage | None] = []
    for index, (storage, reason) in enumerate(forced):
        choice = _chosen(kernel, index, keys[index], choices)
        hint = _hinted(kernel, index) if choices.hints else None
        if index in asking:
            hint = Storage.DELAYED if index in unrolled else Storage.MANIFEST
        asked = choice or hint
        if asked is not None and storage is not None:
            _refuse_unless_met(kernel, index, asked, (storage, reason))
        wanted.append(storage if storage is not None else asked)
    return _fill_in(wanted, choices, estimates, search or cheapest_allocation), tuple(reason for _, reason in forced)


def asks_to_roll(kernel: Kernel, choices: ValueChoices) -> frozenset[int]:
    """Return the nodes that are stored only where they roll: hints say so, and neither choices nor anything else."""
    hinted = [i for i, n in enumerate(kernel.nodes) if n.hint.allocation == "rolling"] if choices.hints else []
    if not hinted:
        return frozenset()
    keys, forced = kernel.keys(), forced_storage(kernel)
    chosen = choices.manifest | choices.delayed
    return frozenset(i for i in hinted if forced[i][0] is None and not names_node(chosen, kernel.name, keys[i]))


def hint_reasons(kernel: Kernel, choices: ValueChoices, storage: Sequence[Storage]) -> dict[int, str]:
    """Say of each value that asks to roll why it is stored, or is not; `storage` is that of all nodes."""
    found: dict[int, str] = {}
    for index in asks_to_roll(kernel, choices):
        asked = f"line {kernel.nodes[index].hint.line} asks that it is stored where it rolls"
        rolls = storage[index] is Storage.MANIFEST
        found[index] = f"{asked}, and it does" if rolls else f"{asked}, and here it does not"
    return found


def _fill_in(
    wanted: list[Storage | None], choices: ValueChoices, estimates: Sequence[Estimate], search: AllocationSearch
) -> Found:
    match choices.preset:
        case "as_delayed":
            return Found(tuple(s or Storage.DELAYED for s in wanted))
        case "as_manifest":
            return Found(tuple(s or Storage.MANIFEST for s in wanted))
        case "cost":
            ended = False
            for estimate in estimates:
                found = search(estimate, wanted)
                ended = ended or found.ended
                pairs = enumerate(zip(found.storage, wanted, strict=True))
                wanted = [s if i in estimate.live else w for i, (s, w) in pairs]
            return Found(tuple(s or Storage.DELAYED for s in wanted), ended)


def _not_local(kernel: Kernel, index: int) -> tuple[Storage, str]:
    if isinstance(kernel.nodes[index].instruction, Store):
        return Storage.DELAYED, "a Store has no value"
    return Storage.GLOBAL, "one number needs no array"


def _cheap(kernel: Kernel, index: int) -> tuple[Storage | None, str]:
    traits = traits_of(kernel.nodes[index].instruction)
    assert traits.evaluated_in == "cells", f"node {index} is no value computed in cells"
    if traits.is_worth_storing:
        return None, ""
    if traits.reads == "neighbour":
        # A moved copy need not be stored: storing what is moved serves every offset.
        return Storage.DELAYED, "a shifted value is a read at an offset; store the value itself"
    return Storage.DELAYED, "costs nothing to recompute"


def _evaluated_in_cells(kernel: Kernel) -> frozenset[int]:
    """The nodes that some sub-kernel evaluates, not only a fill in ghost cells."""
    found: set[int] = set()
    for index in range(len(kernel.nodes) - 1, -1, -1):
        node = kernel.nodes[index]
        found.update(node.operands[number] for number in places_on_domain(node.instruction))
        if index in found and not isinstance(node.instruction, Extend):
            found.update(node.operands)
    return frozenset(found)


def _chosen(kernel: Kernel, index: int, key: str, choices: ValueChoices) -> Storage | None:
    manifest = names_node(choices.manifest, kernel.name, key)
    delayed = names_node(choices.delayed, kernel.name, key)
    if manifest and delayed:
        raise PlanError(
            f"{value_name(kernel, index)} is chosen both Manifest and Delayed",
            advice="Keep its key in one of choices.plan.values.manifest and choices.plan.values.delayed.",
        )
    return Storage.MANIFEST if manifest else Storage.DELAYED if delayed else None


def _hinted(kernel: Kernel, index: int) -> Storage | None:
    match kernel.nodes[index].hint.allocation:
        case "manifest":
            return Storage.MANIFEST
        case "delayed":
            return Storage.DELAYED
        case "rolling" | None:
            return None


def _refuse_unless_met(kernel: Kernel, index: int, asked: Storage, forced: tuple[Storage, str]) -> None:
    storage, reason = forced
    if storage is asked or (storage is Storage.EXISTING and asked is Storage.MANIFEST):
        return
    error = PlanError(
        f"{value_name(kernel, index)} cannot be {asked.value}: it is {storage.value}, because {reason}",
        advice=f"Remove the request that it be {asked.value}.",
    )
    line = kernel.nodes[index].hint.line
    if line:
        error.located(line)
    raise error
