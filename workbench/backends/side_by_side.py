"""Side by side: which launches of a step may run at the same time, in streams that wait for each other by events.

A launch comes after those that write what it reads or writes, and after those that read what it writes (thesis §4.6.5,
the execution graph of a program). The first stream is that of the step: the others begin when it has come to the step,
and it goes on when they have done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from workbench.backends.launch_sequence import DeviceLaunch

_GLOBALS = ("globals", 0)


@dataclass(frozen=True, slots=True)
class PlacedLaunch:
    """A launch, by its number, in a stream.

    waits: launches in other streams that must be done before. marked: whether another stream waits for it.
    """

    launch: int
    stream: int
    waits: tuple[int, ...]
    marked: bool


@dataclass(frozen=True, slots=True)
class PlacedStep:
    """The launches of a step in the order in which they are asked for.

    ends: last ones of streams, for which the first stream has not waited yet. streams: how many it takes.
    """

    launches: tuple[PlacedLaunch, ...]
    ends: tuple[int, ...]
    streams: int


def side_by_side(launches: Sequence[DeviceLaunch], streams: int) -> PlacedStep:
    """Place launches in so many streams at most.

    A launch goes on in the stream of one that it needs, if that stream was asked for nothing since; else it begins a
    new one, or goes where least was asked for.
    """
    queues: list[list[int]] = []
    known: list[dict[int, int]] = []  # of each stream: how far it has waited for the others, by number of launch
    stream_of: dict[int, int] = {}
    known_at: dict[int, dict[int, int]] = {}  # the same, of the stream of each launch when it was asked for
    placed: list[tuple[int, int, tuple[int, ...]]] = []
    for number, needed in enumerate(needs_of(launches)):
        stream = _stream_for(needed, queues, stream_of, streams)
        if stream == len(queues):
            queues.append([])
            known.append({})
        waits = []
        for other in sorted(needed, reverse=True):
            theirs = stream_of[other]
            if theirs == stream or known[stream].get(theirs, -1) >= other:
                continue
            waits.append(other)
            for each, until in {**known_at[other], theirs: other}.items():
                known[stream][each] = max(known[stream].get(each, -1), until)
        queues[stream].append(number)
        stream_of[number] = stream
        known_at[number] = dict(known[stream])
        placed.append((number, stream, tuple(sorted(waits))))
    ends = tuple(q[-1] for stream, q in enumerate(queues) if stream and known[0].get(stream, -1) < q[-1])
    marked = {each for _, _, waits in placed for each in waits} | set(ends)
    return PlacedStep(
        tuple(PlacedLaunch(n, stream, waits, n in marked) for n, stream, waits in placed), ends, len(queues)
    )


def needs_of(launches: Sequence[DeviceLaunch]) -> list[set[int]]:
    """Of each launch the earlier ones that must be done before it, by number; not all that those need."""
    uses: dict[tuple[str, int], _Use] = {}
    found = []
    for number, launch in enumerate(launches):
        ways = {_GLOBALS: launch.to_globals}
        for each in launch.arrays:
            place = (each.kind, each.index)
            ways[place] = "writes" if each.written or ways.get(place) == "writes" else "reads"
        found.append({other for place, way in ways.items() for other in uses.setdefault(place, _Use()).by(number, way)})
    return found


@dataclass(slots=True)
class _Use:
    """The launches that have last used a place, all in one way, and those before them in another one."""

    way: str = ""
    now: list[int] = field(default_factory=list)
    before: list[int] = field(default_factory=list)

    def by(self, number: int, way: str) -> list[int]:
        """Let another launch use it, and return which ones must be done before."""
        if way != self.way or way == "writes":
            self.way, self.now, self.before = way, [], self.now
        self.now.append(number)
        return self.before


def _stream_for(needed: set[int], queues: Sequence[Sequence[int]], stream_of: dict[int, int], streams: int) -> int:
    """The stream of a launch that needs these; the number of queues for a new one."""
    free = [stream_of[other] for other in needed if queues[stream_of[other]][-1] == other]
    if free:
        return min(free)
    if len(queues) < streams:
        return len(queues)
    return min(range(len(queues)), key=lambda stream: len(queues[stream]))
