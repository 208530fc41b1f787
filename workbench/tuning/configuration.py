"""Configuration: what a file of the general tuner asks for (Spencer 2011, section 2.2), as an INI or a TOML file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar, get_args

from workbench.errors import TuningError
from workbench.tuning.independence import Goal, Valuation
from workbench.tuning.ini import IniOption, read_ini
from workbench.tuning.t1 import T1Problem, read_t1
from workbench.tuning.text_file import text_of
from workbench.tuning.trees import VariableTree, parse_tree

Overall = Literal["min", "max", "med", "avg"]
Scoring = Literal["time", "output"]
Word = TypeVar("Word", bound=str)
_UNKNOWN_LINE = 0  # TOML's reader does not say where a value stands
_TESTING = (
    "compiler", "test", "evaluation", "cleanup", "repeat", "overall", "optimal", "log", "parallel", "timeout"
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Configuration:
    """A tuning of any program, as understood.

    Commands are shell texts, run in `folder`; in them %%ID%% is the number of the test and %NAME% the value of variable
    NAME. `scoring` "time": seconds of `test` by the wall clock; "output": the last line that `test` prints, a number.
    `overall` makes one score of `repeat` ones, `goal` says which is best. `log`: the CSV file, or None.
    `parallel`: tests at the same time, for scores that do not disturb each other. `timeout`: seconds of one command,
    or None. `problem`: a T1 file's, whose variables, values and conditions these are, or None.
    """

    tree: VariableTree
    values: Mapping[str, tuple[str, ...]]
    folder: Path
    test: str
    scoring: Scoring = "time"
    compiler: str = ""
    cleanup: str = ""
    repeat: int = 1
    overall: Overall = "min"
    goal: Goal = "min"
    log: Path | None = None
    parallel: int = 1
    timeout: float | None = None
    problem: T1Problem | None = None

    def is_legal(self, valuation: Valuation) -> bool:
        """Whether the conditions of a T1 problem admit a valuation; others are not tested."""
        if self.problem is None:
            return True
        chosen = dict(zip(self.tree.flatten(), valuation, strict=True))
        return self.problem.space.legal(
            tuple(one.values.index(chosen[one.name]) for one in self.problem.space.parameters)
        )

    def described(self) -> str:
        """The settings and the tree in lines, for people."""
        scored = "seconds of the test" if self.scoring == "time" else "the last line that the test prints"
        rows = [
            ("compile", self.compiler or "nothing"),
            ("test", self.test),
            ("clean up", self.cleanup or "nothing"),
            ("score", f"{scored}, {self.overall} of {self.repeat}, {self.goal} is best"),
            *((name, ", ".join(self.values[name])) for name in self.tree.flatten()),
            *(("where", text) for text in (self.problem.conditions if self.problem is not None else ())),
        ]
        width = max(len(name) for name, _ in rows)
        indented = [(name, text.replace("\n", "\n" + " " * (width + 2))) for name, text in rows]
        return "\n".join([*(f"{name:<{width}}  {text}" for name, text in indented), "", self.tree.picture()])

    def notes(self) -> tuple[str, ...]:
        """What may not be meant: variables in no command, and conditions between what the tree has as independent."""
        commands, paths = self.compiler + self.test, self.tree.paths()
        unused = [name for name in self.tree.flatten() if f"%{name}%" not in commands]
        conditions = self.problem.conditions if self.problem is not None else {}
        across = [text for text, names in conditions.items() if not any(names <= path for path in paths)]
        return (
            *(f"no command has %{name}%, so {name} changes no score by itself" for name in unused),
            *(
                f"{text} is between variables that the tree has as independent: a better one may be missed"
                for text in across
            ),
        )


def read_configuration(path: Path) -> Configuration:
    """The configuration in a file: TOML if its name ends in .toml, else INI as the original tuner read it.

    Raises TuningError, with the line where it is known.
    """
    return parse_configuration(text_of(path), path.parent, toml=path.suffix == ".toml")


def parse_configuration(text: str, folder: Path, *, toml: bool = False) -> Configuration:
    """The configuration of a file's text; paths in it are below `folder`."""
    options = _read_toml(text) if toml else {name: dict(section) for name, section in read_ini(text).items()}
    reader = _Reader(options)
    reader.known("variables", ("variables", "space"))
    problem = reader.problem(folder)
    every = None if problem is None else VariableTree.flat(tuple(problem.values))
    tree = parse_tree(reader.text("variables", "variables", default=None if every is None else str(every)))
    values = reader.values(tree) if problem is None else reader.values_of(tree, problem)
    reader.known("testing", _TESTING)
    test, scoring = reader.scored()
    log = reader.text("testing", "log", default="")
    return Configuration(
        tree=tree,
        values=values,
        folder=folder,
        test=test,
        scoring=scoring,
        compiler=reader.text("testing", "compiler", default=""),
        cleanup=reader.text("testing", "cleanup", default=""),
        repeat=reader.count("repeat"),
        overall=reader.word("overall", get_args(Overall)),
        goal=reader.word("optimal", get_args(Goal)),
        log=folder / log if log else None,
        parallel=reader.count("parallel"),
        timeout=reader.seconds("timeout"),
        problem=problem,
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    """Options with what each must be; errors carry the line of the option."""

    options: Mapping[str, Mapping[str, IniOption]]

    def text(self, section: str, name: str, default: str | None = None) -> str:
        option = self.options.get(section, {}).get(name)
        if option is not None and (option.value or default is not None):
            return option.value
        if default is None:
            near = next((other for other in self.options if other.lower() == section and other != section), None)
            advice = f"Add {name} = ... to [{section}]." if near is None else f"Write [{section}], not [{near}]."
            raise TuningError(f"[{section}] has no {name}", advice=advice)
        return default

    def scored(self) -> tuple[str, Scoring]:
        """The command that gives the score, and how it does so."""
        test = self.text("testing", "test", default="")
        evaluation = self.text("testing", "evaluation", default="")
        if bool(test) == bool(evaluation):
            count = "both test and evaluation" if test else "neither test nor evaluation"
            raise TuningError(
                f"[testing] has {count}",
                advice="Give test (scored by its time) or evaluation (scored by the last line that it prints).",
            )
        return (test, "time") if test else (evaluation, "output")

    def values(self, tree: VariableTree) -> dict[str, tuple[str, ...]]:
        """Possible values of each variable; names are compared without case, as the original did."""
        section = self.options.get("values", {})
        names = tree.flatten()
        small = [name.lower() for name in names]
        for at, name in enumerate(names):
            if small.index(name.lower()) != at:
                raise TuningError(
                    f"variables {names[small.index(name.lower())]} and {name} differ in case only",
                    advice="Rename one: options of an INI file have no case.",
                )
        for option, row in section.items():
            if option not in small:
                what = f"[values] has values for {option}, which is no variable"
                raise _error(row, what, advice=f"Add it to variables = {tree}, or remove its values.")
        return {name: self._list(name) for name in names}

    def problem(self, folder: Path) -> T1Problem | None:
        """That of the T1 file which `space` names, if any."""
        name = self.text("variables", "space", default="")
        if not name:
            return None
        option = self.options["variables"]["space"]
        try:
            text = text_of(folder / name)
        except TuningError as error:
            raise _error(option, f"space = {name}: {error.what}", "Name a T1 file (JSON).") from None
        return read_t1(text)

    def values_of(self, tree: VariableTree, problem: T1Problem) -> dict[str, tuple[str, ...]]:
        """Those of a T1 problem, which the tree names all of."""
        other = set(tree.flatten()) ^ set(problem.values)
        if other:
            raise _error(
                self.options["variables"]["variables"],
                f"the tree {tree} and the parameters of {problem.name} differ in {', '.join(sorted(other))}",
                "Name each parameter once, or leave out variables =.",
            )
        for row in self.options.get("values", {}).values():
            raise _error(row, "[values] has values beside those of space =", "Leave out [values], or space =.")
        return {one.name: one.values for one in problem.space.parameters}

    def _list(self, name: str) -> tuple[str, ...]:
        texts = [text.strip() for text in re.split(r"[,\n]", self.text("values", name.lower(), default=""))]
        given = tuple(dict.fromkeys(text for text in texts if text))
        if not given:
            raise TuningError(f"variable {name} has no values", advice=f"Add {name} = v1, v2, ... to [values].")
        return given

    def count(self, name: str) -> int:
        text = self.text("testing", name, default="1")
        if not text.isdecimal() or int(text) < 1:
            raise self._refused(name, text, "a whole number from 1")
        return int(text)

    def seconds(self, name: str) -> float | None:
        text = self.text("testing", name, default="")
        if not text:
            return None
        try:
            seconds = float(text)
        except ValueError:
            seconds = 0.0
        if not 0 < seconds < float("inf"):
            raise self._refused(name, text, "a number of seconds above 0")
        return seconds

    def word(self, name: str, words: tuple[Word, ...]) -> Word:
        text = self.text("testing", name, default="min").lower()
        for word in words:
            if text == word:
                return word
        raise self._refused(name, text, "one of " + ", ".join(words))

    def known(self, section: str, names: tuple[str, ...]) -> None:
        """Refuse options that would silently do nothing."""
        for name, option in self.options.get(section, {}).items():
            if name not in names:
                raise _error(option, f"[{section}] has no option {name}", advice=f"Use {', '.join(names)}.")

    def _refused(self, name: str, text: str, wanted: str) -> TuningError:
        return _error(self.options["testing"][name], f"{name} = {text} is not {wanted}", advice=f"Write {wanted}.")


def _error(option: IniOption, what: str, advice: str) -> TuningError:
    error = TuningError(what, advice=advice)
    return error.located(option.line) if option.line else error


def _read_toml(text: str) -> dict[str, dict[str, IniOption]]:
    """The same sections from TOML, where variables may stand at the top and values may be lists."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TuningError(f"the file is not TOML: {error}", advice="Mend that line.") from None
    if isinstance(tables.get("variables"), str):
        tables["variables"] = {"variables": tables["variables"]}
    sections: dict[str, dict[str, IniOption]] = {}
    for section, table in tables.items():
        if not isinstance(table, dict):
            raise TuningError(f"{section} = {table!r} stands outside of a table", advice=f"Move it below [{section}].")
        sections[section] = {
            name.lower(): IniOption(_toml_text(name, value), _UNKNOWN_LINE) for name, value in table.items()
        }
    return sections


def _toml_text(name: str, value: object) -> str:
    match value:
        case bool() | str() | int() | float():
            return str(value)
        case list():
            return ", ".join(_toml_text(name, item) for item in value)
        case _:
            raise TuningError(f"{name} = {value!r} is neither text nor number nor list", advice="Write one of these.")
