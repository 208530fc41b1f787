"""Kernel: a kernel's plan to the records that templates write; equal loop nests are written once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from workbench.codegen.cell_code import Pointer
from workbench.codegen.collectives import collective_sweep
from workbench.codegen.cpp.leaving import first_write
from workbench.codegen.cpp.strips import bytes_around
from workbench.codegen.cpp.tiles import of_level, tile_code
from workbench.codegen.expressions import emit_cell
from workbench.codegen.folds import MANY_LANES, fold_sweep
from workbench.codegen.free_order import in_any_order, taken_in_any_order
from workbench.codegen.gathers import OUTSIDE
from workbench.codegen.joins import join_sweep
from workbench.codegen.laps import Lap, number_laps
from workbench.codegen.loops import Array, Rules, Sweep
from workbench.codegen.names import RESERVED, NameBook, identifier
from workbench.codegen.quick import stages_of_cells
from workbench.codegen.rows import beyond_domain, lost_tags, passed_array, row_element, row_pointers, written
from workbench.codegen.rules import RollingFill, is_steady
from workbench.codegen.running_order import (
    Buffer,
    ChainCode,
    FillCall,
    FinisherCall,
    KernelCode,
    MemberCall,
    Phase,
    StageCode,
    StepCode,
    SweepCall,
    TileCode,
)
from workbench.codegen.scatters import scatter_sweep
from workbench.codegen.seeking import seeking, sought_by
from workbench.codegen.shapes import ArrayShape
from workbench.codegen.sharing import Shared
from workbench.codegen.spelling import TargetLanguage, type_name
from workbench.codegen.statement import Statement, words_in
from workbench.codegen.stretches import stretches_of
from workbench.codegen.vectors import in_vectors
from workbench.codegen.writer import KernelWriter
from workbench.graph import Join, Scatter
from workbench.planning.kernel_plan import Chain, Fill, KernelPlan, Step, Subkernel
from workbench.planning.loop_keys import loop_key, loop_names
from workbench.planning.plan import Plan
from workbench.planning.reach import no_margins, union
from workbench.planning.rolling_ghosts import rings_of
from workbench.planning.schedules.locality import slot_bytes


def kernel_code(plan: Plan, kernel: KernelPlan, target: TargetLanguage, functions: NameBook) -> KernelCode:
    """Everything the templates write for one kernel, in an order that depends on the plan alone.

    `functions` gives names to functions and is shared by the plan's kernels.
    """
    return _HostWriter(plan, kernel, target, functions).write()


def has_steady_ghosts(plan: Plan) -> bool:
    """Whether some array keeps its ghost cells from step to step, so that tags must be kept."""
    return any(
        fill.source == fill.target and is_steady(kernel.kernel.nodes, kernel.kernel.nodes[fill.node])
        for kernel in plan.kernels
        for step in (kernel.plain, kernel.observed)
        for fill in step.fills
    )


class _HostWriter(KernelWriter):
    """Collects sweeps and rules of a kernel's two steps; equal ones are written once."""

    def __init__(self, plan: Plan, kernel: KernelPlan, target: TargetLanguage, functions: NameBook) -> None:
        super().__init__(plan, kernel, target, functions)
        # Tags differ between kernels: no kernel has more rules than nodes.
        before = plan.kernels[: [k.kernel.name for k in plan.kernels].index(kernel.kernel.name)]
        self.first_tag = sum(len(k.kernel.nodes) * 2 for k in before)
        self.loops = {key: number for number, key in enumerate(loop_names(plan))}
        self.laps = {lap: number for number, lap in enumerate(number_laps(plan))}
        self.rules = Shared[Rules]()
        self.sweeps = Shared[Sweep]()
        self.chains = Shared[ChainCode]()

    def write(self) -> KernelCode:
        """The records of the C++ template."""
        prefix = identifier(self.kernel.kernel.name)
        steps = [self._step(self.kernel.plain, self.functions.claim(f"run_{prefix}"))]
        if self.kernel.has_diagnostics:
            steps.append(self._step(self.kernel.observed, self.functions.claim(f"run_{prefix}_observed")))
        tiles = self._tiles(steps[0])
        begin, renews = self._begin()
        steps = [replace(code, renews=renews) for code in steps]
        tiles = tuple(replace(code, renews=renews) for code in tiles)
        shared = [len(p.fills) + len(p.sweeps) + len(p.chains) for s in steps for p in s.phases]
        members = max([*shared, *(len(t.fills) for t in tiles)], default=1)
        return KernelCode(
            self.kernel.kernel.name,
            tuple(self.combines.values()),
            tuple(self.rules.records),
            tuple(self.sweeps.records),
            tuple(self.chains.records),
            tuple(steps),
            steps[0].name,
            steps[-1].name,
            max(members, 1),
            tuple(self.uniforms.records),
            tuple(self.table.words.values()),
            begin,
            tiles,
        )

    def _step(self, step: Step, name: str) -> StepCode:
        buffers = {r: b for b, r in enumerate(r for s in step.subkernels for r in s.reductions)}
        phases: list[Phase] = []
        begins = {chain.launches[0]: chain for chain in step.chains}
        inside = {number for chain in step.chains for number in range(*chain.launches)}
        moved = {m for chain in step.chains for m in chain.moved}
        finished: list[int] = []  # the phase after which the finishers of a launch are done
        self.table.used.clear()
        whole = first_write(step, {slot.index for slot in self.plan.slots if slot.field})
        for number, launch in enumerate(step.launches):
            if number in begins:
                phases.append(self._chain_phase(step, begins[number], number < whole))
            if number in inside:
                continue
            lap = self._lap(step, number)
            members = tuple(self._lap(step, number, m) for m in launch.members) if len(launch.members) > 1 else ()
            match launch.kind:
                case "fill":
                    calls = tuple(self._fill(step.fills[m]) for m in launch.members)
                    tags = tuple((c.target, c.tag) for c in calls)
                    phases.append(Phase(calls, (), (), tags, lap=lap, member_laps=members))
                case "subkernel":
                    loops = [step.subkernels[m] for m in launch.members if m not in moved]
                    sweeps = tuple(self._sweep(s, buffers) for s in loops)
                    laps = tuple(n for m, n in zip(launch.members, members, strict=bool(members)) if m not in moved)
                    if sweeps:
                        tags = lost_tags(h for s in loops for h in beyond_domain(s))
                        leaves = number < whole and any(sweep.may_leave for sweep in sweeps)
                        phases.append(Phase((), sweeps, (), tags, lap=lap, member_laps=laps, may_leave=leaves))
                case "finisher":
                    done = tuple(
                        self._finisher(step.finishers[m].node, step.finishers[m].slot, buffers) for m in launch.members
                    )
                    if not phases:
                        phases.append(Phase((), (), ()))
                    phases[-1] = replace(phases[-1], finishers=(*phases[-1].finishers, *done), finish_lap=lap)
                    finished.append(len(phases) - 1)
        for stage, uniforms in self._later(step).items():
            phase = finished[stage - 1]
            phases[phase] = replace(phases[phase], uniforms=(uniforms, *phases[phase].uniforms))
        shapes = self._shapes_of(step, phases)
        made = tuple(phases) or (Phase((), (), ()),)
        return StepCode(name, made, self._scalars(step), step.rotation, shapes=shapes)

    def _shapes_of(self, step: Step, phases: Sequence[Phase]) -> tuple[ArrayShape, ...]:
        """Those that the calls of a step name."""
        used = {name for p in phases for sweep in p.sweeps for name in (*sweep.shapes, sweep.over, sweep.senders)}
        used |= {fill.shape for p in phases for fill in p.fills}
        used |= {self.shape_name(self.axes_of(self.nodes[f.node].operands[0])) for f in step.finishers}
        return tuple(shape for shape in self.shapes if shape.name in used)

    def _tiles(self, code: StepCode) -> tuple[TileCode, ...]:
        """The plain step, of which several run together."""
        tiling, step = self.kernel.tiling, self.kernel.plain
        if tiling is None:
            return ()
        fills = [self._fill(fill) for fill in step.fills]
        loops = [n for n, launch in enumerate(step.launches) if launch.kind == "subkernel"]
        stages = [self._stage(step, n, tiling.bare) for n in loops]
        fill_lap = next((self._lap(step, n) for n, launch in enumerate(step.launches) if launch.kind == "fill"), -1)
        name = self.functions.claim(f"tile_{code.name}")
        arrays = tuple(slot_bytes(self.kernel).items())
        return (tile_code(tiling, step, code, fills, stages, name, fill_lap, arrays),)

    def _stage(self, step: Step, number: int, bare: Sequence[int]) -> StageCode:
        """The loops of one launch, as one level of tiles."""
        members = step.launches[number].members
        sweeps = tuple(of_level(self._sweep(step.subkernels[m], {}), m in bare) for m in members)
        laps = tuple(self._lap(step, number, m) for m in members) if len(members) > 1 else ()
        return StageCode(sweeps, (), self._lap(step, number), laps)

    def _lap(self, step: Step, launch: int, member: int | None = None) -> int:
        """The number under which a launch or one of its members is timed, -1 if it is not."""
        observed = self.kernel.has_diagnostics and step is self.kernel.observed
        kind = step.launches[launch].kind
        return self.laps.get(Lap(self.kernel.kernel.name, observed, launch, kind, member), -1)

    # ---- sweeps

    def _sweep(self, subkernel: Subkernel, buffers: dict[int, int]) -> SweepCall:
        if subkernel.reduced:
            return self._fold(subkernel)
        if subkernel.alone >= 0:
            return self._collective(subkernel, len(buffers))
        sweep, _, own = self._loop(subkernel)
        passed = [passed_array(a) for a in (*sweep.reads, *sweep.writes)]
        passed += [
            f"run.partials<{p.type}>({buffers[r]})" for p, r in zip(sweep.partials, subkernel.reductions, strict=True)
        ]
        over = self.shape_name(subkernel.axes)
        shapes = self.passed_shapes(subkernel.axes, sweep.shapes)
        name = self._shared_sweep(sweep, own)
        loop = self.loops[loop_key(self.kernel, subkernel)]
        around = bytes_around(self.nodes, subkernel)
        return SweepCall(name, tuple(passed), subkernel.margins, shapes, over, sweep.rank, loop=loop, around=around)

    def _fold(self, subkernel: Subkernel) -> SweepCall:
        sweep, own = fold_sweep(self, subkernel)
        assert sweep.folding is not None
        passed = tuple(passed_array(a) for a in (*sweep.reads, *sweep.writes))
        shapes = self.passed_shapes(subkernel.axes, sweep.shapes)
        fold, name = sweep.folding, self._shared_sweep(sweep, own)
        lanes, together, rank = fold.lanes, 1, len(fold.kept)
        if fold.rows is not None:
            lanes, together = f"whole_lanes<{fold.values[0].type}>({lanes})", fold.rows.count
        return SweepCall(name, passed, subkernel.margins, shapes, fold.shape, rank, lanes, together)

    def _collective(self, subkernel: Subkernel, totals: int) -> SweepCall:
        """totals: the number of a buffer that no Reduce has."""  # a name
        if isinstance(self.nodes[subkernel.alone].instruction, Scatter):
            return self._scatter(subkernel, totals)
        is_join = isinstance(self.nodes[subkernel.alone].instruction, Join)
        sweep, own = join_sweep(self, subkernel) if is_join else collective_sweep(self, subkernel)
        passed = tuple(passed_array(a) for a in (*sweep.reads, *sweep.writes))
        scan, over = sweep.scanning, self.shape_name(subkernel.axes)
        shapes = self.passed_shapes(subkernel.axes, sweep.shapes)
        call = SweepCall(
            self._shared_sweep(sweep, own), passed, subkernel.margins, shapes, over, sweep.rank, MANY_LANES
        )
        if is_join:
            return replace(call, lanes=0, loop=self.loops[loop_key(self.kernel, subkernel)])
        if sweep.ranking is not None:
            return replace(call, digits=sweep.ranking.digits, totals=totals)
        if scan is None:
            return call
        return replace(call, lanes=scan.lanes, scans=scan.axis, type=scan.type, totals=totals if scan.in_parts else -1)

    def _scatter(self, subkernel: Subkernel, totals: int) -> SweepCall:
        sweep, own, senders = scatter_sweep(self, subkernel)
        passed = tuple(passed_array(a) for a in (*sweep.reads, *sweep.writes))
        over, shapes = self.shape_name(subkernel.axes), self.passed_shapes(subkernel.axes, sweep.shapes)
        name = self._shared_sweep(sweep, own)
        assert sweep.scattering is not None
        how = sweep.scattering
        call = SweepCall(name, passed, subkernel.margins, shapes, over, sweep.rank, senders=senders)
        return replace(call, type=how.type, totals=totals) if how.neutral else call

    def _chain_phase(self, step: Step, chain: Chain, may_leave: bool) -> Phase:
        """Its sweeps and the function that runs them together."""
        planes = {v.node: v.planes for v in chain.rolling}
        names, numbered = NameBook(RESERVED), dict[int, str]()
        buffers: dict[int, Buffer] = {}
        size = 0
        for node in sorted(planes, key=lambda n: (-self.nodes[n].value_type.itemsize, n)):  # so that each is aligned
            type_ = self.nodes[node].value_type
            buffers[node] = Buffer(names.claim(self.value_name(node, numbered)), type_name(type_), size)
            size += planes[node] * type_.itemsize
        fills = {self.nodes[step.fills[n].node].operands[0]: step.fills[n] for n in chain.fills}
        for operand, fill in fills.items():  # ghost cells are in the same buffer
            planes[fill.node], buffers[fill.node] = planes[operand], buffers[operand]
        calls = []
        used: dict[ArrayShape, None] = {}
        launch_of = {m: n for n, x in enumerate(step.launches) if x.kind == "subkernel" for m in x.members}
        for member in chain.members:
            launch = launch_of[member.subkernel]
            laps = (self._lap(step, launch, member.subkernel), self._lap(step, launch))
            sweep, nodes, own = self._loop(step.subkernels[member.subkernel], planes)
            arrays = (*sweep.reads, *sweep.writes)
            passed = [buffers[n].name if n in buffers else passed_array(a) for n, a in zip(nodes, arrays, strict=True)]
            name = self._shared_sweep(sweep, own)
            shapes = ("shape", *(shape.name for shape in sweep.shapes))
            used.update(dict.fromkeys(sweep.shapes))
            own_fills = tuple(
                RollingFill(self._fill(fills[h.node]).rules, buffers[h.node].name, planes[h.node])
                for h in step.subkernels[member.subkernel].outputs
                if h.node in fills
            )
            calls.append(MemberCall(name, tuple(passed), member.grown, member.ahead, *laps, shapes, own_fills))
        spread = no_margins(self.dim)
        for member in chain.members:
            spread = union(spread, member.grown)
        code = ChainCode(
            "",
            chain.margins,
            spread,
            size,
            max(m.grown[0][0] + m.ahead for m in chain.members),
            max(m.grown[0][1] - m.ahead for m in chain.members),
            tuple(dict.fromkeys(buffers.values())),
            tuple(calls),
            tuple(used),
            rings_of(self.kernel.kernel, step.fills[chain.fills[0]].node) if chain.fills else (),
            may_leave,
        )
        preferred = f"together_{identifier(self.kernel.kernel.name)}_{len(self.chains.records)}"
        name = self.chains.wanted(code, "", lambda c: replace(c, name=self.functions.claim(preferred))).name
        stored = (h for m in chain.members for h in beyond_domain(step.subkernels[m.subkernel]))
        lost = lost_tags(h for h in stored if h.node not in planes)
        return Phase((), (), (), lost, chains=(name,), may_leave=may_leave)

    def _loop(
        self, subkernel: Subkernel, planes: Mapping[int, int] | None = None
    ) -> tuple[Sweep, tuple[int, ...], dict[str, str]]:
        """The loop nest, the node in each of its arrays, and its own names as `Shared` wants them.

        With `planes` as a member of a chain, where these roll.
        """
        slots = {h.node: h.slot for h in subkernel.reads}
        names, numbered = NameBook(self.reserved()), dict[int, str]()
        outputs = tuple(h.node for h in subkernel.outputs)
        sought = () if planes or outputs else sought_by(self, subkernel, subkernel.reductions)
        operands = tuple(self.nodes[r].operands[0] for r in subkernel.reductions)
        free = () if planes or sought else taken_in_any_order(self, subkernel)
        reduced = tuple(s.element for s in sought) or free or operands
        targets = [names.claim(f"out_{self.output_name(h, numbered)}") for h in subkernel.outputs]
        cells = [names.claim(f"{self.value_name(r, numbered)}_cells") for r in subkernel.reductions]
        arguments = [names.claim(f"{self.value_name(r, numbered)}_partials") for r in subkernel.reductions]
        roots = dict.fromkeys((*outputs, *reduced))
        read = tuple(r for r in roots if r in slots and (r not in outputs or self._exists(r)))
        computed = tuple(r for r in roots if r not in read)
        scope = replace(self.scope(frozenset(slots), subkernel.axes), turns_together=True)
        found = None if planes or subkernel.reductions else stretches_of(scope, computed, names)
        if found is not None:
            scope = replace(scope, stretch=found[0])
        code = emit_cell(scope, computed, read, names, numbered)
        values = {r.node: (r.text, r.nodes) for r in code.results}
        reads = [Array(a.name, f"const {type_name(a.type)}*", slots[a.node]) for a in code.arrays]
        statements, taken = [*code.cell, *written(code, outputs, targets)], []
        for reduction, operand, root, buffer in zip(subkernel.reductions, operands, reduced, cells, strict=True):
            text, inside = values[root]
            line = f"return {text};" if sought else f"{buffer}[i - first] = {text};"
            widened = {operand} if free and root != operand else set[int]()
            taken.append(Statement(line, tuple(sorted({reduction, *widened, *inside}))))
        statements += () if sought else taken
        types = [f"{type_name(self.nodes[h.node].value_type)}*" for h in subkernel.outputs]
        stored = tuple(zip(subkernel.outputs, targets, types, strict=True))
        writes = [Array(f"{out}_array", type_, h.slot) for h, out, type_ in stored]
        rank = len(subkernel.axes) or self.dim
        out_rows = [
            Pointer(out, type_, f"{out}_array", row_element(h.node, (0,) * rank, planes)) for h, out, type_ in stored
        ]
        partials = tuple(self.partial(r, c, a) for r, c, a in zip(subkernel.reductions, cells, arguments, strict=True))
        partials = seeking(partials, sought, taken, names) if sought else in_any_order(self, partials, free)
        sweep = Sweep(
            "",
            subkernel.name,
            tuple(reads),
            tuple(writes),
            partials,
            code.uniform,
            (*row_pointers(code.pointers, self.nodes, planes), *out_rows),
            code.row,
            () if code.cuts else tuple(statements),
            planes is not None,
            rank,
            self.shapes_in((a.node for a in code.arrays), subkernel.axes),
            outside=self.outside(code),
            extended=self.extends(statements),
            stages=stages_of_cells(self.nodes, subkernel, code, tuple(statements), targets, planes is not None),
        )
        if found is None:
            sweep = in_vectors(sweep)
        else:
            notes = OUTSIDE in words_in(statement.text for statement in statements)
            sweep = replace(sweep, stretches=replace(found[1], lines=code.stretch, notes=notes))
        own = {name: f"out {k}" for k, out in enumerate(targets) for name in (out, f"{out}_array")}
        return sweep, (*(a.node for a in code.arrays), *outputs), own

    def _shared_sweep(self, sweep: Sweep, own: dict[str, str]) -> str:
        """The name of an equal sweep or of this one, now noted."""
        preferred = f"{sweep.kind}_{sweep.label or len(self.sweeps.records)}"
        found = self.sweeps.wanted(sweep, sweep.label, lambda s: replace(s, name=self.functions.claim(preferred)), own)
        return found.name

    def _finisher(self, node: int, slot: int, buffers: dict[int, int]) -> FinisherCall:
        type_ = type_name(self.nodes[node].value_type)
        axes = self.axes_of(self.nodes[node].operands[0])
        partials = f"run.partials<{type_}>({buffers[node]})"
        text = (
            f"write_global(globals, {slot}, "
            f"reduce_partials({self.shape_name(axes)}, {partials}, {self.combine(node)}()));"
        )
        return FinisherCall(buffers[node], type_, self.combine(node), slot, Statement(text, (node,)))

    # ---- fills

    def _fill(self, fill: Fill) -> FillCall:
        fresh = self._rules(fill)
        preferred = f"outside_{fresh.label}"
        rules = self.rules.wanted(fresh, "", lambda r: replace(r, name=self.functions.claim(preferred)))
        steady = fill.source == fill.target and is_steady(self.nodes, self.nodes[fill.node])
        tag = 1 + self.first_tag + self.rules.records.index(rules) if steady else 0
        shape = self.shape_name(self.axes_of(fill.node))
        return FillCall(rules.name, rules.type, fill.source, fill.target, tag, shape, rules.rank)
