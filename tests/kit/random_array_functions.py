"""Random functions of arrays, the same for the workbench and for plain NumPy: a seed and a set of words make one.

All values are whole numbers from 0 to 10, so that every result is exact in whatever order it is computed. A value of
the pool has labels, one an axis: the text of its length, by which a function knows what may meet before it is called.
"""

import random

import numpy as np

from tests.kit.array_operators import around, composed_as, latest
from tests.kit.array_records import KINDS_OF_ELEMENTS, components, has_elements, record_of
from tests.kit.random_array_arguments import FLOATS, WHOLE, Given, type_name

STEPS, KEPT = 9, 3
MOST_ELEMENTS = 20_000
NAMED = (np.add, np.maximum, np.minimum)
RULES = ("outflow", "periodic", "reflect", "mirror")


def random_function(seed, words, sizes):
    """A function of what `arguments` gives. sizes: of n and m, which decide what may be drawn."""

    def function(a, x, record, places, p, q):
        drawn = Drawn(random.Random(seed), words, dict(zip("nm", sizes, strict=True)), places, (p, q))
        return drawn.results(a, x, record)

    return function


def kinds_drawn(seed, words, sizes, given):
    """The names of the steps of a function, for these arguments of NumPy."""
    *arrays, places, p, q = given
    drawn = Drawn(random.Random(seed), words, dict(zip("nm", sizes, strict=True)), places, (p, q))
    drawn.results(*arrays)
    return drawn.kinds


class Drawn:
    """A function while it runs. Steps are methods `step_NAME(value, axis)`; one that does not fit returns None."""

    def __init__(self, draw, words, sizes, places, params):
        self.draw, self.words, self.sizes = draw, words, sizes
        self.places, self.params = places, params
        self.pool, self.kinds, self.given = [], [], None

    def results(self, a, x, record):
        self.given, (y, z) = record, components(record)
        named = ((a, ("n", "m")), (x, ("n",)), (y, ("m",)), (z, ("m",)))
        self.pool = [Given(array, labels, type_name(array)) for array, labels in named]
        while len(self.kinds) < STEPS:
            value = self.draw.choice([each for each in self.pool if each.labels])
            kind = self.draw.choice(KINDS)
            made = getattr(self, f"step_{kind}")(value, self.draw.randrange(len(value.labels)))
            if made is not None:
                self.kinds.append(kind)
                self.pool.append(made)
        kept = tuple(each.array for each in self.pool[-KEPT:])
        vectors = [each for each in self.pool if len(each.labels) == 1]
        one = self.draw.choice(vectors)
        pair = [each.array for each in self.pool if each.labels == ("m",)][-2:]
        kind = np.ndarray if isinstance(record, np.ndarray) else type(record)
        return *kept, self.words.compress(one.array, one.array > 3), record_of(kind, pair)

    # ---- what steps are made of

    def made(self, array, labels, type_):
        """A value below 11 in this type, if it is not too large."""
        if np.prod([self.sizes[each] for each in labels], dtype=float) > MOST_ELEMENTS:
            return None
        return Given(self.words.astype(array % 11, type_), tuple(labels), type_)

    def like(self, value, array):
        return self.made(array, value.labels, value.type)

    def other(self, labels, type_):
        """Another value of these labels, in this type."""
        found = self.draw.choice([each for each in self.pool if each.labels == labels])
        return self.words.astype(found.array, type_)

    def length(self, label, size):
        """A label for a new length."""
        self.sizes[label] = size
        return label

    def without(self, value, axis):
        return value.labels[:axis] + value.labels[axis + 1 :]

    def replaced(self, value, axis, label):
        return (*value.labels[:axis], label, *value.labels[axis + 1 :])

    def at(self, axis, part):
        return (*(slice(None),) * axis, part)

    def size(self, value, axis):
        return self.sizes[value.labels[axis]]

    def start(self):
        return self.draw.choice([None, 0, 2, 7])

    def record(self, value, kind):
        """Two arrays of whole numbers."""
        whole = self.words.astype(value.array, "i64")
        return record_of(kind, (whole, (whole * 3 + 1) % 11))

    # ---- each element for itself

    def step_meet(self, value, axis):
        other = self.other(self.draw.choice([value.labels, ()]) if self.has_numbers() else value.labels, value.type)
        return self.like(value, value.array * other + self.draw.choice([1, other]))

    def has_numbers(self):
        return any(not each.labels for each in self.pool)

    def step_param(self, value, axis):
        return self.like(value, value.array * self.params[value.type not in FLOATS] + 1)

    def step_choose(self, value, axis):
        a, b = value.array, self.other(value.labels, value.type)
        return self.like(value, np.where(a > b, a - b, np.maximum(b, 3)))

    def step_cast(self, value, axis):
        return self.made(value.array, value.labels, self.draw.choice([*FLOATS, *WHOLE]))

    def step_iterate(self, value, axis):
        other, most = self.other(value.labels, value.type), self.draw.randrange(6)
        body, goes = lambda v, w: ((2 * v + w) % 11, w), lambda v, w: v < 7
        if value.labels == ("m",):  # from place to place of an array
            body = lambda v, w: ((2 * v + other[self.words.astype(v, "i64") % other.shape[0]]) % 11, w)  # noqa: E731
        while_ = self.draw.choice([goes, None])
        return self.like(value, self.words.iterate(body, while_=while_, start=(value.array, other), at_most=most)[0])

    def step_repeat(self, value, axis):
        m, table = self.sizes["m"], self.other(("m",), value.type)
        named, body = lambda v: table[self.words.astype(v, "i64") % m] if m else v, lambda v: (v * v + named(v)) % 11
        return self.like(value, self.words.repeat(3, body, value.array))

    def step_keep(self, value, axis):
        made = self.like(value, 2 * value.array + 1)
        return made and Given(self.words.compute(made.array), made.labels, made.type)

    def step_generate(self, value, axis):
        shape = tuple(value.array.shape)
        made = self.words.generate(shape, lambda i, *rest: (i * 7 + sum(rest) * 3) % 11)
        return self.made(made, value.labels, "i64")

    def step_branch(self, value, axis):
        """One of two functions of the whole array and of a number, by what is in it or by what is known."""
        back, limit = self.at(axis, slice(None, None, -1)), self.draw.randrange(12)
        holds = self.draw.choice([True, False, *[np.any(value.array > limit)] * 6])
        other = self.other(value.labels, value.type)

        def then(now, k):
            return (3 * now[back] + other) % 11, k + 1

        def otherwise(now, k):
            return (now + 1) % 11, 2 * k

        made, count = self.words.branch(holds, then, self.draw.choice([None, otherwise]), (value.array, 4))
        return self.like(value, made + count)

    def step_elements(self, value, axis):
        """A component of the record, backwards or at computed places; of a structured array by its elements."""
        part, number = self.draw.choice([slice(None, None, -1), self.places]), self.draw.randrange(2)
        cut = self.given[part] if has_elements(self.given) else [each[part] for each in components(self.given)]
        made = components(cut)[number]
        return self.made(made + 1, ("m",), type_name(made))

    # ---- axes

    def step_outer(self, value, axis):
        if len(value.labels) > 1:
            return None
        one = self.draw.choice([each for each in self.pool if len(each.labels) == 1])
        other = self.words.astype(one.array, value.type)
        return self.made(value.array[:, None] + 2 * other[None, :], value.labels + one.labels, value.type)

    def step_turn(self, value, axis):
        if len(value.labels) > 1:
            return self.made(value.array.T, value.labels[::-1], value.type)
        return self.like(value, value.array[::-1])

    def step_slice(self, value, axis):
        cut = self.draw.choice(
            [(1, None, 1), (None, -1, 1), (None, None, 2), (None, None, -1), (-3, None, 1), (4, 1, -2)]
        )
        part = slice(*cut)
        label = self.length(f"{value.labels[axis]}{cut}", len(range(*part.indices(self.size(value, axis)))))
        return self.made(value.array[self.at(axis, part)] + 1, self.replaced(value, axis, label), value.type)

    def step_differ(self, value, axis):
        label = self.length(f"{value.labels[axis]}-1", max(self.size(value, axis) - 1, 0))
        after, before = (value.array[self.at(axis, part)] for part in (slice(1, None), slice(None, -1)))
        return self.made(after + 3 * before, self.replaced(value, axis, label), value.type)

    def step_element(self, value, axis):
        if not self.size(value, axis):
            return None
        place = self.draw.choice([0, -1, self.size(value, axis) // 2])
        return self.made(value.array[self.at(axis, place)], self.without(value, axis), value.type)

    def step_flatten(self, value, axis):
        """Backwards through all elements, row by row."""
        return self.like(value, value.array.reshape(-1)[::-1].reshape(value.array.shape))

    def step_ravel(self, value, axis):
        label = self.length("*".join(value.labels), int(np.prod([self.sizes[each] for each in value.labels])))
        return self.made(value.array.reshape(-1), (label,), value.type)

    def step_replicate(self, value, axis):
        count = self.draw.choice([1, 2])
        labels = (*value.labels[:axis], self.length(str(count), count), *value.labels[axis:])
        return self.made(self.words.replicate(value.array, count, axis), labels, value.type)

    def step_concatenate(self, value, axis):
        fits = [each for each in self.pool if len(each.labels) == len(value.labels)]
        others = [each for each in fits if self.without(each, axis) == self.without(value, axis)]
        parts = [value, *(self.draw.choice(others) for _ in range(self.draw.choice([1, 1, 2])))]
        label = self.length("+".join(each.labels[axis] for each in parts), sum(self.size(each, axis) for each in parts))
        made = np.concatenate([self.words.astype(each.array, value.type) for each in parts], axis)
        return self.made(made, self.replaced(value, axis, label), value.type)

    def step_stack(self, value, axis):
        """Two or three layers along a new axis, the last one of another array."""
        layers = [value.array, value.array + 1][: self.draw.choice([1, 2])]
        layers.append(self.other(value.labels, value.type))
        label = self.length(str(len(layers)), len(layers))
        place = self.draw.choice([axis, len(value.labels)])
        return self.made(np.stack(layers, place), (*value.labels[:place], label, *value.labels[place:]), value.type)

    def step_zip(self, value, axis):
        other = self.draw.choice([each for each in self.pool if len(each.labels) == len(value.labels)])
        pairs = list(zip(value.labels, other.labels, strict=True))
        labels = [a if a == b else self.length(f"min({a},{b})", min(self.sizes[a], self.sizes[b])) for a, b in pairs]
        given = value.array, self.words.astype(other.array, value.type)
        return self.made(self.words.zip_with(lambda u, v: 3 * u + v, *given), labels, value.type)

    def step_window(self, value, axis):
        offsets = tuple(self.draw.choice([-2, -1, 0, 1, 3]) for _ in value.labels)
        rules = tuple(self.draw.choice([*RULES, self.words.constant(4)]) for _ in value.labels)
        return self.like(value, self.words.windows(lambda w: w[offsets] + 1, value.array, boundary=rules))

    def step_gather(self, value, axis):
        if value.labels[axis] != "m":
            return None
        return self.like(value, value.array[self.at(axis, self.places)] + 1)

    def step_select(self, value, axis):
        """Elements along the first axis, of which every third one is left out."""
        count, first = self.size(value, 0), self.draw.randrange(3)
        label = self.length(f"{value.labels[0]}?{first}", sum((i + first) % 3 > 0 for i in range(count)))
        kept = self.words.generate((value.array.shape[0],), lambda i: (i + first) % 3 > 0)
        return self.made(value.array[kept] + 1, self.replaced(value, 0, label), value.type)

    # ---- folds and scans

    def axes(self, value):
        """One axis, or several."""
        chosen = self.draw.sample(range(len(value.labels)), self.draw.randint(1, len(value.labels)))
        return tuple(chosen), tuple(each for k, each in enumerate(value.labels) if k not in chosen)

    def step_sum(self, value, axis):
        axes, left = self.axes(value)
        return self.made(np.sum(value.array, axis=axes), left, value.type)

    def step_spread(self, value, axis):
        """An array and its sums, whose axis stays with one element."""
        sums = self.words.astype(np.sum(value.array, axis=axis, keepdims=True) % 11, value.type)
        return self.like(value, value.array * 2 + sums)

    def step_fold(self, value, axis):
        axes, left = self.axes(value)
        start = 0 if self.draw.random() < 0.5 else self.draw.randrange(11)
        op = self.draw.choice((np.add, np.maximum))
        made = self.words.fold(op, value.array, axes, start)
        return self.made(made, left, value.type)

    def step_fold_products(self, value, axis):
        whole = self.words.astype(np.where(value.array == 4, 0, 1), value.type)
        return self.made(self.words.fold(np.multiply, whole, axis), self.without(value, axis), value.type)

    def step_fold_function(self, value, axis):
        made = self.words.fold(latest, value.array, axis, self.start(), identity=0)
        return self.made(made, self.without(value, axis), value.type)

    def step_fold_in_any_order(self, value, axis):
        axes, left = self.axes(value)
        return self.made(self.words.fold(around, value.array, axes, identity=0, commutative=True), left, value.type)

    def step_fold_record(self, value, axis):
        kind, start = self.draw.choice(KINDS_OF_ELEMENTS), self.draw.choice([None, (2, 5)])
        start, identity = start and record_of(kind, start), record_of(kind, (1, 0))
        made = self.words.fold(composed_as(kind), self.record(value, kind), axis, start, identity=identity)
        return self.made(components(made)[1], self.without(value, axis), "i64")

    def step_scan(self, value, axis):
        op, reverse, exclusive = self.draw.choice(NAMED), self.draw.random() < 0.4, self.draw.random() < 0.4
        start = 3 if exclusive and op is not np.add else self.start()  # else the first one is the largest number
        return self.scanned(op, value, value.array, axis, start, None, reverse, exclusive)

    def step_scan_function(self, value, axis):
        flags = self.draw.random() < 0.5, self.draw.random() < 0.5
        return self.scanned(latest, value, value.array, axis, self.start(), 0, *flags)

    def step_scan_record(self, value, axis):
        flags, start = (self.draw.random() < 0.5, self.draw.random() < 0.5), self.draw.choice([None, (2, 5)])
        kind = self.draw.choice(KINDS_OF_ELEMENTS)
        start, identity = start and record_of(kind, start), record_of(kind, (1, 0))
        return self.scanned(composed_as(kind), value, self.record(value, kind), axis, start, identity, *flags)

    def scanned(self, op, value, given, axis, start, identity, reverse, exclusive):
        """The scan, or what all its elements combine to."""
        options = {"reverse": reverse, "exclusive": exclusive, "start": start, "identity": identity}
        total = self.draw.choice([None, "elements", "total"])
        made = self.words.scan(op, given, axis, **options, total=total is not None)
        if total is not None:
            made = made[total == "total"]
        is_record = given is not value.array
        made, type_ = (components(made)[1], "i64") if is_record else (made, value.type)
        return self.made(made, self.without(value, axis) if total == "total" else value.labels, type_)

    def step_cumulative(self, value, axis):
        return self.like(value, np.cumsum(value.array, axis=axis))

    def step_product(self, value, axis):
        fits = [each for each in self.pool if 1 <= len(each.labels) <= 2 and each.labels[0] == value.labels[-1]]
        if len(value.labels) > 2 or not fits:
            return None
        other = self.draw.choice(fits)
        made = self.words.astype(value.array, "f64") @ self.words.astype(other.array, "f64")
        return self.made(made, value.labels[:-1] + other.labels[1:], value.type)

    def step_record(self, value, axis):
        """Of pairs the second one where the first one is the largest, the first of several."""

        def larger(a, b):
            return np.where(a[0] >= b[0], a[0], b[0]), np.where(a[0] >= b[0], a[1], b[1])

        pair = self.words.astype(value.array, "i64"), self.words.astype(value.array * 3 % 7, "i32")
        _, made = self.words.fold(larger, pair, axis, identity=(-1, 0))
        return self.made(made, self.without(value, axis), "i32")

    # ---- what moves elements to places that depend on others

    def step_scatter(self, value, axis):
        if value.labels != ("m",):
            return None
        op = self.draw.choice([np.add, np.maximum, None, lambda new, old: (2 * new + old) % 11])
        where = self.draw.choice([None, self.other(("m",), "i64") > 4])
        sent = self.other(("m",), value.type)
        return self.like(value, self.words.scatter(op, value.array, self.places, sent, where))

    def step_scatter_rows(self, value, axis):
        """To elements of a matrix, of which some lie outside and are not sent."""
        if len(value.labels) != 2 or value.labels[1] != "m":
            return None
        rows, sent = self.other(("m",), "i64"), self.other(("m",), value.type)
        where = rows < value.array.shape[0]
        return self.like(value, self.words.scatter(np.maximum, value.array, (rows, self.places), sent, where))

    def step_sort(self, value, axis):
        """An array, sorted by the low bits of another one."""
        if len(value.labels) != 1:
            return None
        keys = self.words.ranks(self.other(value.labels, "i64"), bits=self.draw.choice([1, 2, 4]))
        return self.like(value, self.words.scatter(None, 0 * value.array, keys, value.array))

    def step_segments(self, value, axis):
        """Segments of as many elements as there are places of each number, of which some are empty."""
        if value.labels[-1] != "m":
            return None
        lengths = self.words.scatter(np.add, 0 * self.places, self.places, 1)
        op, identity = self.draw.choice([(np.add, None), (latest, 0)])
        made = self.words.fold_segments(op, value.array, lengths, self.start(), identity=identity)
        return self.like(value, made)

    def step_scan_segments(self, value, axis):
        if value.labels[-1] != "m":
            return None
        lengths = self.words.scatter(np.add, 0 * self.places, self.places, 1)
        flags = {"reverse": self.draw.random() < 0.5, "exclusive": self.draw.random() < 0.5}
        op, identity = self.draw.choice([(np.add, None), (latest, 0)])
        made = self.words.scan_segments(op, value.array, lengths, start=self.start(), identity=identity, **flags)
        return self.like(value, made)

    def step_loop(self, value, axis):
        """A few turns over the whole array, as long as something in it is large."""
        most, back = self.draw.randrange(4), self.at(axis, slice(None, None, -1))

        def body(now, k):
            return (now * 2 + now[back]) % 11, k + 1

        def goes(now, k):
            return (k < most) & np.any(now > 7)

        return self.like(value, self.words.while_loop(goes, body, (value.array, 0), at_most=9)[0])


KINDS = tuple(sorted(name.removeprefix("step_") for name in vars(Drawn) if name.startswith("step_")))
"""The names of all steps."""
