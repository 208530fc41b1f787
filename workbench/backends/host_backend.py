"""A backend whose generated text the host's C++ compiler turns into shared libraries; what two of them share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from threading import Event
from typing import Generic, TypeVar

from workbench.backends.base import Availability
from workbench.backends.compile_pool import (
    Built,
    Compiler,
    Source,
    build,
    compiler_availability,
    default_compiler,
)
from workbench.planning.plan import Plan

_TEXTS_PER_UNIT = 16  # texts compiled together: the headers are read once, and the others can compile meanwhile


Text = TypeVar("Text")
Program = TypeVar("Program")


class HostBackend(ABC, Generic[Text, Program]):
    """Renders plans and builds their libraries; `compiler` is for tests, the default is found when first needed."""

    def __init__(self, compiler: Compiler | None = None) -> None:
        self._compiler = compiler

    def availability(self) -> Availability:
        """Whether a compiler works here; the first look on a machine takes about a second, later ones a millisecond."""
        return compiler_availability() if self._compiler is None else Availability(True)

    def compile(self, plan: Plan, cancel: Event | None = None) -> Program:
        """Render and build, or take the library from the cache. BuildError if the compiler is missing or refuses."""
        return self._compile((plan,), cancel)[0]

    def compile_many(self, plans: Sequence[Plan]) -> tuple[Program, ...]:
        """The same for many plans: several texts go into one translation unit, units compile in parallel."""
        return self._compile(plans)

    def _compile(self, plans: Sequence[Plan], cancel: Event | None = None) -> tuple[Program, ...]:
        compiler = self._compiler = self._compiler or default_compiler()
        texts = [self._render(plan) for plan in plans]
        distinct = list({self._key(text): text for text in texts}.values())
        packs = [distinct[k : k + _TEXTS_PER_UNIT] for k in range(0, len(distinct), _TEXTS_PER_UNIT)]
        units = [self._unit(pack, plans[0].graph.name if len(plans) == 1 else "pack") for pack in packs]
        built = build(units, compiler, cancel) if units else ()
        built_of = {self._key(text): each for pack, each in zip(packs, built, strict=True) for text in pack}
        return tuple(
            self._program(plan, text, built_of[self._key(text)], compiler)
            for plan, text in zip(plans, texts, strict=True)
        )

    @abstractmethod
    def _render(self, plan: Plan) -> Text:
        """The plan's text."""

    @abstractmethod
    def _key(self, text: Text) -> str:
        """Equal for equal texts, which are built once."""

    @abstractmethod
    def _unit(self, texts: Sequence[Text], name: str) -> Source:
        """One translation unit of several texts."""

    @abstractmethod
    def _program(self, plan: Plan, text: Text, built: Built, compiler: Compiler) -> Program:
        """The plan with the library that holds its text."""
