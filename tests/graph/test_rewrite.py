"""Rewriting keeps meaning, carries annotations and drops what nothing stores."""

from dataclasses import replace

from workbench.graph import Arith, Graph, Hint, Imm, KernelBuilder, Load, Outflow, Span, Static, grid_space
from workbench.graph.rewrite import copy, drop_dead, live_nodes, rewrite
from workbench.graph.types import F32, F64

SPACE = grid_space(1)
STATICS = (Static("u", "field", F64, SPACE),)


def heat():
    b = KernelBuilder(SPACE, STATICS)
    u = b.extend(b.load("u"), [(Outflow(), Outflow())])
    one = b.imm(1.0, F64, SPACE)
    left = b.shift(u, [1])
    scaled = b.arith("multiply", left, one)
    b.annotate(scaled, name="scaled", span=Span(3, 1, 4), hint=Hint("manifest", line=3))
    b.arith("add", scaled, scaled)  # dead
    b.store("u", scaled)
    return Graph("heat", SPACE, STATICS, (b.finish("step"),))


def test_copy_drops_the_dead_only():
    graph = heat()
    kernel = rewrite(graph, copy).kernels[0]
    assert kernel == drop_dead(graph.kernels[0])
    assert len(kernel.nodes) == len(graph.kernels[0].nodes) - 1
    assert drop_dead(kernel) is kernel
    assert live_nodes(kernel) == tuple(range(len(kernel.nodes)))


def test_a_rule_s_value_inherits_names_spans_and_hint():
    def fold(builder, node, operands):
        if node.instruction == Arith("multiply") and builder.node(operands[1]).instruction == Imm(1.0):
            return operands[0]
        return copy(builder, node, operands)

    kernel = rewrite(heat(), fold).kernels[0]
    assert [type(n.instruction).__name__ for n in kernel.nodes] == ["Load", "Extend", "Shift", "Store"]
    shift = kernel.nodes[2]
    assert (shift.names, shift.spans, shift.hint) == (("scaled",), (Span(3, 1, 4),), Hint("manifest", line=3))


def test_types_follow_new_statics():
    def narrow(builder, node, operands):
        if isinstance(node.instruction, Imm):
            return builder.imm(node.instruction.value, F32, node.space)
        return copy(builder, node, operands)

    graph = rewrite(heat(), narrow, [replace(STATICS[0], type=F32)])
    assert {n.type for n in graph.kernels[0].nodes} == {F32, None}
    assert graph.static("u").type == F32
    assert any(isinstance(n.instruction, Load) for n in graph.kernels[0].nodes)
