"""Limits: which values a param may take, and above which one it is told to be wary."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a param; None: there is none. With any of them NaN is refused too.

    above and at_least bound it from below, at_most from above; from `warn_above` on it is allowed, but unwise.
    """

    above: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    warn_above: float | None = None

    @property
    def named(self) -> tuple[tuple[str, float], ...]:
        """The bounds that there are, with their names, in order."""
        found = ((field.name, getattr(self, field.name)) for field in fields(self))
        return tuple((name, bound) for name, bound in found if bound is not None)

    def __bool__(self) -> bool:
        bounds = (self.above, self.at_least, self.at_most, self.warn_above)
        return any(bound is not None for bound in bounds)

    def allows(self, value: float) -> bool:
        """Whether the value is within all bounds."""
        return not (
            (self and value != value)
            or (self.above is not None and value <= self.above)
            or (self.at_least is not None and value < self.at_least)
            or (self.at_most is not None and value > self.at_most)
        )

    def warns(self, value: float) -> bool:
        """Whether the value is allowed, but above what is advised."""
        return self.warn_above is not None and value > self.warn_above

    def __str__(self) -> str:
        """In words, for messages: "above 0 and at most 1"."""
        words = {"above": "above", "at_least": "at least", "at_most": "at most"}
        return " and ".join(f"{words[name]} {bound:g}" for name, bound in self.named if name in words)


NO_LIMITS = Limits()
