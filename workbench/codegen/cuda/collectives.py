"""Device collectives: the kernels of a Scan, a SegmentedReduce or a Rank.

A Scan of lines of several chunks is three kernels, a Rank too. The first one leaves what chunks combine to, or how
many cells of each digit a part has, in `scratch`; the second one makes complete subtrees of that, in place; the third
one goes through the cells again and begins each part with what comes before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.codegen.collectives import COLLECTIVE_NAMES, CollectiveCode
from workbench.codegen.cuda.device import ArrayOperand, DeviceSweep, KernelParameter, LaunchCode, Subtrees
from workbench.codegen.cuda.scatters import moves_of
from workbench.codegen.spelling import type_name
from workbench.codegen.writer import KernelWriter
from workbench.graph import StorageType
from workbench.graph.types import I64
from workbench.planning.kernel_plan import Subkernel

SCRATCH = "scratch"
_STREAMED = {"streamed", "streamed_ends", "streamed_waiting", "each", "is_own", "is_last", "Streamed"}
PART_NAMES = (
    COLLECTIVE_NAMES | _STREAMED | {SCRATCH, "value_at", "digit_at", "store_at", "identity", "result", "outside"}
)
"""Names that no value may have in such a text."""


@dataclass(frozen=True, slots=True)
class CollectiveKernel:
    """One kernel, whose name is not known yet, and its launch; word: what it does."""

    word: str
    text: DeviceSweep | Subtrees
    launch: LaunchCode


def collective_kernels(
    writer: KernelWriter,
    subkernel: Subkernel,
    made: CollectiveCode,
    parameters: Sequence[KernelParameter],
    operands: Sequence[ArrayOperand],
    launch: LaunchCode,
) -> tuple[CollectiveKernel, ...]:
    """Return the kernels in order; `operands` say which slots arrays lie in, `launch` what all launches have."""
    scan, rank = made.scanning, made.ranking
    read = {home.slot for home in subkernel.reads}
    sweep = DeviceSweep(
        "",
        subkernel.name,
        subkernel.margins,
        tuple(parameters),
        (),
        (*made.code.uniform, *(made.inner.uniform if made.inner else ())),
        moves_of((made.code,)),
        made.code.row,
        made.code.cell,
        False,  # threads go through their cells at their own pace
        False,
        len(subkernel.axes) or writer.dim,
        made.shapes,
        outside=writer.plan.outside if made.gathers else -1,
        scanning=scan,
        segmenting=made.segmenting,
        ranking=rank,
    )
    arrays = tuple(operands)
    launch = replace(launch, arrays=arrays, fresh=_fresh(arrays, read))
    if scan is None and rank is None:
        kept = launch.axes or tuple(range(writer.dim))
        launch = replace(launch, grown=((0, 0),) * len(kept))
        if made.segmenting is not None and made.segmenting.streams:
            launch = replace(launch, kind="segments")
        return (CollectiveKernel("segments", sweep, launch),)
    type_ = I64 if scan is None else writer.nodes[subkernel.alone].value_type
    if scan is not None:
        word, first, combine = "scan", "totals", scan.combine
        launch = replace(launch, kind="scan", scanned=scan.axis)
    else:
        assert rank is not None
        word, first, combine = "rank", "counts", "combine_add"
        launch = replace(launch, kind="rank", digits=rank.digits)
    scratch = ArrayOperand(SCRATCH, "scratch", 0, type_)
    results = _with_scratch(sweep, type_, fresh=False)
    inputs = tuple(o for o in arrays if o.index in read)
    given = tuple(p for p in sweep.parameters if p.name in {o.parameter for o in inputs})
    prepares = _with_scratch(replace(sweep, parameters=given, prepares=True), type_, fresh=True)
    joins = replace(launch, kind="subtrees", arrays=(scratch,), fresh=(), several=True)
    return (
        CollectiveKernel(
            first, prepares, replace(launch, arrays=(*inputs, scratch), fresh=(len(inputs),), several=True)
        ),
        CollectiveKernel("subtrees", Subtrees("", type_name(type_), combine), joins),
        CollectiveKernel(word, results, replace(launch, arrays=(*arrays, scratch))),
    )


def _fresh(arrays: Sequence[ArrayOperand], read: set[int]) -> tuple[int, ...]:
    return tuple(number for number, array in enumerate(arrays) if array.index not in read)


def _with_scratch(sweep: DeviceSweep, type_: StorageType, *, fresh: bool) -> DeviceSweep:
    parameter = KernelParameter(SCRATCH, f"{'' if fresh else 'const '}{type_name(type_)}")
    return replace(sweep, parameters=(*sweep.parameters, parameter))
