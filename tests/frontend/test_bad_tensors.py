"""Bad cells with tensors: each gives the right line, names the value and says what to do."""

import numpy as np
import pytest

from workbench.errors import TraceError
from workbench.frontend.cell import trace_cell

V = 'v, u = vector("v", boundary="periodic"), field("u", boundary="periodic")\n'
S = 'S, v = tensor("S", symmetric=True), vector("v")\n'
T = 'A, v = tensor("A"), vector("v")\n'

# text of the cell (2-D), line, what the first line says, what the last line says
BAD = [
    # components and offsets
    (V + "v.next = v[+1, 0]", 2, "v[+1, 0] has 2 indices, but the vector v has 1", "T.at(+1, axis) for the whole"),
    (
        V + "v.next = v[+1]",
        2,
        "v[+1]: brackets select a component of the vector v",
        "Write v.at(+1, axis) for the neigh",
    ),
    (
        V + "u.next = v[+0]",
        2,
        "and this number looks like an offset",
        "v[0] for a component, v[0][+1, ...] for its neighbour.",
    ),
    (
        T + "u = A[0, +1]",
        2,
        "A[0, +1]: brackets select a component of the tensor of rank 2 A",
        "A.at(+1, axis) for the nei",
    ),
    (T + "u = A[0]", 2, "A[0] has 1 index, but the tensor of rank 2 A has 2", "Write T[a, b] for a component"),
    (V + "u.next = v[-1]", 2, "v[-1]: the vector v in 2 dimensions has components 0 to 1, not -1", "v.at(-1, axis)"),
    (V + "u.next = v[2]", 2, "v[2]: the vector v in 2 dimensions has components 0 to 1, not 2", "v.at(+2, axis)"),
    (V + "u.next = v[0][+1]", 2, "v[0][+1] has 1 offset, but the machine has 2 dimensions", "u[+1, 0]"),
    (V + "u.next = v[u]", 2, "index is a whole number known when the cell is traced", "compose(lambda a: ...)"),
    (V + 'u.next = v["x"]', 2, "not 'x'", "Write v[0]"),
    (V + "u.next = v[0:1]", 2, "index is a whole number", "Write v[0]"),
    (V + "v.next = v.at(+1, 2)", 2, "there is no axis 2 in 2 dimensions", "Use an axis below 2"),
    (V + "a, b, c = v", 2, "ValueError: not enough values to unpack", "Unpack as many names"),
    ('a, b = fields("a")', 1, "ValueError: not enough values to unpack", "fields(...) gives one value for each name"),
    ("a, = targets('x y')", 1, "ValueError: too many values to unpack", "in its text: here 2 names"),
    (
        'xi, = targets("x")\nxj, = sources("x")\ns = total("s")\ns += 2 * reduce_sum(xi * xj)',
        4,
        "contributed to s is reduced over the sources already",
        "Leave that out: s += value",
    ),
    (
        V + "u.next = np.sum(v)",
        2,
        "np.sum of the vector v may mean its components, or all",
        "v[0] + v[1] + ... for its",
    ),
    (V + "u.next = np.max(v, axis=0)", 2, "np.max of the vector v may mean its components", "reduce_max(v) for all"),
    (T + "u = np.any(A > 0)", 2, "np.any of a tensor of rank 2 may mean its components", "v[0] | v[1] | ..."),
    (T + "a, b = A", 2, "the tensor of rank 2 A cannot be looped over", "Write T[a, b]"),
    (V + "v[0] = u", 2, "v[0]: tensors never change", "v[0].next = value for one component"),
    (V + "v.x = u", 2, ".x of a tensor cannot be assigned", "Assign .next"),
    (V + "u.next = v.norm", 2, "a tensor has no .norm", "Use T[a, b], .next"),
    (V + "v.next = v * cells", 2, "cells is an array of the notebook (shape (2, 3))", 'cells = field("cells")'),
    # ranks and dimensions
    (
        T + "v.next = v + A",
        2,
        "v + A: the vector v cannot be combined with the tensor of rank 2 A",
        "Use dot, outer or einsum",
    ),
    (V + "v.next = v + (1, 2, 3)", 2, "has 3 components for an index, but the machine has 2", "Give 2"),
    (
        V + "v.next = dot(three, v)",
        2,
        "dot: tensors in 2 and 3 dimensions cannot be combined",
        "Use tensors of one dimension.",
    ),
    (
        V + "v.next = three + v",
        2,
        "three + v: a vector in 3 dimensions cannot be combined with the vector v in 2",
        "one dimension",
    ),
    (V + "u.next = v", 2, "the vector v stands where one value is needed", "Pick a component, or write dot"),
    (V + "u.next = u + sin(u, v)", 2, "sin", "Write sin(x). An example: help(workbench.language.sin)."),
    (
        V + "u.next = where(v > 0, u, 0)",
        2,
        "a vector stands where one value is needed",
        "Pick a component, or write dot",
    ),
    (V + "v.next = u", 2, "the vector v is given one value for all 2 components", "v.next = compose(lambda a: ...)"),
    (T + "v.next = A", 2, "the vector v cannot be combined with the tensor of rank 2 A", "compose(lambda a, b: ...)"),
    (V + "w = 2 * v\nw.next = v", 3, "w.next: only a declared tensor has .next", 'v = vector("v")'),
    (
        V + "v.next = v\nv.next = v",
        3,
        "v0.next is assigned twice in kernel step, first in line 2",
        "Assign v0.next once",
    ),
    (V + "if v > 0:\n    u.next = u", 2, "asks for one true or false, but a vector has 2", "(v[0] > 0) & (v[1] > 0)"),
    (V + "v.next = v @ v", 2, "v @ v: @ has no meaning for tensors", "Write dot(a, b)"),
    (V + "v.next = np.transpose(v)", 2, "np.transpose has no meaning for tensors", "compose(lambda a, b: T[b, a])"),
    (V + "v.next = compose(lambda a: (u, u))", 2, "is no component", "Give a value"),
    (V + "v.next = np.array(v)", 2, "a traced tensor is no array", "component by component"),
    (
        'S, v = tensor("S", symmetric=True), vector("v")\nS.next = outer(v, 2 * v)',
        2,
        "S is stored as a symm",
        "symmetric=True)",
    ),
    # declarations
    (V + 'w = field("v")', 2, "v is declared twice: as a component of v in line 1, now as a field", "another name"),
    (V + 'w = vector("u")', 2, "u is declared twice: as a field in line 1, now as a component of u", "another name"),
    (V + 'w = field("v1")', 2, "v1 is declared twice: as a component of v in line 1", "another name"),
    (V + 'w = vector("v")', 2, "v0 is declared twice", "another name"),
    (V + 'w = tensor("w", rank=-1)', 2, "no tensor has rank -1", "Use rank 1 to 8"),
    (V + 'w = tensor("w", rank="2")', 2, "no tensor has rank '2'", "Use rank 1 to 8"),
    (V + 'w = vector("a b")', 2, "'a b' is no name for a vector", "Use letters"),
    (V + 'w = vector("run")', 2, "the vector 'run' would hide sim.run", "another name"),
    (V + 'w = vector("w")\nu.next, v.next = u, v', 2, "field w0 is neither read nor stored", "remove its declaration"),
    (
        V + 'w = vector("w", boundary=lambda a, b: "outflow")',
        2,
        "does not take 1 component index",
        "Write lambda a: ...",
    ),
    (V + 'w = vector("w", boundary=constant)', 2, "'constant' is no boundary rule", '"periodic"'),
    (V + 'w = vector("w", boundary=lambda a: "cyclic")', 2, "'cyclic' is no boundary rule", '"periodic"'),
    (V + 'w = tensor("w", boundary=lambda a: "outflow")', 2, "does not take 2 component indices", "lambda a, b: ..."),
    (V + 'w = vector("w", location=lambda a: "edge")', 2, "'edge' is no location", 'location=("face", 0)'),
    (V + 'w = vector("w", "u8", boundary="reflect")\nw.next = w.at(1, 0)', 2, "but u8 has none", "Use sign=1"),
    # algebra
    (V + "u.next = delta(u, 0)", 2, "delta compares two indices, not <u", "where(u == v, 1, 0)"),
    (V + "v.next = compose(3)", 2, "compose needs a function of indices, not 3", "compose(lambda a:"),
    (V + "v.next = compose(lambda: u)", 2, "with an argument for each index", "compose(lambda a, b: ...)"),
    (V + "v.next = compose(lambda a: v[a], dim=3)", 2, "has 3 components for an index", "--dim 3"),
    (V + "v.next = compose(lambda a: v if a else u)", 2, "components of different rank", "the same kind"),
    (
        V + "w = compose(lambda a, b, c, d, e, f, g, h, i, j, k, l, m: u)",
        2,
        "2**13 components, above 4096",
        "lower rank",
    ),
    (V + "v.next = contract(v)", 2, "contract sums over two indices of the vector v", "dot(u, v)"),
    (T + "v.next = contract(A, 0, 2)", 2, "not over 0 and 2", "Write contract(T, 0, 1)"),
    (V + "u.next = dot(u, v)", 2, "Value has no components", "Pass (a, b)"),
    (V + "u.next = contract(u)", 2, "Value has no components", "Pass (a, b)"),
    (V + "w = components(((1, 2), (3,)))", 2, "has 1 components in one place, 2 in another", "the same number"),
    (V + "w = components(v, 2)", 2, "the vector v is no tensor of rank 2", "Use rank 1."),
    (T + 'v.next = einsum("ab,b->a", A)', 2, "names 2 operands, but 1 are given", "one group of letters for each"),
    (T + 'v.next = einsum("ab,bc->a", A, v)', 2, "gives 2 letters to the vector v", "as many letters as it has"),
    (V + 'v.next = einsum("ab,b->a", u, v)', 2, "gives 2 letters to one value", "as many letters as it has"),
    (T + 'v.next = einsum("ab,b->c", A, v)', 2, "c of the result is not given", "only indices of the operands"),
    (T + 'v.next = einsum("ab,b->aa", A, v)', 2, "a of the result appears twice", "once"),
    (T + 'v.next = einsum("a...,b->a", A, v)', 2, "an index is one letter", '"ab,b->a"'),
    (T + "v.next = einsum(A, v)", 2, "einsum needs subscripts first", 'einsum("ab,b->a", A, v)'),
    (V + 'u.next = einsum(",->", u, u)', 2, "has no index", "Multiply values"),
    # hints and extension
    (V + "w = manifest(v)\nz = delayed(v)", 3, "contradicts line 2", "Keep one of the two hints"),
    (V + 'named(v, "my flux")', 2, "is no name for a value", 'named(x, "flux")'),
    (V + 'w = extend(v, "foo")', 2, "extend: 'foo' is no boundary rule", '"periodic"'),
]


@pytest.mark.parametrize(("text", "line", "what", "advice"), BAD, ids=[repr(row[0][-40:]) for row in BAD])
def test_bad_cell_is_explained(text, line, what, advice):
    from workbench.language import components

    namespace = {"np": np, "three": components((1, 2, 3)), "cells": components(np.ones((2, 3)))}
    with pytest.raises(TraceError) as caught:
        trace_cell(text, dim=2, namespace=namespace)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(f"line {line}: ")
    assert what in lines[0]
    assert advice in lines[-1]
    assert lines[-1].endswith(".")
    assert lines[1] == "    " + text.splitlines()[line - 1].strip()


def test_too_many_components_are_refused():
    with pytest.raises(TraceError, match=r"line 1: tensor 'w' of rank 8 has 3\*\*8 components, above 4096"):
        trace_cell('w = tensor("w", 8)\nw.next = w', dim=3)
