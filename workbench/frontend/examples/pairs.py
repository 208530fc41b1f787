"""Examples of pairs; `words` reads them. A call takes what is given and returns what it gives."""

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

totals
    xi, = targets("x")
    xj, = sources("x")
    far, = totals("far", reduce="max")
    far.include(abs(xj - xi))
    given x = [0, 1, 3]
    gives far = [3, 2, 3]
    wrong xj, = sources("x")
    wrong far, = totals("far", reduce="max")
    wrong far += xj
    error line 3: far += adds, but far is the max over all sources
    advice Write far.include(value).
"""
