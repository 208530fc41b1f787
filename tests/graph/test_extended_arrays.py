"""Operators and sums on arrays of type dd."""

from fractions import Fraction

import numpy as np
import pytest

from tests.kit.double_doubles import combine, numbers
from workbench.errors import GraphError
from workbench.graph.extended_arrays import apply_to_pairs, identity_of
from workbench.graph.extended_numbers import DD_DTYPE, as_fraction, as_pairs, join
from workbench.graph.operators import REDUCTIONS
from workbench.graph.reduction import reduce_canonically, tree
from workbench.graph.types import BOOL, DD, F32, F64, I64


def some(count, seed=0):
    rng = np.random.default_rng(seed)
    return join(*numbers(rng, rng.integers(-20, 20, count)))


def exact(pairs):
    return [as_fraction(*p) for p in np.atleast_1d(pairs).tolist()]


def test_operators_take_and_give_pairs():
    a = as_pairs([["0.1", "2"], ["-3", "1e-20"]])
    total = apply_to_pairs("add", (a, a), DD)
    assert total.dtype == DD_DTYPE
    assert total.shape == (2, 2)
    assert exact(total.ravel()) == [2 * x for x in exact(a.ravel())]
    assert apply_to_pairs("less", (a, total), BOOL).tolist() == [[True, True], [False, True]]
    chosen = apply_to_pairs("select", (np.array([[True, False], [False, True]]), a, total), DD)
    assert chosen.tolist() == [[a[0, 0].item(), total[0, 1].item()], [total[1, 0].item(), a[1, 1].item()]]


def test_casts_to_and_from_scalar_types():
    whole = np.array([2**62 + 1, -7])
    pairs = apply_to_pairs("cast", (whole,), DD)
    assert exact(pairs) == whole.tolist()
    assert apply_to_pairs("cast", (pairs,), I64).tolist() == whole.tolist()
    assert apply_to_pairs("cast", (pairs,), F32).dtype == np.float32
    assert apply_to_pairs("cast", (pairs,), F64).tolist() == pairs["hi"].tolist()


def test_globals_are_arrays_without_axes():
    product = apply_to_pairs("multiply", (as_pairs("0.1"), as_pairs(3)), DD)
    assert product.shape == ()
    assert abs(exact(product)[0] - Fraction(3, 10)) < Fraction(1, 2**106)


def test_an_operator_that_dd_has_not_is_named():
    with pytest.raises(GraphError, match="dd has no operator tanh"):
        apply_to_pairs("tanh", (as_pairs("1"),), DD)


@pytest.mark.parametrize("count", [1, 2, 16, 1023, 1024, 1025, 5000])
def test_sums_are_near_the_exact_ones(count):
    values = some(count)
    found, terms = exact(reduce_canonically("sum", values, DD))[0], exact(values)
    assert abs(found - sum(terms)) <= sum(map(abs, terms)) * count / 2**104


def test_sums_have_the_canonical_order():
    values = some(2 * 1040, seed=1).reshape(2, 1040)
    add = combine("add")
    rows = []
    for row in values:
        chunks = []
        for cells in (row[:1024], row[1024:]):
            lanes = [identity_of("sum") for _ in range(16)]
            for k, cell in enumerate(cells):
                lanes[k % 16] = add(lanes[k % 16], np.asarray(cell))
            chunks.append(tree(add, np.array(lanes)))
        rows.append(tree(add, np.array(chunks)))
    assert reduce_canonically("sum", values, DD).tolist() == tree(add, np.array(rows)).tolist()


@pytest.mark.parametrize(("reduction", "of"), [("min", min), ("max", max)])
def test_extremes_and_products(reduction, of):
    values = some(3000, seed=2)
    assert exact(reduce_canonically(reduction, values, DD))[0] == of(exact(values))
    ones = as_pairs(np.ones(50))
    assert reduce_canonically("product", ones, DD).tolist() == (1.0, 0.0)


@pytest.mark.parametrize("reduction", ["sum", "product", "min", "max"])
def test_the_identity_changes_no_number(reduction):
    values = some(500, seed=3)
    found = combine(REDUCTIONS[reduction].operator)(np.full(500, identity_of(reduction)), values)
    assert found.tolist() == values.tolist()
