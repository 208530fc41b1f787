"""Exchange: choices as JSON, and the description of what can be chosen."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any, get_args

from workbench.errors import PlanError
from workbench.graph import Graph
from workbench.planning.choices import Choices, Loops, Meaning, PlanChoices, Preset
from workbench.planning.genome import genome_sites

FORMAT = 1
_KEY_SETS = ("manifest", "delayed", "sync_before", "sync_after")
_KINDS = {int: "a number", bool: "true or false", str: "a text"}
_NUMBERS = ("grid_size", "block_size", "threads", "tile")


@dataclass(frozen=True, slots=True)
class Tunable:
    """One thing to choose. `values` are all legal ones or, for numbers, sensible ones; `key` is that of a value."""

    name: str
    kind: str  # "number", "preset", "loops", "allocation" or "sync"
    default: int | str | bool
    values: tuple[int | str | bool, ...]
    key: str = ""


def choice_space(graph: Graph) -> tuple[Tunable, ...]:
    """Return everything that may be chosen for a simplified graph: numbers first, then values in genome order."""
    default = PlanChoices()
    powers = tuple(2**n for n in range(5, 11))
    tunables = [
        Tunable("preset", "preset", default.preset, get_args(Preset)),
        Tunable("grid_size", "number", default.grid_size, (0, *powers, 2048)),
        Tunable("block_size", "number", default.block_size, powers),
        Tunable("threads", "number", default.threads, (0, 1, 2, 4, 8, 16, 32, 64)),
        Tunable("tile", "number", default.tile, (0, 1, 2, 4, 8, 16, 32, 64)),
        Tunable("loops", "loops", default.loops, get_args(Loops)),
    ]
    for site in genome_sites(graph):
        if site.part == "manifest":
            tunables.append(Tunable(site.name, "allocation", "delayed", ("delayed", "manifest"), site.key))
        elif site.part.startswith("sync"):
            tunables.append(Tunable(f"{site.part} {site.name}", "sync", False, (False, True), site.key))
    return tuple(tunables)


def to_json(choices: Choices) -> str:
    """Return the choices as JSON text with sorted keys: equal choices give equal text."""
    plan = {f.name: getattr(choices.plan, f.name) for f in fields(PlanChoices)}
    record = {
        "format": FORMAT,
        "meaning": {"arithmetic": choices.meaning.arithmetic, "precision": list(map(list, choices.meaning.precision))},
        "plan": {name: sorted(v) if isinstance(v, frozenset) else v for name, v in plan.items()},
    }
    return json.dumps(record, indent=1, sort_keys=True)


def from_json(text: str) -> Choices:
    """Return the choices that `to_json` wrote; PlanError for damaged, unknown or contradictory content."""
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        raise PlanError(f"the choices are no JSON: {error}", advice="Give text that to_json() wrote.") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise PlanError("the choices have an unknown format", advice=f"Give format {FORMAT}, as to_json() writes it.")
    meaning, plan = _part(record, "meaning", ("arithmetic", "precision")), _part(record, "plan", _plan_names())
    if meaning.get("arithmetic", "ieee") != "ieee":
        raise PlanError(f"arithmetic {meaning['arithmetic']!r} is unknown", advice='Use "ieee".')
    pairs = meaning.get("precision", [])
    if not all(isinstance(p, list) and len(p) == 2 and all(isinstance(x, str) for x in p) for p in pairs):
        raise PlanError("precision is no list of [name, type] pairs", advice='Write [["u", "f32"]].')
    precision = tuple((str(name), str(type_)) for name, type_ in pairs)
    return Choices(Meaning(precision=precision), _plan(plan))


def check_choices(plan: PlanChoices) -> PlanChoices:
    """Return the choices if they do not contradict themselves and every number is legal; PlanError otherwise."""
    both = sorted(plan.manifest & plan.delayed)
    if both:
        raise PlanError(f"{both[0]} is chosen both Manifest and Delayed", advice="Keep it in one of the two.")
    for name in _NUMBERS:
        value = getattr(plan, name)
        if not 0 <= value < 65536:
            raise PlanError(f"{name} is {value}", advice="Use a number from 0 to 65535.")
    if plan.preset not in get_args(Preset):
        raise PlanError(f"preset {plan.preset!r} is unknown", advice=f"Use one of {', '.join(get_args(Preset))}.")
    if plan.loops not in get_args(Loops):
        raise PlanError(f"loops {plan.loops!r} is unknown", advice=f"Use one of {', '.join(get_args(Loops))}.")
    if plan.schedule != "stepwise":
        raise PlanError(f"schedule {plan.schedule!r} is unknown", advice='Use "stepwise".')
    return plan


def _plan(record: dict[str, Any]) -> PlanChoices:
    values: dict[str, Any] = {}
    for name, value in record.items():
        if name in _KEY_SETS:
            if not isinstance(value, list) or not all(isinstance(k, str) for k in value):
                raise PlanError(f"{name} is no list of keys", advice="Give a list of texts.")
            values[name] = frozenset(value)
        else:
            expected = int if name in _NUMBERS else bool if name == "hints" else str
            if type(value) is not expected:
                raise PlanError(f"{name} is {value!r}", advice=f"Give {_KINDS[expected]}.")
            values[name] = value
    return check_choices(PlanChoices(**values))


def _plan_names() -> tuple[str, ...]:
    return tuple(f.name for f in fields(PlanChoices))


def _part(record: dict[str, Any], part: str, names: tuple[str, ...]) -> dict[str, Any]:
    found = record.get(part, {})
    unknown = sorted(set(found) - set(names)) if isinstance(found, dict) else [part]
    if unknown:
        raise PlanError(f"{unknown[0]!r} is no choice of {part}", advice=f"Use {', '.join(names)}.")
    return dict(found)
