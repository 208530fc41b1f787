"""The verifier passes good graphs, and each check catches a fault of its own."""

from dataclasses import replace

import pytest

from tests.graph.gathered import gather
from workbench.errors import GraphError
from workbench.graph import (
    GLOBAL,
    Arith,
    Axis,
    Broadcast,
    Coordinate,
    Extend,
    Gather,
    Graph,
    Imm,
    KernelBuilder,
    Load,
    LoadIndex,
    LoadSize,
    Loop,
    Mirror,
    Neumann,
    Node,
    Outflow,
    Parameter,
    Periodic,
    Prescribed,
    Rank,
    Reduce,
    Region,
    Shift,
    Space,
    Static,
    Store,
    grid_space,
)
from workbench.graph.parse import parse
from workbench.graph.region import check_region, represents
from workbench.graph.spaces import AffineExtent, ConstantExtent, NamedExtent
from workbench.graph.types import BOOL, F32, F64, I8, I64, U8, U64
from workbench.graph.verify import CHECKS, verify

SPACE = grid_space(1)
U, E, C = (
    Static("u", "field", F64, SPACE),
    Static("e", "scalar", F64, GLOBAL, 0.0),
    Static("c", "param", F64, GLOBAL, 1.0),
)


def with_nodes(nodes, statics=(U, E, C), **changes):
    kernel = replace(KernelBuilder(SPACE, ()).finish("step"), nodes=tuple(nodes))
    return replace(Graph("g", SPACE, tuple(statics), (kernel,)), **changes)


GOOD = (  # u.next = u + shifted u, e.next = its sum
    Node(Load("u"), (), F64, SPACE),
    Node(Load("c"), (), F64, GLOBAL),
    Node(Broadcast(SPACE), (1,), F64, SPACE),
    Node(Extend(((Prescribed(1), Outflow()),)), (0, 2), F64, SPACE),
    Node(Shift((1,)), (3,), F64, SPACE),
    Node(Arith("add"), (0, 4), F64, SPACE, ("sum",)),
    Node(Store("u"), (5,), None, None),
    Node(Reduce("sum", (0,)), (5,), F64, GLOBAL),
    Node(Store("e"), (7,), None, None),
)


def changed(index, **changes):
    """The good nodes with one of them changed."""
    return with_nodes([replace(n, **changes) if i == index else n for i, n in enumerate(GOOD)])


def constant(value, type_):
    statics = (Static("u", "field", type_, SPACE),)
    return with_nodes([Node(Imm(value), (), type_, SPACE), Node(Store("u"), (0,), None, None)], statics)


def ruled(type_, below, above):
    statics = (Static("u", "field", type_, SPACE),)
    operand = [Node(Imm(False if type_ == BOOL else 1), (), type_, SPACE)]
    rules = (below, above)
    extra = (1,) if any(hasattr(r, "operand") for r in rules) else ()
    nodes = [Node(Load("u"), (), type_, SPACE), *operand, Node(Extend((rules,)), (0, *extra), type_, SPACE)]
    return with_nodes([*nodes, Node(Store("u"), (2,), None, None)], statics)


def axis(extent):
    return with_nodes(GOOD, space=Space((Axis("x", extent),)))


def kernel_of(space):
    graph = with_nodes(GOOD)
    return replace(graph, kernels=(replace(graph.kernels[0], space=space),))


def coordinate(*nodes, axis=0):
    return with_nodes(GOOD, coordinates=(Coordinate(axis, "r", "", nodes),))


LEFT, RIGHT = Parameter("a", F64), Parameter("b", F64)
SUM = (Node(Load("a"), (), F64, GLOBAL), Node(Load("b"), (), F64, GLOBAL), Node(Arith("add"), (0, 1), F64, GLOBAL))


def region(parameters=(LEFT, RIGHT), nodes=SUM, identity=-0.0):
    return changed(7, instruction=Reduce(Region(parameters, nodes, identity), (0,)))


def looped(operands=(3, 0), result=0, **changes):
    """A good loop that halves u three times, with one thing changed."""
    half = (
        Node(Load("a"), (), F64, GLOBAL),
        Node(Arith("add"), (0, 0), F64, GLOBAL),
        Node(Imm(True), (), BOOL, GLOBAL),
    )
    body = replace(Region((LEFT,), half, None, (2, 1)), **changes)
    numbers = (Node(Imm(3), (), I64, GLOBAL), Node(Imm(3), (), I64, SPACE))
    nodes = (
        GOOD[0],
        GOOD[1],
        *numbers,
        Node(Loop(body, result), operands, F64, SPACE),
        Node(Store("u"), (4,), None, None),
    )
    return with_nodes(nodes)


def reading(indices=1, gathered=1, result=3, axes=1, given=0, carried=0):
    """A good loop that reads an element of u, with one thing changed."""
    load = [Node(Load(name), (), F64, GLOBAL) for name in "au"]
    inside = (*load, Node(Imm(0), (), I64, GLOBAL), Node(Gather(), (gathered, *[2] * indices), F64, GLOBAL))
    body = (*inside, Node(Imm(True), (), BOOL, GLOBAL))
    parameters = (replace(LEFT, axes=carried), Parameter("u", F64, axes))
    loop = Loop(Region(parameters, body, None, (4, result)), 0)
    numbers = (Node(Imm(3), (), I64, SPACE), Node(Imm(1.0), (), F64, GLOBAL))
    nodes = (GOOD[0], *numbers, Node(loop, (1, 0, given), F64, SPACE), Node(Store("u"), (3,), None, None))
    return with_nodes(nodes)


def ranked(type_, bits=8):
    """The places of u as its next values."""
    statics = (Static("u", "field", type_, SPACE), Static("p", "field", I64, SPACE))
    ranks = Node(Rank(bits), (0,), I64, SPACE)
    return with_nodes([Node(Load("u"), (), type_, SPACE), ranks, Node(Store("p"), (1,), None, None)], statics)


def joined(axis=0, parts=("i", "j"), type_=F64):
    """Arrays along these axes one after another along k, the last one of this type."""
    types = {name: F64 for name in parts[:-1]} | {name: type_ for name in parts[-1:]}
    statics = [f"static {name} field : {types[name]} local({', '.join(name)})" for name in parts]
    loads = [f"  %{n} = load {name} : {types[name]} local({', '.join(name)})" for n, name in enumerate(parts)]
    operands = "".join(f" %{n}" for n in range(len(parts)))
    lines = ["graph g", *(f"axis {name} array {name}" for name in "ijk"), *statics, "static r field : f64 local(k)"]
    lines += ["kernel step", *loads, f"  %{len(parts)} = join {axis}{operands} : f64 local(k)"]
    return parse("\n".join([*lines, f"  %{len(parts) + 1} = store r %{len(parts)}"]))


WHILED = parse("""
graph g
axis x grid n0
static u field : f64 local
static going scalar : bool global inner
kernel step
  %0 = load u : f64 local
  %1 = store u %0
kernel begin
  %0 = imm true : bool global
  %1 = store going %0
kernel turn
  %0 = imm false : bool global
  %1 = store going %0
while step begin turn going 3
""")


def whiled(**change):
    """A graph with a loop over whole arrays, of which something is changed."""
    return replace(WHILED, loops=(replace(WHILED.loops[0], **change),))


FAULTS = [
    ("loops_are_closed", looped((3, 0), results=(2,)), "results (2,) of 3 nodes and 1 parameters"),
    ("loops_are_closed", looped(results=(1, 1)), "results ['f64', 'f64'] instead of ['bool', 'f64']"),
    ("loops_are_closed", looped(results=(2, 7)), "results (2, 7) of 3 nodes"),
    ("loops_are_closed", looped((0, 0)), "the most turns are f64, not i64"),
    ("loops_are_closed", looped((3,)), "operands [] for parameters ['f64']"),
    ("loops_are_closed", looped((2, 0)), "mixes spaces"),
    ("loops_are_closed", looped(result=1), "result 1 of 1"),
    ("loops_are_closed", looped(parameters=(LEFT, LEFT)), "operands ['f64'] for parameters"),
    ("loops_are_closed", looped(nodes=SUM), "no parameter 'b' fits"),
    ("loops_are_closed", reading(indices=2), "Gather of 1 axes by f64, i64, i64 as f64"),
    ("loops_are_closed", reading(gathered=0), "operands of [0, 0] axes"),
    ("loops_are_closed", reading(result=1), "a result is an array"),
    ("loops_are_closed", reading(axes=2), "Gather of 2 axes by f64, i64 as f64"),
    ("loops_are_closed", reading(given=2), "Loop reads an array of other axes than its parameter"),
    ("loops_are_closed", reading(carried=1), "it carries an array"),
    ("reductions_are_closed", region((LEFT, replace(RIGHT, axes=1))), "a parameter that is an array"),
    ("whiles_are_whole", whiled(turn="none"), "runs 'none', which is not a kernel"),
    ("whiles_are_whole", whiled(turn="begin"), "runs begin, which has another part already"),
    ("whiles_are_whole", whiled(begin="step"), "runs step, which has another part already"),
    ("whiles_are_whole", whiled(going="u"), "asks 'u', which is no inner bool scalar"),
    ("whiles_are_whole", whiled(at_most=0), "makes at most 0 turns"),
    ("whiles_are_whole", whiled(before="turn"), "stands inside of itself"),
    ("whiles_are_whole", whiled(before="begin"), "runs begin, which has another part already"),
    ("whiles_are_whole", replace(WHILED, loops=()), "stores going, which is inner"),
    ("extents_are_closed", axis(ConstantExtent(0)), "extent of axis x"),
    ("extents_are_closed", axis(AffineExtent(NamedExtent(""), 1, 0)), "extent of axis x"),
    ("extents_are_closed", Graph("g", GLOBAL, (), ()), "no axis"),
    ("names_are_unique", with_nodes(GOOD, [U, E, C, U]), "2 of the static names are 'u'"),
    ("names_are_unique", replace(with_nodes(GOOD), kernels=with_nodes(GOOD).kernels * 2), "kernel names"),
    ("statics_fit_their_roles", with_nodes(GOOD, [replace(U, space=GLOBAL), E, C]), "field u has the axes ()"),
    ("statics_fit_their_roles", with_nodes(GOOD, [replace(U, default=1.0), E, C]), "has a default"),
    ("statics_fit_their_roles", with_nodes(GOOD, [U, replace(E, default=1), C]), "cannot default to 1"),
    ("statics_fit_their_roles", with_nodes(GOOD, [replace(U, face_axes=(1,)), E, C]), "faces"),
    ("kernels_are_of_the_graph", kernel_of(grid_space(2)), "kernel step has a space of rank 2"),
    ("values_have_type_and_space", changed(5, type=None), "without type"),
    ("values_have_type_and_space", changed(6, type=F64), "Store with a type"),
    ("values_have_type_and_space", changed(5, space=grid_space(2)), "the axes (x, y) of a graph with (x)"),
    ("operands_are_earlier", changed(5, operands=(0, 6)), "operand %6 does not stand above"),
    ("operands_are_earlier", changed(8, operands=(6,)), "Store, which has no value"),
    ("operands_are_earlier", changed(5, operands=(0,)), "1 operands"),
    ("operands_are_earlier", changed(3, operands=()), "0 operands"),
    ("operands_are_earlier", changed(5, instruction=Arith("plus")), "unknown operator 'plus'"),
    ("arithmetic_follows_the_table", changed(5, operands=(0, 1)), "mixes spaces"),
    ("arithmetic_follows_the_table", changed(5, type=F32), "add gives f64, the node says f32"),
    ("arithmetic_follows_the_table", changed(5, instruction=Arith("bitwise_and")), "bitwise_and of f64, f64"),
    ("arithmetic_follows_the_table", changed(5, instruction=Arith("select"), operands=(0, 0, 4)), "select by f64"),
    ("movements_keep_type_and_space", changed(4, instruction=Shift((1, 0))), "Shift by (1, 0)"),
    ("movements_keep_type_and_space", changed(4, operands=(1,)), "Shift keeps"),
    ("movements_keep_type_and_space", changed(3, operands=(0, 1)), "Extend keeps"),
    ("movements_keep_type_and_space", changed(3, instruction=Extend(()), operands=(0,)), "0 pairs of sides"),
    ("movements_keep_type_and_space", changed(2, operands=(0,)), "Broadcast takes a Global"),
    ("values_have_type_and_space", changed(0, instruction=LoadIndex(0)), "LoadIndex is i64, the node says f64"),
    ("values_have_type_and_space", changed(1, instruction=LoadIndex(0), type=I64), "LoadIndex is a Local"),
    ("values_have_type_and_space", changed(0, instruction=LoadSize(0), type=I64), "LoadSize is a Global"),
    ("indices_name_axes", changed(1, instruction=LoadSize(1), type=I64), "LoadSize of axis 1 in 1 axes"),
    ("constants_are_representable", constant(0.1, F32), "0.1 is not a number of type f32"),
    ("constants_are_representable", constant(256, U8), "256"),
    ("constants_are_representable", constant(1, F64), "1 is not"),
    ("constants_are_representable", constant(True, I8), "True is not"),
    ("statics_are_used_rightly", changed(0, instruction=Load("w")), "no static is called 'w'"),
    ("statics_are_used_rightly", changed(8, instruction=Store("c")), "Store to the param c"),
    ("statics_are_used_rightly", changed(8, instruction=Store("u"), operands=(5,)), "u is stored twice"),
    ("statics_are_used_rightly", changed(8, operands=(5,)), "e is f64 of rank 0"),
    ("kernels_store_something", with_nodes(GOOD[:6]), "kernel step stores nothing"),
    ("reductions_are_closed", changed(7, operands=(1,)), "Reduce takes a Local"),
    ("reductions_are_closed", changed(7, instruction=Reduce("sum", ())), "Reduce over axes ()"),
    ("reductions_are_closed", changed(7, instruction=Reduce("mean", (0,))), "unknown reduction 'mean'"),
    ("reductions_are_closed", changed(7, instruction=Reduce("any", (0,))), "reduction any of f64"),
    ("reductions_are_closed", region(identity=None), "no identity"),
    ("reductions_are_closed", region(identity=0), "identity 0 is not"),
    ("reductions_are_closed", region(parameters=(LEFT,)), "parameters ['f64']"),
    ("reductions_are_closed", region(parameters=(LEFT, LEFT)), "both parameters"),
    ("reductions_are_closed", region(nodes=(Node(Load("u"), (), F64, GLOBAL),)), "no parameter 'u' fits"),
    ("reductions_are_closed", region(nodes=(*SUM, Node(LoadSize(0), (), I64, GLOBAL))), "not scalar arithmetic"),
    ("reductions_are_closed", region(nodes=(*SUM[:2], replace(SUM[2], operands=(0, 2)))), "does not stand above"),
    ("reductions_are_closed", region(nodes=()), "not the result"),
    ("ranks_count_bits", ranked(F64), "Rank of f64 along 1 axes"),
    ("ranks_count_bits", ranked(BOOL), "Rank of bool"),
    ("ranks_count_bits", ranked(U8, 0), "Rank by 0 bits"),
    ("ranks_count_bits", ranked(U8, 12), "Rank by 12 bits"),
    ("joins_have_parts", joined(axis=1), "Join of 2 along axis 1 of 1"),
    ("joins_have_parts", joined(type_=F32), "operand 1 of a Join is no Local of f64"),
    ("joins_have_parts", joined(parts=("k",)), "axes (k) joined along k of (k)"),
    ("joins_have_parts", joined(parts=("ij",)), "axes (i, j) joined along k of (k)"),
    ("periodic_has_both_sides", ruled(I8, Periodic(), Outflow()), "axis x is periodic on one side"),
    ("periodic_has_both_sides", ruled(I8, Periodic(), Periodic(-1)), "axis x is periodic with two signs"),
    ("signs_fit_the_type", ruled(U8, Mirror(-1), Mirror(1)), "no negative numbers"),
    ("signs_fit_the_type", ruled(BOOL, Outflow(), Mirror(-1)), "no negative numbers"),
    ("signs_fit_the_type", ruled(I8, Mirror(2), Outflow()), "Use sign 1 or -1"),
    ("signs_fit_the_type", ruled(BOOL, Neumann(1), Outflow()), "on bool"),
    ("rule_operands_are_free_of_fields", changed(3, operands=(0, 0)), "depends on field u"),
    ("rule_operands_are_free_of_fields", changed(3, operands=(0, 2, 2)), "rules name operands [1] of 2"),
    ("rule_operands_are_free_of_fields", changed(3, operands=(0,)), "rules name operands [1] of 0"),
    ("loads_stay_inside", changed(4, operands=(0,)), "u is read outside its domain"),
    ("coordinates_are_local", coordinate(Node(LoadSize(0), (), I64, GLOBAL)), "coordinate r"),
    ("coordinates_are_local", coordinate(Node(LoadIndex(0), (), I64, SPACE), axis=1), "coordinate r of axis 1"),
    ("coordinates_are_local", coordinate(Node(Load("u"), (), F64, SPACE)), "coordinate r"),
]


def test_good_graphs_pass():
    verify(with_nodes(GOOD))
    verify(gather_without_empty_kernel())
    verify(coordinate(Node(LoadIndex(0), (), I64, SPACE)))
    verify(ruled(I8, Mirror(-1), Prescribed(1)))
    verify(region())
    verify(ranked(U8))
    verify(joined())


def gather_without_empty_kernel():
    graph = gather()
    return replace(graph, kernels=graph.kernels[:1])


@pytest.mark.parametrize(("check", "graph", "what"), FAULTS, ids=lambda x: x if isinstance(x, str) else "")
def test_each_fault_is_caught_by_its_check(check, graph, what):
    with pytest.raises(GraphError) as caught:
        verify(graph)
    assert what in str(caught.value)
    assert caught.value.advice.endswith(".")
    earlier = CHECKS[: [c.__name__ for c in CHECKS].index(check)]
    for function in earlier:
        function(graph)


def test_every_check_has_a_fault():
    assert {check for check, _, _ in FAULTS} == {c.__name__ for c in CHECKS}


def test_an_error_names_kernel_node_and_names():
    with pytest.raises(GraphError, match=r"kernel step, node %5 \(sum\): add gives f64"):
        verify(changed(5, type=F32))


def test_shifts_that_cancel_stay_inside():
    nodes = [
        Node(Load("u"), (), F64, SPACE),
        Node(Shift((2,)), (0,), F64, SPACE),
        Node(Arith("negative"), (1,), F64, SPACE),
        Node(Shift((-2,)), (2,), F64, SPACE),
        Node(Store("u"), (3,), None, None),
    ]
    verify(with_nodes(nodes))


@pytest.mark.parametrize(
    ("type_", "value", "held"),
    [
        (F32, float("nan"), True),
        (F32, float("inf"), True),
        (F32, 1e300, False),
        (F64, -0.0, True),
        (U64, 2**64 - 1, True),
        (U64, -1, False),
        (I64, 2**63, False),
        (BOOL, 1, False),
    ],
)
def test_represents(type_, value, held):
    assert represents(type_, value) is held


def test_a_region_may_compute_with_other_types_inside():
    nodes = (
        Node(Load("a"), (), F64, GLOBAL),
        Node(Load("b"), (), F64, GLOBAL),
        Node(Arith("less"), (0, 1), BOOL, GLOBAL),
        Node(Arith("select"), (2, 1, 0), F64, GLOBAL),
    )
    assert check_region(Region((LEFT, RIGHT), nodes, float("-inf")), F64) == ""
    assert "select by" in check_region(
        Region((LEFT, RIGHT), (*nodes[:3], replace(nodes[3], operands=(0, 1, 0))), 0.0), F64
    )
