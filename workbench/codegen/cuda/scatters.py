"""Device scatters: defaults and then senders that store or combine, or elected senders, or lists of senders.

`workbench.planning.sending` says which. Where senders store or combine themselves there are two kernels: one writes
the defaults, one goes through the senders. Else there are three: the first one clears what the second one leaves for
the destinations, the largest number of a sender or a list of senders in any order, and in the third one each
destination takes what it is sent. It sorts a list by the senders' numbers (a merge sort of linked lists), so that what
is sent is combined in their order, whichever thread came first. Arrays of lists hold numbers of cells in C order; -1
ends a list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.codegen.cell_code import CellCode
from workbench.codegen.cuda.device import ArrayOperand, DeviceSweep, KernelParameter, LaunchCode, SendersTable
from workbench.codegen.gathers import note_bit
from workbench.codegen.names import NameBook
from workbench.codegen.rows import row_move
from workbench.codegen.scatters import ScatterCode, once, scatter_code
from workbench.codegen.scope import Scope
from workbench.codegen.shapes import ArrayShape
from workbench.codegen.spelling import literal, type_name
from workbench.codegen.statement import Statement
from workbench.codegen.writer import KernelWriter
from workbench.graph import Scatter
from workbench.graph.scatters import neutral_number
from workbench.graph.types import I64
from workbench.planning.axes import listed
from workbench.planning.kernel_plan import Axes, Subkernel
from workbench.planning.reach import no_margins
from workbench.planning.sending import Sending, sending_of

HEADS, LINKS = "heads", "links"
"""The lists' first senders, one for each destination, and for each sender the one after it."""


@dataclass(frozen=True, slots=True)
class ScatterKernel:
    """One kernel of a Scatter or a Join: `reads` are the arrays that it reads, `lists` those of lists, fresh or not.

    word: what it does. axes: of its cells, () for all. stores: whether it writes the results, or of a Join a part of
    them: it `keeps` what the kernels before have written.
    """

    word: str
    sweep: DeviceSweep
    reads: tuple[str, ...]
    lists: tuple[tuple[str, bool], ...]
    axes: Axes
    stores: bool
    keeps: bool = False

    def launch(self, name: str, operands: Sequence[ArrayOperand], loop: str, shapes: tuple[Axes, ...]) -> LaunchCode:
        """The launch of the kernel of that name; `operands` say which slots arrays lie in."""
        known = {operand.parameter: operand for operand in operands}
        lists = {name: ArrayOperand(name, "lists", number, I64) for number, name in enumerate((HEADS, LINKS))}
        arrays = tuple((known | lists)[parameter.name] for parameter in self.sweep.parameters)
        written = {name for name, fresh in self.lists if fresh}
        written |= {a.parameter for a in arrays if a.kind == "slot" and not (self.keeps or a.parameter in self.reads)}
        fresh = tuple(k for k, array in enumerate(arrays) if array.parameter in written)
        grown = no_margins(self.sweep.rank)
        tabled = self.sweep.table is not None
        return LaunchCode(
            name, "sweep", arrays, grown, fresh=fresh, loop=loop, axes=self.axes, shapes=shapes, tabled=tabled
        )


def given_arrays(
    kernels: Sequence[ScatterKernel], parameters: Mapping[str, KernelParameter], target: str
) -> tuple[ScatterKernel, ...]:
    """Return the kernels with their parameters: what they read, the array of results, lists."""
    made = []
    for kernel in kernels:
        lists = (KernelParameter(name, type_name(I64)) for name, _ in kernel.lists)
        named = (*kernel.reads, *((target,) if kernel.stores else ()))
        given = (*(parameters[name] for name in named), *lists)
        made.append(replace(kernel, sweep=replace(kernel.sweep, parameters=given)))
    return tuple(made)


def scatter_kernels(
    writer: KernelWriter, subkernel: Subkernel, scope: Scope, target: str, names: NameBook, numbered: dict[int, str]
) -> tuple[ScatterKernel, ...]:
    """Return the kernels of a Scatter, in order; `scope` is that of the loop's axes, `target` the array of results."""
    made = scatter_code(writer, subkernel, scope, names, numbered)
    sending = sending_of(writer.nodes, subkernel.alone)
    if sending.lists:
        return _by_destinations(writer, subkernel, made, target, sending)
    return _by_senders(writer, subkernel, made, target, sending)


def _by_senders(
    writer: KernelWriter, subkernel: Subkernel, made: ScatterCode, target: str, sending: Sending
) -> tuple[ScatterKernel, ...]:
    """Defaults are written, unless each is sent something and they note nothing; then senders write."""
    node = subkernel.alone
    inside = tuple(sorted({node, *made.default.nodes}))
    fill = (*made.defaults.cell, Statement(f"{target}[cell] = {made.default.text};", inside))
    noting = writer.plan.outside if made.defaults.gathers else -1
    filled = sweep_over(
        writer, subkernel, subkernel.axes, (made.defaults,), fill, made.shapes, outside=noting, lists=False
    )
    fills = sending.fills and not made.defaults.gathers
    defaults = ScatterKernel("defaults", filled, read_arrays((made.defaults,)), (), subkernel.axes, True)
    looked_at = (made.places, made.values)
    send = (*once(s for code in looked_at for s in code.cell), *_sending(writer, subkernel, made, target, sending))
    sweep = sweep_over(
        writer,
        subkernel,
        made.axes,
        looked_at,
        send,
        _shapes(writer, subkernel, made, looked_at),
        outside=writer.plan.outside,
    )
    if sending.way == "combined":
        sweep = replace(sweep, table=_table(writer, subkernel, target, sending))
    senders = ScatterKernel("send", sweep, read_arrays(looked_at), (), made.axes, True, keeps=not fills)
    return (senders,) if fills else (defaults, senders)


def _by_destinations(
    writer: KernelWriter, subkernel: Subkernel, made: ScatterCode, target: str, sending: Sending
) -> tuple[ScatterKernel, ...]:
    node, elected = subkernel.alone, sending.way == "elected"
    number = "number_of_cell(shape, at, i)"
    clear = (Statement(f"{HEADS}[{number}] = -1;", (node,)),)
    looked_at = (made.places, made.values) if made.values.gathers else (made.places,)
    link = (*once(s for code in looked_at for s in code.cell), *_linking(writer, subkernel, made, elected=elected))
    take = (*made.defaults.cell, *_taking(writer, node, made, target, number, elected=elected))
    within = _shapes(writer, subkernel, made, looked_at)
    links = () if elected else ((LINKS, True),)
    return (
        ScatterKernel(
            "clear",
            sweep_over(writer, subkernel, subkernel.axes, (), clear, ()),
            (),
            ((HEADS, True),),
            subkernel.axes,
            False,
        ),
        ScatterKernel(
            "elect" if elected else "link",
            sweep_over(writer, subkernel, made.axes, looked_at, link, within, outside=writer.plan.outside),
            read_arrays(looked_at),
            ((HEADS, False), *links),
            made.axes,
            False,
        ),
        ScatterKernel(
            "scatter",
            replace(
                sweep_over(
                    writer, subkernel, subkernel.axes, (made.defaults,), take, made.shapes, outside=writer.plan.outside
                ),
                uniform=once((*made.defaults.uniform, *made.values.uniform)),
            ),
            read_arrays((made.defaults, made.values)),
            ((HEADS, False), *((name, False) for name, _ in links)),
            subkernel.axes,
            True,
        ),
    )


def moves_of(codes: Sequence[CellCode]) -> tuple[str, ...]:
    """The linear indices of other rows."""
    return tuple(
        f"const Index {p.name} = cell{row_move(p.offset)};".replace("shape.strides", "strides")
        for code in codes
        for p in code.pointers
        if any(p.offset)
    )


def sweep_over(
    writer: KernelWriter,
    subkernel: Subkernel,
    axes: Axes,
    codes: Sequence[CellCode],
    cell: tuple[Statement, ...],
    shapes: tuple[ArrayShape, ...],
    *,
    outside: int = -1,
    lists: bool = True,
) -> DeviceSweep:
    """Return a kernel over cells with these axes; lists: whether it has to do with those of senders."""
    rank = len(axes) or writer.dim
    return DeviceSweep(
        "",
        subkernel.name,
        no_margins(rank),
        (),
        (),
        once(s for code in codes for s in code.uniform),
        moves_of(codes),
        once(s for code in codes for s in code.row),
        cell,
        False,
        False,
        rank,
        shapes,
        outside=outside,
        scatters=lists,
    )


def read_arrays(codes: Sequence[CellCode]) -> tuple[str, ...]:
    """Return the names of the arrays that codes read, each once."""
    return tuple(dict.fromkeys(array.name for code in codes for array in code.arrays))


def _shapes(
    writer: KernelWriter, subkernel: Subkernel, made: ScatterCode, read: Sequence[CellCode]
) -> tuple[ArrayShape, ...]:
    """Beside the senders' own shape: that of the destinations, and of what is read at computed places."""
    nodes = (*(array.node for code in read for array in code.arrays), subkernel.alone)
    return writer.shapes_in(nodes, (-1,))


def _destinations(writer: KernelWriter, subkernel: Subkernel) -> str:
    """What the shape of the destinations is called in the senders' kernel."""
    axes = listed(subkernel.axes, writer.dim)
    return "whole_shape" if not subkernel.axes else next(s.name for s in writer.shapes if s.axes == axes)


def _table(writer: KernelWriter, subkernel: Subkernel, target: str, sending: Sending) -> SendersTable:
    type_ = writer.nodes[subkernel.alone].value_type
    instruction = writer.nodes[subkernel.alone].instruction
    assert isinstance(instruction, Scatter)
    neutral = neutral_number(instruction.operator, type_)
    assert neutral is not None  # where the way is "combined"
    return SendersTable(
        type_name(type_),
        f"atomic_{sending.operation}",
        literal(neutral, type_).text,
        target,
        _destinations(writer, subkernel),
    )


def _checks(writer: KernelWriter, subkernel: Subkernel, made: ScatterCode) -> tuple[list[str], str, str, set[int]]:
    """A sender looks at its place and notes one outside.

    Returns the lines, the condition under which it sends, its destination's number, and the nodes in all that.
    """
    node, shape = subkernel.alone, _destinations(writer, subkernel)
    lines = [f"const int64_t sent_{axis} = {index.text};" for axis, index in enumerate(made.indices)]
    checks = [f"(uint64_t(sent_{axis}) < uint64_t({shape}.extents[{axis}]))" for axis in range(len(made.indices))]
    lines.append(f"const bool inside = {' & '.join(checks)};")
    place = "sent_0"
    for axis in range(1, len(made.indices)):
        place = f"({place}) * {shape}.extents[{axis}] + sent_{axis}"
    if made.mask is not None:
        lines.append(f"const bool wanted = {made.mask.text};")
    wanted = "wanted & " if made.mask is not None else ""
    lines.append(f"outside |= uint64_t({wanted}!inside) << {note_bit(writer.nodes, node)};")
    used = {n for result in (*made.indices, *((made.mask,) if made.mask else ())) for n in result.nodes}
    return lines, f"{wanted}inside", place, {node, *used}


def _linking(writer: KernelWriter, subkernel: Subkernel, made: ScatterCode, *, elected: bool) -> tuple[Statement, ...]:
    """A sender puts itself before the list of its destination, or its number where it is the largest so far."""
    lines, sends, place, nodes = _checks(writer, subkernel, made)
    lines.append("const int64_t sender = number_of_cell(shape, at, i);")
    if elected:
        lines.append(f"if ({sends}) atomic_maximum()({HEADS}, Index({place}), sender);")
    else:
        lines.append(f"if ({sends}) {LINKS}[sender] = exchange({HEADS}, {place}, sender);")
    return tuple(Statement(line, tuple(sorted(nodes))) for line in lines)


def _sending(
    writer: KernelWriter, subkernel: Subkernel, made: ScatterCode, target: str, sending: Sending
) -> tuple[Statement, ...]:
    """A sender writes to its destination: what it sends, or that combined with what is there."""
    node, shape = subkernel.alone, _destinations(writer, subkernel)
    lines, sends, number, nodes = _checks(writer, subkernel, made)
    type_ = type_name(writer.nodes[node].value_type)
    moves = " + ".join(f"Index(sent_{k}) * Index({shape}.strides[{k}])" for k in range(len(made.indices)))
    element = f"const Index element = Index({shape}.start) + {moves};"
    lines += [f"if ({sends}) {{", f"    const {type_} sent = {made.value.text};"]
    if sending.way == "combined":
        combine = f"atomic_{sending.operation}"
        lines += [
            "    if (few) {",
            f"        Table::take(table, int({number}), sent);",
            "    } else {",
            f"        {element}",
            f"        {combine}()({target}, element, sent);",
            "    }",
        ]
    elif sending.last:
        lines += [f"    {element}", f"    {target}[element] = sent;"]
    else:
        lines += [f"    {element}", f"    const {type_} old = {target}[element];"]
        lines.append(f"    {target}[element] = {writer.combine(node)}()(sent, old);")
    lines.append("}")
    inside = tuple(sorted({*nodes, *made.value.nodes}))
    return tuple(Statement(line, inside) for line in lines)


def _taking(
    writer: KernelWriter, node: int, made: ScatterCode, target: str, number: str, *, elected: bool
) -> tuple[Statement, ...]:
    """A destination takes what its last sender sends, or combines what they all send, in order of their numbers."""
    type_, rank = type_name(writer.nodes[node].value_type), len(made.axes) or writer.dim
    inside = tuple(sorted({node, *made.default.nodes, *made.value.nodes}))
    moves = moves_of((made.values,))
    strides = [f"Index strides[{rank}];", f"for (int k = 0; k < {rank}; ++k) strides[k] = Index(shape.strides[k]);"]
    each = f"for (int64_t sender = sort_list({LINKS}, {HEADS}[{number}]); sender >= 0; sender = {LINKS}[sender]) {{"
    last = (f"const int64_t sender = {HEADS}[{number}];", "if (sender >= 0) {")
    before = (
        f"{type_} result = {made.default.text};",
        *(last if elected else (each,)),
        f"    const Shape<{rank}>& shape = {made.senders};",
        f"    Index at[{rank}];",
        "    cell_of_number(shape, sender, at);",
        f"    const Index i = at[{rank - 1}], cell = element_at(shape, at);",
        "    (void)i, (void)cell;",
        *(f"    {line}" for line in ((*strides, *moves) if moves else ())),
    )
    own = (*made.values.row, *made.values.cell)
    after = (
        f"    const {type_} sent = {made.value.text};",
        *(() if elected else (f"    const {type_} old = result;",)),
        f"    result = {'sent' if elected else f'{writer.combine(node)}()(sent, old)'};",
        "}",
        f"{target}[cell] = result;",
    )
    return (
        *(Statement(line, inside) for line in before),
        *(replace(s, text=f"    {s.text}") for s in own),
        *(Statement(line, inside) for line in after),
    )
