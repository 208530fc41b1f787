"""Source: generated text with a map from each line to the nodes and cell lines it came from, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from workbench.codegen.uniforms import UniformWord
from workbench.graph.display_hook import Bundle, bundle_of


@dataclass(frozen=True, slots=True)
class LineOrigin:
    """One line of generated text (counted from 1) and what it computes: nodes of a kernel and lines of the cell.

    A line that stands for equal ones of several sub-kernels has an origin for each.
    """

    line: int
    kernel: str
    nodes: tuple[int, ...]
    cell_lines: tuple[int, ...]
    subkernel: str


@dataclass(frozen=True, slots=True)
class Source:
    """The text of one plan for one language.

    `entry` is the exported function's name; `headers` (name, text) are included by the text; `lines` covers the lines
    that compute something, ascending. `words` stand behind the plan's slots in a Globals block; those of different
    kernels in the same places, for each march begins with them.
    """

    language: Literal["c++", "cuda"]
    text: str
    entry: str
    headers: tuple[tuple[str, str], ...]
    lines: tuple[LineOrigin, ...]
    words: tuple[UniformWord, ...] = ()

    def origins(self, line: int) -> tuple[LineOrigin, ...]:
        """What a line of the text came from; empty for a line that only gives shape."""
        return tuple(origin for origin in self.lines if origin.line == line)

    def lines_of_node(self, kernel: str, node: int) -> tuple[int, ...]:
        """Lines of the text that compute a node, ascending; empty if nothing needs it."""
        return tuple(dict.fromkeys(o.line for o in self.lines if o.kernel == kernel and node in o.nodes))

    def __str__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Bundle:
        """The text in colours, and without."""
        return bundle_of(self)
