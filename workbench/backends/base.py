"""What every backend offers: availability, a compiled program, and instances that hold one simulation's state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from threading import Event
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from workbench.codegen.functions import functions_in
from workbench.codegen.source import Source
from workbench.graph import StorageType
from workbench.planning.choices import TilingChoices
from workbench.planning.plan import Plan

Array = np.ndarray[Any, np.dtype[Any]]
Number = bool | int | float
Ending = Literal["done", "until", "stopped", "time"]


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a backend can run here; if not, why and what to install."""

    available: bool
    reason: str = ""
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison of a scalar after a whole step: `scalar comparison value`."""

    scalar: str
    comparison: Literal["<", "<=", ">", ">=", "==", "!="]
    value: float


class StopFlag:
    """Asks a march to end: after a whole step, or at once. Two int32 that compiled code polls; safe from any thread.

    At once: a step that is under way may be left, as if it had not begun, where its fields are still those of before.
    """

    def __init__(self) -> None:
        self.words: Array = np.zeros(2, np.int32)

    def set(self) -> None:
        """Ask to stop after the step that is under way."""
        self.words[0] = 1

    def set_at_once(self) -> None:
        """Ask to stop, and not to wait for the end of the step."""
        self.words[:] = 1

    def clear(self) -> None:
        """Withdraw."""
        self.words[:] = 0

    def is_set(self) -> bool:
        """Whether somebody asked."""
        return bool(self.words[0])


@dataclass(frozen=True, slots=True)
class MarchRequest:
    """Advance `steps` steps of `kernel`.

    A step is observed (its diagnostic scalars are evaluated) if its absolute number, counted from `first_step` + 1,
    is a multiple of `observe_every` (0: none), or if it is the last of the request and `observe_last` holds. The march
    ends early after a whole step when all `until` conditions hold (at least one given), when `stop` is set, or when
    `seconds` have passed; it always does at least one step unless stop was set before, or is set at once in the first
    one. `until` makes every step observed if one of its scalars is diagnostic.
    """

    kernel: str
    steps: int
    first_step: int = 0
    observe_every: int = 0
    observe_last: bool = True
    until: tuple[Condition, ...] = ()
    stop: StopFlag = field(default_factory=StopFlag)
    seconds: float = inf


@dataclass(frozen=True, slots=True)
class MarchResult:
    """What a march did. `observed_steps` are absolute numbers, `observed[s][i]` is scalar s of graph.scalars then.

    `diagnostics_current` says whether the last step done was an observed one. Only steps that are multiples of
    `observe_every` are listed.
    """

    steps: int
    ended: Ending
    diagnostics_current: bool
    observed_steps: Array
    observed: tuple[Array, ...]


@dataclass(frozen=True, slots=True)
class LaunchTime:
    """Seconds that a fill, sub-kernel or finisher took in a step, on average over `steps` steps that were timed.

    `launch` indexes the launches of the step of `kernel`, the observed one or the plain one; `member` its fills,
    sub-kernels or finishers, as the launch's kind says. Members of one launch share its time by the clock in
    proportion to the work that the threads did for each; finishers of one launch share it equally.
    """

    kernel: str
    observed: bool
    launch: int
    member: int
    seconds: float
    steps: int


@dataclass(frozen=True, slots=True)
class CompilerReport:
    """A compiler's messages. `functions`: name in the text -> sentence; `problem`: why none; `title`: its name."""

    title: str
    functions: Mapping[str, str]
    problem: str = ""

    def of_subkernels(self, source: Source) -> Mapping[tuple[str, str], str]:
        """(kernel, sub-kernel) -> sentence, for a text whose functions these are."""
        return {
            subkernel: self.functions[function.name]
            for function in functions_in(source)
            for subkernel in function.subkernels
            if function.name in self.functions
        }


class Instance(Protocol):
    """The state of one simulation in one backend's memory. Not thread-safe: one thread at a time."""

    @property
    def extents(self) -> tuple[int, ...]:
        """Cells of the domain along each axis."""

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays."""

    def read_field(self, name: str) -> Array:
        """A fresh C-ordered copy of the field's domain, on the host."""

    def take_over(self, other: Instance) -> None:
        """Copy the whole state, fields, scalars and params, of another instance of this program and of equal extents.

        `other` is of the same backend and does nothing meanwhile; layouts may differ. It may be closed afterwards.
        """

    def write_field(self, name: str, values: Array) -> None:
        """Copy `values` (shape extents, the field's dtype) into the field's domain."""

    def read_global(self, name: str) -> Number:
        """A param's or scalar's value."""

    def write_global(self, name: str, value: Number) -> None:
        """Set a param or scalar; rounded to its type."""

    def march(self, request: MarchRequest) -> MarchResult:
        """Advance; the state afterwards is that of a whole step."""

    def device_view(self, name: str) -> Any:  # noqa: ANN401  # numpy or cupy array
        """The live domain of a field (strided, no copy), valid until the next march."""

    def time_launches(self, wanted: bool) -> None:
        """Time launches from now on, or no longer; does nothing where they are timed always, or never."""

    def launch_times(self) -> tuple[LaunchTime, ...]:
        """What was timed so far, of each launch in order; empty where this backend times nothing or nothing yet."""

    def close(self) -> None:
        """Free the memory."""


class Program(Protocol):
    """A plan compiled for one backend; makes any number of instances of any extents."""

    @property
    def plan(self) -> Plan:
        """The plan it was made from."""

    @property
    def compile_seconds(self) -> float:
        """Seconds spent in compilers; 0 if nothing was compiled."""

    @property
    def from_cache(self) -> bool:
        """Whether the binary came from the build cache."""

    def compiler_words(self) -> Mapping[tuple[str, str], str]:
        """(kernel, sub-kernel) -> what the compiler said of its loops when it made this program; compiles nothing."""

    def free_memory(self, beside: Instance | None = None) -> int | None:
        """Bytes that an instance may take of the device's own memory; None where that is the host's."""

    def instantiate(self, extents: tuple[int, ...], threads: int = 0, beside: Instance | None = None) -> Instance:
        """Allocate a state: fields zero, scalars and params at their defaults.

        `beside`: an instance on whose device it shall lie, where there are several; else on this thread's current one.
        """


class CallInstance(Protocol):
    """A program that runs once at each call, on arrays of the caller. Not thread-safe: one thread at a time."""

    on_device: bool  # whether arrays lie in a device's memory: then `lend` takes arrays of both and copies the host's
    steps: Mapping[str, int]  # of fields that need not be dense: elements between neighbours of a row, 0 for any number

    def lend(self, name: str, values: Any) -> None:  # noqa: ANN401  # of NumPy, or of the device's array library
        """Let the field lie in this array until the next call of `lend`: C-ordered, of the field's type and extents.

        One of `steps` may have any strides that are multiples of an element's bytes.
        Arrays of fields that the program stores are written, all others only read. Each field is lent before `run`.
        """

    def lend_all(self, names: Iterable[str], arrays: Sequence[Any], otherwise: Callable[[str, Any], None]) -> None:
        """Lend arrays that are not empty, each in its turn; `otherwise` takes those that are not lent as they are."""

    def made(self, wanted: Sequence[tuple[tuple[int, ...], StorageType]]) -> list[Any]:  # of the same libraries
        """Fresh arrays of fields' cells where the program writes them, to be lent. MemoryError or NoRoomError."""

    def write_global(self, name: str, value: Number) -> None:
        """Set a param; rounded to its type."""

    def read_global(self, name: str) -> Number:
        """A scalar's value after `run`."""

    def number(self, name: str) -> Callable[[], Array] | None:
        """How to read a scalar after `run`, as a fresh 0-d array of its type; None where `read_global` is the way."""

    def run(self) -> None:
        """Run the program once. RunError if an index lies outside of what it reads."""

    def march(self, request: MarchRequest) -> MarchResult:
        """Run a part of the program, before `run`."""

    def close(self) -> None:
        """Free the memory."""


class CallPart(Protocol):
    """A march of one kernel that is made again and again."""

    def run(self, steps: int) -> int:
        """Make so many steps at most; how many were made. RunError if an index lies outside of what it reads."""


@runtime_checkable
class PreparingCall(Protocol):
    """A call whose marches are prepared once; that of a backend on the host."""

    def part(self, kernel: str, until: tuple[Condition, ...] = (), seconds: float = inf) -> CallPart:
        """Marches of a kernel, before `run`: each ends when `until` holds, or after so many seconds."""

    def flag(self, name: str) -> Callable[[], int]:
        """How to read a bool scalar between marches."""


@runtime_checkable
class LendingProgram(Protocol):
    """A program whose fields may lie in arrays of the caller; that of a backend on the host."""

    def instantiate_for_calls(self, extents: tuple[int, ...], threads: int = 0) -> CallInstance | None:
        """Allocate what is not lent; None where an array of the program would be written that is only read."""


@runtime_checkable
class LibraryUser(Protocol):
    """A backend with a library that takes long to import, and may be used in processes forked afterwards."""

    def load_library(self) -> None:
        """Import it, and nothing else. BackendError if it cannot be imported."""


@runtime_checkable
class DeviceCells(Protocol):
    """An instance whose arrays lie in the memory of a device, and are given and taken there.

    extents: as of any instance.
    """

    extents: tuple[int, ...]

    def device_view(self, name: str) -> Any:  # noqa: ANN401  # of the device's array library
        """The live domain of a field (strided, no copy), valid until the next march."""

    def take_cells(self, name: str, cells: Any) -> None:  # noqa: ANN401
        """Copy an array on the device, of the field's dtype and extents, into the field's domain."""

    def give_cells(self, name: str) -> Any:  # noqa: ANN401
        """A fresh C-ordered array on the device with the field's domain; nothing is under way when this returns."""


@runtime_checkable
class TiledInstance(Protocol):
    """An instance that may run several steps together, in sizes that were decided when it was made."""

    @property
    def tiling(self) -> TilingChoices | None:
        """The plan's choices with these sizes; None where one step follows the other."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What the speed of a plan depends on beside the plan: the device by its name, the compiler with its version."""

    device: str
    compiler: str


class Backend(Protocol):
    """One row of BACKENDS."""

    @property
    def name(self) -> str:
        """The name users type."""

    def availability(self) -> Availability:
        """Whether it can run here; cheap, never raises."""

    def identity(self) -> Identity:
        """The device and the compiler that it uses now. BuildError or BackendError where there is none."""

    def compile(self, plan: Plan, cancel: Event | None = None) -> Program:
        """Render and build; BuildError or BackendError on failure. Setting `cancel` stops compilers where it can."""

    def compiler_report(self, plan: Plan, source: Source) -> CompilerReport:
        """Compile the plan's generated text and return what the compiler says of its functions.

        BuildError or BackendError where there is no compiler, or if it refuses.
        """

    def phenotype(self, plan: Plan) -> str:
        """Key of what would run: generated text, compiler and flags, launch numbers; 16 hex digits.

        Plans with one key are one program, so a tuner measures them once. Renders, compiles nothing; BuildError or
        BackendError where there is no compiler.
        """

    def compile_many(self, plans: Sequence[Plan]) -> tuple[Program, ...]:
        """The same for many plans at once, in few translation units where that is faster."""
