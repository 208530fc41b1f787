"""Genome: all choices of a plan as a short text, one per graph (Paraiso §3.1).

    v2-0123456789abcdef:C=AAAAAAAAAAAAAAAAA/G=AAAAACAAAAAAACAA/M=C/S=GAA/L=89ab.block:64/B=flags:-O2

Version and program key, then sections. C (threads, tile, loops) and G (grid, block) are numbers of fixed width, most
significant bit first; M has a bit for each free value (1 = Manifest), S two for each value (barrier before, after), in
the order of `workbench.planning.sites`; bits are written two a letter, padded in front. L (launch numbers of single
loops), T (tiling), F (folds), B (build) and A (arrays) name what they set. A section that is missing means the
defaults; where M and S are both missing, preset and hints decide.

What may be chosen and in which section it stands is in `workbench.planning.tunables`; version 1 is read by
`workbench.planning.genome_version_1`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import get_args

from workbench.errors import GenomeError, PlanError
from workbench.graph import Graph
from workbench.graph.marks import NO_HINT
from workbench.planning.choices import BarrierChoices, Choices, PlanChoices, ValueChoices, names_node
from workbench.planning.genome_version_1 import from_version_1, version_1_key
from workbench.planning.kernel_plan import Storage
from workbench.planning.letters import bits_of, letters_of
from workbench.planning.plan import Plan
from workbench.planning.sites import Site, barrier_sites, storage_sites
from workbench.planning.tunables import TUNABLES, OneOf, Section, Setting, Tunable, Tuples, loop_tunables

VERSION = 2
_NUMBER_BITS = 16
_DIGITS = 10  # of numbers that may be legal
_LETTERED, _NAMED = ("C", "G"), ("T", "F", "B", "A")
_EXAMPLE = "v2-0123456789abcdef:G=ACGT/M=C"


def genome_of(plan: Plan) -> str:
    """Return the genome of a plan: what was decided, by hand, by hint or by the cost model.

    Plans of one program that differ in any choice but `meaning` have different genomes, and `meaning` is in the key of
    the program.
    """
    return write_genome(plan.graph, decided(plan))


def decided(plan: Plan) -> PlanChoices:
    """The plan's choices with the storage of each free value and all barriers set, so that nothing else decides."""
    choices = plan.choices.plan
    manifest, delayed, before, after = set[str](), set[str](), set[str](), set[str]()
    for kernel in plan.kernels:
        keys, name = kernel.kernel.keys(), kernel.kernel.name
        for key, node, storage, forced in zip(keys, kernel.kernel.nodes, kernel.storage, kernel.forced, strict=True):
            if node.type is None:
                continue
            hint = node.hint if choices.values.hints else NO_HINT
            if not forced:
                (manifest if storage is Storage.MANIFEST else delayed).add(f"{name}/{key}")
            if hint.sync_before or names_node(choices.barriers.before, name, key):
                before.add(f"{name}/{key}")
            if hint.sync_after or names_node(choices.barriers.after, name, key):
                after.add(f"{name}/{key}")
    return replace(
        choices,
        values=ValueChoices(manifest=frozenset(manifest), delayed=frozenset(delayed), hints=False),
        barriers=BarrierChoices(frozenset(before), frozenset(after)),
    )


def write_genome(graph: Graph, choices: PlanChoices) -> str:
    """The genome of choices for a simplified graph that set each free value, as `decided` and `choices_of` give them.

    Raises PlanError for a number that is not legal.
    """
    sections = [(letter, letters_of("".join(_bits(row, choices) for row in _rows(letter)))) for letter in _LETTERED]
    chosen = {"manifest": choices.values.manifest, "before": choices.barriers.before, "after": choices.barriers.after}
    for letter, sites in (("M", storage_sites(graph)), ("S", barrier_sites(graph))):
        sections.append((letter, letters_of("".join(str(int(site.key in chosen[site.part])) for site in sites))))
    for letter, rows in (("L", _loop_rows(choices)), *((name, _rows(name)) for name in _NAMED)):
        texts = [f"{_label(row)}:{_text(row.read(choices))}" for row in rows if row.read(choices) != row.default]
        sections.append((letter, ",".join(texts)))
    return f"v{VERSION}-{graph.fingerprint()}:{'/'.join(f'{name}={text}' for name, text in sections if text)}"


def choices_of(genome: str, graph: Graph, base: Choices | None = None) -> Choices:
    """Return the choices that a genome of this (simplified) graph stands for; `meaning` is that of `base`.

    Preset and hints decide nothing, unless the genome has neither section M nor S. Of a genome of version 1 all that
    it cannot say is as in `base`. Raises GenomeError for a damaged text and for the genome of another graph.
    """
    base = base or Choices()
    version, key, text = _split(genome)
    known = graph.fingerprint() if version == f"v{VERSION}" else version_1_key(graph)
    if key != known:
        raise GenomeError(
            f"the genome belongs to program {key}, this one is {known}",
            advice="Use a genome of this program, or `with_choices_of`, which goes by names of values.",
        )
    try:
        plan = _read(_sections(text), graph) if version == f"v{VERSION}" else from_version_1(text, graph, base.plan)
    except GenomeError:
        raise
    except PlanError as error:
        raise GenomeError(f"the genome says: {error.what}", advice=error.advice) from None
    return replace(base, plan=plan)


def _read(sections: dict[str, str], graph: Graph) -> PlanChoices:
    plan = PlanChoices()
    for letter in _LETTERED:
        if letter in sections:
            rows = _rows(letter)
            bits = bits_of(sections[letter], sum(map(_width, rows)), f"section {letter}")
            for row in rows:
                plan, bits = row.write(plan, _setting(row, bits[: _width(row)])), bits[_width(row) :]
    for letter in _NAMED:
        plan = _named(plan, {row.name: row for row in _rows(letter)}, _items(sections.get(letter, "")))
    items = _items(sections.get("L", ""))
    keys = {name.partition(".")[0]: f"loop {name.partition('.')[0]}" for name, _ in items}
    plan = _named(plan, {_label(row): row for row in loop_tunables(keys)}, items)
    stored = _chosen(storage_sites(graph), sections.get("M"), "section M")
    barriers = _chosen(barrier_sites(graph), sections.get("S"), "section S")
    if stored is None and barriers is None:
        return plan
    if stored is not None:
        manifest = frozenset(stored["manifest"])
        delayed = frozenset(site.key for site in storage_sites(graph)) - manifest
        plan = plan.changed(manifest=manifest, delayed=delayed)
    if barriers is not None:
        plan = plan.changed(before=frozenset(barriers["before"]), after=frozenset(barriers["after"]))
    return plan.changed(hints=False)


def _chosen(sites: tuple[Site, ...], letters: str | None, where: str) -> dict[str, set[str]] | None:
    """The keys of the sites whose bit is 1, by part; None where the section is missing."""
    if letters is None:
        return None
    chosen: dict[str, set[str]] = {"manifest": set(), "before": set(), "after": set()}
    for site, bit in zip(sites, bits_of(letters, len(sites), where), strict=True):
        if bit == "1":
            chosen[site.part].add(site.key)
    return chosen


def _named(plan: PlanChoices, rows: dict[str, Tunable], items: list[tuple[str, str]]) -> PlanChoices:
    for name, text in items:
        if name not in rows:
            raise GenomeError(f"the genome sets {name!r}, which is no choice", advice="Copy the genome unchanged.")
        plan = rows[name].write(plan, _parsed(rows[name], text))
    return plan


def _rows(section: str) -> tuple[Tunable, ...]:
    return tuple(row for row in TUNABLES if row.section == section)


def _loop_rows(choices: PlanChoices) -> tuple[Tunable, ...]:
    return loop_tunables({key: f"loop {key}" for key, _ in choices.loops})


def _label(row: Tunable) -> str:
    """The name of a choice in a section that names what it sets."""
    return f"{row.key}.{row.member}" if row.key else row.name


# --- single settings


def _width(row: Tunable) -> int:
    """Bits of a setting in a lettered section."""
    return (len(row.legal.options) - 1).bit_length() if isinstance(row.legal, OneOf) else _NUMBER_BITS


def _bits(row: Tunable, choices: PlanChoices) -> str:
    value = row.check(row.read(choices))
    number = row.legal.options.index(value) if isinstance(row.legal, OneOf) else value
    return f"{number:0{_width(row)}b}"


def _setting(row: Tunable, bits: str) -> Setting:
    number = int(bits, 2)
    if not isinstance(row.legal, OneOf):
        return number
    return row.legal.options[number] if number < len(row.legal.options) else bits


def _text(value: Setting) -> str:
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _parsed(row: Tunable, text: str) -> Setting:
    if isinstance(row.legal, Tuples):
        numbers = [_number(part) for part in text.split("+")] if text else []
        return tuple(number for number in numbers if number is not None) if None not in numbers else text
    if isinstance(row.default, tuple):
        return tuple(text.split("+")) if text else ()
    if isinstance(row.legal, OneOf):
        return next((option for option in row.legal.options if _text(option) == text), text)
    number = _number(text)
    return text if number is None else number


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < _DIGITS else None


# --- text


def _split(genome: str) -> tuple[str, str, str]:
    """Version, program key, sections."""
    space, colon, text = genome.strip().partition(":")
    version, dash, key = space.partition("-")
    if not colon or not dash or not version.startswith("v"):
        raise GenomeError(f"{genome[:40]!r} is no genome", advice=f"Give version, program and sections: {_EXAMPLE}.")
    if version not in ("v1", f"v{VERSION}"):
        raise GenomeError(
            f"the genome has version {version}, this program reads v1 and v{VERSION}", advice="Tune again."
        )
    return version, key, text


def _sections(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in text.split("/") if text else ():
        name, equals, content = part.partition("=")
        if not equals or not name or name not in get_args(Section):
            raise GenomeError(
                f"{part[:40]!r} is no section of a genome", advice=f"Give letters and contents: {_EXAMPLE}."
            )
        if name in found:
            raise GenomeError(f"the genome has two sections {name}", advice="Copy the genome unchanged.")
        found[name] = content
    return found


def _items(content: str) -> list[tuple[str, str]]:
    """What a section that names its settings says."""
    parts: Iterable[str] = content.split(",") if content else ()
    items = [part.partition(":") for part in parts]
    return [(name, value) for name, _, value in items]
