"""Configuration files: as the original read them, and what is refused."""

from pathlib import Path

import pytest

from workbench.errors import TuningError
from workbench.tuning.configuration import parse_configuration, read_configuration
from workbench.tuning.ini import read_ini

SMALL = "[variables]\nvariables = A\n[values]\nA = 1, 2\n[testing]\ntest = ./run %A%\n"
HERE = Path("somewhere")


def test_the_report_s_example():
    folder = Path(__file__).parent / "laplace3d"
    setting = read_configuration(folder / "laplace3d.conf")
    assert str(setting.tree) == "{IMPLEMENTATION, {BLOCK_X, BLOCK_Y}}"
    assert setting.values["BLOCK_X"] == ("16", "32", "48", "64", "96", "128")
    assert setting.values["IMPLEMENTATION"] == ("laplace3d.c", "laplace3d_naive.c")
    assert (setting.repeat, setting.overall, setting.goal, setting.scoring) == (2, "min", "min", "time")
    assert setting.log == folder / "laplace3d.csv"
    assert "{BLOCK_X, BLOCK_Y}" in setting.described()
    assert setting.notes() == ()


def test_defaults():
    setting = parse_configuration(SMALL, HERE)
    assert (setting.compiler, setting.cleanup, setting.log, setting.timeout) == ("", "", None, None)
    assert (setting.repeat, setting.overall, setting.goal, setting.parallel) == (1, "min", "min", 1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[s]\nName = v", "v"),
        ("[s]\nNAME: v", "v"),
        ("[s]\nname = a = b : c", "a = b : c"),
        ("[s]\nname = first\n  second\n\tthird", "first\nsecond\nthird"),
        ("[s]\nname = first\n# comment\n; comment\n\nrem comment\n  second", "first\nsecond"),
        ("[s]\nname = v ; comment", "v"),
        ("[s]\nname = v;w", "v;w"),
        ("[s]\nname = first\n  second ; no comment", "first\nsecond ; no comment"),
        ("[s]\nname = 100%%ID%% %A% %(x)s", "100%%ID%% %A% %(x)s"),
        ('[s]\nname = ""', ""),
        ("[s]\nname = old\nname = new", "new"),
        ("[s]\nother = 1\n[t]\n[s]\nname = v", "v"),
        ("[DEFAULT]\nname = v\n[s]\nother = 1", "v"),
    ],
)
def test_ini_is_read_as_python_2_did(text, value):
    assert read_ini(text)["s"]["name"].value == value


@pytest.mark.parametrize("text", ["name = v", "[s]\nno option", "[s]\n= v"])
def test_what_is_no_ini_is_refused_with_its_line(text):
    with pytest.raises(TuningError) as caught:
        read_ini(text)
    assert caught.value.line == text.count("\n") + 1


def test_toml_says_the_same():
    toml = """
    variables = "{A, {B}}"
    [values]
    A = [1, 2]
    B = "x, y"
    [testing]
    evaluation = "./run %A% %B%"
    repeat = 3
    overall = "med"
    optimal = "max"
    timeout = 2.5
    """
    setting = parse_configuration(toml, HERE, toml=True)
    assert setting.values == {"A": ("1", "2"), "B": ("x", "y")}
    assert (setting.scoring, setting.repeat, setting.overall, setting.goal) == ("output", 3, "med", "max")
    assert setting.timeout == 2.5


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (("variables = A", "variables = {A, B}"), "variable B has no values"),
        (("A = 1, 2", "A = 1, 2\nB = 3"), "line 5: [values] has values for b, which is no variable"),
        (("A = 1, 2", "A ="), "variable A has no values"),
        (("variables = A", "variables = {A, a}"), "differ in case only"),
        (("test = ./run %A%", "test = x\nevaluation = y"), "both test and evaluation"),
        (("test = ./run %A%", "repeat = 3"), "neither test nor evaluation"),
        (("test =", "repeat = 0\ntest ="), "line 6: repeat = 0 is not a whole number from 1"),
        (("test =", "overall = mean\ntest ="), "overall = mean is not one of min, max, med, avg"),
        (("test =", "optimal = least\ntest ="), "optimal = least is not one of min, max"),
        (("test =", "timeout = -1\ntest ="), "timeout = -1 is not a number of seconds above 0"),
        (("test =", "compile = make\ntest ="), "[testing] has no option compile"),
        (("[variables]\nvariables = A\n", ""), "[variables] has no variables"),
    ],
)
def test_what_makes_no_sense_is_refused(change, cause):
    with pytest.raises(TuningError) as caught:
        parse_configuration(SMALL.replace(*change), HERE)
    assert cause in str(caught.value)
    assert caught.value.advice


def test_section_in_capitals_is_told():
    """Names of sections have case, as in Python's reader; those of options have none."""
    with pytest.raises(TuningError) as caught:
        parse_configuration(SMALL.replace("[variables]", "[Variables]"), HERE)
    assert caught.value.advice == "Write [variables], not [Variables]."


def test_variable_in_no_command_is_named():
    text = SMALL.replace("variables = A", "variables = A, B").replace("A = 1, 2", "A = 1\nB = 2")
    assert parse_configuration(text, HERE).notes() == ("no command has %B%, so B changes no score by itself",)


PROBLEM = """{"ConfigurationSpace": {"TuningParameters": [
    {"Name": "block_x", "Type": "int", "Values": "[1, 2, 4, 8]"},
    {"Name": "block_y", "Type": "int", "Values": "list(range(1, 4))"},
    {"Name": "layout", "Type": "string", "Values": "['aos', 'soa']"}],
    "Conditions": [{"Expression": "block_x * block_y <= 8"}, {"Expression": "layout == 'soa' or block_x > 1"}]},
"KernelSpecification": {"KernelName": "copy"}}"""
SPACE = "[variables]\nspace = copy.json\n[testing]\nevaluation = echo %block_x% %block_y% %layout%\n"


@pytest.fixture
def problem(tmp_path):
    (tmp_path / "copy.json").write_text(PROBLEM)
    return tmp_path


@pytest.mark.parametrize("toml", [False, True])
def test_space_is_that_of_a_t1_file(problem, toml):
    text = SPACE if not toml else SPACE.replace("= ", "= '").replace("json", "json'").replace("layout%", "layout%'")
    setting = parse_configuration(text, problem, toml=toml)
    assert str(setting.tree) == "{block_x, block_y, layout}"
    assert setting.values == {"block_x": ("1", "2", "4", "8"), "block_y": ("1", "2", "3"), "layout": ("aos", "soa")}
    assert setting.is_legal(("4", "2", "aos"))
    assert not setting.is_legal(("4", "3", "aos"))
    assert not setting.is_legal(("1", "1", "aos"))
    assert "where     block_x * block_y <= 8\n" in setting.described()
    assert setting.notes() == ()


def test_tree_of_a_t1_space_is_given_beside_it(problem):
    """Its order counts; a condition between what it has as independent is told."""
    text = SPACE.replace("space", "variables = {layout, {block_y}, {block_x}}\nspace")
    setting = parse_configuration(text, problem)
    assert setting.tree.flatten() == ("layout", "block_y", "block_x")
    assert not setting.is_legal(("aos", "3", "4"))
    (note,) = setting.notes()
    assert note.startswith("block_x * block_y <= 8 is between variables that the tree has as independent")


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (("copy.json", "none.json"), "none.json cannot be read: No such file or directory"),
        (("space", "variables = {block_x}\nspace"), "differ in block_y, layout"),
        (("[testing]", "[values]\nblock_x = 1\n[testing]"), "[values] has values beside those of space ="),
        (("copy.json", "t.conf"), "the file is no T1 problem"),
    ],
)
def test_space_that_makes_no_sense_is_refused(problem, change, cause):
    (problem / "t.conf").write_text(SPACE)
    with pytest.raises(TuningError) as caught:
        parse_configuration(SPACE.replace(*change), problem)
    assert cause in str(caught.value)
