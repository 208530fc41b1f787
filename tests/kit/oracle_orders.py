"""The canonical orders of reductions, folds and scans, as the semantics says; for the oracle."""


def fold_pairs(combine, values):
    if len(values) == 1:
        return values[0]
    paired = [combine(a, b) for a, b in zip(values[0::2], values[1::2], strict=False)]
    return fold_pairs(combine, paired + values[len(paired) * 2 :])


def reduce_row(combine, start, row):
    chunks = []
    for first in range(0, len(row), 1024):
        lanes = [start] * 16
        for offset, value in enumerate(row[first : first + 1024]):
            lanes[offset % 16] = combine(lanes[offset % 16], value)
        chunks.append(fold_pairs(combine, lanes))
    return fold_pairs(combine, chunks)


def reduce_all(combine, start, values, extents):
    """`values` maps an index prefix plus one more index to a number."""

    def below(prefix):
        rest = extents[len(prefix) :]
        if len(rest) == 1:
            return reduce_row(combine, start, [values((*prefix, i)) for i in range(rest[0])])
        return fold_pairs(combine, [below((*prefix, i)) for i in range(rest[0])])

    return below(())


def fold_some(combine, start, values, extents, axes):
    """`values` maps a whole index to a number; fixed: the part of the index along the axes that are kept."""

    def lane(cells):
        total = start
        for value in cells:
            total = combine(total, value)
        return total

    def at(fixed):
        def below(prefix):
            n = extents[axes[len(prefix)]]
            if len(prefix) < len(axes) - 1:
                return fold_pairs(combine, [below((*prefix, i)) for i in range(n)])
            cells = [values(whole((*prefix, i))) for i in range(n)]
            return fold_pairs(combine, [lane(cells[c : c + 1024]) for c in range(0, n, 1024)])

        def whole(folded):
            kept, over = iter(fixed), dict(zip(axes, folded, strict=True))
            return tuple(over[axis] if axis in over else next(kept) for axis in range(len(extents)))

        return below(())

    return at


def scanned(combine, start, line, i, scan):
    """The result in cell i: the tree over chunks before, the tree over runs before, then the run up to the cell."""
    step = -1 if scan.reverse else 1
    cells = range(len(line))[::step]
    i -= step if scan.exclusive else 0
    if i not in cells:
        return start
    done = cells[: cells.index(i) + 1]

    def parts(of, length):
        """The cells in going order, cut at multiples of the length."""
        return [[j for j in of if j // length == k] for k in dict.fromkeys(j // length for j in of)]

    def left_to_right(of):
        total = line[of[0]]
        for j in of[1:]:
            total = combine(total, line[j])
        return total

    *chunks, last = parts(done, 1024)
    *runs, run = parts(last, 32)
    before = [fold_pairs(combine, [left_to_right(r) for r in parts(c, 32)]) for c in chunks]
    found = [fold_pairs(combine, each) for each in (before, [left_to_right(r) for r in runs]) if each]
    total = found[0] if found else None
    for each in found[1:]:
        total = combine(total, each)
    own = left_to_right(run)
    return own if total is None else combine(total, own)


def ranked(key_at, count, rank, index):
    """The place of one key among all by its low bits, those of equal bits before it first."""
    keys = [key_at(i) % 2**rank.bits for i in range(count)]
    return sum(key < keys[index] for key in keys) + keys[:index].count(keys[index])


def place_in_joined(node, index, axis, nodes, extents_of):
    """The operand of a Join that a cell comes from, and its cell there."""
    at = dict(zip(node.space.axes, index, strict=True))
    left = at.pop(node.space.axes[axis])
    for operand in node.operands:
        own = nodes[operand].space.axes
        count = next((n for a, n in zip(own, extents_of(nodes[operand]), strict=True) if a not in at), 1)
        if left < count:
            return operand, tuple(at.get(a, left) for a in own)
        left -= count
    raise AssertionError(f"{index} of fewer cells")
