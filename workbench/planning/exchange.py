"""Exchange: choices as JSON.

Format 2 has an object for each record of `workbench.planning.choices`; format 1, which had one flat object, is read.
Keys of values are written as they are: a plan refuses those that its program does not have.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from workbench.errors import PlanError
from workbench.planning.choices import Choices, LoopChoices, Meaning, PlanChoices
from workbench.planning.tunables import TUNABLES, check_choices

FORMAT = 2
_KEY_SETS = {"values": ("manifest", "delayed"), "barriers": ("before", "after")}
_FORMAT_1 = {
    "preset": ("values", "preset"),
    "manifest": ("values", "manifest"),
    "delayed": ("values", "delayed"),
    "hints": ("values", "hints"),
    "sync_before": ("barriers", "before"),
    "sync_after": ("barriers", "after"),
    "grid_size": ("device", "grid"),
    "block_size": ("device", "block"),
    "threads": ("cpu", "threads"),
    "tile": ("cpu", "tile"),
    "loops": ("cpu", "loops"),
    "schedule": ("tiling", "schedule"),
}
_ROWS = {(row.record, row.member): row for row in TUNABLES}


def to_json(choices: Choices) -> str:
    """Return the choices as JSON text with sorted keys: equal choices give equal text."""
    plan: dict[str, Any] = asdict(choices.plan) | {
        "loops": {key: _told(numbers) for key, numbers in choices.plan.loops}
    }
    for section, names in _KEY_SETS.items():
        plan[section] |= {name: sorted(plan[section][name]) for name in names}
    record = {
        "format": FORMAT,
        "meaning": {"arithmetic": choices.meaning.arithmetic, "precision": list(map(list, choices.meaning.precision))},
        "plan": plan,
    }
    return json.dumps(record, indent=1, sort_keys=True)


def from_json(text: str) -> Choices:
    """Return the choices that `to_json` wrote, now or in format 1.

    Raises PlanError for damaged, unknown or contradictory content.
    """
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        raise PlanError(f"the choices are no JSON: {error}", advice="Give text that to_json() wrote.") from None
    if not isinstance(record, dict) or record.get("format") not in (1, FORMAT):
        raise PlanError(
            "the choices have an unknown format", advice=f"Give format 1 or {FORMAT}, as to_json() writes it."
        )
    meaning = _part(record, "meaning", ("arithmetic", "precision"))
    if meaning.get("arithmetic", "ieee") != "ieee":
        raise PlanError(f"arithmetic {meaning['arithmetic']!r} is unknown", advice='Use "ieee".')
    pairs = meaning.get("precision", [])
    if not all(isinstance(p, list) and len(p) == 2 and all(isinstance(x, str) for x in p) for p in pairs):
        raise PlanError("precision is no list of [name, type] pairs", advice='Write [["u", "f32"]].')
    precision = tuple((str(name), str(type_)) for name, type_ in pairs)
    if record["format"] == 1:
        plan = _sections_of_format_1(_part(record, "plan", tuple(_FORMAT_1)))
    else:
        plan = _part(record, "plan", tuple(f.name for f in fields(PlanChoices)))
    return Choices(Meaning(precision=precision), _plan(plan))


def _told(numbers: LoopChoices) -> dict[str, int]:
    return {name: number for name, number in asdict(numbers).items() if number is not None}


def _sections_of_format_1(flat: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    sections: dict[str, dict[str, Any]] = {}
    for name, value in flat.items():
        record, member = _FORMAT_1[name]
        sections.setdefault(record, {})[member] = value
    return sections


def _plan(sections: Mapping[str, Any]) -> PlanChoices:
    plan = PlanChoices()
    for record in fields(PlanChoices):
        if record.name != "loops":
            members = tuple(f.name for f in fields(getattr(plan, record.name)))
            found = _part(sections, record.name, members)
            plan = plan.changed(**{name: _member(record.name, name, value) for name, value in found.items()})
    for key, numbers in _part(sections, "loops", None).items():
        known = tuple(f.name for f in fields(LoopChoices))
        plan = plan.with_loop(key, LoopChoices(**_part({key: numbers}, key, known)))
    return check_choices(plan)


def _member(record: str, name: str, value: object) -> object:
    if name in _KEY_SETS.get(record, ()):
        if not isinstance(value, list) or not all(isinstance(k, str) for k in value):
            raise PlanError(f"{name} is no list of keys", advice="Give a list of texts.")
        return frozenset(value)
    return _ROWS[record, name].check(tuple(value) if isinstance(value, list) else value)  # type: ignore[arg-type]  # JSON


def _part(record: Mapping[str, Any], part: str, names: tuple[str, ...] | None) -> dict[str, Any]:
    """The object called `part`, with members of these names only; None: of any."""
    found = record.get(part, {})
    if not isinstance(found, dict):
        raise PlanError(f"{part} is {found!r}", advice="Give an object.")
    unknown = sorted(set(found) - set(names)) if names is not None else []
    if unknown:
        raise PlanError(f"{unknown[0]!r} is no choice of {part}", advice=f"Use {', '.join(names or ())}.")
    return dict(found)
