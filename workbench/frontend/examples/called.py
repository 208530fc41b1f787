"""Examples of cells that run once at each call; `words` reads them. A call returns what an example gives."""

PAIRS = r"""
targets
    xi, = targets("x")
    xj, mj = sources("x m")
    ax, = totals("ax")
    ax += mj * (xj - xi)
    given x = [0, 1, 3], m = 1
    gives ax = [4, 1, -5]
    wrong xi, yi = targets("x y", dtype="f16")
    error line 1: 'f16' is no storage type
    advice Use bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64 or dd.

sources
    xi, = targets("x")
    xj, = sources("x")
    near, = totals("near")
    near += where(abs(xj - xi) < 2, 1, 0)
    given x = [0, 1, 3]
    gives near = [2, 2, 1]
    wrong xj, = sources("x")
    wrong ax, = totals("ax")
    wrong ax += xj[+1] - xj
    error line 3: xj[+1] reads a neighbour, but targets and sources have none
    advice Leave the offset out; index(0) and index(1) number targets and sources.

total
    xi, = targets("x")
    xj, = sources("x")
    near = total("near", reduce="min")
    near.include(where(xj == xi, inf, abs(xj - xi)))
    given x = [0, 1, 3]
    gives near = [1, 1, 2]
    wrong xj, = sources("x")
    wrong ax = total("ax ay")
    error line 2: total: 'ax ay' are names of 2 totals
    advice Write ax, ay = totals("ax ay").

totals
    xi, = targets("x")
    xj, = sources("x")
    far, = totals("far", reduce="max")
    near, = totals("near", dtype="i64", cutoff=1.5, positions="x")
    nearer = lambda a, b: (minimum(a[0], b[0]), where(b[0] < a[0], b[1], a[1]))
    first, = totals("distance number", reduce=nearer, identity=(inf, -1))
    far.include(abs(xj - xi))
    near += where(xj != xi, 1, 0)
    first.include((where(xj == xi, inf, abs(xj - xi)), index(1)))
    given x = [0, 1, 3]
    gives far = [3, 2, 3], near = [1, 1, 0], distance = [1, 1, 2], number = [1, 0, 1]
    wrong xj, = sources("x")
    wrong far, = totals("far", reduce="max")
    wrong far += xj
    error line 3: far += adds, but far is the max over all sources
    advice Write far.include(value).
"""

ARRAYS = r"""
array
    A = array("A", "rows", "columns")
    x = array("x", "columns")
    output("y", fold(add, A * x))
    given A = [[1, 2], [3, 4]], x = [1, 10]
    gives y = [21, 43]
    wrong A = array("A", "n", "n")
    error line 1: array 'A' has an axis twice: n, n
    advice Give each axis a name of its own; their extents may be equal.

arrays
    xs, ys = arrays("xs ys", "n")
    output("dot", fold(add, xs * ys))
    given xs = [1, 2, 3], ys = [4, 5, 6]
    gives dot = 32
    wrong xs, ys = arrays("", "n")
    error line 1: arrays needs names, not ''
    advice Write xs, ys = arrays("xs ys", "n").

output
    xs = array("xs", "n")
    output("shifted", xs - fold(minimum, xs))
    given xs = [3, 5, 4]
    gives shifted = [0, 2, 1]
    wrong xs = array("xs", "n")
    wrong output("xs", 2 * xs)
    error line 2: xs is declared twice: as an array in line 1, now as an output
    advice Give it another name.

fold
    A = array("A", "rows", "columns")
    output("sums", fold(add, A, axis="rows", start=0.5))
    given A = [[1, 2], [3, 4]]
    gives sums = [4.5, 6.5]
    wrong A = array("A", "rows", "columns")
    wrong output("y", fold(add, A, axis="z"))
    error line 2: fold over axis 'z' of a value with the axes rows, columns
    advice Name one of them, or give its number.

generate
    xs = array("xs", "n")
    output("ramp", xs + generate("n", lambda i: 0.5 * i))
    given xs = [1, 1, 1]
    gives ramp = [1, 1.5, 2]
    wrong xs = array("xs", "n")
    wrong output("y", generate("m", lambda i: i))
    error line 2: generate("m", lambda i: i): there is no axis 'm'
    advice Use one of n, or declare an array.

fold_segments
    lengths = array("lengths", "rows", dtype="i32")
    columns = array("columns", "entries", dtype="i64")
    v = array("v", "entries")
    x = array("x", "columns")
    output("y", fold_segments(add, v * x[columns], lengths))
    given lengths = [2, 1], columns = [0, 2, 1], v = [1, 2, 3], x = [10, 20, 30]
    gives y = [70, 60]
    wrong xs = array("xs", "n")
    wrong output("y", fold_segments(add, xs, 4))
    error line 2: fold_segments(add, xs, 4): the lengths are 4
    advice Give an array of whole numbers: lengths = array("lengths", "rows", dtype="i32").

scan_segments
    lengths = array("lengths", "rows", dtype="i32")
    xs = array("xs", "n")
    output("up_to", scan_segments(add, xs, lengths))
    output("before", scan_segments(add, xs, lengths, exclusive=True, start=100))
    given lengths = [2, 0, 3], xs = [1, 2, 3, 4, 5]
    gives up_to = [1, 3, 3, 7, 12], before = [100, 101, 100, 103, 107]
    wrong xs = array("xs", "n")
    wrong output("y", scan_segments(add, xs, xs))
    error line 2: scan_segments(add, xs, xs): the lengths are f64
    advice Give an array of whole numbers: lengths = array("lengths", "rows", dtype="i32").

compress
    xs = array("xs", "n")
    output("kept", compress(xs, xs > 2))
    given xs = [3, 1, 4, 1, 5]
    gives kept_length = 3, kept = [3, 4, 5, 0, 0]
    wrong xs = array("xs", "n")
    wrong output("y", compress(xs, 3))
    error line 2: compress(xs, 3): the condition is 3
    advice Give an array and a condition on it: compress(xs, xs > 0).

compute
    xs = array("xs", "n")
    squares = compute(xs * xs)
    output("differences", windows(lambda w: w[+1] - w[0], squares, boundary="periodic"))
    given xs = [1, 2, 3]
    gives differences = [3, 5, -8]
    wrong xs = array("xs", "n")
    wrong output("y", compute(2.0) * xs)
    error line 2: compute(2.0) needs an array, but this is one number
    advice Leave compute out.

replicate
    xs = array("xs", "columns")
    A = array("A", "rows", "columns")
    output("every", replicate(xs, axis="rows"))
    output("sums", fold(add, A))
    given xs = [1, 2], A = [[0, 0], [1, 1]]
    gives every = [[1, 2], [1, 2]], sums = [0, 2]
    wrong xs = array("xs", "n")
    wrong output("y", replicate(xs, axis="n"))
    error line 2: replicate(xs, axis="n"): the value has the axis n
    advice Name an axis that it does not have.

windows
    xs = array("xs", "n")
    output("mean", windows(lambda w: (w[-1] + w[0] + w[+1]) / 3, xs, boundary="outflow"))
    given xs = [3, 6, 9]
    gives mean = [4, 6, 8]
    wrong A = array("A", "rows", "columns")
    wrong output("y", windows(lambda w: w[+1], A))
    error line 2: w[+1] is no neighbour in an array of 2 axes
    advice Give a whole number for each axis: w[-1, 0].

zip_with
    xs, ys = arrays("xs ys", "n")
    output("further", zip_with(lambda x, y: where(x > y, x, y), xs, ys))
    given xs = [1, 5], ys = [2, 3]
    gives further = [2, 5]
    wrong xs = array("xs", "n")
    wrong output("y", zip_with(xs, xs))
    error line 2: zip_with(xs, xs): no function is given
    advice Write zip_with(f, xs, ys).

scan
    xs = array("xs", "n")
    output("up_to", scan(add, xs))
    before, all_of_them = scan(add, xs, exclusive=True, start=100, total=True)
    output("before", before)
    output("all_of_them", all_of_them)
    given xs = [1, 2, 4]
    gives up_to = [1, 3, 7], before = [100, 101, 103], all_of_them = 107
    wrong A = array("A", "rows", "columns")
    wrong output("y", scan(add, A, axis=("rows", "columns")))
    error line 2: scan over the axes ('rows', 'columns')
    advice Name one axis; scan the result along another one.

ranks
    keys = array("keys", "n", dtype="i64")
    output("places", ranks(keys, bits=2))
    output("sorted", scatter(None, keys, ranks(keys, bits=2), keys))
    given keys = [2, 1, 2, 0]
    gives places = [2, 1, 3, 0], sorted = [0, 1, 2, 2]
    wrong xs = array("xs", "n")
    wrong output("places", ranks(xs))
    error line 2: ranks(xs): the keys are f64, not whole numbers
    advice Cast them: keys.astype("u32").

scatter
    zeros = array("zeros", "bins", dtype="i64")
    bins = array("bins", "n", dtype="i32")
    output("counts", scatter(add, zeros, bins, 1))
    output("last", scatter(None, zeros, bins, index("n"), where=bins < 2))
    given zeros = [0, 0, 0], bins = [2, 0, 2, 1, 2]
    gives counts = [1, 1, 3], last = [1, 3, 0]
    wrong xs = array("xs", "n")
    wrong output("y", scatter(add, 0, xs, 1))
    error line 2: scatter(add, 0, xs, 1): the defaults are one number
    advice Give an array: one element for each place of the result.

iterate
    xs = array("xs", "n", dtype="i64")
    odd = lambda x: where(x % 2 == 0, x // 2, 3 * x + 1)
    more = lambda x, turns: x > 1
    _, turns = iterate(lambda x, turns: (odd(x), turns + 1), while_=more, start=(xs, 0), at_most=1000)
    output("turns", turns)
    given xs = [1, 6, 27]
    gives turns = [0, 8, 111]
    wrong xs = array("xs", "n")
    wrong output("y", iterate(lambda x: x / 2, while_=lambda x: x - 1, start=xs, at_most=9))
    error line 2: while_ of iterate gives f64
    advice Compare: lambda x: x > 1e-6.

repeat
    xs = array("xs", "n")
    output("y", repeat(3, lambda x: x * x, xs))
    given xs = [0.5, 1, 2]
    gives y = [0.00390625, 1, 256]
    wrong xs = array("xs", "n")
    wrong output("y", repeat(xs, lambda x: x * x, xs))
    error line 2: the number of iterations of repeat is f64
    advice Give whole numbers: astype(n, "i64").

add
    xs = array("xs", "n")
    output("total", fold(add, xs))
    given xs = [1, 2, 4]
    gives total = 7
    wrong u = field("u")
    wrong u.next = add(u > 0, 1)
    error line 2: a condition (bool) cannot be combined with a number (i64)
    advice Write where(condition, a, b), or astype(condition, "i64") for 1 and 0.

multiply
    xs = array("xs", "n")
    output("product", fold(multiply, xs))
    given xs = [1, 2, 4]
    gives product = 8
    wrong u = field("u")
    wrong u.next = multiply(u > 0, 1)
    error line 2: a condition (bool) cannot be combined with a number (i64)
    advice Write where(condition, a, b), or astype(condition, "i64") for 1 and 0.
"""
