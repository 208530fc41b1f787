"""Attempts: a body is traced again from its first line when something becomes known that holds from there on."""

from __future__ import annotations


class TraceAgainError(BaseException):
    """Something became known that holds from the first line on. Not an Exception, so that no user code catches it."""


class DimensionFoundError(TraceAgainError):
    """The cell's dimension became known."""

    def __init__(self, dim: int, fixed: bool) -> None:
        super().__init__(dim)
        self.dim, self.fixed = dim, fixed
