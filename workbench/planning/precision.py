"""Precision: types of values asked for by name, and what that changes in a program, in words."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.errors import PlanError
from workbench.graph import OPERATORS, Arith, Graph, Kernel
from workbench.graph.instructions import Instruction, traits_of
from workbench.graph.operators import REDUCTIONS, accepts
from workbench.graph.region import region_in
from workbench.graph.types import DD, storage_type
from workbench.planning.choices import EVERY, Meaning
from workbench.planning.retype import precision_of, retype_as


def with_types(graph: Graph, meaning: Meaning, every: object, types: Mapping[str, object]) -> Meaning:
    """Return the meaning with these types: `every` for all values that have none by name, "" to leave them.

    What a name was given before is replaced, and `every` replaces all. PlanError for names that nothing carries and
    for types that are not floats.
    """
    leaves = every is None or (isinstance(every, str) and not every)
    pairs = dict(meaning.precision) if leaves else {EVERY: _spelled(every)}
    for name, type_ in types.items():
        pairs.pop(name, None)  # later requests win where two names stand for one value
        pairs[name] = _spelled(type_)
    changed = Meaning(meaning.arithmetic, tuple(pairs.items()))
    precision_of(graph, changed)
    return changed


def _spelled(type_: object) -> str:
    try:
        return storage_type(type_).name
    except (KeyError, TypeError):
        raise PlanError(f"{type_!r} is no storage type", advice='Use "f32", "f64" or "dd".') from None


def change_lines(graph: Graph, meaning: Meaning) -> tuple[str, ...]:
    """What the meaning changes in a graph, a line each: "u, v: f32, declared f64", "line 4: exp computes in f64 ...".

    None where nothing is asked.
    """
    if not meaning.precision:
        return ()
    precision = precision_of(graph, meaning)
    lines: list[str] = []
    if precision.every:
        lines.append(f"all values: {precision.every}{', but those named below' if precision.types else ''}")
    declared = {s.name: s.type for s in graph.declared}
    computed = {name: node.value_type for kernel in graph.kernels for node in kernel.nodes for name in node.names}
    named: dict[tuple[str, str], list[str]] = {}
    for name, type_ in precision.types.items():
        before = declared.get(name) or computed[name]
        was = f"{'declared' if name in declared else 'computed in'} {before}"
        named.setdefault((type_.name, "unchanged" if before == type_ else was), []).append(name)
    lines += [f"{', '.join(names)}: {type_}, {was}" for (type_, was), names in named.items()]
    return (*lines, *without_dd(retype_as(graph, precision)))


def without_dd(graph: Graph) -> tuple[str, ...]:
    """The operators of a retyped graph that compute in f64 on what was dd, because dd has them not, with lines.

    A loop, and cells combined by a function, compute in f64 as a whole.
    """
    found: dict[str, None] = {}
    for kernel in graph.kernels:
        for index, node in enumerate(kernel.nodes):
            for operator in _lacking(node.instruction) if any(_was_dd(kernel, o) for o in node.operands) else ():
                word = "" if isinstance(node.instruction, Arith) else f"{traits_of(node.instruction).word} with "
                line = _line(kernel, index)
                found[f"{line}{word}{operator} computes in f64, because dd has no such operator"] = None
    return tuple(found)


def _lacking(instruction: Instruction) -> tuple[str, ...]:
    """The operators without a dd form: the instruction's own, or those on floats of its region, however deep."""
    region = region_in(instruction)
    if region is not None:
        on_floats = (n for n in region.nodes if any(region.nodes[o].value_type.is_float for o in n.operands))
        return tuple(dict.fromkeys(operator for node in on_floats for operator in _lacking(node.instruction)))
    own = getattr(instruction, "operator", "")
    if own and not isinstance(instruction, Arith):
        own = REDUCTIONS[own].operator
    return (own,) if own and not accepts(OPERATORS[own], DD) else ()


def _line(kernel: Kernel, index: int) -> str:
    """Where it stands: its own line, or that of the first value that is made of it, as the beginning of a sentence."""
    users = kernel.consumers()
    while not kernel.nodes[index].spans and users[index]:
        index = users[index][0]
    return f"line {kernel.nodes[index].spans[0].line}: " if kernel.nodes[index].spans else ""


def _was_dd(kernel: Kernel, value: int) -> bool:
    node = kernel.nodes[value]
    return node.instruction == Arith("cast") and kernel.nodes[node.operands[0]].type == DD
