"""Records of random functions of arrays: tuples, named tuples, data classes and structured arrays of two components.

All functions are of arrays of NumPy and of traced ones.
"""

from dataclasses import dataclass, fields, is_dataclass
from typing import NamedTuple

import numpy as np


class Point(NamedTuple):
    """A record by name and by place."""

    y: object
    z: object


@dataclass
class Couple:
    """A record by name alone."""

    y: object
    z: object


KINDS_OF_ELEMENTS = (tuple, Point, Couple)
KINDS_OF_ARGUMENTS = (*KINDS_OF_ELEMENTS, np.ndarray)


def components(record):
    """Of any record, in order."""
    if is_dataclass(record):
        return tuple(getattr(record, each.name) for each in fields(record))
    return tuple(record[name] for name in record.dtype.names) if is_structured(record) else tuple(record)


def is_structured(record):
    """Whether it is an array of NumPy with fields."""
    return isinstance(record, np.ndarray) and bool(record.dtype.names)


def has_elements(record):
    """Whether its elements are read together, as those of a structured array are; traced ones have names as tuples."""
    return is_structured(record) or type(record).__name__ == "Record"


def record_of(kind, parts):
    """A record of this kind with these components."""
    if kind is np.ndarray:
        made = np.zeros(len(parts[0]), [(name, part.dtype) for name, part in zip("yz", parts, strict=True)])
        made["y"], made["z"] = parts
        return made
    return tuple(parts) if kind is tuple else kind(*parts)


def leaves(results):
    """All arrays of a result, one after the other."""
    if is_structured(results):
        return [np.ascontiguousarray(part) for part in components(results)]
    is_record = isinstance(results, tuple | list) or is_dataclass(results)
    return [leaf for part in components(results) for leaf in leaves(part)] if is_record else [results]
