"""Examples of calculus, tensors, steps in time and hints; `words` reads them."""

# A word, its cell, what is given and what one step gives (to six digits), a mistake, its error and the advice.
CALCULUS = r"""
derivative
    u = field("u", boundary="periodic")
    u.next = derivative(u, 0, 0.5)
    given u = [0, 1, 0, 0]
    gives u = [1, 0, -1, 0]
    wrong u = field("u", boundary="periodic")
    wrong u.next = derivative(u, 0, -0.5)
    error line 2: derivative: dx is -0.5
    advice Give the distance of two cells, positive and finite.

grad
    dim 2
    u, g = field("u", boundary="periodic"), vector("g")
    u.next, g.next = u, grad(u, 1.0)
    given u = [[0, 2, 0]], g = 0
    gives u = [[0, 2, 0]], g = [[[0, 0, 0]], [[1, 0, -1]]]
    wrong u, g = field("u", boundary="periodic"), vector("g")
    wrong u.next = grad(u, 1.0)
    error line 2: a vector stands where one value is needed
    advice Pick a component, or write dot(a, b) for a product of vectors.

div
    dim 2
    rho, m = field("rho"), vector("m", boundary="periodic")
    rho.next, m.next = rho - 0.5 * div(m, 1.0), m
    given rho = 1, m = [[[0, 0], [2, 0], [0, 0]], [[0, 0], [0, 0], [0, 0]]]
    gives rho = [[0.5, 1], [1, 1], [1.5, 1]], m = [[[0, 0], [2, 0], [0, 0]], [[0, 0], [0, 0], [0, 0]]]
    wrong u = field("u", boundary="periodic")
    wrong u.next = div(u, 1.0)
    error line 2: div needs a vector, not div(u, 1.0)
    advice Write div(v, dx) of a vector, grad of u.

curl
    dim 2
    w, v = field("w"), vector("v", boundary="periodic")
    w.next, v.next = curl(v, 1.0), v
    given w = 0, v = [[[0], [0], [0]], [[0], [2], [0]]]
    gives w = [[1], [0], [-1]], v = [[[0], [0], [0]], [[0], [2], [0]]]
    wrong u = field("u", boundary="periodic")
    wrong u.next = curl(u, 1.0)
    error line 2: curl is defined for a vector in 2 or 3 dimensions, not for one value per cell in 2
    advice Declare vector(name) in a cell with --dim 2 or 3.

laplacian
    dim 2
    u = field("u", boundary="periodic")
    u.next = u + 0.25 * laplacian(u, 1.0)
    given u = [[0, 0, 0], [0, 4, 0], [0, 0, 0]]
    gives u = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    wrong u = field("u", boundary="periodic")
    wrong u.next = laplacian(u, 1.0, form="star")
    error line 2: form='star' of the Laplacian is unknown
    advice Use "cross" or "box".

coefficients
    u = field("u", boundary="periodic")
    weights = coefficients(2, accuracy=2)
    u.next = sum(float(w) * u.at(k, 0) for k, w in weights.items())
    given u = [0, 1, 0, 0]
    gives u = [1, -2, 1, 0]
    wrong weights = coefficients(2, accuracy=3)
    error line 1: a centred formula has an even order, not accuracy=3
    advice Use accuracy=4, which has the same points.
"""

TENSORS = r"""
components
    dim 2
    u = field("u", boundary="periodic")
    wind = components((1.0, -1.0))
    u.next = u - 0.5 * dot(wind, grad(u, 1.0, side="backward"))
    given u = [[0, 0], [4, 0]]
    gives u = [[4, 0], [4, -4]]
    wrong wind = components(1.0)
    error line 1: components(1.0): float has no components
    advice Pass (a, b), ((a, b), (c, d)) or an array.

compose
    dim 2
    v = vector("v")
    v.next = compose(lambda a: v[a] + 10 * a)
    given v = [[[1, 2]], [[3, 4]]]
    gives v = [[[1, 2]], [[13, 14]]]
    wrong v = vector("v")
    wrong v.next = v[0]
    error line 2: the vector v is given one value for all 2 components
    advice Write v.next = compose(lambda a: ...), or v[0].next for one component.

contract
    dim 2
    u, v = field("u"), vector("v")
    u.next, v.next = contract(lambda a: v[a] * v[a]), v
    given u = 0, v = [[[1, 2]], [[3, 4]]]
    gives u = [[10, 20]], v = [[[1, 2]], [[3, 4]]]
    wrong v = vector("v")
    wrong v.next = contract(v)
    error line 2: contract sums over two indices of the vector v, not over 0 and 1
    advice Write contract(T, 0, 1), contract(lambda a: u[a] * v[a]) or dot(u, v).

dot
    dim 2
    u, v = field("u"), vector("v")
    u.next, v.next = sqrt(dot(v, v)), v
    given u = 0, v = [[[3, 6]], [[4, 8]]]
    gives u = [[5, 10]], v = [[[3, 6]], [[4, 8]]]
    wrong u, v = field("u"), vector("v")
    wrong u.next = v @ v
    error line 2: v @ v: @ has no meaning for tensors
    advice Write dot(a, b) or einsum.

cross
    dim 3
    v, w = vector("v"), vector("w")
    v.next, w.next = v, cross(v, w)
    given v = [[[[1]]], [[[2]]], [[[3]]]], w = [[[[4]]], [[[5]]], [[[6]]]]
    gives v = [[[[1]]], [[[2]]], [[[3]]]], w = [[[[-3]]], [[[6]]], [[[-3]]]]
    wrong v = vector("v")
    wrong v.next = cross(v, 2.0)
    error line 2: cross(v, 2.0): float has no components
    advice Pass (a, b), ((a, b), (c, d)) or an array.

outer
    dim 2
    v, T = vector("v"), tensor("T")
    v.next, T.next = v, outer(v, (1.0, 2.0))
    given v = [[[3]], [[4]]], T = 0
    gives v = [[[3]], [[4]]], T = [[[[3]], [[6]]], [[[4]], [[8]]]]
    wrong u, v = field("u"), vector("v")
    wrong u.next = outer(v, v)
    error line 2: a tensor of rank 2 stands where one value is needed
    advice Pick a component, or write dot(a, b) for a product of vectors.

delta
    dim 2
    p, T = field("p"), tensor("T", symmetric=True)
    p.next, T.next = p, compose(lambda a, b: p * delta(a, b), symmetric=True)
    given p = [[5]], T = 0
    gives p = [[5]], T = [[[[5]], [[0]]], [[[0]], [[5]]]]
    wrong u = field("u")
    wrong u.next = u * delta(u, 1)
    error line 2: delta compares two indices, not <u>
    advice Write delta(a, b) in compose(lambda a, b: ...), where(u == v, 1, 0) for values.

einsum
    dim 2
    v, A = vector("v"), tensor("A")
    v.next, A.next = einsum("ab,b->a", A, v), A
    given v = [[[3]], [[4]]], A = [[[[0]], [[1]]], [[[-1]], [[0]]]]
    gives v = [[[4]], [[-3]]], A = [[[[0]], [[1]]], [[[-1]], [[0]]]]
    wrong v, A = vector("v"), tensor("A")
    wrong v.next = einsum("a,b->a", A, v)
    error line 2: einsum('a,b->a') gives 1 letter to the tensor of rank 2 A
    advice Give each operand as many letters as it has indices.
"""

TIME = r"""
midpoint
    u = field("u")
    u.next = midpoint(u, lambda u: -u, 0.5)
    given u = [8, 16]
    gives u = [5, 10]
    wrong u = field("u")
    wrong u.next = midpoint(u, lambda u: (u, u), 0.5)
    error line 2: the rate of one value is 2 values
    advice Return one value.

ssp_rk2
    u = field("u", boundary="periodic")
    u.next = ssp_rk2(u, lambda u: u[-1] - u, 0.5)
    given u = [8, 0, 0, 0]
    gives u = [5, 2, 1, 0]
    wrong u = field("u")
    wrong u.next = ssp_rk2(u, -u, 0.5)
    error line 2: a traced value stands where a function is needed
    advice Write lambda u: -u for a function of yours, u[+1] for a neighbour.

ssp_rk3
    u = field("u", boundary={"x-": constant(1.0), "x+": "outflow"})
    rule = {"x-": constant(1.0), "x+": "outflow"}
    u.next = ssp_rk3(u, lambda u: u[-1] - u, 0.5, boundary=rule)
    given u = [0, 0, 0]
    gives u = [0.395833, 0.0833333, 0.0208333]
    wrong u, v = fields("u v")
    wrong u.next, v.next = ssp_rk3((u, v), lambda u: -u, 0.5)
    error line 2: rhs(u) is called with 2 values: those of the state
    advice Write def rhs(v0, v1): ...

leapfrog
    x, v = fields("x v")
    x.next, v.next = leapfrog(x, v, lambda x: -x, 0.5)
    given x = [1, 0], v = [0, 1]
    gives x = [0.875, 0.5], v = [-0.46875, 0.875]
    wrong x, v = fields("x v")
    wrong x.next, v.next = leapfrog(x, v, -x, 0.5)
    error line 2: a traced value stands where a function is needed
    advice Write lambda u: -u for a function of yours, u[+1] for a neighbour.

courant_step
    u, t = field("u", boundary="periodic"), scalar("t")
    dx = 0.5
    dt = courant_step(u, dx, cfl=0.5)
    u.next, t.next = u - dt / dx * u * (u - u[-1]), t + dt
    given u = [1, 2, 1]
    gives u = [1, 1.5, 1.25], t = 0.125
    wrong u = field("u")
    wrong dt = courant_step((u, u), 0.1, 0.5)
    error line 2: courant_step has 2 speeds for 1 distance
    advice Give one speed, or one for each axis.
"""

HINTS = r"""
manifest
    u = field("u", boundary="periodic")
    flux = manifest(u * u)
    u.next = flux - flux[-1]
    given u = [1, 2, 3]
    gives u = [-8, 3, 5]
    wrong u = field("u")
    wrong u.next = manifest(2.0) * u
    error line 2: manifest needs a value per cell, but this is one number for the whole grid
    advice Leave it out.

delayed
    u = field("u", boundary="periodic")
    flux = delayed(u * u)
    u.next = flux - flux[-1]
    given u = [1, 2, 3]
    gives u = [-8, 3, 5]
    wrong u = field("u")
    wrong a, b = manifest(2 * u), delayed(2 * u)
    wrong u.next = a + b
    error line 2: delayed(2 * u) contradicts line 2, where the same value is marked manifest
    advice Keep one of the two hints (equal expressions are one value).

rolling
    dim 2
    u = field("u", boundary="periodic")
    flux = rolling(u * u)
    u.next = flux - flux[-1, 0]
    given u = [[1, 1], [2, 3]]
    gives u = [[-3, -8], [3, 8]]
    wrong u, k = field("u"), param("k", 1.0)
    wrong u.next = u * rolling(k)
    error line 2: rolling needs a value per cell, but this is one number for the whole grid
    advice Leave it out.

sync
    u = field("u", boundary="periodic")
    flux = sync(manifest(u * u))
    u.next = flux - flux[-1]
    given u = [1, 2, 3]
    gives u = [-8, 3, 5]
    wrong u = field("u")
    wrong u.next = u * sync(2.0)
    error line 2: sync needs a value per cell, but this is one number for the whole grid
    advice Leave it out.

named
    u = field("u", boundary="periodic")
    u.next = u + named(u * u, "flux")
    given u = [1, 2, 3]
    gives u = [2, 6, 12]
    wrong u = field("u")
    wrong u.next = named(u * u, "my flux")
    error line 2: 'my flux' is no name for a value
    advice Write named(x, "flux").
"""
