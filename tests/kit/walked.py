"""Sums by a tree as semantics §3 says, one target after the other: for tests of `tree=`, slow and independent."""

from itertools import product

import numpy as np

BITS = {1: 52, 2: 31, 3: 21}
FEW = 16


class Tree:
    """Places x of shape (dim, n) and weights, in the cube that they span; walks are made by recursion."""

    def __init__(self, x, weights):
        self.dim = len(x)
        self.low, wide = x.min(axis=1), (x.max(axis=1) - x.min(axis=1)).max()
        self.width = wide if wide > 0 else 1.0
        self.bits = BITS[self.dim]
        units = self.units(x)
        cells = np.clip((units * 2.0**self.bits).astype(np.int64), 0, 2**self.bits - 1)
        self.keys = [self._key([int(c) for c in cell]) for cell in cells.T]
        order = sorted(range(len(weights)), key=lambda j: (self.keys[j], j))
        self.keys = [self.keys[j] for j in order]
        self.x, self.weights, self.cells = x[:, order], weights[order], cells[:, order]
        self.t = np.array(list(product((1.0, -1.0), repeat=self.dim))).T

    def units(self, x):
        return (x - self.low[:, None]) / self.width

    def _key(self, cell):
        key = 0
        for bit in reversed(range(self.bits)):
            for c in cell:
                key = key << 1 | c >> bit & 1
        return key

    def node(self, begin, end):
        """Centre, side, distance of the centre from the cell's middle, weight and points, of places begin to end."""
        free = (self.keys[begin] ^ self.keys[end - 1]).bit_length()
        bits = [(free + axis) // self.dim for axis in range(self.dim)]
        sides = np.array([2.0 ** (b - self.bits) for b in bits])
        low = np.array([(int(c) >> b << b) * 2.0**-self.bits for c, b in zip(self.cells[:, begin], bits, strict=True)])
        units, w = self.units(self.x[:, begin:end]).astype(np.longdouble), self.weights[begin:end].astype(np.longdouble)
        weight = w.sum()
        centre = (w * units).sum(axis=1) / weight if weight else units[:, 0]
        off = units - centre[:, None]
        square = ((w * off) @ off.T / weight if weight else 0 * off @ off.T).astype(float)
        factor = _factor(square)
        points = self.low[:, None] + self.width * (centre.astype(float)[:, None] + factor @ self.t)
        side, apart = np.sqrt(np.mean(sides**2)), np.linalg.norm((centre - low - sides / 2).astype(float))
        return centre.astype(float), side, np.sqrt(sides @ sides) / 2, apart, float(weight), points

    def parts(self, target, theta, begin=0, end=None):
        """What contributes to a target, in order: places and weights of single sources, and of points of nodes."""
        end = len(self.weights) if end is None else end
        free = (self.keys[begin] ^ self.keys[end - 1]).bit_length() if end > begin else 0
        if end - begin <= FEW or not free:
            return [(self.x[:, begin:end], self.weights[begin:end])] if end > begin else []
        w = self.weights[begin:end]
        if not ((w > 0).any() and (w < 0).any()):
            centre, side, half, apart, weight, points = self.node(begin, end)
            away = np.linalg.norm(centre - (target - self.low) / self.width)
            if away > max(side / theta if theta else np.inf, half) + apart:
                return [(points, np.full(points.shape[1], weight / points.shape[1]))]
        top = self.keys[begin] >> free - 1
        split = next(j for j in range(begin, end) if self.keys[j] >> free - 1 != top)
        return self.parts(target, theta, begin, split) + self.parts(target, theta, split, end)


def _factor(square):
    """The lower triangle of square = L L^T, where that may have no inverse."""
    found = np.zeros(square.shape)
    for a in range(len(square)):
        for b in range(a + 1):
            rest = square[a, b] - found[a, :b] @ found[b, :b]
            if a == b:
                found[a, a] = np.sqrt(max(rest, 0))
            elif found[b, b] > 0:
                found[a, b] = rest / found[b, b]
    return found


def walked(x, weights, targets, theta, formula):
    """formula(distances (dim, m), weights (m,)) summed for each of the targets (dim, k)."""
    tree = Tree(x, weights)
    return np.array([sum(formula(at - t[:, None], w) for at, w in tree.parts(t, theta)) for t in targets.T]).T
