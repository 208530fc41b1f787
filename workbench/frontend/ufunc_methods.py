"""np.add.reduce, np.maximum.accumulate, np.multiply.outer: methods of NumPy's operators on whole arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.errors import TraceError
from workbench.frontend.positions import order_of
from workbench.frontend.scans import scan
from workbench.frontend.trace import current_trace
from workbench.frontend.value import Value, term_of

_REDUCED = {
    "add": "sum",
    "multiply": "prod",
    "minimum": "min",
    "maximum": "max",
    "logical_and": "all",
    "logical_or": "any",
}


def ufunc_method(name: str, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Value:
    """What np.<name>.<method>(*inputs, **options) means for traced arrays; the axis is 0 where none is given."""
    known = {"reduce": {"axis", "keepdims"}, "accumulate": {"axis"}, "outer": set[str]()}.get(method)
    text = current_trace(f"np.{name}").text_here(f"np.{name}.{method}")
    if known is None or (method != "outer" and name not in _REDUCED):
        raise TraceError(
            f"{text} has no meaning in a function of arrays",
            advice="Write fold(op, x, axis=0), scan(op, x, axis=0) or scatter(op, defaults, places, x).",
        )
    if extra := sorted(set(options) - known):
        raise TraceError(f"{text}: {', '.join(extra)}= has no meaning for traced arrays", advice="Leave it out.")
    if method == "outer":
        a, b = inputs
        operator: Any = getattr(np, name)
        left, right = (len(order_of(term_of(each))) if isinstance(each, Value) else 0 for each in (a, b))
        return operator(a[(..., *(None,) * right)] if left else a, b[((None,) * left)] if right else b)  # type: ignore[no-any-return]  # a traced array
    (given,) = inputs
    axis = options.get("axis", 0)
    if method == "reduce":
        reduced: Any = getattr(np, _REDUCED[name])
        return reduced(given, axis=axis, keepdims=options.get("keepdims", False))  # type: ignore[no-any-return]  # a traced array
    if name in ("add", "multiply"):
        running: Any = np.cumsum if name == "add" else np.cumprod
        return running(given, axis=axis)  # type: ignore[no-any-return]  # a traced array
    return scan(getattr(np, name), given, axis=axis)  # type: ignore[no-any-return]  # a traced array
