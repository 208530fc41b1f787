"""Allocation: which values are stored (Manifest) and which recomputed (Delayed); terms as in Paraiso and REPA."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from workbench.errors import PlanError
from workbench.graph import (
    Arith,
    Broadcast,
    Extend,
    Imm,
    Kernel,
    Load,
    LoadIndex,
    LoadSize,
    Reduce,
    Shift,
    Store,
)
from workbench.planning.choices import PlanChoices, names_node
from workbench.planning.emission import STORED, direct_needs, emit, operator_weight
from workbench.planning.plan import Storage
from workbench.planning.reach import Offset, value_name

BALANCE = 4.0
"""Weighted operations that take as long as moving one byte: an estimate between a desktop CPU and a large GPU."""

_LARGEST_FORMULA = 256  # operations counted for one value; a longer formula is stored as soon as it is used twice
_COMFORTABLE = 5_000  # operations in a sub-kernel beyond which compilers and registers suffer
_MOST_USES = 512  # distinct (sub-kernel, offset) uses followed; a value used oftener is stored


def forced_storage(kernel: Kernel) -> tuple[tuple[Storage | None, str], ...]:
    """Return for each node its storage and the reason if nothing else is possible, else (None, "")."""
    stored: dict[int, str] = {}
    extended: set[int] = set()
    for node in kernel.nodes:
        if isinstance(node.instruction, Store):
            stored.setdefault(node.operands[0], node.instruction.name)
        elif isinstance(node.instruction, Extend):
            extended.add(node.operands[0])
    evaluated = _evaluated_in_cells(kernel)
    forced: list[tuple[Storage | None, str]] = []
    for index, node in enumerate(kernel.nodes):
        if not node.is_local:
            forced.append(_not_local(kernel, index))
        elif isinstance(node.instruction, Load):
            forced.append((Storage.EXISTING, "a field is an array already"))
        elif isinstance(node.instruction, Extend):
            forced.append((Storage.EXISTING, "ghost cells are filled in an array"))
        elif index in stored:
            forced.append((Storage.MANIFEST, f"its array becomes field {stored[index]}"))
        elif index in extended:
            forced.append((Storage.MANIFEST, "extend() fills ghost cells from its array"))
        elif index not in evaluated:
            forced.append((Storage.DELAYED, "only boundary rules use it, in ghost cells"))
        else:
            forced.append(_cheap(kernel, index))
    return tuple(forced)


def choose_allocation(
    kernel: Kernel, choices: PlanChoices, dim: int, plain: frozenset[int]
) -> tuple[tuple[Storage, ...], tuple[str, ...]]:
    """Decide the storage of every node; also return why it is forced ("" where it was free).

    Before: no Store or Reduce takes an Extend. After: operands of Store are Manifest or Loads, those of Extend are
    arrays, Shifts are Delayed (unless stored). Unlike Paraiso a Reduce does not make its operand Manifest, because
    sub-kernels accumulate without storing. Choices win over hints, hints over the preset. `plain` are the nodes of a
    step without diagnostics, whose cost counts where it differs. Raises PlanError for what cannot be honoured.

    The preset "cost" decides value by value and never again. Counted as bytes moved plus operations / BALANCE, every
    stored value in a loop of its own, that is never worse than the other two presets; of small programs tried in all
    ways it found the best in three of four and was at most 1.5 times the best (tests/planning/test_brute_allocation).
    """
    forced = forced_storage(kernel)
    keys = kernel.keys()
    wanted: list[Storage | None] = []
    for index, (storage, reason) in enumerate(forced):
        choice = _chosen(kernel, index, keys[index], choices)
        hint = _hinted(kernel, index) if choices.hints else None
        asked = choice or hint
        if asked is not None and storage is not None:
            _refuse_unless_met(kernel, index, asked, (storage, reason))
        wanted.append(storage if storage is not None else asked)
    return _fill_in(kernel, wanted, choices, dim, plain), tuple(reason for _, reason in forced)


def _fill_in(
    kernel: Kernel, wanted: Sequence[Storage | None], choices: PlanChoices, dim: int, plain: frozenset[int]
) -> tuple[Storage, ...]:
    match choices.preset:
        case "as_delayed":
            return tuple(s or Storage.DELAYED for s in wanted)
        case "as_manifest":
            return tuple(s or Storage.MANIFEST for s in wanted)
        case "cost":
            return _by_cost(kernel, wanted, dim, plain)


def _not_local(kernel: Kernel, index: int) -> tuple[Storage, str]:
    if isinstance(kernel.nodes[index].instruction, Store):
        return Storage.DELAYED, "a Store has no value"
    return Storage.GLOBAL, "one number needs no array"


def _cheap(kernel: Kernel, index: int) -> tuple[Storage | None, str]:
    match kernel.nodes[index].instruction:
        case Imm() | Broadcast() | LoadIndex():
            return Storage.DELAYED, "costs nothing to recompute"
        case Shift():
            # Storing a moved copy helps nobody: storing what is moved serves every offset.
            return Storage.DELAYED, "a shifted value is a read at an offset; store the value itself"
        case Arith():
            return None, ""
        case Load() | Store() | Reduce() | LoadSize() | Extend():
            raise AssertionError(f"node {index} is no value computed in cells")


def _evaluated_in_cells(kernel: Kernel) -> frozenset[int]:
    """The nodes that some sub-kernel evaluates, not only a fill in ghost cells."""
    found: set[int] = set()
    for index in range(len(kernel.nodes) - 1, -1, -1):
        node = kernel.nodes[index]
        if isinstance(node.instruction, Store | Reduce | Extend):
            found.add(node.operands[0])
        elif index in found:
            found.update(node.operands)
    return frozenset(found)


def _chosen(kernel: Kernel, index: int, key: str, choices: PlanChoices) -> Storage | None:
    manifest = names_node(choices.manifest, kernel.name, key)
    delayed = names_node(choices.delayed, kernel.name, key)
    if manifest and delayed:
        raise PlanError(
            f"{value_name(kernel, index)} is chosen both Manifest and Delayed",
            advice="Keep its key in one of choices.plan.manifest and choices.plan.delayed.",
        )
    return Storage.MANIFEST if manifest else Storage.DELAYED if delayed else None


def _hinted(kernel: Kernel, index: int) -> Storage | None:
    match kernel.nodes[index].hint.allocation:
        case "manifest":
            return Storage.MANIFEST
        case "delayed":
            return Storage.DELAYED
        case None:
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


def _by_cost(kernel: Kernel, wanted: Sequence[Storage | None], dim: int, plain: frozenset[int]) -> tuple[Storage, ...]:
    """Store a free value where recomputing it at all its uses takes longer than moving it to memory and back.

    Consumers first: how often a value is used depends on which of its consumers are stored. A value that would make
    some sub-kernel uncomfortably long is stored as well.

    A value may be stored for the sake of a long formula, most of which is then stored too. So those are looked at once
    more: where no more operations than reads are left, reading the value itself saves nothing.
    """
    storage = [s or Storage.DELAYED for s in wanted]
    uses: list[set[tuple[int, Offset]]] = [set() for _ in kernel.nodes]
    emitted: Counter[int] = Counter()
    paid: list[int] = []
    for index in range(len(kernel.nodes) - 1, -1, -1):
        in_each = Counter(root for root, _ in uses[index])
        is_long = any(emitted[root] + count > _COMFORTABLE for root, count in in_each.items())
        if wanted[index] is None and len(uses[index]) > 1:
            if is_long:
                storage[index] = Storage.MANIFEST
            elif _pays(kernel, storage, index, dim, uses[index]):
                storage[index] = Storage.MANIFEST
                paid.append(index)
        if storage[index] is Storage.DELAYED and operator_weight(kernel, index):
            emitted.update(in_each)
        for operand, places in _uses_of_operands(kernel, storage, index, uses[index], dim):
            if index in plain or operand not in plain:  # steps without diagnostics are the rule
                uses[operand].update(places)
    for index in reversed(paid):
        formula = emit(kernel, storage, dim, (index,), limit=_LARGEST_FORMULA)
        if formula.flops(kernel) <= len(formula.reads):
            storage[index] = Storage.DELAYED
    return tuple(storage)


def _pays(kernel: Kernel, storage: Sequence[Storage], index: int, dim: int, uses: set[tuple[int, Offset]]) -> bool:
    if len(uses) > _MOST_USES:
        return True
    formula = emit(kernel, storage, dim, (index,), limit=_LARGEST_FORMULA)
    if len(formula.operations) > _LARGEST_FORMULA:
        return True
    itemsize = kernel.nodes[index].value_type.itemsize
    inputs = sum(kernel.nodes[i].value_type.itemsize for i in direct_needs(kernel, storage, index))
    moved = itemsize * (1 + len({root for root, _ in uses})) + inputs
    return (len(uses) - 1) * formula.flops(kernel) > BALANCE * moved


def _uses_of_operands(
    kernel: Kernel, storage: Sequence[Storage], index: int, uses: set[tuple[int, Offset]], dim: int
) -> tuple[tuple[int, set[tuple[int, Offset]]], ...]:
    """For each operand that is evaluated in cells, the (root, offset) at which the node needs it."""
    node = kernel.nodes[index]
    origin = (0,) * dim
    mine = {(index, origin)} if storage[index] in STORED else uses
    match node.instruction:
        case Reduce():
            return ((node.operands[0], {(index, origin)}),)
        case Shift(distance):
            shifted = {(r, tuple(a - b for a, b in zip(o, distance, strict=True))) for r, o in mine}
            return ((node.operands[0], shifted),)
        case Arith():
            return tuple((operand, mine) for operand in node.operands) if node.is_local else ()
        case Imm() | Load() | Store() | Broadcast() | LoadIndex() | LoadSize() | Extend():
            return ()
