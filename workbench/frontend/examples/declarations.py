"""Examples of declarations, the grid, reads and boundaries; `words` reads them."""

# A word, its cell, what is given and what one step gives (to six digits), a mistake, its error and the advice.
DECLARATIONS = r"""
field
    u = field("u", boundary="periodic", unit="K")
    u.next = 0.5 * (u[-1] + u[+1])
    given u = [0, 2, 4, 2]
    gives u = [2, 2, 2, 2]
    wrong u = field("u")
    wrong u.next = u[+1]
    error line 2: u is read 1 cell outside at side x+, where it has no boundary rule
    advice Give u a rule at x+, for example boundary="periodic" or extend(u, "outflow").

fields
    u, v = fields("u v", boundary="outflow")
    u.next, v.next = v, u[+1]
    given u = [1, 2, 3], v = [4, 5, 6]
    gives u = [4, 5, 6], v = [2, 3, 3]
    wrong u = fields("u")
    wrong u.next = 2 * u
    error line 2: 2 * u uses a tuple of one field, which fields(...) returns, as a field
    advice Write u = field("u", ...): fields always gives a tuple.

vector
    dim 2
    m = vector("m", boundary="periodic")
    m.next = 0.5 * m.at(+1, 0)
    given m = [[[2, 4], [6, 8]], [[0, 0], [2, 2]]]
    gives m = [[[3, 4], [1, 2]], [[1, 1], [0, 0]]]
    wrong m = vector("m", boundary="periodic")
    wrong m.next = m[+1]
    error line 2: m[+1]: brackets select a component of the vector m, and this number looks like an offset
    advice Write m.at(+1, axis) for the neighbour of the whole, m[0] for a component, m[0][+1, ...] for its neighbour.

tensor
    dim 2
    S = tensor("S", symmetric=True)
    v = vector("v")
    S.next, v.next = outer(v, v), v
    given S = 0, v = [[[2]], [[3]]]
    gives S = [[[[4]], [[6]]], [[[6]], [[9]]]], v = [[[2]], [[3]]]
    wrong S = tensor("S", rank=0)
    error line 1: tensor 'S': no tensor has rank 0
    advice Use rank 1 to 8, or field(name).

scalar
    u = field("u")
    t = scalar("t", 0.0, unit="s")
    u.next, t.next = u, t + 0.5
    given u = [1, 2]
    gives u = [1, 2], t = 0.5
    wrong u, t = field("u"), scalar("t")
    wrong t.next = u
    error line 2: t is one number, but t.next is given a value per cell
    advice Reduce it first: reduce_sum(...), reduce_max(...).

param
    u = field("u")
    k = param("k", 0.25, at_least=0, at_most=0.5)
    u.next = (1 - k) * u
    given u = [4, 8], k = 0.5
    gives u = [2, 4]
    wrong k = param("k", 0.7, at_most=0.5)
    error line 1: the default of param 'k' is 0.7, but must be at most 0.5
    advice Choose another default.

coordinate
    u = field("u", boundary="periodic", unit="K")
    dx = 1 / size(0)
    x = coordinate(0, (index(0) + 0.5) * dx, "x", "m")
    u.next = u + x
    given u = [0, 0, 0, 0]
    gives u = [0.125, 0.375, 0.625, 0.875]
    wrong u = field("u")
    wrong coordinate(0, u)
    error line 2: coordinate 'x' depends on u, which changes from step to step
    advice Use index(axis), size(axis), params and numbers only.

kernel
    u = field("u", boundary="periodic")
    @kernel
    def init():
        u.next = 2.0 * index(0)
    u.next = u[+1]
    given shape = 4
    gives u = [2, 4, 6, 0]
    wrong u = field("u")
    wrong @kernel
    wrong def step():
    wrong     u.next = 0
    error line 2: kernel 'step' cannot be defined: the top level is the kernel step
    advice Give the kernel another name.
"""

GRID = r"""
dim
    dim 3
    u = field("u", boundary="periodic")
    u.next = u / dim
    given u = 6.0, shape = (1, 1, 2)
    gives u = [[[2, 2]]]
    wrong u = field("u")
    wrong u.next = u.at(+1, dim)
    error line 2: u.at(+1, dim): there is no axis 3 in 3 dimensions
    advice Use an axis below 3, or define the cell with --dim 4.

axes
    dim 2
    u = field("u", boundary="periodic")
    u.next = sum(u.at(+1, a) + u.at(-1, a) for a in axes) - 2 * dim * u
    given u = [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    gives u = [[0, 1, 0], [1, -4, 1], [0, 1, 0]]
    wrong u = field("u", boundary="periodic")
    wrong u.next = u.at(+1, axes)
    error line 2: u.at(+1, axes): an axis is a whole number, not (0, 1)
    advice Pass 0, 1, ... below dim.

index
    u = field("u")
    u.next = where(index(0) == 0, 1.0, u)
    given u = [5, 5, 5]
    gives u = [1, 5, 5]
    wrong u = field("u")
    wrong u.next = u + index(1.5)
    error line 2: index(1.5): an axis is a whole number, not 1.5
    advice Pass 0, 1, ... below dim.

size
    u = field("u")
    dx = 2.0 / size(0)
    u.next = u / dx
    given u = [1, 2, 3, 4]
    gives u = [2, 4, 6, 8]
    wrong u = field("u")
    wrong u.next = u / size("x")
    error line 2: size("x"): an axis is a whole number, not 'x'
    advice Pass 0, 1, ... below dim.

cell_centre
    u = field("u")
    u.next = cell_centre(0, 0.5, origin=-1.0)
    given u = [0, 0, 0, 0]
    gives u = [-0.75, -0.25, 0.25, 0.75]
    wrong u = field("u")
    wrong u.next = cell_centre("x", 0.5)
    error line 2: cell_centre("x", 0.5): an axis is a whole number, not 'x'
    advice Pass 0, 1, ... below dim.
"""

READING = r"""
u[+1]
    dim 2
    u = field("u", boundary="periodic")
    u.next = u[+1, 0] - u[0, -1]
    given u = [[1, 2], [3, 4], [5, 6]]
    gives u = [[1, 3], [1, 3], [-5, -3]]
    wrong u = field("u", boundary="periodic")
    wrong u.next = u[+1]
    error line 2: u[+1] has 1 offset, but the machine has 2 dimensions
    advice Write one offset per axis, such as u[+1, 0], or .at(+1, axis) to name the axis.

u.at
    u = field("u", boundary="reflect")
    u.next = u.at(-1, 0)
    given u = [1, 2, 3]
    gives u = [1, 1, 2]
    wrong u = field("u", boundary="reflect")
    wrong u.next = u.at(0.5, 0)
    error line 2: u.at(0.5, 0): an offset must be a whole number known when the cell is traced, not 0.5
    advice Write a constant such as u[+1].

u.next
    u = field("u", boundary="outflow")
    v = field("v")
    u.next = u[+1]
    v.next = u + u.next
    given u = [1, 2, 3], v = 0
    gives u = [2, 3, 3], v = [3, 5, 6]
    wrong u = field("u")
    wrong u.next = u + 1
    wrong u.next = u.next / 2
    error line 3: u.next is assigned twice in kernel step, first in line 2
    advice Assign u.next once, after its value is complete.

where
    u = field("u")
    u.next = where((u > 0) & (u < 2), u, 0)
    given u = [-1, 1, 3]
    gives u = [0, 1, 0]
    wrong u = field("u")
    wrong if u > 0:
    wrong     u.next = 0
    error line 2: 'if' needs one true or false, but u > 0 has one value per cell.
    advice Use where(u > 0, a, b).

astype
    u = field("u", dtype="u8")
    u.next = astype(1.6 * u, "u8")
    given u = [1, 2, 200]
    gives u = [1, 3, 255]
    wrong u = field("u", dtype="u8")
    wrong u.next = 1.6 * u
    error line 2: u is u8, but u.next is given f64
    advice Cast it: u.next = astype(value, "u8").

dd
    u = field("u")
    u.next = astype(dd(u) + 1e20 - 1e20, "f64")
    given u = [1, 2.5]
    gives u = [1, 2.5]
    wrong u = field("u", dtype="dd")
    wrong u.next = u + dd("one tenth")
    error line 2: 'one tenth' is no number
    advice Write a decimal number such as "0.1" or "-6.02e23".

compute_in
    u = field("u")
    tenfold = 10 * u
    compute_in(tenfold, "f32")
    u.next = tenfold
    given u = [1, 0.1234567]
    gives u = [10, 1.23457]
    wrong u = field("u")
    wrong u.next = compute_in(10 * u, "f32") + 1
    error line 2: the value that compute_in is asked for has no name
    advice Assign it to a variable first.

shift
    u = field("u", boundary="periodic")
    u.next = shift(u, (1,))
    given u = [1, 2, 3]
    gives u = [3, 1, 2]
    wrong u = field("u", boundary="periodic")
    wrong u.next = shift(u, (0.5,))
    error line 2: shift(u, (0.5,)): a component must be a whole number known when the cell is traced, not 0.5
    advice Write a constant such as u[+1].

extend
    u = field("u", boundary="periodic")
    flux = extend(u * u, fixed(0))
    u.next = flux[+1] - flux
    given u = [1, 2, 3]
    gives u = [3, 5, -18]
    wrong u = field("u", boundary="periodic")
    wrong u.next = extend(u, "open")
    error line 2: extend: 'open' is no boundary rule
    advice Use "periodic", "outflow", "reflect", "mirror", constant(), fixed(), neumann() or analytic().

gather
    u = field("u")
    i = size(0) - 1 - index(0)
    u.next = gather(u, i) + gather(extend(u, "periodic"), i - 1)
    given u = [1, 2, 4]
    gives u = [6, 3, 5]
    wrong u = field("u")
    wrong u.next = gather(u, 0.5 * index(0))
    error line 2: gather(u, 0.5 * index(0)): index 0 is f64, not whole numbers
    advice Cast it: astype(floor(x / dx), "i64").
"""

BOUNDARIES = r"""
periodic
    u = field("u", boundary="periodic")
    v = field("v", boundary=periodic(sign=-1))
    u.next, v.next = u[-1], v[-1]
    given u = [1, 2, 3], v = [1, 2, 3]
    gives u = [3, 1, 2], v = [-3, 1, 2]
    wrong u = field("u", boundary=periodic(sign=2))
    error line 1: the sign of periodic is +1 or -1, not 2
    advice Write periodic(sign=-1).

outflow
    u = field("u", boundary="outflow")
    u.next = u[-1] + 10 * u[+1]
    given u = [1, 2, 3]
    gives u = [21, 31, 32]
    wrong u = field("u", boundary="open")
    error line 1: field 'u': 'open' is no boundary rule
    advice Use "periodic", "outflow", "reflect", "mirror", constant(), fixed(), neumann() or analytic().

reflect
    u = field("u", boundary="reflect")
    v = field("v", boundary=reflect(sign=-1))
    u.next, v.next = u[-2], v[-2]
    given u = [1, 2, 3], v = [1, 2, 3]
    gives u = [2, 1, 1], v = [-2, -1, 1]
    wrong u = field("u", boundary=reflect(sign=0))
    error line 1: the sign of reflect is +1 or -1, not 0
    advice Write reflect(sign=-1).

mirror
    u = field("u", boundary="mirror")
    u.next = u[-2]
    given u = [1, 2, 3]
    gives u = [3, 2, 1]
    wrong u = field("u", boundary=mirror(sign=0.5))
    error line 1: the sign of mirror is +1 or -1, not 0.5
    advice Write mirror(sign=-1).

constant
    inside = param("inside", 2.0)
    u = field("u", boundary={"x-": constant(inside), "x+": "outflow"})
    u.next = u - 0.5 * (u - u[-1])
    given u = [0, 0, 0]
    gives u = [1, 0, 0]
    wrong v = field("v")
    wrong u = field("u", boundary=constant(v))
    error line 2: constant needs one number for the whole side, but got a value per cell
    advice Write analytic(lambda i: ...) for values that vary along the side.

fixed
    u = field("u", boundary={"x-": fixed(1.0), "x+": fixed(0.0)})
    u.next = u + 0.25 * (u[+1] - 2 * u + u[-1])
    given u = [0, 0, 0]
    gives u = [0.5, 0, 0]
    wrong u = field("u", dtype="bool", boundary=fixed(True))
    wrong u.next = u[+1]
    error line 1: fixed(True) computes with the cells, which are bool
    advice Use constant(v) or an index map.

neumann
    dx = 0.5
    u = field("u", boundary={"x-": neumann(-1.0, dx), "x+": "outflow"})
    u.next = u[-1]
    given u = [2, 2, 2]
    gives u = [2.5, 2, 2]
    wrong u = field("u", boundary=neumann(1.0, 0))
    error line 1: neumann: dx is 0
    advice Give the distance of two cells, positive and finite.

analytic
    dim 2
    u = field("u", boundary={"x-": analytic(lambda i, j: where(j > 0, 1.0, 0.0)), "x+": "outflow", "y": "reflect"})
    u.next = u[-1, 0]
    given u = [[5, 6, 7], [8, 9, 10]]
    gives u = [[0, 1, 1], [5, 6, 7]]
    wrong u = field("u", boundary=analytic(1.0))
    error line 1: analytic needs a function of the indices, not 1.0
    advice Write analytic(lambda i: ...).
"""
