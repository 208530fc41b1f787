"""Called loops: those of a program that runs once at each call; their marches are prepared once, on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from workbench.backends.base import CallPart, Condition, PreparingCall
from workbench.backends.checks import too_long
from workbench.graph import Graph, While

SLICE_SECONDS = 0.25
"""Turns are made for so long at a time, so that Python hears of signals where no thread sets `stop`."""


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop of the program: its marches, whether it goes on, and the loops before each of its turns."""

    loop: While
    begin: CallPart
    turn: CallPart
    goes_on: Callable[[], int]
    inside: tuple[_Loop, ...]


class CalledLoops:
    """The loops before a kernel, of any depth."""

    def __init__(self, graph: Graph, instance: PreparingCall, kernel: str) -> None:
        self._graph = graph
        self._loops = tuple(_prepared(graph, instance, loop) for loop in graph.loops_before(kernel))

    def run(self) -> None:
        """Run them to their ends, one after the other. TurnsError, with the loop's line, if one goes on too long."""
        self._run(self._loops)

    def _run(self, loops: Iterable[_Loop]) -> None:
        for each in loops:
            most, turns = each.loop.at_most, 0
            each.begin.run(1)
            while each.goes_on():
                if turns >= most:
                    if each.loop.at_most_ok:
                        break
                    raise too_long(self._graph, each.loop)
                if each.inside:
                    self._run(each.inside)
                    turns += each.turn.run(1)
                else:
                    turns += each.turn.run(most - turns)


def _prepared(graph: Graph, instance: PreparingCall, loop: While) -> _Loop:
    inside = tuple(_prepared(graph, instance, each) for each in graph.loops_before(loop.turn))
    over = () if inside else (Condition(loop.going, "==", 0.0),)
    turn = instance.part(loop.turn, over, SLICE_SECONDS)
    return _Loop(loop, instance.part(loop.begin), turn, instance.flag(loop.going), inside)
