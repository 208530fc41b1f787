"""The rows of traits: each says of its kind what the reference interpreter shows."""

import numpy as np
import pytest

from tests.kit.every_kind import EXTENTS, KINDS, NODES, OF_KIND, PLANE, STATICS, evaluation
from workbench.backends.interpreter import Evaluation
from workbench.errors import RunError, StencilError
from workbench.graph import KernelBuilder
from workbench.graph.instructions import (
    COLLECTIVES,
    TRAITS,
    Arith,
    Broadcast,
    Extend,
    Fold,
    Gather,
    Imm,
    Join,
    Load,
    LoadIndex,
    Loop,
    Rank,
    Reduce,
    Replicate,
    Scan,
    Scatter,
    SegmentedReduce,
    Shift,
    Store,
    static_of,
    traits_of,
)
from workbench.graph.types import I64


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_operands_and_result_are_as_the_row_says(kind):
    row = TRAITS[kind]
    for node in (node for node in NODES if type(node.instruction) is kind):
        assert row.arity in (None, len(node.operands))
        assert row.is_leaf == (not node.operands)
        result = "none" if node.space is None else "global" if node.is_global else "local"
        assert row.result == result or (row.result == "either" and result != "none")
        assert row.type in (None, node.type)


def moved_by(kind, touched):
    """The cells of a collective of the program that these cells of its operands decide."""
    if kind is Scan:
        return {(i, k) for i, j in touched for k in range(j, EXTENTS[1])}
    if kind is Join:  # its operands are what the columns sum to, all of which one cell changes
        return {(i, j) for i in range(EXTENTS[0]) for (j,) in touched}
    if kind is SegmentedReduce:
        return {(max(i - 1, 0),) for (i,) in touched}  # the first one has two cells
    return {(EXTENTS[0] - 1 - i,) for (i,) in touched if i}


@pytest.mark.parametrize("kind", [k for k in KINDS if TRAITS[k].result != "none"], ids=lambda kind: kind.__name__)
def test_cells_that_decide_a_result_are_those_of_the_row(kind):
    """Changes one cell of u at a time; what changes in the operand and in the result tells what the kind reads."""
    row = TRAITS[kind]
    index = OF_KIND[kind]
    rank = NODES[index].space.rank

    def values(found, node):
        return found.on_domain(node) if NODES[node].is_local else found.number(node)

    def changed(before, after, node):
        return set(map(tuple, np.argwhere(values(before, node) != values(after, node))))

    before, moves = evaluation(), set()
    for cell in np.ndindex(*EXTENTS):
        after = evaluation(cell)
        local = [o for o in NODES[index].operands if NODES[o].is_local]
        touched = set().union(*(changed(before, after, o) for o in local))
        result = changed(before, after, index)
        if not touched:
            assert kind is Load or NODES[index].operands or not result
        elif kind is Gather:
            assert result == {(i, EXTENTS[1] - 1 - j) for i, j in touched}
            moves.add("anywhere")
        elif kind in COLLECTIVES:
            if kind is Rank:
                assert sorted(values(after, index)) == list(range(EXTENTS[0]))
            else:
                assert result == moved_by(kind, touched)
            moves.add("all")
        elif rank == NODES[local[0]].space.rank:
            moves.add("cell" if result == touched else "neighbour")
        elif rank < NODES[local[0]].space.rank:
            assert result == {place[:rank] for place in touched}  # axes are folded from the last
            moves.add("all")
        else:
            assert result == {(*place, i) for place in touched for i in range(EXTENTS[-1])}
            moves.add("projection")
    if kind is Extend:  # on the domain it is its operand; its ghost cells read others
        assert moves == {"cell"}
        ghost = ((-1, 0), (0, 1))
        assert evaluation((0, 0)).local(index, ghost) != before.local(index, ghost)
    else:
        assert moves == (set() if row.reads == "none" else {row.reads})


@pytest.mark.parametrize("kind", [k for k in KINDS if TRAITS[k].uniform], ids=lambda kind: kind.__name__)
def test_uniform_kinds_are_one_number(kind):
    found = evaluation()
    local = [i for i, n in enumerate(NODES) if type(n.instruction) is kind and n.is_local]
    assert local
    assert all(len(np.unique(found.on_domain(i))) == 1 for i in local)


def test_kinds_are_the_same_in_all_cells_where_their_operands_are():
    found = {kind for kind in KINDS if TRAITS[kind].is_same_where_operands_are}
    assert {Arith, Loop, Imm, Broadcast, Shift, Replicate} <= found
    assert found.isdisjoint({Load, LoadIndex, Gather, Extend, Store, Reduce, Fold, *COLLECTIVES})


@pytest.mark.parametrize(
    "kind", [k for k in KINDS if TRAITS[k].result in ("local", "either")], ids=lambda k: k.__name__
)
def test_what_has_no_value_outside_the_domain_says_so_itself(kind):
    """Others refuse as well there, but for an operand of theirs."""
    node = next(n for n in NODES if type(n.instruction) is kind and n.is_local)
    told = ""
    try:
        evaluation().local(NODES.index(node), ((-1, 0),) * node.space.rank)
    except StencilError as error:
        told = str(error)
    named = [name for name in (kind.__name__, static_of(node.instruction)) if name]
    assert TRAITS[kind].domain_only == any(told.startswith(f"{name} is read at") for name in named)


def test_what_moves_makes_no_value_of_its_own():
    found, own = evaluation(), set()
    for index, node in enumerate(NODES):
        if node.is_local and node.operands:
            operand = node.operands[0]
            given = found.number(operand) if NODES[operand].is_global else found.on_domain(operand)
            if not set(found.on_domain(index).flat) <= set(given.flat):
                own.add(type(node.instruction))
    copies = {type(node.instruction) for node in NODES if node.is_local and node.operands} - own
    # An Extend is its operand on the domain only; where a Gather reads, its other operands say.
    assert copies == {kind for kind in KINDS if TRAITS[kind].moves} | {Extend, Gather}


def gathered_outside(b):
    return b.gather(b.load("u"), (b.broadcast(b.size(0)), b.index(1)))


def sent_outside(b):
    return b.scatter("sum", b.load("u"), b.load("u"), (b.broadcast(b.size(0)), b.index(1)))


def cut_outside(b):
    """Into one segment too few."""
    columns, number = PLANE.without((0,)), b.imm(1, I64)
    one = b.broadcast(number, columns)
    return b.segments("sum", b.fold("sum", b.load("u"), (1,)), b.index(0, columns), one)


OUTSIDE = {Gather: gathered_outside, Scatter: sent_outside, SegmentedReduce: cut_outside}


def test_kinds_that_note_what_lies_outside_are_those_that_number_cells():
    assert set(OUTSIDE) == {kind for kind in KINDS if TRAITS[kind].notes_outside}
    for kind, make in OUTSIDE.items():
        b = KernelBuilder(PLANE, STATICS)
        index = make(b)
        assert type(b.node(index).instruction) is kind
        state = {"u": np.ones(EXTENTS), "total": np.asarray(0.0), "c": np.asarray(2.0)}
        with pytest.raises(RunError):
            Evaluation(b.finish("step"), EXTENTS, state).on_domain(index)


def test_sets_of_kinds_that_follow_from_the_rows():
    def having(trait):
        return {kind for kind in KINDS if getattr(TRAITS[kind], trait)}

    assert having("is_collective") == set(COLLECTIVES)
    assert having("is_reduction") == {Reduce, Fold}
    assert having("makes_array") == {Fold, *COLLECTIVES}
    assert having("is_existing") == {Load, Extend}
    assert having("repeats") == {Broadcast, Replicate}
    assert having("is_free") == {Imm, LoadIndex, Broadcast, Replicate}
    assert {type(n.instruction) for n in NODES if static_of(n.instruction)} == {Load, Store}


def test_arithmetic_is_what_is_elementwise():
    assert [kind for kind in KINDS if TRAITS[kind].is_elementwise] == [Arith, Loop]
    assert traits_of(Arith("add")) is TRAITS[Arith]
