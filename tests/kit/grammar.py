"""Grammars as `workbench/FORMATS.md` writes them, read from the page, and whether a line of text is one of them.

Nothing of the package is used: a line is looked at letter by letter, and all ways to read it are followed.
"""

import re
from functools import cache

_PART = re.compile(r"\s*('[^']*'|\w+|[\[\]{}()|])")


class Grammar:
    """Rules by name. words: patterns of what the page describes in English. A rule's end of whole lines is left out."""

    def __init__(self, page, words, lines=()):
        text = "\n".join(line for line in page.splitlines() if line.startswith("    "))
        starts = list(re.finditer(r"^    (\w+) +=", text, re.MULTILINE))
        ends = [start.start() for start in starts[1:]] + [len(text)]
        self.rules = {}
        for start, end in zip(starts, ends, strict=True):
            if start[1] not in words:
                rule = text[start.end() : end]
                for line in lines:
                    rule = rule.replace(f"{{{line}}}", "")
                self.rules[start[1]] = _Reader(rule).alternatives()
        self.words = {name: re.compile(pattern) for name, pattern in words.items()}
        named = {name for rule in self.rules.values() for name in _names(rule)}
        unknown = named - set(self.rules) - set(self.words)
        assert not unknown, f"the page says nothing about {unknown}"

    def accepts(self, rule, line):
        """Whether the whole line is one."""
        line = line.rstrip()

        @cache
        def ends(part, at):
            """Where the line may go on after this part that begins here."""
            kind, inner = part
            match kind:
                case "word":
                    at = _past_spaces(line, at)
                    is_word = len(inner) > 1 and inner[-1].isalnum()
                    goes_on = is_word and re.match(r"\w", line[at + len(inner) :])
                    return {at + len(inner)} if line.startswith(inner, at) and not goes_on else set()
                case "name":
                    if inner in self.rules:
                        return ends(self.rules[inner], at)
                    return {m.end()} if (m := self.words[inner].match(line, _past_spaces(line, at))) else set()
                case "either":
                    return {end for each in inner for end in ends(each, at)}
                case "row":
                    places = {at}
                    for each in inner:
                        places = {end for place in places for end in ends(each, place)}
                    return places
                case "maybe":
                    return {at, *ends(inner, at)}
                case "often":
                    found, new = set(), {at}
                    while new:
                        found |= new
                        new = {end for place in new for end in ends(inner, place)} - found
                    return found

        return len(line) in ends(("name", rule), 0)


def _past_spaces(line, at):
    return at + len(line[at:]) - len(line[at:].lstrip())


def _names(part):
    kind, inner = part
    if kind == "name":
        return {inner}
    if kind in ("either", "row"):
        return {name for each in inner for name in _names(each)}
    return _names(inner) if kind in ("maybe", "often") else set()


class _Reader:
    """One rule as parts: (kind, a word, a name, a part or parts)."""

    def __init__(self, text):
        self.parts = _PART.findall(text)

    def alternatives(self):
        found = [self.row()]
        while self.parts and self.parts[0] == "|":
            self.parts.pop(0)
            found.append(self.row())
        return found[0] if len(found) == 1 else ("either", tuple(found))

    def row(self):
        found = []
        while self.parts and self.parts[0] not in "|)]}":
            found.append(self.part())
        return "row", tuple(found)

    def part(self):
        first = self.parts.pop(0)
        if first in "([{":
            inner = self.alternatives()
            self.parts.pop(0)
            return inner if first == "(" else ("maybe" if first == "[" else "often", inner)
        return ("word", first[1:-1]) if first.startswith("'") else ("name", first)
