"""Arguments of random functions of arrays, whole numbers from 0 to 10 of many types, alone and in a record."""

import random
from dataclasses import dataclass

import numpy as np

from tests.kit.array_records import KINDS_OF_ARGUMENTS, record_of

FLOATS, WHOLE = ("f64", "f32"), ("i64", "i32", "i16", "u8")


@dataclass(frozen=True)
class Given:
    """A value that a function may use: `array` is traced or NumPy's; one label an axis, the text of its length."""

    array: object
    labels: tuple[str, ...]
    type: str


def arguments(seed, n, m):
    """Arrays (n, m), (n), a record of two (m), places in (m), a float and a whole number; their types are drawn too."""
    draw, types = np.random.default_rng(seed), random.Random(seed)
    shapes = ((n, m), (n,), (m,), (m,))
    numbers = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "i32": np.int32, "i16": np.int16, "u8": np.uint8}
    arrays = [draw.integers(0, 11, shape).astype(numbers[types.choice([*FLOATS, *FLOATS, *WHOLE])]) for shape in shapes]
    record = record_of(kind_of_record(seed), arrays[2:])
    places = draw.integers(0, max(m, 1), m)
    return *arrays[:2], record, places, float(draw.integers(1, 6)), int(draw.integers(1, 6))


def kind_of_record(seed):
    """What the record among the arguments is; np.ndarray for a structured array."""
    return KINDS_OF_ARGUMENTS[random.Random(f"record {seed}").randrange(len(KINDS_OF_ARGUMENTS))]


def type_name(array):
    """The storage type of an array, traced or NumPy's."""
    if not isinstance(array, np.ndarray):
        return str(array.dtype)
    kind = {"f": "f", "i": "i", "u": "u"}[array.dtype.kind]
    return f"{kind}{8 * array.dtype.itemsize}"
