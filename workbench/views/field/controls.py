"""Controls: what a page may ask of a simulation, as frozen records; text in, record out, and what each one does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from workbench.errors import RunError
from workbench.run.playing import play, unpace
from workbench.run.simulation import Simulation
from workbench.run.watching import Watch
from workbench.views.field.summary import LIMITS, Limits

PLAYED = 30.0  # steps per second of a run that Play starts, until a speed is chosen; each of them is seen


@dataclass(frozen=True, slots=True)
class Play:
    """Run until paused."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Hold the run at a whole step."""


@dataclass(frozen=True, slots=True)
class StepOnce:
    """One step."""


@dataclass(frozen=True, slots=True)
class Reset:
    """Back to the state that the view was opened with."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Any run at most so many steps per second; None: as fast as it can."""

    steps_per_second: float | None


@dataclass(frozen=True, slots=True)
class SetParam:
    """Give a param another value, now."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class Cutting:
    """Cut axis `axis` at cell `index`."""

    axis: int
    index: int


@dataclass(frozen=True, slots=True)
class Turn:
    """Show axis `across` to the right and axis `up` upwards."""

    across: int
    up: int


@dataclass(frozen=True, slots=True)
class ChooseLimits:
    """How limits of the colours follow the values."""

    limits: Limits


@dataclass(frozen=True, slots=True)
class Colours:
    """Use this palette, also in pictures."""

    palette: str


@dataclass(frozen=True, slots=True)
class Point:
    """Tell the exact value in this cell of a picture; of a volume's pictures, the one with this number."""

    column: int
    row: int
    plane: int = 0


@dataclass(frozen=True, slots=True)
class Follow:
    """Probe this cell of a picture from now on."""

    column: int
    row: int
    plane: int = 0


@dataclass(frozen=True, slots=True)
class Forget:
    """Probe no cell any more."""


@dataclass(frozen=True, slots=True)
class Volume:
    """Show the three planes through one cell."""


@dataclass(frozen=True, slots=True)
class Switch:
    """Show another value."""

    name: str


@dataclass(frozen=True, slots=True)
class ChooseCharts:
    """Draw the charts of these groups, so many pixels wide."""

    groups: frozenset[str]
    width: int


@dataclass(frozen=True, slots=True)
class RecordFrames:
    """Begin a recording, or end it and hand the file over."""

    on: bool


@dataclass(frozen=True, slots=True)
class Export:
    """Hand over a file of this kind, of what is seen."""

    kind: str


Control = (
    Play
    | Pause
    | StepOnce
    | Reset
    | Pace
    | SetParam
    | Cutting
    | Turn
    | ChooseLimits
    | Colours
    | Point
    | Follow
    | Forget
    | Volume
    | Switch
    | ChooseCharts
    | RecordFrames
    | Export
)
_PLAIN: Mapping[str, Control] = {
    "play": Play(),
    "pause": Pause(),
    "step": StepOnce(),
    "reset": Reset(),
    "forget": Forget(),
    "volume": Volume(),
}


def read_control(message: Mapping[str, object]) -> Control | None:
    """The record of a message; None for one that no page of this version sends."""
    kind = message.get("type")
    if isinstance(kind, str) and kind in _PLAIN:
        return _PLAIN[kind]
    try:
        return _read_with_values(kind, message)
    except (KeyError, TypeError, ValueError):
        return None


def _read_with_values(kind: object, message: Mapping[str, object]) -> Control | None:
    readers: dict[str, Callable[[], Control]] = {
        "pace": lambda: Pace(None if message["value"] is None else max(0.1, _number(message["value"]))),
        "set": lambda: SetParam(str(message["name"]), _number(message["value"])),
        "cut": lambda: Cutting(_whole(message["axis"]), _whole(message["index"])),
        "turn": lambda: Turn(_whole(message["across"]), _whole(message["up"])),
        "limits": lambda: ChooseLimits(LIMITS[str(message["value"])]),
        "palette": lambda: Colours(str(message["value"])),
        "point": lambda: Point(*_place(message)),
        "follow": lambda: Follow(*_place(message)),
        "switch": lambda: Switch(str(message["name"])),
        "charts": lambda: ChooseCharts(_words(message["groups"]), min(2000, max(200, _whole(message["width"])))),
        "record": lambda: RecordFrames(bool(message["value"])),
        "export": lambda: Export(str(message["value"])),
    }
    reader = readers.get(kind) if isinstance(kind, str) else None
    return reader() if reader else None


@dataclass(slots=True)
class Speed:
    """The speed that was chosen in a view: `pace` for all runs; before that (not chosen), PLAYED for those of Play."""

    pace: float | None = None
    chosen: bool = False

    @property
    def played(self) -> float | None:
        """Steps per second of a run that Play starts now."""
        return self.pace if self.chosen else PLAYED


def steer(
    simulation: Simulation, watch: Watch, speed: Speed, control: Play | Pause | StepOnce | Pace | SetParam
) -> None:
    """Do what concerns the run. What the run refuses is raised as a StencilError."""
    match control:
        case Play():
            play(simulation, speed.played)
        case Pause():
            simulation.pause()
        case StepOnce():
            if simulation.running and not simulation.paused:
                simulation.pause()
            simulation.step()
        case Pace(steps_per_second):
            speed.chosen, speed.pace, watch.pace = True, steps_per_second, steps_per_second
            unpace(simulation)
        case SetParam(name, value):
            static = next((param for param in simulation.graph.params if param.name == name), None)
            if static is None:
                raise RunError(f"{name} is not a param", advice="Move a slider of a param.")
            simulation.set(**{name: value if static.type.is_float else round(value)})


def _place(message: Mapping[str, object]) -> tuple[int, int, int]:
    return _whole(message["column"]), _whole(message["row"]), _whole(message.get("plane", 0))


def _words(value: object) -> frozenset[str]:
    if not isinstance(value, list):
        raise TypeError(value)
    return frozenset(map(str, value))


def _number(value: object) -> float:
    if not isinstance(value, bool | int | float):
        raise TypeError(value)
    return float(value)


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(value)
    return value
