"""What lies outside a domain, one ghost cell at a time, from the text of the semantics alone.

It knows nothing of graphs or of the package: rules are tuples of plain Python, values are NumPy arrays of whole numbers
held as floats, so that every sum is exact and results can be compared for equality.

Rules: ("periodic",), ("outflow",), ("reflect", sign), ("mirror", sign), ("constant", v), ("fixed", v),
("neumann", rise of one cell), ("analytic", function of the index tuple).
"""


def value_outside(inside, extents, sides, faces, index):
    """The value at any index. inside(index): a value of the domain; sides[axis]: the rules below and above.

    faces: the axes along which values sit on lower faces, where reflect and mirror act about the wall.
    """
    out = [axis for axis, (i, n) in enumerate(zip(index, extents, strict=True)) if not 0 <= i < n]
    if not out:
        return inside(index)

    def rule_at(axis):
        return sides[axis][0 if index[axis] < 0 else 1]

    def moved(axis, target):
        return value_outside(inside, extents, sides, faces, (*index[:axis], target, *index[axis + 1 :]))

    def by_value(axis):
        kind, *given = rule_at(axis)
        i, n = index[axis], extents[axis]
        if kind == "constant":  # ghost cells hold v
            return given[0]
        if kind == "analytic":
            return given[0](index)
        if kind == "fixed":  # the face holds v: the mean of the ghost and its mirror image
            return 2 * given[0] - moved(axis, -1 - i if i < 0 else 2 * n - 1 - i)
        last = 0 if i < 0 else n - 1  # neumann extrapolates from the last cell
        return moved(axis, last) + (i - last) * given[0]

    def by_map(axis):
        kind, *sign = rule_at(axis)
        i, n = index[axis], extents[axis]
        if kind == "periodic":
            return moved(axis, i + n if i < 0 else i - n)
        if kind == "outflow":
            return moved(axis, 0 if i < 0 else n - 1)
        if axis in faces and i == n:  # on the wall, but outside: it has no image
            return 0.0 if sign == [-1] else moved(axis, n - 1)
        if axis in faces:  # about face 0 or face n
            return sign[0] * moved(axis, -i if i < 0 else 2 * n - i)
        if kind == "reflect":  # about the face: -1 -> 0
            return sign[0] * moved(axis, -1 - i if i < 0 else 2 * n - 1 - i)
        if n == 1:  # mirror about the only cell
            return sign[0] * moved(axis, 0)
        return sign[0] * moved(axis, -i if i < 0 else 2 * n - 2 - i)  # about the first and last cell: -1 -> 1

    # Value rules win over maps; between two value rules the lower axis wins.
    for axis in out:
        if rule_at(axis)[0] in ("constant", "analytic", "fixed", "neumann"):
            return by_value(axis)
    return by_map(out[0])
