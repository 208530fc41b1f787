"""Genome: all choices of a plan as a short text, one per graph (Paraiso §3.1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from workbench.errors import GenomeError, PlanError
from workbench.graph import Graph, Kernel, record_name
from workbench.graph.graph import NO_HINT
from workbench.planning.allocation import forced_storage
from workbench.planning.choices import Choices, PlanChoices, names_node
from workbench.planning.plan import Plan, Storage

VERSION = 1
LETTERS = "ACGT"  # two bits a letter: A=00 C=01 G=10 T=11
_NUMBER_BITS = 16


@dataclass(frozen=True, slots=True)
class Site:
    """One bit of a genome and what it decides; `key` is "kernel/structural key" of a value."""

    part: str  # "grid_size", "block_size", "manifest", "sync_before" or "sync_after"
    key: str
    name: str


def genome_sites(graph: Graph) -> tuple[Site, ...]:
    """Return what every bit means, in order. A function of the simplified graph alone.

    16 bits of grid size and 16 of block size, most significant first; then for each kernel one bit for each free value
    in node order (1 = Manifest); then for each kernel two bits for each value in node order (synchronise before,
    after).
    """
    sites = [Site(part, "", "") for part in ("grid_size", "block_size") for _ in range(_NUMBER_BITS)]
    for kernel in graph.kernels:
        forced = forced_storage(kernel)
        sites += [Site("manifest", key, name) for i, key, name in _values(kernel) if forced[i][0] is None]
    for kernel in graph.kernels:
        for _, key, name in _values(kernel):
            sites += [Site("sync_before", key, name), Site("sync_after", key, name)]
    return tuple(sites)


def genome_of(plan: Plan) -> str:
    """Return the genome of a plan: what was decided, whoever decided it.

    Threads, tile and schedule are not in it; `meaning` neither, but it is in the fingerprint of the retyped graph.
    """
    choices = plan.choices.plan
    bits = _number(choices.grid_size, "grid size") + _number(choices.block_size, "block size")
    for kernel in plan.kernels:
        bits += "".join(
            str(int(storage is Storage.MANIFEST))
            for storage, forced in zip(kernel.storage, kernel.forced, strict=True)
            if not forced
        )
    for kernel in plan.kernels:
        keys = kernel.kernel.keys()
        name = kernel.kernel.name
        for index, _, _ in _values(kernel.kernel):
            hint = kernel.kernel.nodes[index].hint if choices.hints else NO_HINT
            before = hint.sync_before or names_node(choices.sync_before, name, keys[index])
            after = hint.sync_after or names_node(choices.sync_after, name, keys[index])
            bits += f"{before:d}{after:d}"
    return f"v{VERSION}-{plan.graph.fingerprint()}:{_letters(bits)}"


def choices_of(genome: str, graph: Graph, base: Choices | None = None) -> Choices:
    """Return the choices that a genome of this (simplified) graph stands for; the rest is as in `base`.

    Every free value is set explicitly, so preset and hints decide nothing. Raises GenomeError for a damaged text and
    for the genome of another graph.
    """
    base = base or Choices()
    fingerprint, letters = _split(genome)
    if fingerprint != graph.fingerprint():
        raise GenomeError(
            f"the genome belongs to program {fingerprint}, this one is {graph.fingerprint()}",
            advice="Use a genome of this program, or transfer() it by the names of its values.",
        )
    sites = genome_sites(graph)
    bits = _bits(letters, len(sites))
    chosen: dict[str, set[str]] = {"manifest": set(), "delayed": set(), "sync_before": set(), "sync_after": set()}
    for site, bit in zip(sites, bits, strict=True):
        part = "delayed" if site.part == "manifest" and bit == "0" else site.part
        if part in chosen and (bit == "1" or part == "delayed"):
            chosen[part].add(site.key)
    plan = replace(
        base.plan,
        manifest=frozenset(chosen["manifest"]),
        delayed=frozenset(chosen["delayed"]),
        sync_before=frozenset(chosen["sync_before"]),
        sync_after=frozenset(chosen["sync_after"]),
        grid_size=int(bits[:_NUMBER_BITS], 2),
        block_size=int(bits[_NUMBER_BITS : 2 * _NUMBER_BITS], 2),
        hints=False,
    )
    return replace(base, plan=plan)


@dataclass(frozen=True, slots=True)
class TransferReport:
    """What a transfer could carry over: names of values set in the new program, and what found no place."""

    carried: tuple[str, ...]
    lost: tuple[str, ...]
    new: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{len(self.carried)} values carried over, {len(self.lost)} lost ({', '.join(self.lost) or 'none'}), "
            f"{len(self.new)} new ones left to the preset ({', '.join(self.new) or 'none'})"
        )


def transfer(genome: str, old: Graph, new: Graph) -> tuple[Choices, TransferReport]:
    """Carry a genome of `old` over to another program as far as kernels and values have the same names.

    A guess by name, for a program that changed a little; both graphs are simplified ones.
    """
    source = choices_of(genome, old).plan
    there = {(s.part, _called(s)): s.key for s in genome_sites(new) if s.name}
    parts: dict[str, set[str]] = {"manifest": set(), "delayed": set(), "sync_before": set(), "sync_after": set()}
    carried: dict[str, None] = {}
    lost: dict[str, None] = {}
    for site in genome_sites(old)[2 * _NUMBER_BITS :]:
        part = "delayed" if site.part == "manifest" and site.key in source.delayed else site.part
        if site.key not in getattr(source, part):
            continue
        key = there.get((site.part, _called(site)))
        if key is None:
            lost[_called(site)] = None
        else:
            parts[part].add(key)
            carried[_called(site)] = None
    new_names = [_called(s) for s in genome_sites(new) if s.part == "manifest" and _called(s) not in carried]
    plan = PlanChoices(
        manifest=frozenset(parts["manifest"]),
        delayed=frozenset(parts["delayed"]),
        sync_before=frozenset(parts["sync_before"]),
        sync_after=frozenset(parts["sync_after"]),
        grid_size=source.grid_size,
        block_size=source.block_size,
    )
    return Choices(plan=plan), TransferReport(tuple(carried), tuple(lost), tuple(new_names))


def _values(kernel: Kernel) -> Iterator[tuple[int, str, str]]:
    """(node, "kernel/key", name) of every node with a result, in order."""
    keys = kernel.keys()
    for index, node in enumerate(kernel.nodes):
        if node.type is not None:
            yield index, f"{kernel.name}/{keys[index]}", record_name(kernel, index)


def _called(site: Site) -> str:
    return f"{site.key.split('/')[0]}.{site.name}"


def _number(value: int, what: str) -> str:
    if not 0 <= value < 1 << _NUMBER_BITS:
        raise PlanError(f"{what} {value} does not fit {_NUMBER_BITS} bits", advice="Use a number from 0 to 65535.")
    return f"{value:0{_NUMBER_BITS}b}"


def _letters(bits: str) -> str:
    bits = bits.zfill(len(bits) + len(bits) % 2)
    return "".join(LETTERS[int(bits[i : i + 2], 2)] for i in range(0, len(bits), 2))


def _bits(letters: str, count: int) -> str:
    bad = sorted(set(letters) - set(LETTERS))
    if bad:
        raise GenomeError(f"{bad[0]!r} is no letter of a genome", advice=f"Use the letters {', '.join(LETTERS)} only.")
    if len(letters) != (count + 1) // 2:
        raise GenomeError(
            f"the genome has {len(letters)} letters, this program's have {(count + 1) // 2}",
            advice="Copy the whole genome.",
        )
    bits = "".join(f"{LETTERS.index(c):02b}" for c in letters)
    if bits[:-count].strip("0"):
        raise GenomeError("the padding bit of the genome is 1", advice="Copy the genome unchanged.")
    return bits[-count:]


def _split(genome: str) -> tuple[str, str]:
    space, colon, letters = genome.strip().partition(":")
    version, dash, fingerprint = space.partition("-")
    if not colon or not dash or not version.startswith("v"):
        raise GenomeError(
            f"{genome[:40]!r} is no genome", advice="Give version, program and letters: v1-0123456789abcdef:ACGT."
        )
    if version != f"v{VERSION}":
        raise GenomeError(
            f"the genome has version {version}, this program reads v{VERSION}", advice="Tune again, or use transfer()."
        )
    return fingerprint, letters
