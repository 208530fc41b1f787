"""Sides: the boundary that a user gives to a solver, as the rules of each of its fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench.errors import StencilError
from workbench.language import Rule, constant, fixed, neumann

IMAGES = ("periodic", "reflect", "mirror")  # kinds of rules that map cells and keep sums over neighbours
VALUES = ("constant", "fixed", "neumann", "analytic")  # kinds of rules that say a value; the others map cells


def rate_of(boundary: object) -> object:
    """The boundary of du/dt where u has `boundary`: what is held does not change, so its rate is held at 0."""

    def resting(rule: Any) -> object:  # noqa: ANN401  # whatever was given for a side
        match rule.kind if isinstance(rule, Rule) else "":
            case "fixed":
                return fixed(0.0)
            case "neumann":
                return neumann(0.0, 1.0)
            case "constant" | "analytic":
                return constant(0.0)
            case _:
                return rule

    return _on_each_side(boundary, resting)


def maps_images(boundary: object) -> bool:
    """Whether every ghost cell is an image of a cell, even or odd, about a face, a cell or round a ring.

    Sums over neighbours at both sides alike, as a Laplacian is, then have the same images as what they are made of.
    """
    rules = boundary.values() if isinstance(boundary, Mapping) else (boundary,)
    return all((rule.kind if isinstance(rule, Rule) else rule) in IMAGES for rule in rules)


def of_each_field(boundary: object, names: tuple[str, ...]) -> tuple[Any, ...]:
    """One boundary for each field, in order: the one given, or those of a mapping by the fields' names.

    Raises StencilError for a mapping that leaves a field out, and for a value other than 0 that all fields, which are
    different quantities, would take.
    """
    if isinstance(boundary, Mapping) and set(boundary) & set(names):
        if set(boundary) != set(names):
            named = ", ".join(map(repr, boundary))
            raise StencilError(
                f"boundary has {named}", advice=f"Give one for each of {', '.join(names)}, or one for all."
            )
        return tuple(boundary[name] for name in names)

    def check(rule: Any) -> object:  # noqa: ANN401  # whatever was given for a side
        if isinstance(rule, Rule) and rule.kind in VALUES and rule.value != 0:
            fields = ", ".join(f'"{name}": ...' for name in names)
            raise StencilError(
                f"boundary {rule} would hold for {' and '.join(names)} alike", advice=f"Write boundary={{{fields}}}."
            )
        return rule

    return (_on_each_side(boundary, check),) * len(names)


def _on_each_side(boundary: object, change: Callable[[Any], object]) -> object:
    """The boundary with the rule of each side changed."""
    if isinstance(boundary, Mapping):
        return {side: change(rule) for side, rule in boundary.items()}
    return change(boundary)
