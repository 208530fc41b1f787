"""The plan: what is stored where, and which loops run in which order; decided once, only read afterwards.

    Plan ── kernels: KernelPlan ── storage and margins of every node
                       ├─ plain:    Step    a step that does not compute diagnostic scalars
                       └─ observed: Step    a step after which every scalar is up to date
    Step ── fills, subkernels, finishers, in the order of `launches`; then `scalar_stores`, then `rotation`

All arrays over the same axes share one layout (`workbench.planning.layout`): its halo is the plan's along these axes,
so one linear index serves them all. Arrays live in numbered slots. Slot f is field number f at the start of every
step; a step writes into slots and ends with a rotation: afterwards slot s holds the array that was in slot
`rotation[s]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from workbench.arguments import explains_arguments
from workbench.graph import Graph, StorageType
from workbench.graph.display_hook import Bundle, bundle_of
from workbench.graph.graph import Printer
from workbench.planning.choices import Choices
from workbench.planning.cost import default_extents
from workbench.planning.explain import explain, explain_value
from workbench.planning.kernel_plan import (
    Axes,
    Fill,
    Finisher,
    KernelPlan,
    Launch,
    Margins,
    StridedField,
    Subkernel,
)
from workbench.planning.schedules.stepwise import STEPWISE
from workbench.planning.text import box_text, kernel_lines, slot_line, while_line


@dataclass(frozen=True, slots=True)
class Slot:
    """An array of the simulation. `field` names the field that it is at the start of a step, or is empty.

    axes: which of the graph's axes it has; what it holds is a value of just these.
    """

    index: int
    itemsize: int
    field: str
    label: str  # for people: the names of what it holds over a step
    axes: Axes = ()


@dataclass(frozen=True, slots=True)
class GlobalSlot:
    """A word of the Globals block, holding one value in its own type at the low end; a dd takes the next one too.

    Params and scalars come first in the order of graph.statics; then one for each Reduce node of each kernel.
    `kernel` and `node` say which Reduce; empty and -1 for statics. In programs with Gathers the last one, "outside",
    has the bits of those that met an index outside (codegen/gathers.py), until the march reports it.
    """

    index: int
    name: str
    role: Literal["param", "scalar", "reduction", "outside"]
    type: StorageType
    kernel: str = ""
    node: int = -1

    @property
    def is_static(self) -> bool:
        """Whether it holds a param or a scalar."""
        return self.role in ("param", "scalar")


@explains_arguments
@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that code generation needs. `graph` is simplified and retyped; the reference interprets it.

    strided: of a program that runs once on arrays of its caller, those of strides of their own (planning/strided).
    """

    graph: Graph
    choices: Choices
    halo: Margins
    slots: tuple[Slot, ...]
    global_slots: tuple[GlobalSlot, ...]
    kernels: tuple[KernelPlan, ...]
    schedule: str = STEPWISE.name
    strided: tuple[StridedField, ...] = ()

    def __hash__(self) -> int:
        return hash((self.graph, self.choices))  # all else follows from these, and from whether chains are followed

    def __str__(self) -> str:
        """The stable text form: equal plans give equal text."""
        space = self.graph.space
        halo = f", halo {box_text(self.halo)}" if space.has_grid else ""
        lines = [f"plan of {self.graph.name} ({self.graph.fingerprint()}), {self.schedule}{halo}"]
        lines += [self.graph.part] if self.graph.part else []
        lines += [slot_line(space, s.index, s.itemsize, s.label, s.axes) for s in self.slots]
        lines += [f"global {s.index}: {s.type} {s.role} {s.name}" for s in self.global_slots]
        lines += [f"strided {each.name}: step {each.step or 'of the call'}" for each in self.strided]
        for kernel in self.kernels:
            lines += kernel_lines(kernel, self.choices.plan, default_extents(self.graph.dim))
        lines += [while_line(loop) for loop in self.graph.loops]
        return "\n".join(lines) + "\n"

    def __repr__(self) -> str:
        loops = sum(len(k.observed.subkernels) for k in self.kernels)
        return f"<plan of {self.graph.name}: {loops} sub-kernels, {len(self.slots)} arrays, {self.schedule}>"

    def _repr_pretty_(self, printer: Printer, cycle: bool) -> None:
        """Show the text form when a cell ends with a plan."""
        printer.text(str(self))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Bundle:
        """Table and charts with the text form beside them."""
        return bundle_of(self)

    def explain(self, a: str, b: str | None = None) -> str:
        """Explain how a named value is stored and which sub-kernels make and read it, or why two share one or not.

        Raises PlanError for unknown names.
        """
        said = explain_value(self.main, a) if b is None else explain(self.main, a, b)
        return f"{said} This is {self.graph.part}." if self.graph.part else said

    def kernel(self, name: str) -> KernelPlan:
        """The plan of the kernel called `name`; KeyError if there is none."""
        for kernel in self.kernels:
            if kernel.kernel.name == name:
                return kernel
        raise KeyError(name)

    def global_slot(self, name: str) -> GlobalSlot:
        """The slot of a param or scalar; KeyError if there is none."""
        for slot in self.global_slots:
            if slot.name == name and slot.is_static:
                return slot
        raise KeyError(name)

    @property
    def outside(self) -> int:
        """The Globals slot that notes indices outside; -1 if the program has no Gather."""
        return next((slot.index for slot in self.global_slots if slot.role == "outside"), -1)

    @property
    def global_words(self) -> int:
        """Words of 8 bytes that all slots of the Globals block take, and strides of fields behind them."""
        return self._slot_words + sum(map(len, self.stride_words.values()))

    @property
    def _slot_words(self) -> int:
        return sum(slot.type.words for slot in self.global_slots)

    @property
    def stride_words(self) -> dict[str, tuple[int, ...]]:
        """Of each strided field the words of the Globals block with its strides, in elements, one for each axis."""
        words, first = dict[str, tuple[int, ...]](), self._slot_words
        for each in self.strided:
            rank = self.graph.static(each.name).space.rank
            words[each.name] = tuple(range(first, first + rank))
            first += rank
        return words

    @property
    def widest_reduction(self) -> int:
        """Words of 8 bytes that one partial result takes at most; 1 if nothing is reduced."""
        return max((slot.type.words for slot in self.global_slots if slot.role == "reduction"), default=1)

    @property
    def array_slots(self) -> tuple[Slot, ...]:
        """The slots that need memory where chains are followed: all but those that only rolling values would use."""
        used = {slot.index for slot in self.slots if slot.field}
        for kernel, step in ((k, s) for k in self.kernels for s in (k.plain, k.observed)):
            alone = kernel.blocking is not None and step is kernel.plain
            chains = () if alone else step.chains  # steps that run together follow none
            rolling = {value.node for chain in chains for value in chain.rolling}
            used |= {h.slot for s in step.subkernels for h in s.outputs if h.node not in rolling}
            rolling |= {step.fills[number].node for chain in chains for number in chain.fills}
            used |= {r.slot for s in step.subkernels for r in s.reads if r.node not in rolling}
            inside = {number for chain in chains for number in chain.fills}
            fills = (fill for number, fill in enumerate(step.fills) if number not in inside)
            used |= {slot for fill in fills for slot in (fill.source, fill.target)}
            used |= {slot for slot, source in enumerate(step.rotation) if slot != source}
        return tuple(slot for slot in self.slots if slot.index in used)

    @property
    def main(self) -> KernelPlan:
        """The kernel that the card shows: "step", else the first; where loops run before it, a turn of the last one."""
        found = next((k for k in self.kernels if k.kernel.name == "step"), self.kernels[0])
        while loops := self.graph.loops_before(found.kernel.name):
            found = self.kernel(loops[-1].turn)
        return found

    @property
    def subkernels(self) -> tuple[Subkernel, ...]:
        """The write groups of a plain step of the main kernel."""
        return self.main.plain.subkernels

    @property
    def fills(self) -> tuple[Fill, ...]:
        """The halo fills of a plain step of the main kernel."""
        return self.main.plain.fills

    @property
    def finishers(self) -> tuple[Finisher, ...]:
        """The reduction finishers of a plain step of the main kernel."""
        return self.main.plain.finishers

    @property
    def launches(self) -> tuple[Launch, ...]:
        """What runs between barriers in a plain step of the main kernel."""
        return self.main.plain.launches
