"""General summary: the tests of a general tuning as a study's view shows individuals."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from workbench.amounts import counted
from workbench.tuning.general import Trial
from workbench.tuning.general_study import GeneralStudy
from workbench.views.study.choice_map import ChoiceMap, map_of_tests
from workbench.views.study.launch_map import NO_LAUNCHES, LaunchMap
from workbench.views.study.summary import IndividualMark


@dataclass(frozen=True, slots=True)
class GeneralSummary:
    """What the view of a general tuning shows. `line`: (number of a test, best score so far).

    `failure`: what ended it, "" unless it failed.
    """

    program: str
    state: str
    unit: str
    marks: tuple[IndividualMark, ...]
    line: tuple[tuple[int, float], ...]
    best: IndividualMark | None
    combinations: int
    chosen: ChoiceMap
    failure: str = ""
    launches: LaunchMap = NO_LAUNCHES

    @property
    def noun(self) -> str:
        """What is numbered."""
        return "test"

    def text(self) -> str:
        """The tuning in a few lines."""
        tests = counted(len(self.marks), "test")
        lines = [f"tuning of {self.program}: {self.state}, {tests} of {self.combinations} combinations"]
        failed = Counter(mark.status for mark in self.marks if mark.score is None)
        if failed:
            lines.append("failed: " + ", ".join(f"{count} {status}" for status, count in failed.items()))
        if self.best is not None:
            unit = " s" if self.unit == "seconds" else ""
            lines.append(f"best: test {self.best.number}, {self.best.score:.6g}{unit}: {self.best.changes}")
        return "\n".join(filter(None, (*lines, self.failure, self.chosen.text())))


def summarise_general(study: GeneralStudy) -> GeneralSummary:
    """The summary of a general tuning as it is now."""
    tuned = study.tuned
    setting = tuned.configuration
    names = setting.tree.flatten()
    marks = tuple(_mark(number, test, names) for number, test in enumerate(tuned.tests, start=1))
    line: list[tuple[int, float]] = []
    for mark in marks:
        if mark.score is not None and (not line or (mark.score < line[-1][1]) == (setting.goal == "min")):
            line.append((mark.number, mark.score))
    best = next((mark for mark in marks if line and mark.number == line[-1][0]), None)
    unit = "seconds" if setting.scoring == "time" else "score"
    chosen = map_of_tests(tuned)
    return GeneralSummary(
        study.name, study.state, unit, marks, tuple(line), best, tuned.combinations, chosen, study.failure
    )


def _mark(number: int, test: Trial, names: tuple[str, ...]) -> IndividualMark:
    valuation = ", ".join(f"{name} = {value}" for name, value in zip(names, test.valuation, strict=True))
    low, high = (min(test.scores), max(test.scores)) if test.scores else (0.0, 0.0)
    return IndividualMark(number, test.overall, low, high, test.status, False, valuation, test.tail[:200])
