"""Writer: what is written of a kernel's plan in the same way for every target."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from workbench.codegen.cell_code import CellCode
from workbench.codegen.expressions import emit_cell, emit_globals
from workbench.codegen.gathers import OUTSIDE
from workbench.codegen.loops import Combine, Partial, RuleOperand, Rules
from workbench.codegen.names import RESERVED, NameBook, identifier
from workbench.codegen.rules import most_steps, region_body, rule_row
from workbench.codegen.scope import Scope, Strides
from workbench.codegen.shapes import ArrayShape, array_shapes, whole_shape
from workbench.codegen.sharing import Shared
from workbench.codegen.spelling import TargetLanguage, literal, type_name
from workbench.codegen.statement import Statement
from workbench.codegen.uniforms import LoopWords, Uniforms, UniformTable, later_uniforms, march_uniforms, step_uniforms
from workbench.codegen.value_names import display_name, numbered_name
from workbench.errors import GraphError
from workbench.graph import OPERATORS, REDUCTIONS, Extend, Load, Node, Reduce, Region, StorageType
from workbench.graph.extended_arrays import identity_of
from workbench.graph.extended_numbers import DoubleDouble
from workbench.graph.instructions import Combining, Constant, traits_of
from workbench.graph.operators import identity
from workbench.planning.axes import axes_of
from workbench.planning.kernel_plan import Axes, Fill, Home, KernelPlan, Step
from workbench.planning.plan import Plan


class KernelWriter:
    """What is written of a kernel's two steps for any target: names, reductions, scalars, rules, uniform values."""

    def __init__(self, plan: Plan, kernel: KernelPlan, target: TargetLanguage, functions: NameBook) -> None:
        self.plan = plan
        self.kernel = kernel
        self.nodes = kernel.kernel.nodes
        self.target = target
        self.functions = functions
        self.dim = plan.graph.dim
        self.shapes = array_shapes(plan)
        self.statics = {s.name: s.index for s in plan.global_slots if s.is_static}
        name = kernel.kernel.name
        self.reductions = {s.node: s.index for s in plan.global_slots if s.role == "reduction" and s.kernel == name}
        steps, words = {each.name: each.step for each in plan.strided}, plan.stride_words
        self.strided = {
            index: Strides(words[node.instruction.name], steps[node.instruction.name])
            for index, node in enumerate(self.nodes)
            if isinstance(node.instruction, Load) and node.instruction.name in steps
        }
        self.combines: dict[Region, Combine] = {}
        self.table = UniformTable(kernel.kernel, plan.global_words)
        self.uniforms = Shared[Uniforms]()
        self.is_within = not any(
            step.fills or any(map(any, each.margins))
            for step in (kernel.plain, kernel.observed)
            for each in step.subkernels
        )

    def scope(self, stored: frozenset[int], axes: Axes = (), folds: Axes = ()) -> Scope:
        """Where this kernel's expressions stand when `stored` nodes are read from arrays.

        axes: those of the loop, () for all; folds: which of them are folded.
        """
        return Scope(
            len(axes) or self.dim,
            self.nodes,
            stored,
            self.statics,
            self.reductions,
            self.target,
            words=LoopWords(self.table, sizes=bool(axes)),
            frame=self.kernel.kernel.space,
            axes=axes,
            shapes={shape.axes: shape.name for shape in (whole_shape(self.dim), *self.shapes)},
            folds=folds,
            within=self.is_within,
            strided=self.strided,
        )

    def scope_of_others(self, scope: Scope, axes: Axes) -> Scope:
        """Where expressions of cells with other axes stand in the loop of a scope: those that are sent, or of segments.

        The loop's own shape is another one, so they take sizes from words.
        """
        words = LoopWords(self.table, sizes=True)
        return replace(self.scope(scope.stored, axes), access=scope.access, words=words)

    def axes_of(self, node: int) -> Axes:
        """Which of the program's axes a value has, () for all."""
        return axes_of(self.nodes[node].space, self.kernel.kernel.space)

    def shape_name(self, axes: Axes) -> str:
        """What the shape of arrays with these axes is called in a step."""
        return next((shape.name for shape in self.shapes if shape.axes == axes), "shape")

    def shapes_in(self, nodes: Iterable[int], axes: Axes) -> tuple[ArrayShape, ...]:
        """The shapes that a loop over `axes` is given for the arrays of these nodes, beside its own."""
        others = {self.axes_of(node) for node in nodes} - {axes}
        whole = (whole_shape(self.dim),) if () in others else ()
        return (*whole, *(shape for shape in self.shapes if shape.axes in others))

    def passed_shapes(self, axes: Axes, others: Iterable[ArrayShape]) -> tuple[str, ...]:
        """What a loop over `axes` is given for its own shape and the others, by their names in a step."""
        return tuple(self.shape_name(each) for each in (axes, *(shape.axes for shape in others)))

    def outside(self, code: CellCode) -> int:
        """The slot that a text notes indices outside in; -1 if it computes no place."""
        return self.plan.outside if code.gathers else -1

    def reserved(self) -> frozenset[str]:
        """Names that no value may have in a text of this kernel."""
        noted = {OUTSIDE} if self.plan.outside >= 0 else set[str]()
        shapes = {shape.name for shape in (whole_shape(self.dim), *self.shapes)} if self.shapes else set[str]()
        return RESERVED | shapes | noted if shapes or noted else RESERVED

    def extends(self, statements: Iterable[Statement]) -> bool:
        """Whether some of them compute with structs: type dd, or pairs."""
        types = {self.nodes[node].value_type for s in statements for node in s.nodes}
        return any(type_.is_record or type_.is_pair for type_ in types)

    # ---- what is the same in all cells

    def _variants(self) -> tuple[Step, ...]:
        """The steps that there is text for."""
        return (self.kernel.plain, self.kernel.observed) if self.kernel.has_diagnostics else (self.kernel.plain,)

    def _later(self, step: Step) -> dict[int, str]:
        """The functions that are called after finishers, the last ones first, by the number of their launch, from 1.

        All loops and rules of the step must be written.
        """
        launches = [launch for launch in step.launches if launch.kind == "finisher"]
        finishers = {step.finishers[m].node: n for n, launch in enumerate(launches, start=1) for m in launch.members}
        made = later_uniforms(self.table, self.scope(frozenset()), finishers)
        return {number: self._named_uniforms(uniforms, f"_{number}") for number, uniforms in made.items()}

    def _begin(self) -> tuple[str, str]:
        """The functions for what a march and what each step begins with, "" for none. All steps must be written."""
        step = step_uniforms(self.table, self.scope(frozenset()))
        march = march_uniforms(self.table, self.scope(frozenset()))
        return (
            self._named_uniforms(march, "") if march else "",
            self._named_uniforms(step, "_0") if step else "",
        )

    def _named_uniforms(self, uniforms: Uniforms, suffix: str) -> str:
        preferred = self._uniforms_name(suffix)
        return self.uniforms.wanted(uniforms, "", lambda u: replace(u, name=self.functions.claim(preferred))).name

    def _uniforms_name(self, suffix: str) -> str:
        return f"uniforms_{identifier(self.kernel.kernel.name)}{suffix}"

    def _exists(self, node: int) -> bool:
        """Whether the node's value is in an array before the sweep, so that no formula computes it."""
        return traits_of(self.nodes[node].instruction).is_existing

    def output_name(self, home: Home, numbered: dict[int, str]) -> str:
        """The field whose array the slot becomes, else the value's own name."""
        field = next((f for f, value in self.kernel.kernel.stores() if value == home.node), "")
        return field or self.value_name(home.node, numbered)

    def value_name(self, node: int, numbered: dict[int, str]) -> str:
        """Preferred identifier of a node, never empty; `numbered` has those of values without a name."""
        shown = display_name(self.nodes, node)
        if not shown and isinstance(self.nodes[node].instruction, Reduce):
            shown = self._stored_name_of_reduction(node)
        return shown or numbered_name(numbered, node)

    def _stored_name_of_reduction(self, node: int) -> str:
        return next((static for static, value in self.kernel.kernel.stores() if value == node), "")

    # ---- reductions

    def partial(self, node: int, cells: str, argument: str) -> Partial:
        """How an instruction combines values, with names for its cells and for what it makes of them."""
        instruction, type_ = self._reduce(node)
        start = _identity(instruction.operator, type_)
        return Partial(argument, cells, type_name(type_), self.combine(node), literal(start, type_).text)

    def _reduce(self, node: int) -> tuple[Combining, StorageType]:
        instruction = self.nodes[node].instruction
        assert isinstance(instruction, Combining)
        return instruction, self.nodes[node].value_type

    def combine(self, node: int) -> str:
        """The functor's name; a region becomes one of its own."""
        instruction, type_ = self._reduce(node)
        if isinstance(instruction.operator, str):
            return f"combine_{OPERATORS[REDUCTIONS[instruction.operator].operator].name}"
        region = instruction.operator
        if region not in self.combines:
            self.combines[region] = self._region(region, type_)
        return self.combines[region].name

    def _region(self, region: Region, type_: StorageType) -> Combine:
        names = NameBook(RESERVED)
        left, right = (names.claim(p.name) for p in region.parameters)
        by_name = dict(zip((p.name for p in region.parameters), (left, right), strict=True))
        body = region_body(region.nodes, by_name, self.target, names)
        return Combine(self.functions.claim("combine_region"), type_name(type_), left, right, body)

    # ---- scalars

    def _scalars(self, step: Step) -> tuple[Statement, ...]:
        """All values first, then all writes."""
        if not step.scalar_stores:
            return ()
        roots = tuple(dict.fromkeys(s.node for s in step.scalar_stores))
        names = NameBook(RESERVED | {"end_step", self._uniforms_name("_0")})  # which are called after these statements
        code = emit_globals(replace(self.scope(frozenset()), words=None), roots, names)
        values = {r.node: r for r in code.results}
        statements = list(code.uniform)
        written: list[Statement] = []
        for store in step.scalar_stores:
            type_ = type_name(self.nodes[store.node].value_type)
            name = names.claim(f"new_{self._slot_name(store.slot)}")
            result = values[store.node]
            statements.append(
                Statement(f"const {type_} {name} = {result.text};", tuple(sorted({store.node, *result.nodes})))
            )
            written.append(Statement(f"write_global(globals, {store.slot}, {name});", (store.node,)))
        return (*statements, *written)

    def _slot_name(self, slot: int) -> str:
        return next((s.name for s in self.plan.global_slots if s.index == slot and s.name), f"slot{slot}")

    def _rules(self, fill: Fill) -> Rules:
        node = self.nodes[fill.node]
        assert isinstance(node.instruction, Extend)
        sides = node.instruction.sides
        table = tuple((rule_row(below), rule_row(above)) for below, above in sides)
        numbers = tuple(sorted({r[2] for pair in table for r in pair if r[2] > 0}))
        operands = tuple(self._operand(node, number) for number in numbers)
        most = most_steps(sides, fill.margins)
        label = display_name(self.nodes, fill.node) or "unnamed value"
        return Rules("", label, type_name(node.value_type), table, fill.margins, most, operands)

    def _operand(self, node: Node, number: int) -> RuleOperand:
        root = node.operands[number]
        code = emit_cell(self.scope(frozenset(), self.axes_of(root)), (root,), (), NameBook(self.reserved()))
        (result,) = code.results
        last = Statement(f"return {result.text};", tuple(sorted({root, *result.nodes})))
        body = (*code.row, *code.cell, last)
        return RuleOperand(number, type_name(node.value_type), code.uniform, body)


def _identity(operator: str | Region, type_: StorageType) -> Constant:
    """What a lane of a reduction begins with."""
    if isinstance(operator, str):
        pair = identity_of(operator).item() if type_.is_record else None
        return DoubleDouble(*pair) if pair else identity(operator, type_)
    if operator.identity is None:
        raise GraphError("a region without identity in a reduction", advice="Give the region an identity.")
    return operator.identity
