"""Tune: the general tuner on the command line; the log, the optimum and a report of any program's tuning."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from workbench.amounts import counted
from workbench.commands.report import Figure, ReportTable, Section, report_page
from workbench.errors import TuningError
from workbench.tuning.configuration import Configuration, read_configuration
from workbench.tuning.demonstration import demonstrate
from workbench.tuning.general import Trial, Tuned, Tuner, best_of
from workbench.tuning.log import Log, read_log
from workbench.views.drawing.shapes import to_svg
from workbench.views.study.tests_figure import draw_tests, summarise_tests

Say = Callable[[str], None]


def run_demonstration(say: Say) -> bool:
    """The self-test, for a command line without a file; returns whether the search found every optimum."""
    say("No configuration file: the self-test compares the search by independence with brute force.\n")
    return demonstrate(say)


def run_tune(
    path: Path,
    say: Say,
    *,
    log: Path | None = None,
    report: Path | None = None,
    resume: bool = False,
    brute_force: bool = False,
) -> Tuned:
    """Tune what a configuration file describes. `log` and `report` win over the file's; `resume` goes on with a log.

    Raises TuningError if the file makes no sense, if the log cannot be written, or if every test failed.
    SIGTERM and SIGHUP end the commands that run, as an interrupt does.
    """
    setting = read_configuration(path)
    say(setting.described())
    for note in setting.notes():
        say(f"note: {note}")
    log = log or setting.log
    if resume and log is None:
        raise TuningError("there is no log to go on with", advice="Add log = FILE to [testing], or pass --log FILE.")
    known = read_log(log, setting) if resume and log is not None and log.exists() else {}
    if known:
        say(f"{counted(len(known), 'test')} of the log {log} will not run again")
    told = list(known.values())
    with ExitStack() as stack:
        stack.enter_context(_ended_by_signals())
        writer = None if log is None else stack.enter_context(Log(log, setting, append=bool(known)))

        def heard(test: Trial) -> None:
            if writer is not None:
                writer.add(test)
            told.append(test)
            say(_test_text(setting, test))

        say("")
        try:
            tuned = Tuner(setting, heard, brute_force, known).run()
        except KeyboardInterrupt:
            _say_interrupted(setting, told, log, say)
            raise
    for line in _result_lines(tuned):
        say(line)
    if log is not None:
        say(f"log: {log}")
    if report is not None:
        report.write_text(report_text(tuned, path.name), encoding="utf-8")
        say(f"report: {report}")
    if tuned.optimum is None:
        raise TuningError(
            f"{counted(len(tuned.tests), 'test')} ran and none passed",
            advice="Run the commands by hand with one of these valuations.",
        )
    return tuned


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Lets SIGTERM and SIGHUP, where they have no handler and are not ignored, end the tuning as an interrupt does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    names = [name for name in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(name) is signal.SIG_DFL]
    for name in names:
        signal.signal(name, signal.default_int_handler)
    try:
        yield
    finally:
        for name in names:
            signal.signal(name, signal.SIG_DFL)


def _say_interrupted(setting: Configuration, told: list[Trial], log: Path | None, say: Say) -> None:
    """What is known when a tuning is interrupted, and how it goes on."""
    best = best_of(setting, told)
    found = "none has passed" if best is None else f"the best so far has {best.score:.6g}:"
    say(f"\ninterrupted after {counted(len(told), 'test')}; {found}")
    if best is not None:
        say("\n".join(f"{n} = {v}" for n, v in zip(setting.tree.flatten(), best.valuation, strict=True)))
    if log is not None:
        say(f"log: {log}; --resume goes on with it")


def report_text(tuned: Tuned, title: str) -> str:
    """The HTML report: the optimum, the figure of all tests, importance, failures and the settings."""
    summary = summarise_tests(tuned, f"{title}: {counted(len(tuned.tests), 'test')}")
    failed = [test for test in tuned.tests if test.overall is None]
    figure = Figure(
        to_svg(draw_tests(summary)),
        "Tests in the order in which they ran. Bars are overall scores, crosses their repeats, the orange bar is the "
        "optimum, red marks are failed tests. Below, the value of each variable in each test.",
    )
    shares = sorted(summary.shares.items(), key=lambda row: -row[1])
    sections = [
        Section("Optimum", tuple(_result_lines(tuned)[:1]), code=tuned.optimum_lines()),
        Section("Tests", figures=(figure,)),
        Section(
            "Importance",
            ("Share of the scores' variance that a variable explains by itself, in what was tested.",),
            tables=(
                ReportTable(("variable", "share"), tuple((name, f"{100 * share:.0f} %") for name, share in shares)),
            ),
        ),
        Section("Settings", code=tuned.configuration.described()),
    ]
    if failed:
        rows = tuple((str(t.number), _values(tuned.configuration, t), t.status, _cause(t)) for t in failed)
        table = ReportTable(("test", "valuation", "failed at", "cause"), rows)
        sections.insert(3, Section("Failed tests", tables=(table,)))
    return report_page(title, "workbench tune", sections)


def _test_text(setting: Configuration, test: Trial) -> str:
    words = f"test {test.number}: {_values(setting, test)}: "
    if test.overall is None:
        words += f"failed ({test.status}): {_cause(test)}"
    elif len(test.scores) > 1:
        words += f"{test.overall:.6g}  ({', '.join(f'{score:.6g}' for score in test.scores)})"
    else:
        words += f"{test.overall:.6g}"
    return words if test.clean else words + "  [clean-up failed]"


def _cause(test: Trial) -> str:
    """The line of the output that speaks of an error, else its last one."""
    lines = [line.strip() for line in test.tail.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower()), lines[-1] if lines else "no output")


def _result_lines(tuned: Tuned) -> list[str]:
    count = f"{counted(len(tuned.tests), 'test')} of {tuned.combinations} combinations"
    failed = sum(test.overall is None for test in tuned.tests)
    if tuned.optimum is None:
        return [f"\nno optimum: {count}, all failed"]
    unit = " s" if tuned.configuration.scoring == "time" else ""
    lines = [f"\noptimum {tuned.optimum.score:.6g}{unit} after {count}, {failed} failed", tuned.optimum_lines()]
    if failed:
        lines.append("failed:")
        lines += [f"  {_values(tuned.configuration, t)} ({t.status})" for t in tuned.tests if t.overall is None]
    return lines


def _values(setting: Configuration, test: Trial) -> str:
    pairs = zip(setting.tree.flatten(), test.valuation, strict=True)
    return ", ".join(f"{name} = {value}" for name, value in pairs)
