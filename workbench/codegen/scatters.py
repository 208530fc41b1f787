"""Scatters: the texts of a loop that sends cells to computed places, for a host and for a device."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from workbench.codegen.cell_code import ArrayName, CellCode, RootText
from workbench.codegen.collectives import collective_shapes, operands_code, pointers_of
from workbench.codegen.gathers import note_bit
from workbench.codegen.loops import Array, Sweep
from workbench.codegen.names import NameBook
from workbench.codegen.scattering import ScatteredCells, Scattering
from workbench.codegen.scope import Scope
from workbench.codegen.shapes import ArrayShape
from workbench.codegen.spelling import literal, type_name
from workbench.codegen.statement import Statement
from workbench.codegen.writer import KernelWriter
from workbench.graph import Scatter
from workbench.graph.scatters import neutral_number
from workbench.planning.axes import listed
from workbench.planning.kernel_plan import Axes, Subkernel

_MOST_AXES = 8
SCATTER_NAMES = frozenset(
    {
        *("all", "begin", "count", "destinations", "end", "first", "here", "inside", "last", "low", "high", "part"),
        *("place", "places", "row", "rows", "sender", "wanted", "result", "results", "heads", "links", "number"),
        *("senders", "found", "sending", "target", "sent", "old", "element", "table", "few", "Table"),
        *(f"sent_{axis}" for axis in range(_MOST_AXES)),
    }
)
"""Names that no value may have in such a text."""


@dataclass(frozen=True, slots=True)
class ScatterCode:
    """What a Scatter computes: defaults in the cells of the loop; indices, mask and values in those of the senders.

    axes: the senders' axes, () for all; senders: the name of their shape in the text. shapes: beside the loop's own.
    """

    defaults: CellCode
    default: RootText
    places: CellCode
    indices: tuple[RootText, ...]
    mask: RootText | None
    values: CellCode
    value: RootText
    axes: Axes
    senders: str
    shapes: tuple[ArrayShape, ...]

    @property
    def arrays(self) -> tuple[ArrayName, ...]:
        """All arrays that are read, in order of appearance."""
        return (*self.defaults.arrays, *self.places.arrays, *self.values.arrays)


def scatter_code(
    writer: KernelWriter, subkernel: Subkernel, scope: Scope, names: NameBook, numbered: dict[int, str]
) -> ScatterCode:
    """Write the operands of the Scatter that a loop makes; `scope` is that of its own axes."""
    node = writer.nodes[subkernel.alone]
    assert isinstance(node.instruction, Scatter)
    first, sent, *others = node.operands
    axes = writer.axes_of(sent)
    within = writer.scope_of_others(scope, axes)
    defaults, (default,) = operands_code(scope, (first,), names, numbered)
    places, found = operands_code(within, tuple(others), names, numbered)
    values, (value,) = operands_code(within, (sent,), names, numbered)
    mask = found.pop() if node.instruction.masked else None
    inside = (*(a.node for a in (*places.arrays, *values.arrays)), sent)
    shapes = collective_shapes(writer, subkernel.axes, defaults, inside)
    senders = within.shapes[listed(axes, writer.dim)]
    return ScatterCode(defaults, default, places, tuple(found), mask, values, value, axes, senders, shapes)


def scatter_sweep(writer: KernelWriter, subkernel: Subkernel) -> tuple[Sweep, dict[str, str], str]:
    """Return the loop nest for a host, its own names as `Shared` wants them, and the shape of the senders in a step."""
    slots = {home.node: home.slot for home in subkernel.reads}
    names, numbered = NameBook(writer.reserved() | SCATTER_NAMES), dict[int, str]()
    (home,) = subkernel.outputs
    target = names.claim(f"out_{writer.output_name(home, numbered)}_array")
    made = scatter_code(writer, subkernel, writer.scope(frozenset(slots), subkernel.axes), names, numbered)
    type_ = type_name(writer.nodes[home.node].value_type)
    row, cell = made.values.row, made.values.cell
    values = replace(made.values, row=apart(row, made.places.row))
    if made.values.gathers:
        values = replace(values, cell=apart(cell, made.places.cell))
    node = writer.nodes[subkernel.alone]
    assert isinstance(node.instruction, Scatter)
    neutral = neutral_number(node.instruction.operator, node.value_type)
    scattering = Scattering(
        made.senders,
        len(made.axes) or writer.dim,
        type_,
        writer.combine(subkernel.alone),
        made.default.text,
        tuple(index.text for index in made.indices),
        made.mask.text if made.mask else "",
        note_bit(writer.nodes, subkernel.alone),
        made.value.text,
        target,
        _cell_text(writer, made.places),
        _cell_text(writer, values),
        made.values.gathers,
        "" if neutral is None else literal(neutral, node.value_type).text,
    )
    sweep = Sweep(
        "",
        subkernel.name,
        tuple(Array(a.name, f"const {type_name(a.type)}*", slots[a.node]) for a in made.arrays),
        (Array(target, f"{type_}*", home.slot),),
        (),
        once((*made.defaults.uniform, *made.places.uniform, *made.values.uniform)),
        pointers_of(writer, made.defaults),
        made.defaults.row,
        made.defaults.cell,
        False,
        len(subkernel.axes) or writer.dim,
        made.shapes,
        outside=writer.plan.outside,
        scattering=scattering,
    )
    return sweep, {target: "out 0"}, writer.shape_name(made.axes)


def once(statements: Iterable[Statement]) -> tuple[Statement, ...]:
    """The statements without what is declared above already: texts of several operands declare some of it alike."""
    found: list[Statement] = []
    known: set[str] = set()
    for statement in statements:
        if not (_declares(statement) and statement.text in known):
            found.append(statement)
        known.add(statement.text)
    return tuple(found)


def apart(statements: Iterable[Statement], others: Iterable[Statement]) -> tuple[Statement, ...]:
    """The statements without what the others declare, whose names can be used."""
    known = {other.text for other in others}
    return tuple(each for each in statements if not (_declares(each) and each.text in known))


def _declares(statement: Statement) -> bool:
    """Whether a line declares a name for all that follow: no line of a loop, which may have those of another one."""
    return statement.text.startswith("const ")


def _cell_text(writer: KernelWriter, code: CellCode) -> ScatteredCells:
    return ScatteredCells(pointers_of(writer, code), code.row, code.cell)
