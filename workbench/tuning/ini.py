"""INI files as Python 2's RawConfigParser read them, so that files written for the original tuner work unchanged.

Python 3's reader differs in what counts: it refuses doubled options, keeps comments inside values and, unless told,
interpolates per cent signs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.errors import TuningError

_SECTION = re.compile(r"\[(?P<name>[^]]+)\]")
_OPTION = re.compile(r"(?P<name>[^:=\s][^:=]*)\s*[:=]\s*(?P<value>.*)$")
_DEFAULTS = "DEFAULT"


@dataclass(frozen=True, slots=True)
class IniOption:
    """The value of an option, lines joined by newlines, and the line of the file where it begins, from 1."""

    value: str
    line: int


def read_ini(text: str) -> Mapping[str, Mapping[str, IniOption]]:
    """Sections and their options; options' names are in small letters, sections' as written.

    A line that begins with white space continues the value before it. `#` and `;` begin a comment at the start of a
    line, `;` also after white space in the first line of a value. A section or option that appears again adds to, or
    replaces, the one before. Options of [DEFAULT] stand in for missing ones of every section.
    Raises TuningError with the line for text that is no INI file.
    """
    sections: dict[str, dict[str, tuple[list[str], int]]] = {}
    current: dict[str, tuple[list[str], int]] | None = None
    value: list[str] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line[0] in "#;" or _is_remark(line):
            continue
        if line[0].isspace() and current is not None and value is not None:
            value.append(line.strip())
            continue
        if section := _SECTION.match(line):
            current, value = sections.setdefault(section["name"], {}), None
            continue
        option = _OPTION.match(line)
        if current is None or option is None:
            what = "no option such as name = value" if option is None else "an option before the first [section]"
            raise TuningError(f"{what}: {line.strip()}", advice="Write sections and name = value.").located(number)
        value = [_first_line(option["value"])]
        current[option["name"].rstrip().lower()] = (value, number)
    joined = {
        name: {key: IniOption("\n".join(lines), number) for key, (lines, number) in options.items()}
        for name, options in sections.items()
    }
    defaults = joined.pop(_DEFAULTS, {})
    return {name: {**defaults, **options} for name, options in joined.items()}


def _is_remark(line: str) -> bool:
    return line.split(None, 1)[0].lower() == "rem" and line[0] in "rR"


def _first_line(value: str) -> str:
    """Without a comment that begins with a semicolon after white space; two quotes alone are an empty value."""
    at = value.find(";")
    if at > 0 and value[at - 1].isspace():
        value = value[:at]
    value = value.strip()
    return "" if value == '""' else value
