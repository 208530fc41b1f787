"""A backend whose generated text the host's C++ compiler turns into shared libraries; what two of them share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from threading import Event
from typing import Generic, TypeVar

from workbench.backends.base import Availability, Identity
from workbench.backends.build_flags import build_flags
from workbench.backends.cache_folder import default_cache
from workbench.backends.compile_pool import (
    Built,
    Compiler,
    Unit,
    build,
    compiler_availability,
    default_compiler,
)
from workbench.backends.phenotype import memory_text, phenotype_key
from workbench.backends.processor import processor_name
from workbench.planning.choices import BuildChoices, CompilerKind
from workbench.planning.plan import Plan

_TEXTS_PER_UNIT = 16  # texts compiled together: the headers are read once, and the others can compile meanwhile


Text = TypeVar("Text")
Program = TypeVar("Program")


class HostBackend(ABC, Generic[Text, Program]):
    """Renders plans and builds their libraries; `compiler` is for tests, the default is found when first needed."""

    def __init__(self, compiler: Compiler | None = None) -> None:
        self._given = compiler
        self._found: dict[CompilerKind, Compiler] = {}

    def availability(self) -> Availability:
        """Whether a compiler works here; the first look on a machine takes about a second, later ones a millisecond."""
        return compiler_availability() if self._given is None else Availability(True)

    def identity(self) -> Identity:
        """The processor, and the first compiler that works. BuildError where there is none."""
        return Identity(processor_name(), self._compiler("").toolchain.identity)

    def compile(self, plan: Plan, cancel: Event | None = None) -> Program:
        """Render and build, or take the library from the cache. BuildError if the compiler is missing or refuses."""
        return self._compile((plan,), cancel)[0]

    def compile_many(self, plans: Sequence[Plan]) -> tuple[Program, ...]:
        """The same for many plans: several texts go into one translation unit, units compile in parallel.

        Plans whose choices of `build` differ share no unit.
        """
        numbers: dict[BuildChoices, list[int]] = {}
        for number, plan in enumerate(plans):
            numbers.setdefault(self._build_choices(plan), []).append(number)
        made: dict[int, Program] = {}
        for chosen in numbers.values():
            made.update(zip(chosen, self._compile([plans[number] for number in chosen]), strict=True))
        return tuple(made[number] for number in range(len(plans)))

    def _compile(self, plans: Sequence[Plan], cancel: Event | None = None) -> tuple[Program, ...]:
        """Plans with equal choices of `build`."""
        choices = self._build_choices(plans[0])
        compiler = self._compiler(choices.compiler)
        flags = build_flags(choices, compiler.toolchain)
        texts = [self._render(plan) for plan in plans]
        distinct = list({self._key(text): text for text in texts}.values())
        packs = [distinct[k : k + _TEXTS_PER_UNIT] for k in range(0, len(distinct), _TEXTS_PER_UNIT)]
        name = plans[0].graph.name if len(plans) == 1 else "pack"
        built = build([self._unit(pack, name, flags) for pack in packs], compiler, cancel)
        built_of = {self._key(text): each for pack, each in zip(packs, built, strict=True) for text in pack}
        return tuple(
            self._program(plan, text, built_of[self._key(text)], compiler)
            for plan, text in zip(plans, texts, strict=True)
        )

    def phenotype(self, plan: Plan) -> str:
        """Key of what would run: plans with one key are one program. Renders; compiles nothing."""
        choices = self._build_choices(plan)
        compiler = self._compiler(choices.compiler)
        text = self._render(plan)
        recipe = compiler.recipe(self._unit([text], "phenotype", build_flags(choices, compiler.toolchain)))
        return phenotype_key(recipe.key, memory_text(plan), self._launch_text(plan, text))

    def _compiler(self, kind: CompilerKind) -> Compiler:
        """The compiler of this kind, "" for the first that works. BuildError where there is none."""
        given = self._given
        if given is not None and kind in ("", given.toolchain.kind):
            return given
        found = self._found.get(kind)
        if found is None or found.cache is not default_cache():  # $WORKBENCH_CACHE may name another folder by now
            found = self._found[kind] = default_compiler(kind)
        return found

    def _build_choices(self, plan: Plan) -> BuildChoices:
        """What the plan's choices tell the compiler, for a backend that reads it."""
        return plan.choices.plan.build

    @abstractmethod
    def _render(self, plan: Plan) -> Text:
        """The plan's text."""

    @abstractmethod
    def _key(self, text: Text) -> str:
        """Equal for equal texts, which are built once."""

    @abstractmethod
    def _unit(self, texts: Sequence[Text], name: str, flags: tuple[str, ...]) -> Unit:
        """One translation unit of several texts; `flags` come after the toolchain's own."""

    @abstractmethod
    def _launch_text(self, plan: Plan, text: Text) -> str:
        """The numbers with which the text is launched."""

    @abstractmethod
    def _program(self, plan: Plan, text: Text, built: Built, compiler: Compiler) -> Program:
        """The plan with the library that holds its text."""
