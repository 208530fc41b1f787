"""Known calls: one that gives arrays of the types, shapes and strides of an earlier one is not read again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.backends.base import Array, Number
from workbench.forking import forkable_lock
from workbench.graph import Graph, Static
from workbench.planning.choices import Choices
from workbench.planning.retype import retype
from workbench.run.arrays import lies_on_device
from workbench.run.given import Given, Interface, interface_of, read_call
from workbench.run.one_call import step_of
from workbench.run.values import number


@dataclass(frozen=True, slots=True)
class CallForm:
    """What calls share that give arrays of equal types, shapes and strides by the same names.

    graph, choices: of the machine; they are kept, so that their identities stay theirs. interface: of its program.
    steps: of arrays that are not dense, but could be read where they lie: elements between neighbours along the last
    axis. given_as: the name under which a call gives the array of each static. numbers: the params that it gives.
    """

    graph: Graph
    choices: Choices
    interface: Interface
    extents: tuple[int, ...]
    steps: Mapping[str, int]
    given_as: Mapping[str, str]
    numbers: Mapping[str, Static]


Read = tuple[CallForm, dict[str, Any], dict[str, Number]]
"""What a call was read as: its form, whole arrays by the names of their statics, of NumPy or CuPy, and params."""

_MOST_KNOWN = 64
_known: OrderedDict[tuple[object, ...], CallForm] = OrderedDict()
_lock = forkable_lock()


def read_again(graph: Graph, choices: Choices, given: Given) -> Read | None:
    """What a call is given whose arrays have the form of an earlier call; None for others, which `read_first` reads.

    Values of params are checked as at the first call: FieldError.
    """
    key = _key(graph, choices, given)
    form = None if key is None else _known.get(key)
    if form is None:
        return None
    values = given.values
    arrays = {name: values[plain] for name, plain in form.given_as.items()}
    return form, arrays, {name: number(static, values[name]) for name, static in form.numbers.items()}


def read_first(graph: Graph, choices: Choices, given: Given) -> Read:
    """Read what a call is given, and know calls like it from now on. Errors are those of `read_call`."""
    program = retype(graph, choices.meaning)
    interface = interface_of(program)
    found, numbers, extents = read_call(program, given)
    arrays = {
        each.static.name: _whole(program, each.static, found[each.static.name], extents) for each in interface.inputs
    }
    steps = {each.static.name: step_of(each.static, arrays[each.static.name]) for each in interface.inputs}
    form = CallForm(
        graph,
        choices,
        interface,
        extents,
        {name: step for name, step in steps.items() if step is not None},
        {each.static.name: each.plain for each in interface.inputs},
        {name: interface.params[name] for name in numbers},
    )
    key = _key(graph, choices, given)
    if key is not None and all(_is_taken(arrays[name], given.values.get(as_)) for name, as_ in form.given_as.items()):
        with _lock:
            _known[key] = form
            while len(_known) > _MOST_KNOWN:
                _known.popitem(last=False)
    return form, arrays, numbers


def _key(graph: Graph, choices: Choices, given: Given) -> tuple[object, ...] | None:
    """By what calls are told apart that are read alike: names, types, and of arrays shapes and strides if not dense.

    None for two sets, and for what is given without a name.
    """
    if given.targets is not None or given.sources is not None or given.by_place:
        return None
    key: list[object] = [id(graph), id(choices)]
    for name, value in given.values.items():
        kind = type(value)
        if kind is not np.ndarray:
            key += (name, kind)
            if lies_on_device(value):  # where strides are looked at when it is lent
                other: Any = value  # an array of another library
                if not hasattr(other, "dtype"):
                    return None
                key += (other.dtype, tuple(other.shape))
            continue
        array: Array = value  # type: ignore[assignment]  # by its type
        dense = array.flags.c_contiguous
        key += (name, array.dtype, array.shape) if dense else (name, array.dtype, array.shape, array.strides)
    return tuple(key)


def _is_taken(array: object, value: object) -> bool:
    """Whether the array that was given is taken as it is, so that its form is all that was looked at."""
    return array is value and (type(value) is np.ndarray or lies_on_device(value))


def _whole(graph: Graph, static: Static, values: Any, extents: tuple[int, ...]) -> Any:  # noqa: ANN401  # or of CuPy
    """The array itself, or one filled with its only number."""
    return values if values.ndim else np.full(static.space.extents_in(graph.space, extents), values)
