"""Hints: what a cell asks of the plan for a value, and the names it gives to values."""

from __future__ import annotations

from typing import cast

from workbench.errors import TraceError
from workbench.frontend.componentwise import component_name, componentwise
from workbench.frontend.tensors import Tensor
from workbench.frontend.trace import Term, Trace, current_trace
from workbench.frontend.value import Value, operand, wrap
from workbench.graph import Hint
from workbench.graph.marks import NO_HINT


def need_local(value: object, what: str) -> Term:
    """The term of a value per cell. Raises TraceError for one number."""
    given = operand(value)
    if not isinstance(given, Term) or not given.is_local:
        raise TraceError(
            f"{what} needs a value per cell, but this is one number for the whole grid", advice="Leave it out."
        )
    return given


def add_hint(trace: Trace, term: Term, hint: Hint) -> None:
    """Add a hint to a value, and to what it is along other axes; one that contradicts names the lines of both."""
    old = term.node.hint
    if old.allocation and hint.allocation and old.allocation != hint.allocation:
        raise TraceError(
            f"{trace.text_here()} contradicts line {old.line}, where the same value is marked {old.allocation}",
            advice="Keep one of the two hints (equal expressions are one value).",
        )
    if old == NO_HINT or hint.allocation:  # the line of a hint is where the allocation was asked for
        hint = Hint(hint.allocation, hint.sync_before, hint.sync_after, trace.here().line)
    waiting, seen = [term.index], {term.index}  # of a square array, a copy along other axes may be copied back
    while waiting:
        index = waiting.pop()
        trace.pool.annotate(index, hint=hint)
        new = [made for made in trace.copies.get(index, ()) if made not in seen]
        seen.update(new)
        waiting += new


@componentwise
def manifest(value: object) -> Value:
    """Hint: store the value in an array of its own. Returns the value."""
    return _hinted(value, "manifest", Hint("manifest"))


def compute(value: object) -> Value:
    """Compute an array once and store it, so that every use reads it from memory; returns it."""
    trace = current_trace("compute")
    given = operand(value)
    if not isinstance(given, Term) or not given.is_local:
        raise TraceError(
            f"{trace.text_here('compute')} needs an array, but this is one number", advice="Leave compute out."
        )
    add_hint(trace, given, Hint("manifest"))
    return wrap(given)


@componentwise
def delayed(value: object) -> Value:
    """Hint: recompute the value wherever it is used. Returns the value."""
    return _hinted(value, "delayed", Hint("delayed"))


@componentwise
def rolling(value: object) -> Value:
    """Hint: keep a few rows of the value in a rolling buffer where possible, else recompute it. Returns the value.

    A rolling buffer stays in the cache. It is possible where only loops that run together read the value. Where loops
    run one after another, as on GPUs, the value would go to memory and back, so it is recomputed. The hint is never an
    error.
    """
    return _hinted(value, "rolling", Hint("rolling"))


def sync(value: object, where: str = "both") -> Value:
    """Hint: a barrier of all threads before and after the value is computed, or one of the two. Returns the value.

    where: "both", "before" or "after".
    """
    if where not in ("both", "before", "after"):
        raise TraceError(f"sync has no place {where!r}", advice='Write sync(x), sync(x, "before") or sync(x, "after").')
    return _synchronised(value, where=where)


@componentwise
def _synchronised(value: object, *, where: str) -> Value:
    return _hinted(value, "sync", Hint(sync_before=where != "after", sync_after=where != "before"))


def _hinted(value: object, what: str, hint: Hint) -> Value:
    trace = current_trace(what)
    term = need_local(value, what)
    add_hint(trace, term, hint)
    return wrap(term)


def named(value: object, name: str) -> Value:
    """Give the value a name for graphs, generated code and sim.evaluate; returns it.

    A tensor's components get the name with their indices: flux0, flux1, ...
    """
    trace = current_trace("named")
    if not isinstance(name, str) or not name.isidentifier():
        raise TraceError(f"{name!r} is no name for a value", advice='Write named(x, "flux").')
    if isinstance(value, Tensor):
        parts = {i: named(part, component_name(name, i)) for i, part in value.stored.items() if isinstance(part, Value)}
        return cast(Value, Tensor({**value.stored, **parts}, value.dim, value.rank, value.symmetric))
    given = operand(value)
    if not isinstance(given, Term):
        raise TraceError(f"the Python number {given!r} cannot carry a name", advice="Name a traced value.")
    trace.pool.annotate(given.index, name=name)
    return wrap(given)
