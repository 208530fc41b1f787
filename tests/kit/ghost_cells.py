"""What lies outside a domain, one ghost cell at a time, from the text of the semantics alone.

It knows nothing of graphs or of the package: rules are tuples of plain Python, values are NumPy arrays of whole numbers
held as floats, so that every sum is exact and results can be compared for equality.

Rules: ("periodic", sign), ("outflow",), ("reflect", sign), ("mirror", sign), ("constant", v), ("fixed", v),
("neumann", rise of one cell), ("analytic", function of the index tuple).
"""

VALUE_RULES = ("constant", "analytic", "fixed", "neumann")


class Outside:
    """A value with its outside. inside(index): a value of the domain; sides[axis]: the rules below and above.

    faces: the axes along which values sit on lower faces, where reflect and mirror act about the wall.
    """

    def __init__(self, inside, extents, sides, faces):
        self.inside, self.extents, self.sides, self.faces = inside, extents, sides, faces

    def at(self, index):
        """The value at any index."""
        out = [axis for axis, (i, n) in enumerate(zip(index, self.extents, strict=True)) if not 0 <= i < n]
        if not out:
            return self.inside(index)
        # Value rules win over maps; between two value rules the lower axis wins.
        for axis in out:
            if self.rule(axis, index)[0] in VALUE_RULES:
                return self.by_value(axis, index)
        return self.by_map(out[0], index)

    def rule(self, axis, index):
        return self.sides[axis][0 if index[axis] < 0 else 1]

    def moved(self, axis, index, target):
        return self.at((*index[:axis], target, *index[axis + 1 :]))

    def by_value(self, axis, index):
        kind, given = self.rule(axis, index)
        i, n = index[axis], self.extents[axis]
        if kind == "constant":  # ghost cells hold v
            return given
        if kind == "analytic":
            return given(index)
        if kind == "fixed":  # the face holds v: the mean of the ghost and its mirror image
            return 2 * given - self.moved(axis, index, -1 - i if i < 0 else 2 * n - 1 - i)
        last = 0 if i < 0 else n - 1  # neumann extrapolates from the last cell
        return self.moved(axis, index, last) + (i - last) * given

    def by_map(self, axis, index):
        kind, *sign = self.rule(axis, index)
        i, n = index[axis], self.extents[axis]
        if kind == "periodic":
            return sign[0] * self.moved(axis, index, i + n if i < 0 else i - n)
        if kind == "outflow":
            return self.moved(axis, index, 0 if i < 0 else n - 1)
        if axis in self.faces:
            if i == n:  # on the wall, but outside: it has no image
                return 0.0 if sign == [-1] else self.moved(axis, index, n - 1)
            target = -i if i < 0 else 2 * n - i  # about face 0 or face n
        elif kind == "reflect":  # about the face: -1 -> 0
            target = -1 - i if i < 0 else 2 * n - 1 - i
        elif n == 1:  # mirror about the only cell
            target = 0
        else:  # about the first or last cell: -1 -> 1
            target = -i if i < 0 else 2 * n - 2 - i
        return sign[0] * self.moved(axis, index, target)
