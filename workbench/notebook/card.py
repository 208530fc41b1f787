"""The card of a machine: what a cell became, as one frozen record; `card_text` and `card_html` print it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from workbench.amounts import bytes_text, share_text
from workbench.run.calling import Terms

_PARTS = {"": "", "begin": ", before the first iteration of while_loop", "turn": ", an iteration of while_loop"}

_LISTED = 24  # names of values or loops on a card; solvers have fewer


@dataclass(frozen=True, slots=True)
class StaticRow:
    """A field, scalar or param: its name, storage type and what else there is to say about it."""

    name: str
    type: str
    note: str


@dataclass(frozen=True, slots=True)
class KernelRow:
    """One kernel of the plan.

    `rolling` says which Manifest values have no array. `subkernels` are the names of its loop nests in a step whose
    scalars are observed, `usual` how many of them other steps have, in so many `launches`. `recomputed` is the share of
    cells outside the domain that are computed, among those of the domain, and `halo_bytes` what the fills of ghost
    cells write in a step, both for the extents on the card.
    Other bytes and operations are per cell and step; `bound` is the predicted number of cells a second.
    `search_ended`: the budget ended the search for what to store. `part`: which part of a while_loop it is. `near`:
    bytes and operations for each pair that sums within a cutoff visit, None if there are none.
    """

    name: str
    nodes: int
    manifest: tuple[str, ...]
    rolling: tuple[str, ...]
    delayed: int
    subkernels: tuple[str, ...]
    usual: int
    launches: int
    recomputed: float
    halo_bytes: int
    bytes_moved: float
    flops: float
    bound: float
    search_ended: bool = False
    part: Literal["", "begin", "turn"] = ""
    near: tuple[float, float] | None = None

    @property
    def is_near(self) -> bool:
        """Whether all that it computes of pairs is within a cutoff."""
        return self.near is not None and not self.flops

    @property
    def is_partial(self) -> bool:
        """Whether no loop of it is over all axes, as those of sums by a tree, so that there are no figures."""
        return self.near is None and bool(self.subkernels) and not (self.flops or self.bytes_moved)

    @property
    def title(self) -> str:
        """What tables of it are called: "kernel step", "kernel step_turn_1, an iteration of while_loop"."""
        return f"kernel {self.name}{_PARTS[self.part]}"


@dataclass(frozen=True, slots=True)
class CardSummary:
    """Everything on the card, in the words in which it is shown.

    `extents` are the cells for which the figures hold. `main` is the kernel whose bound and traffic are shown
    first (`Plan.main`). `bound_source` says where bandwidth and peak come from.
    `changed` has one sentence a difference to the last machine of this name; empty for a first one. `found_before`:
    what a study at about these extents has found, which `simulate(choices="best")` takes. `precision`: which types
    are not those that the cell declared. `terms` are the words for what is counted: a called machine has no steps.
    """

    name: str
    dim: int
    extents: tuple[int, ...]
    fields: tuple[StaticRow, ...]
    scalars: tuple[StaticRow, ...]
    params: tuple[StaticRow, ...]
    kernels: tuple[KernelRow, ...]
    main: str
    halo: str
    extra_arrays: int
    memory_bytes: int
    backend: str
    backend_reason: str
    build: str
    bound_source: str
    measured: bool
    arithmetic: str
    next_cell: str
    captured: tuple[tuple[str, str], ...] = ()
    promotions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    changed: tuple[str, ...] = field(default=())
    fields_title: str = "fields"
    found_before: str = ""
    precision: tuple[str, ...] = ()
    terms: Terms = field(default=Terms())

    @property
    def called(self) -> bool:
        """Whether the machine is called and has no steps."""
        return self.terms.march == "call"

    @property
    def kind(self) -> str:
        """ "2-D machine"; without a grid what its loops count."""
        return f"{self.dim}-D machine" if self.terms.cells == "cells" else f"machine of {self.terms.cells}"

    @property
    def main_kernel(self) -> KernelRow:
        """The row of the kernel `main`."""
        return next(kernel for kernel in self.kernels if kernel.name == self.main)

    @property
    def captured_text(self) -> str:
        """The names that came from the notebook, as in "alpha = 0.3, name = 'a'"."""
        return ", ".join(f"{name} = {value}" for name, value in self.captured)

    @property
    def promotions_text(self) -> str:
        """How many promotions there are, and where."""
        count = len(self.promotions)
        return f"{count} promotion{'' if count == 1 else 's'}: {'; '.join(self.promotions)}" if count else ""


def kernel_terms(card: CardSummary, kernel: KernelRow) -> Terms:
    """The words for what a kernel does, which for an iteration of a while_loop is no step."""
    return replace(card.terms, march="iteration") if kernel.part == "turn" else card.terms


VISITED = "a visited pair"
"""What figures of sums within a cutoff are of; targets visit the sources of their own cell and of those beside it."""


NO_FIGURES = "no loop is over all axes"
"""Why there are no figures."""


def no_bound(kernel: KernelRow) -> str:
    """Why there is no bound."""
    if kernel.is_near:
        return "how many pairs lie near is known in a run alone"
    return NO_FIGURES if kernel.is_partial else "nothing is computed"


def bound_kind(card: CardSummary) -> str:
    """What the bound is: predicted from measured figures or estimated, of a step or an iteration."""
    kind = "predicted bound" if card.measured else "estimated bound"
    return f"{kind} of an iteration" if card.main_kernel.part == "turn" else kind


def bound_scope(card: CardSummary) -> str:
    """For what the bound holds: measured figures know caches, an estimate does not."""
    if card.measured:
        return f"at the bandwidth that was measured for {'arrays of ' * (not card.called)}{counted_text(card)}"
    return "for arrays beyond the caches"


def counted_text(card: CardSummary) -> str:
    """For how many cells, pairs or elements the figures hold: "1,024 × 1,024 pairs"."""
    return f"{shape_text(card.extents)} {card.terms.cells}"


def shape_text(extents: tuple[int, ...]) -> str:
    """Extents as people write them: "256 × 256", "1,048,576"."""
    return " × ".join(f"{n:,}" for n in extents)


def listed(names: tuple[str, ...]) -> str:
    """The names, or the first of many and how many more there are, which the plan lists."""
    left = len(names) - _LISTED
    return ", ".join(names) if left <= 0 else f"{', '.join(names[:_LISTED])} and {left} more: see the plan"


def loops_text(kernel: KernelRow) -> str:
    """Loops of a usual step, and of an observed one where it has more: "2 (3 where scalars are observed)"."""
    observed = len(kernel.subkernels)
    return f"{kernel.usual}" if observed == kernel.usual else f"{kernel.usual} ({observed} where scalars are observed)"


def halo_line(card: CardSummary, kernel: KernelRow) -> str:
    """How the cells outside the domain get their values, if any is read."""
    if card.halo == "0 cells":
        return "no cell outside is read"
    return f"filled; width {card.halo}; {share_text(kernel.recomputed)} recomputed"


def filled_text(kernel: KernelRow) -> str:
    """What the fills of a kernel write: "16.4 kB a step", or "none"."""
    if not kernel.halo_bytes:
        return "none"
    return f"{bytes_text(kernel.halo_bytes)} {'an iteration' if kernel.part == 'turn' else 'a step'}"
