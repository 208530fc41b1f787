"""The words of functions of arrays in plain NumPy and loops over elements: what they mean, without the package.

Arrays are NumPy's, records are tuples of them. Only what the random functions use is here; arguments are as in
`workbench.language`.
"""

import numpy as np

from tests.kit.array_records import components, record_of

TYPES = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "i32": np.int32, "i16": np.int16, "u8": np.uint8}
MARGIN = 5
"""Elements around an array that windows see: no offset is larger."""
_IDENTITIES = {np.add: 0, np.multiply: 1, np.logical_or: False, np.logical_and: True}
PAD = {"outflow": "edge", "periodic": "wrap", "reflect": "symmetric", "mirror": "reflect"}


def astype(xs, name):
    return np.asarray(xs).astype(TYPES[name])[()]


def compute(xs):
    return xs


def compress(xs, condition):
    return xs[condition]


def replicate(xs, length, axis=0):
    return np.repeat(np.expand_dims(xs, axis), length, axis)


def generate(shape, f):
    return np.broadcast_to(f(*np.indices(shape)), shape)


def zip_with(f, *xs):
    shape = np.min([x.shape for x in xs], axis=0)
    return f(*(x[tuple(map(slice, shape))] for x in xs))


def fold(op, xs, axis=-1, start=None, *, identity=None, commutative=False):
    parts = _Parts(xs)
    axes = sorted(k % parts.rank for k in (axis if isinstance(axis, tuple) else (axis,)))
    for number in reversed(axes):  # the last axis first
        parts = parts.folded(op, number, parts.identity(op, identity))
    return parts.started(op, start).given()


def scan(op, xs, axis=-1, *, reverse=False, exclusive=False, start=None, identity=None, total=False):
    parts = _Parts(xs)
    number, neutral = axis % parts.rank, parts.identity(op, identity)
    made = parts.scanned(op, number, neutral, reverse, exclusive).started(op, start).given()
    if not total:
        return made
    turned = parts.turned(number) if reverse else parts
    return made, turned.folded(op, number, neutral).started(op, start).given()


def scatter(op, defaults, indices, values, where=None):
    made, places = defaults.copy(), np.broadcast_arrays(*(indices if isinstance(indices, tuple) else (indices,)))
    new, sent = np.broadcast_to(values, places[0].shape), np.broadcast_to(where is None or where, places[0].shape)
    for k in np.ndindex(places[0].shape):
        if sent[k]:
            at = tuple(place[k] for place in places)
            made[at] = new[k] if op is None else op(new[k], made[at])
    return made


def ranks(keys, bits=8):
    order = np.argsort(keys & ((1 << bits) - 1), kind="stable")
    made = np.empty(len(keys), np.int64)
    made[order] = np.arange(len(keys))
    return made


def fold_segments(op, xs, lengths, start=None, *, identity=None):
    parts = _Parts(xs)
    neutral = parts.identity(op, identity)
    cuts = [part.folded(op, parts.rank - 1, neutral) for part in parts.cut(lengths)]
    return parts.joined(cuts, np.stack).started(op, start).given()


def scan_segments(op, xs, lengths, *, reverse=False, exclusive=False, start=None, identity=None):
    parts = _Parts(xs)
    neutral = parts.identity(op, identity)
    cuts = [part.scanned(op, parts.rank - 1, neutral, reverse, exclusive) for part in parts.cut(lengths)]
    return parts.joined(cuts, np.concatenate).started(op, start).given()


def iterate(body, *, while_=None, start, at_most):
    parts = [np.array(part) for part in np.broadcast_arrays(*start)]
    for k in np.ndindex(parts[0].shape):
        now, turns = tuple(part[k] for part in parts), 0
        while turns < at_most and (while_ is None or while_(*now)):
            now, turns = body(*now), turns + 1
        for part, value in zip(parts, now, strict=True):
            part[k] = value
    return tuple(parts)


def branch(condition, then, otherwise, start):
    if condition:
        return then(*start)
    return start if otherwise is None else otherwise(*start)


def repeat(n, body, start):
    for _ in range(n):
        start = body(start)
    return start


def while_loop(condition, body, start, *, at_most):
    turns = 0
    while condition(*start):
        start, turns = body(*start), turns + 1
        assert turns <= at_most
    return start


def constant(value):
    return value


def windows(f, xs, boundary):
    """Each neighbour from an array with a margin. A constant of an earlier axis lies over the rules of later ones."""

    class Window:
        def __getitem__(self, offsets):
            made = xs
            for axis, (offset, rule) in reversed(list(enumerate(zip(offsets, boundary, strict=True)))):
                margin = [(MARGIN, MARGIN) if k == axis else (0, 0) for k in range(xs.ndim)]
                how = {"mode": PAD[rule]} if rule in PAD else {"constant_values": rule}
                wide = np.pad(made, margin, **how)
                made = np.take(wide, np.arange(xs.shape[axis]) + MARGIN + offset, axis)
            return made

    return f(Window()) if xs.size else xs


class _Parts:
    """An array or a record of arrays, of that kind."""

    def __init__(self, xs):
        self.kind = None if isinstance(xs, np.ndarray | np.generic) else type(xs)
        self.arrays = self.split(xs)
        self.rank = np.ndim(self.arrays[0])

    def split(self, value):
        """The components of an array, of elements or of an identity."""
        return (value,) if self.kind is None else components(value)

    def whole(self, parts):
        """An array or element of these components."""
        return parts[0] if self.kind is None else record_of(self.kind, tuple(parts))

    def like(self, arrays):
        return _Parts(self.whole(tuple(arrays)))

    def given(self):
        return self.whole(self.arrays)

    def identity(self, op, identity):
        """The identity as the parts of a record."""
        if identity is not None:
            return self.split(identity)
        type_ = self.arrays[0].dtype
        if op in _IDENTITIES:
            return (_IDENTITIES[op],)
        if type_.kind == "f":
            return (-np.inf if op is np.maximum else np.inf,)
        return (np.iinfo(type_).min if op is np.maximum else np.iinfo(type_).max,)

    def combined(self, op, left, right):
        """The operator on elements, each with its type, as it was."""
        made = self.split(op(self.whole(left), self.whole(right)))
        return tuple(np.asarray(x).astype(own.dtype) for x, own in zip(made, self.arrays, strict=True))

    def started(self, op, start):
        if start is None:
            return self
        given = zip(self.split(start), self.arrays, strict=True)
        return self.like(self.combined(op, tuple(a.dtype.type(x) for x, a in given), self.arrays))

    def elements(self, axis):
        return [tuple(np.take(a, k, axis) for a in self.arrays) for k in range(self.arrays[0].shape[axis])]

    def neutral(self, identity, axis):
        shape = np.delete(self.arrays[0].shape, axis)
        return tuple(np.full(shape, x, a.dtype) for x, a in zip(identity, self.arrays, strict=True))

    def turned(self, axis):
        return self.like(np.flip(a, axis) for a in self.arrays)

    def folded(self, op, axis, identity):
        held = self.neutral(identity, axis)
        for element in self.elements(axis):
            held = self.combined(op, held, element)
        return self.like(x[()] for x in held)

    def scanned(self, op, axis, identity, reverse, exclusive):
        if reverse:
            return self.turned(axis).scanned(op, axis, identity, False, exclusive).turned(axis)
        held, made = self.neutral(identity, axis), []
        for element in self.elements(axis):
            before, held = held, self.combined(op, held, element)
            made.append(before if exclusive else held)
        if not made:
            return self
        return self.like(np.stack(each, axis) for each in zip(*made, strict=True))

    def cut(self, lengths):
        ends = np.cumsum(lengths)
        return [self.like(a[..., end - n : end] for a in self.arrays) for n, end in zip(lengths, ends, strict=True)]

    def joined(self, cuts, join):
        if not cuts:
            return self.like(a[..., :0] for a in self.arrays)
        return self.like(join(each, -1) for each in zip(*(cut.arrays for cut in cuts), strict=True))
