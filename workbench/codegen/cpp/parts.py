"""Parts: a long C++ text cut into several that compile side by side and are linked into the same library."""

from __future__ import annotations

from functools import partial
from heapq import heappop, heappush

from workbench.codegen.functions import TextFunction, functions_in
from workbench.codegen.source import Source

_STATIC = "static STENCIL_PROCEDURE "  # how the text begins the function of a loop,
_ACROSS = "__attribute__((noinline)) "  # and how parts do, which must see it in each other
_BODY = ") {"
LEAST_LINES = 400
"""Lines of functions for each part, at least on average: reading the headers takes a compiler as long as half."""
_LINE_OF_STEP = 6.0
"""How long a compiler takes for a line of what calls loops, where one of a loop of n lines takes n^0.5."""
_COMBINE, _OF_COMBINING, _MOST_COMBINING = "combine_", 700.0, 3
"""What folds call an operator, how long what the headers make of it takes, and how often at most in one function."""


def parts_of(source: Source, most: int) -> tuple[str, ...]:
    """Cut a text into at most so many parts that take a compiler about equally long; it alone if it is short.

    Functions of loops are shared out, of folds and scans as well. Each part has every other line in its place or leaves
    it empty, so that line numbers in the compiler's messages are those of the whole text. What a part does not define
    it declares.
    """
    functions, text = functions_in(source), source.text.split("\n")
    loops = [each for each in functions if _is_loop(text, each)]
    count = min(most, len(loops), sum(map(_length, functions)) // LEAST_LINES)
    if count < 2:
        return (source.text,)
    shares: list[set[str]] = [set() for _ in range(count)]
    # The longest first, each to the part that takes least; the first part has all that is no loop.
    waiting = [(0.0, number) for number in range(1, count)]
    heappush(waiting, (_LINE_OF_STEP * sum(_length(each) for each in functions if each not in loops), 0))
    for loop in sorted(loops, key=partial(_effort, text), reverse=True):
        effort, number = heappop(waiting)
        shares[number].add(loop.name)
        heappush(waiting, (effort + _effort(text, loop), number))
    return tuple(_part(text, functions, share, number == 0) for number, share in enumerate(shares))


def _is_loop(text: list[str], function: TextFunction) -> bool:
    """Whether it is a loop's, whose head goes over several lines; those of what is the same in all cells have one."""
    first = text[function.first - 1]
    return first.startswith(_STATIC) and first.endswith("(")


def _length(function: TextFunction) -> int:
    return function.last - function.first + 1


def _effort(text: list[str], function: TextFunction) -> float:
    """How long a compiler takes, about: for each line of a long function longer, because more values live at once."""
    combining = sum(line.count(_COMBINE) for line in text[function.first - 1 : function.last])
    return float(_length(function) ** 1.5) + _OF_COMBINING * min(combining, _MOST_COMBINING)


def _part(whole: list[str], functions: tuple[TextFunction, ...], own: set[str], is_first: bool) -> str:
    lines = list(whole)
    for each in functions:
        place = range(each.first - 1, each.last)
        if _is_loop(whole, each):
            lines[place.start] = lines[place.start].replace(_STATIC, _ACROSS, 1)
            if each.name not in own:
                head = next(n for n in place if lines[n].endswith(_BODY))
                lines[head] = lines[head].removesuffix(_BODY) + ");"
                lines[head + 1 : place.stop] = [""] * (place.stop - head - 1)
        elif not is_first and not lines[place.start].startswith("struct "):
            lines[place.start : place.stop] = [""] * len(place)
    return "\n".join(lines)
