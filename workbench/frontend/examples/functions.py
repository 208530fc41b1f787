"""Examples of functions, reductions and numbers; `words` reads them."""

# A word, its cell, what is given and what one step gives (to six digits), a mistake, its error and the advice.
FUNCTIONS_OF_VALUES = r"""
sqrt(u) given [0, 1, 4] gives [0, 1, 2]
rsqrt(u) given [0.25, 1, 16] gives [2, 1, 0.25]
cbrt(u) given [-8, 1, 27] gives [-2, 1, 3]
exp(u) given [0, 1] gives [1, 2.71828]
exp2(u) given [0, 3, -1] gives [1, 8, 0.5]
expm1(u) given [0, 1e-20] gives [0, 1e-20]
log(u) given [1, 10] gives [0, 2.30259]
log2(u) given [1, 8] gives [0, 3]
log10(u) given [1, 1000] gives [0, 3]
log1p(u) given [0, 1e-20] gives [0, 1e-20]
sin(u) given [0, 1] gives [0, 0.841471]
cos(u) given [0, 1] gives [1, 0.540302]
tan(u) given [0, 1] gives [0, 1.55741]
arcsin(u) given [0, 1] gives [0, 1.5708]
arccos(u) given [1, 0] gives [0, 1.5708]
arctan(u) given [0, 1] gives [0, 0.785398]
sinh(u) given [0, 1] gives [0, 1.1752]
cosh(u) given [0, 1] gives [1, 1.54308]
tanh(u) given [0, 1] gives [0, 0.761594]
absolute(u) given [-2, 3] gives [2, 3]
sign(u) given [-2, 0, 3] gives [-1, 0, 1]
floor(u) given [-1.5, 1.5] gives [-2, 1]
ceil(u) given [-1.5, 1.5] gives [-1, 2]
trunc(u) given [-1.5, 1.5] gives [-1, 1]
arcsinh(u) given [0, 1] gives [0, 0.881374]
arccosh(u) given [1, 2] gives [0, 1.31696]
arctanh(u) given [0, 0.5] gives [0, 0.549306]
"""

FUNCTIONS = r"""
minimum
    u = field("u")
    u.next = minimum(u, 2.0, 3 - u)
    given u = [1, 2, 5]
    gives u = [1, 1, -2]
    wrong u = field("u")
    wrong u.next = min(u, 2)
    error line 2: min(u, 2): builtin min needs one true or false, but the value has one value per cell
    advice Use minimum(a, b).

maximum
    u = field("u")
    u.next = maximum(u, 0)
    given u = [-1, 2]
    gives u = [0, 2]
    wrong u = field("u")
    wrong u.next = max(u, 0)
    error line 2: max(u, 0): builtin max needs one true or false, but the value has one value per cell
    advice Use maximum(a, b).

power
    u = field("u")
    u.next = power(u, 1.5)
    given u = [4, 9]
    gives u = [8, 27]
    wrong u = field("u")
    wrong u.next = u^2
    error line 2: u^2: ^ is the exclusive or of conditions or of whole numbers, not of f64, int
    advice Write u**2 for the power, or (a > 0) ^ (b > 0) to join conditions.

isnan
    u = field("u")
    u.next = where(isnan(u), 0, u)
    given u = [1, nan]
    gives u = [1, 0]
    wrong u = field("u")
    wrong u.next = isnan(u)
    error line 2: u is f64, but u.next is given bool
    advice Cast it: u.next = astype(value, "f64").

isfinite
    u = field("u")
    u.next = where(isfinite(u), u, 0)
    given u = [1, inf]
    gives u = [1, 0]
    wrong u = field("u")
    wrong if isfinite(u):
    wrong     u.next = u
    error line 2: 'if' needs one true or false, but isfinite(u) has one value per cell.
    advice Use where(isfinite(u), a, b).

arctan2
    u = field("u")
    u.next = arctan2(u, 1.0)
    given u = [0, 1, -1]
    gives u = [0, 0.785398, -0.785398]
    wrong u = field("u")
    wrong u.next = arctan2(u > 0, 1.0)
    error line 2: a condition (bool) cannot be combined with a number (f64)
    advice Write where(condition, a, b), or astype(condition, "f64") for 1 and 0.

hypot
    u = field("u")
    u.next = hypot(u, 4.0)
    given u = [0, 3]
    gives u = [4, 5]
    wrong u = field("u")
    wrong u.next = hypot(u)
    error line 2: TypeError: hypot() missing 1 required positional argument: 'b'
    advice Write hypot(a, b). An example: help(workbench.language.hypot).

fma
    u = field("u", dtype="f32")
    u.next = fma(u, u, -1.0)
    given u = [1.000244140625, 3]
    gives u = [0.000488341, 8]
    wrong n = field("n", dtype="i32")
    wrong n.next = astype(fma(n > 0, n, 1), "i32")
    error line 2: a condition (bool) cannot be combined with a number (i32)
    advice Write where(condition, a, b), or astype(condition, "i32") for 1 and 0.

copysign
    u = field("u")
    u.next = copysign(2.0, u)
    given u = [-5, 3]
    gives u = [-2, 2]
    wrong u = field("u")
    wrong u.next = copysign(u, u > 0)
    error line 2: a condition (bool) cannot be combined with a number (f64)
    advice Write where(condition, a, b), or astype(condition, "f64") for 1 and 0.

rotate_left
    u = field("u", dtype="u8")
    u.next = rotate_left(u, 3)
    given u = [1, 129]
    gives u = [8, 12]
    wrong u = field("u")
    wrong u.next = rotate_left(u, 3)
    error line 2: rotate_left(u, 3) takes whole numbers of the program, not f64
    advice Cast it: astype(x, "i64").

rotate_right
    u = field("u", dtype="u8")
    u.next = rotate_right(u, 1)
    given u = [1, 6]
    gives u = [128, 3]
    wrong u = field("u")
    wrong u.next = rotate_right(u, 1)
    error line 2: rotate_right(u, 1) takes whole numbers of the program, not f64
    advice Cast it: astype(x, "i64").

popcount
    u = field("u", dtype="i64")
    u.next = popcount(u)
    given u = [7, -1]
    gives u = [3, 64]
    wrong u = field("u")
    wrong u.next = popcount(u)
    error line 2: popcount(u) takes whole numbers of the program, not f64
    advice Cast it: astype(x, "i64").

quotient
    u = field("u", dtype="i32")
    u.next = quotient(u, 2)
    given u = [-7, 7]
    gives u = [-3, 3]
    wrong u = field("u")
    wrong u.next = quotient(u, 2)
    error line 2: quotient(u, 2) takes whole numbers of the program, not f64
    advice Cast it: astype(x, "i64").

rest
    u = field("u", dtype="i32")
    u.next = rest(u, 3)
    given u = [-7, 7]
    gives u = [-1, 1]
    wrong u = field("u")
    wrong u.next = rest(u, 3)
    error line 2: rest(u, 3) takes whole numbers of the program, not f64
    advice Cast it: astype(x, "i64").
"""

REDUCTIONS = r"""
reduce_sum
    u, total = field("u"), scalar("total")
    u.next, total.next = u, reduce_sum(u)
    given u = [1, 2, 3]
    gives u = [1, 2, 3], total = 6
    wrong u, total = field("u"), scalar("total")
    wrong total.next = sum(u)
    error line 2: sum(u): builtin sum runs over items, but this value has one value per cell
    advice Use reduce_sum(u) for all cells.

reduce_product
    u, s = field("u"), scalar("s")
    u.next, s.next = u, reduce_product(u)
    given u = [2, 3, 4]
    gives u = [2, 3, 4], s = 24
    wrong u, s = field("u"), scalar("s")
    wrong s.next = reduce_product(u > 0)
    error line 2: reduce_product does not take bool
    advice Count cells with reduce_sum(astype(condition, "i64")).

reduce_min
    u, s = field("u"), scalar("s")
    u.next, s.next = u, reduce_min(u)
    given u = [2, 1, 4]
    gives u = [2, 1, 4], s = 1
    wrong u, s = field("u"), scalar("s")
    wrong s.next = min(u)
    error line 2: min(u): builtin min runs over items, but this value has one value per cell
    advice Use reduce_min(u) for all cells, or minimum(a, b) of two values.

reduce_max
    u, s = field("u"), scalar("s")
    fastest = reduce_max(abs(u))
    u.next, s.next = u / fastest, fastest
    given u = [2, -4, 1]
    gives u = [0.5, -1, 0.25], s = 4
    wrong u, s = field("u"), scalar("s")
    wrong s.next = reduce_max(3.0)
    error line 2: reduce_max needs a value per cell, but this is one number already
    advice Leave the reduction out, or reduce an expression of fields.

reduce_any
    u, s = field("u"), scalar("s", False, dtype="bool")
    u.next, s.next = u, reduce_any(u > 2)
    given u = [1, 2, 3]
    gives u = [1, 2, 3], s = True
    wrong u, s = field("u"), scalar("s", False, dtype="bool")
    wrong s.next = reduce_any(u)
    error line 2: reduce_any does not take f64
    advice Compare first: reduce_any(u > 0).

reduce_all
    u, s = field("u"), scalar("s", False, dtype="bool")
    u.next, s.next = u, reduce_all(u > 2)
    given u = [1, 2, 3]
    gives u = [1, 2, 3], s = False
    wrong u, s = field("u"), scalar("s", False, dtype="bool")
    wrong s.next = all(u)
    error line 2: all(u): builtin all runs over items, but this value has one value per cell
    advice Use reduce_all(u) for all cells.

while_loop
    u = field("u", boundary="periodic")
    turns = scalar("turns", 0, "i64")
    smooth = lambda u, n: ((u[-1] + 2 * u + u[+1]) / 4, n + 1)
    rough = lambda u, n: reduce_max(u) - reduce_min(u) > 1
    u.next, turns.next = while_loop(rough, smooth, (u, 0), at_most=50)
    given u = [0, 8, 0, 0]
    gives u = [2, 2.5, 2, 1.5], turns = 3
    wrong u = field("u", boundary="periodic")
    wrong u.next = while_loop(lambda u: u > 1, lambda u: u[+1] / 2, u, at_most=50)
    error line 2: the condition of while_loop has a value in each cell, but one condition ends the loop for all cells
    advice Reduce it: reduce_any(condition), or use iterate, where each cell has a loop of its own.

branch
    u = field("u", boundary="periodic")
    u.next = branch(reduce_max(u) > 4, lambda v: (v[-1] + 2 * v + v[+1]) / 4, lambda v: v + 1, u)
    given u = [0, 8, 0, 0]
    gives u = [2, 4, 2, 0]
    wrong u = field("u", boundary="periodic")
    wrong u.next = branch(u > 4, lambda v: v / 2, None, u)
    error line 2: branch(u > 4, lambda v: v / 2, None, u): the condition has a value in each cell, but one function runs
    advice Reduce it: reduce_any(condition), or use where.
"""

NUMBERS = r"""
pi
    u = field("u")
    u.next = u / pi
    given u = [3.141592653589793]
    gives u = [1]
    wrong u = field("u")
    wrong u.next = u[pi]
    error line 2: u[pi]: an offset must be a whole number known when the cell is traced, not 3.141592653589793
    advice Write a constant such as u[+1].

e
    u = field("u")
    u.next = u * e
    given u = [1]
    gives u = [2.71828]
    wrong u = field("u")
    wrong u.next = u[e]
    error line 2: u[e]: an offset must be a whole number known when the cell is traced, not 2.718281828459045
    advice Write a constant such as u[+1].

inf
    u = field("u")
    u.next = where(u > 1, inf, u)
    given u = [1, 2]
    gives u = [1, inf]
    wrong k = param("k", inf, at_most=1)
    error line 1: the default of param 'k' is inf, but must be at most 1
    advice Choose another default.

nan
    u = field("u")
    u.next = where(u < 0, nan, sqrt(u))
    given u = [-1, 4]
    gives u = [nan, 2]
    wrong k = field("k", dtype="i64")
    wrong k.next = nan
    error line 2: k is i64, but k.next is given nan
    advice Write a number of that type.

random
    u, n = field("u"), scalar("n", 0, dtype="i64")
    u.next, n.next = random(7, n, index(0)), n + 1
    given u = [0, 0, 0]
    gives u = [0.609395, 0.963352, 0.292643], n = 1
    wrong u, t = field("u"), scalar("t")
    wrong u.next = random(7, t, index(0))
    error line 2: random: the step must be a whole number, not f64
    advice Count steps in scalar("n", 0, dtype="i64"), with n.next = n + 1.
"""
