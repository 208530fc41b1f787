"""Device kernel: a kernel's plan to the records that the CUDA template writes and to the launches of its steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from workbench.codegen.access import Linear
from workbench.codegen.cell_code import ArrayName
from workbench.codegen.collectives import collective_code
from workbench.codegen.cuda.collectives import PART_NAMES, collective_kernels
from workbench.codegen.cuda.device import (
    ArrayOperand,
    DeviceFill,
    DeviceKernel,
    DeviceSweep,
    KernelLaunches,
    KernelParameter,
    LaunchCode,
    Scalars,
    StepLaunches,
    Subtrees,
    Tree,
)
from workbench.codegen.cuda.joins import join_kernels
from workbench.codegen.cuda.prefetching import prefetches
from workbench.codegen.cuda.scatters import given_arrays, moves_of, scatter_kernels
from workbench.codegen.cuda.towers import write_towers
from workbench.codegen.expressions import emit_cell
from workbench.codegen.folding import FoldedValue
from workbench.codegen.folds import FOLD_NAMES, entering, folded_value, folding_of, taking
from workbench.codegen.names import RESERVED, NameBook
from workbench.codegen.scatters import SCATTER_NAMES
from workbench.codegen.shapes import ArrayShape
from workbench.codegen.sharing import Shared
from workbench.codegen.spelling import CUDA, type_name
from workbench.codegen.statement import Statement
from workbench.codegen.writer import KernelWriter
from workbench.graph import Join, Rank, Scan, Scatter, SegmentedReduce
from workbench.graph.instructions import collective_of
from workbench.planning.axes import kept_axes
from workbench.planning.kernel_plan import Axes, Fill, Home, KernelPlan, Step, Subkernel
from workbench.planning.loop_keys import loop_key
from workbench.planning.plan import Plan

_TAKEN = RESERVED | {
    *("cell", "tiles", "tile_x", "tile_y", "tiles_of", "planes", "plane", "planes_of"),
    *("chunks", "chunks_of", "combine_lanes", "strides", "Index", "Tiles", "Planes", "Chunks"),
}


def device_kernel(plan: Plan, kernel: KernelPlan, functions: NameBook) -> tuple[DeviceKernel, KernelLaunches]:
    """Return the text's records and the launches, in an order that depends on the plan alone."""
    return _DeviceWriter(plan, kernel, CUDA, functions).write_device()


@dataclass(frozen=True, slots=True)
class _Arrays:
    """The array parameters of a launch: one for each slot, because no two parameters may overlap.

    `access` has the arrays where nodes are read, `targets` names those of the outputs, in their order. A slot holds
    values of one type only.
    """

    operands: tuple[ArrayOperand, ...]
    parameters: tuple[KernelParameter, ...]
    access: dict[int, Linear]
    targets: tuple[str, ...]

    def in_order(self, appeared: Iterable[ArrayName]) -> _Arrays:
        """The same in the order in which a text reads them; what it only writes comes last."""
        order = dict.fromkeys((*(a.name for a in appeared), *(p.name for p in self.parameters)))
        parameters = {p.name: p for p in self.parameters}
        operands = {o.parameter: o for o in self.operands}
        return replace(self, operands=tuple(operands[n] for n in order), parameters=tuple(parameters[n] for n in order))


class _DeviceWriter(KernelWriter):
    """Collects kernels and launches of a kernel's two steps; equal kernels are written once."""

    def write_device(self) -> tuple[DeviceKernel, KernelLaunches]:
        self.device_sweeps = Shared[DeviceSweep]()
        self.device_fills = Shared[DeviceFill]()
        self.trees = Shared[Tree]()
        self.subtrees = Shared[Subtrees]()
        self.all_scalars = Shared[Scalars]()
        steps = [self._step_launches(step) for step in self._variants()]
        first, renews = self._begin()
        plain, observed = (
            self._with_scalars(made, step, renews)
            for made, step in zip((steps[0], steps[-1]), (self.kernel.plain, self.kernel.observed), strict=True)
        )
        ending = (*self._scalars(self.kernel.plain), *([Statement(f"{renews}(globals);", ())] if renews else []))
        torres, towers = write_towers(self, plain, ending)
        name = self.kernel.kernel.name
        calls = [Statement(f"{first}(globals, shape);", ())] if first else []
        calls += [Statement(f"{renews}(globals);", ())] if renews else []
        begin = (self._scalar_launch(tuple(calls), f"begin_{name}"),) if calls else ()
        code = DeviceKernel(
            name,
            tuple(self.combines.values()),
            tuple(self.device_fills.records),
            tuple(self.device_sweeps.records),
            tuple(self.trees.records),
            tuple(self.all_scalars.records),
            tuple(self.uniforms.records),
            tuple(self.subtrees.records),
            torres,
        )
        words = tuple(self.table.words.values())
        observed = observed if self.kernel.has_diagnostics else plain
        return code, KernelLaunches(name, plain, observed, begin, words, towers)

    def _step_launches(self, step: Step) -> StepLaunches:
        reductions = [r for s in step.subkernels for r in s.reductions]
        buffers = {r: b for b, r in enumerate(reductions)}
        self.table.used.clear()
        made: dict[int, list[LaunchCode]] = {}
        for number, launch in enumerate(step.launches):
            match launch.kind:
                case "fill":
                    made[number] = [self._fill_launch(step.fills[m]) for m in launch.members]
                case "subkernel":
                    loops = [step.subkernels[m] for m in launch.members]
                    made[number] = [
                        replace(code, continues=place > 0)
                        for loop in loops
                        for place, code in enumerate(self._loop_launches(loop, buffers))
                    ]
                case "finisher":
                    pass  # when it is known what is to be computed after it
        later = self._later(step)
        finishers = [number for number, launch in enumerate(step.launches) if launch.kind == "finisher"]
        for stage, number in enumerate(finishers, start=1):
            done = [step.finishers[m] for m in step.launches[number].members]
            last = (*("" for _ in done[1:]), later.get(stage, ""))
            made[number] = [
                self._tree_launch(f.node, f.slot, buffers[f.node], u) for f, u in zip(done, last, strict=True)
            ]
        types = tuple(self.nodes[r].value_type for r in reductions)
        launches = tuple(code for number in sorted(made) for code in made[number])
        return StepLaunches(launches, types, step.rotation)

    def _with_scalars(self, made: StepLaunches, step: Step, renews: str) -> StepLaunches:
        """The step with the launch that ends it, if it writes scalars."""
        statements = self._scalars(step)
        if not statements:
            return made
        if renews:
            statements = (*statements, Statement(f"{renews}(globals);", ()))
        launch = self._scalar_launch(statements, f"scalars_{self.kernel.kernel.name}")
        return replace(made, launches=(*made.launches, launch))

    # ---- sub-kernels

    def _loop_launches(self, subkernel: Subkernel, buffers: dict[int, int]) -> tuple[LaunchCode, ...]:
        """A loop is one launch; a Scatter, a Scan or a Rank up to three, a Join one for each array."""
        if subkernel.alone < 0:
            return (self._sweep_launch(subkernel, buffers),)
        match collective_of(self.nodes[subkernel.alone]):
            case Scatter() | Join():
                return self._scatter_launches(subkernel)
            case Scan() | SegmentedReduce() | Rank():
                return self._collective_launches(subkernel)

    def _scatter_launches(self, subkernel: Subkernel) -> tuple[LaunchCode, ...]:
        names, numbered = NameBook(_TAKEN | self.reserved() | SCATTER_NAMES), dict[int, str]()
        arrays = self._arrays(subkernel, names, numbered)
        scope = replace(self.scope(frozenset(arrays.access), subkernel.axes), access=arrays.access)
        (target,) = arrays.targets
        is_join = isinstance(self.nodes[subkernel.alone].instruction, Join)
        write = join_kernels if is_join else scatter_kernels
        kernels = write(self, subkernel, scope, target, names, numbered)
        launches = []
        for made in given_arrays(kernels, {p.name: p for p in arrays.parameters}, target):
            own = {target: "out 0"} if made.stores else {}
            found = self._named_sweep(made.sweep, f"{made.word}_{made.sweep.label}", own)
            shapes = self.launch_shapes(made.axes, made.sweep.shapes)
            launches.append(made.launch(found.name, arrays.operands, loop_key(self.kernel, subkernel), shapes))
        return tuple(launches)

    def _sweep_launch(self, subkernel: Subkernel, buffers: dict[int, int]) -> LaunchCode:
        if subkernel.reduced:
            return self._fold_launch(subkernel)
        names, numbered = NameBook(_TAKEN | self.reserved()), dict[int, str]()
        arrays = self._arrays(subkernel, names, numbered)
        cells = [names.claim(f"{self.value_name(r, numbered)}_lane") for r in subkernel.reductions]
        sums = [names.claim(f"{self.value_name(r, numbered)}_partials") for r in subkernel.reductions]
        partials = tuple(self.partial(r, c, a) for r, c, a in zip(subkernel.reductions, cells, sums, strict=True))
        outputs = tuple(h.node for h in subkernel.outputs)
        reduced = tuple(self.nodes[r].operands[0] for r in subkernel.reductions)
        roots = dict.fromkeys((*outputs, *reduced))
        read = tuple(r for r in roots if r in arrays.access and (r not in outputs or self._exists(r)))
        scope = replace(self.scope(frozenset(arrays.access), subkernel.axes), access=arrays.access)
        code = emit_cell(scope, tuple(r for r in roots if r not in read), read, names, numbered)
        arrays = arrays.in_order(code.arrays)
        values = {r.node: (r.text, r.nodes) for r in code.results}
        statements = list(code.cell)
        for reduction, partial, node in zip(subkernel.reductions, partials, reduced, strict=True):
            text = f"{partial.cells} = {partial.combine}()({partial.cells}, {values[node][0]});"
            statements.append(Statement(text, tuple(sorted({reduction, *values[node][1]}))))
        for home, array in zip(subkernel.outputs, arrays.targets, strict=True):
            text, inside = values[home.node]
            statements.append(Statement(f"{array}[cell] = {text};", tuple(sorted({home.node, *inside}))))
        parameters = (*arrays.parameters, *(KernelParameter(p.name, p.type) for p in partials))
        sweep = DeviceSweep(
            "",
            subkernel.name,
            None if any(map(any, subkernel.margins)) else subkernel.margins,
            parameters,
            partials,
            code.uniform,
            moves_of((code,)),
            code.row,
            tuple(statements),
            subkernel.sync_before,
            subkernel.sync_after,
            len(subkernel.axes) or self.dim,
            self.shapes_in((a.node for a in code.arrays), subkernel.axes),
            outside=self.outside(code),
            ahead=() if partials else prefetches(code, len(subkernel.axes) or self.dim),
        )
        operands = tuple(
            ArrayOperand(p.name, "partials", buffers[r], self.nodes[r].value_type)
            for p, r in zip(partials, subkernel.reductions, strict=True)
        )
        kind: Literal["chunks", "sweep"] = "chunks" if partials else "sweep"
        read_slots = {home.slot for home in subkernel.reads}
        all_operands = (*arrays.operands, *operands)
        fresh = tuple(k for k, o in enumerate(all_operands) if o.kind == "partials" or o.index not in read_slots)
        found = self._shared_sweep(sweep, "sweep", arrays)
        key = loop_key(self.kernel, subkernel)
        shapes = self.launch_shapes(subkernel.axes, sweep.shapes)
        launch = LaunchCode(
            found.name, kind, all_operands, subkernel.margins, fresh=fresh, loop=key, axes=subkernel.axes, shapes=shapes
        )
        return replace(launch, says_grown=sweep.grown is None)

    def _shared_sweep(self, sweep: DeviceSweep, kind: str, arrays: _Arrays) -> DeviceSweep:
        """An equal kernel or this one, now noted and named."""
        own = {
            array: f"out {k}" for k, array in enumerate(arrays.targets) if Linear(array) not in arrays.access.values()
        }
        return self._named_sweep(sweep, f"{kind}_{sweep.label or len(self.device_sweeps.records)}", own)

    def _named_sweep(self, sweep: DeviceSweep, preferred: str, own: dict[str, str]) -> DeviceSweep:
        return self.device_sweeps.wanted(
            sweep, sweep.label, lambda s: replace(s, name=self.functions.claim(preferred)), own
        )

    def _fold_launch(self, subkernel: Subkernel) -> LaunchCode:
        """One thread does a kept cell: the folded cells in order, each combined into what a chunk has so far."""
        names, numbered = NameBook(_TAKEN | self.reserved() | FOLD_NAMES), dict[int, str]()
        arrays = self._arrays(subkernel, names, numbered)
        outputs = tuple(home.node for home in subkernel.outputs)
        lanes = [names.claim(f"{self.value_name(node, numbered)}_lane") for node in outputs]
        targets = self.plan.choices.plan.folds.targets
        place = "[target]" if targets > 1 else ""
        trees = [names.claim(f"{self.value_name(node, numbered)}_trees") for node in outputs]
        operands = {node: entering(self, node) for node in outputs}
        roots = tuple(dict.fromkeys(each for taken in operands.values() for each in taken))
        read = tuple(root for root in roots if root in arrays.access)
        scope = self.scope(frozenset(arrays.access), subkernel.axes, subkernel.reduced)
        scope = replace(scope, access=arrays.access)
        code = emit_cell(scope, tuple(root for root in roots if root not in read), read, names, numbered)
        arrays = arrays.in_order(code.arrays)
        results = {result.node: result for result in code.results}
        statements, values = list(code.cell), list[FoldedValue]()
        for home, lane, tree, array in zip(subkernel.outputs, lanes, trees, arrays.targets, strict=True):
            values.append(folded_value(self, home.node, tree, lane, "", array))
            statements.append(taking(self, home.node, f"{lane}{place}", [results[n] for n in operands[home.node]]))
        shapes = self.shapes_in((*(a.node for a in code.arrays), *outputs), subkernel.axes)
        sweep = DeviceSweep(
            "",
            subkernel.name,
            subkernel.margins,
            arrays.parameters,
            (),
            code.uniform,
            moves_of((code,)),
            code.row,
            tuple(statements),
            subkernel.sync_before,
            subkernel.sync_after,
            len(subkernel.axes) or self.dim,
            shapes,
            folding_of(self, subkernel, tuple(values), lanes=1),
            outside=self.outside(code),
        )
        found = self._shared_sweep(sweep, "fold", arrays)
        read_slots = {home.slot for home in subkernel.reads}
        return LaunchCode(
            found.name,
            "cells",
            arrays.operands,
            subkernel.margins,
            fresh=tuple(k for k, o in enumerate(arrays.operands) if o.index not in read_slots),
            loop=loop_key(self.kernel, subkernel),
            axes=kept_axes(subkernel, self.dim),
            targets=targets,
            shapes=self.launch_shapes(subkernel.axes, shapes),
        )

    def _collective_launches(self, subkernel: Subkernel) -> tuple[LaunchCode, ...]:
        names, numbered = NameBook(_TAKEN | self.reserved() | PART_NAMES), dict[int, str]()
        arrays = self._arrays(subkernel, names, numbered)
        scope = replace(self.scope(frozenset(arrays.access), subkernel.axes), access=arrays.access)
        made = collective_code(self, subkernel, scope, arrays.targets[0], names, numbered)
        arrays = arrays.in_order(made.arrays)
        shapes = self.launch_shapes(subkernel.axes, made.shapes)
        launch = LaunchCode("", "cells", loop=loop_key(self.kernel, subkernel), axes=subkernel.axes, shapes=shapes)
        launches = []
        for kernel in collective_kernels(self, subkernel, made, arrays.parameters, arrays.operands, launch):
            match kernel.text:
                case DeviceSweep() as sweep:
                    name = self._shared_sweep(sweep, kernel.word, arrays).name
                case Subtrees() as joined:
                    name = self.subtrees.wanted(
                        joined, "", lambda s: replace(s, name=self.functions.claim("subtrees"))
                    ).name
            launches.append(replace(kernel.launch, kernel=name))
        return tuple(launches)

    def launch_shapes(self, axes: Axes, others: Iterable[ArrayShape]) -> tuple[Axes, ...]:
        """The axes of the shapes that a launch is given, () for all."""
        return tuple(() if len(each) == self.dim else each for each in (axes, *(shape.axes for shape in others)))

    def _arrays(self, subkernel: Subkernel, names: NameBook, numbered: dict[int, str]) -> _Arrays:
        """One parameter a slot, named after what is read there, else after what is written."""
        reads, outputs = subkernel.reads, subkernel.outputs
        by_slot: dict[int, list[int]] = {}
        for slot, node in (*((r.slot, r.node) for r in reads), *((h.slot, h.node) for h in outputs)):
            by_slot.setdefault(slot, []).append(node)
        written = {home.slot for home in outputs}
        operands: list[ArrayOperand] = []
        parameters: list[KernelParameter] = []
        found: dict[int, str] = {}
        read_slots = {read.slot for read in reads}
        for slot, nodes in by_slot.items():
            is_read = slot in read_slots
            preferred = self.value_name(nodes[0], numbered) if is_read else ""
            preferred = preferred or f"out_{self.output_name(Home(nodes[0], slot), numbered)}"
            type_ = self.nodes[nodes[0]].value_type
            array = found[slot] = names.claim(f"{preferred}_array")
            operands.append(ArrayOperand(array, "slot", slot, type_, slot in written))
            parameters.append(KernelParameter(array, f"{'' if slot in written else 'const '}{type_name(type_)}"))
        access = {read.node: Linear(found[read.slot]) for read in reads}
        return _Arrays(tuple(operands), tuple(parameters), access, tuple(found[h.slot] for h in outputs))

    # ---- ghost cells

    def _fill_launch(self, fill: Fill) -> LaunchCode:
        rules = self._rules(fill)
        type_ = self.nodes[fill.node].value_type
        whole = fill.source != fill.target
        names = NameBook(_TAKEN)
        target = names.claim(f"{rules.label}_array")
        source = names.claim(f"{rules.label}_source") if whole else target
        parameters = [KernelParameter(target, type_name(type_))]
        operands = [ArrayOperand(target, "slot", fill.target, type_)]
        if whole:
            parameters.append(KernelParameter(source, f"const {type_name(type_)}"))
            operands.append(ArrayOperand(source, "slot", fill.source, type_, written=False))
        read = Statement(f"value = {source}[source];", (fill.node,))
        write = Statement(f"{target}[ghost] = value;", (fill.node,))
        made = DeviceFill("", rules, tuple(parameters), whole, read, write)
        own = {target: "target", source: "source"}
        found = self.device_fills.wanted(
            made, "", lambda f: replace(f, name=self.functions.claim(f"fill_{rules.label}")), own
        )
        axes, fresh = self.axes_of(fill.node), (0,) if whole else ()
        return LaunchCode(
            found.name, "ghosts", tuple(operands), fill.margins, whole, fresh=fresh, axes=axes, shapes=(axes,)
        )

    # ---- reductions and scalars

    def _tree_launch(self, node: int, slot: int, buffer: int, uniforms: str) -> LaunchCode:
        type_ = self.nodes[node].value_type
        combine = self.combine(node)
        preferred = f"tree_{type_.name}_{combine.rpartition('combine_')[2]}"
        tree = Tree("", type_name(type_), combine, uniforms)
        found = self.trees.wanted(tree, "", lambda t: replace(t, name=self.functions.claim(preferred)))
        operand = ArrayOperand("partials", "partials", buffer, type_)
        axes = self.axes_of(self.nodes[node].operands[0])
        return LaunchCode(found.name, "tree", (operand,), slot=slot, axes=axes, renews=bool(uniforms))

    def _scalar_launch(self, statements: tuple[Statement, ...], preferred: str) -> LaunchCode:
        made = Scalars("", statements)
        found = self.all_scalars.wanted(made, "", lambda s: replace(s, name=self.functions.claim(preferred)))
        return LaunchCode(found.name, "scalars")
