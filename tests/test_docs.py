"""What texts promise: sections that are cited exist, rooms that are named exist, lists of operators are complete."""

import re
from typing import get_args

from tests.kit.tracked import ROOT, tracked_texts
from workbench import pipeline
from workbench.frontend.boundaries import Kind
from workbench.graph.operators import OPERATORS
from workbench.planning.tunables import Section

SEMANTICS = (ROOT / "workbench" / "SEMANTICS.md").read_text(encoding="utf-8")
CITED = re.compile(r"[Ss]emantics\W{0,3}\s(?:§§?\s?)(\d+)(?:(?:,| and|-) ?§?(\d+))?")
FOLDERS = ("", "workbench", "labextension", "labextension/src")
MADE_LATER = ("artefacts/browser/", ".venv/")  # by commands of the Makefile


def sections(text):
    return {int(number) for number in re.findall(r"^## (\d+)\. ", text, re.MULTILINE)}


def cited(text):
    return {int(number) for pair in CITED.findall(text) for number in pair if number}


def named_paths(text):
    """What stands in backquotes and looks like a path: with a slash, or a file of ours."""
    words = re.findall(r"`([\w./-]+)`", text)
    return {w for w in words if not w.startswith("...") and ("/" in w or w.endswith((".py", ".h", ".ts", ".md")))}


def is_there(path):
    """A folder, a file, or one without its suffix (`notebooks/05-solvers`); a bare name may lie anywhere."""
    last = path.rstrip("/").rpartition("/")[2]
    if "/" not in path:
        return any(name.rpartition("/")[2] == path for name, _ in tracked_texts())
    below = ((ROOT / folder / path) for folder in FOLDERS)
    return any(p.exists() or any(q.stem == last for q in p.parent.glob(f"{last}.*")) for p in below)


def test_a_citation_is_recognised_however_it_is_written():
    assert cited("(semantics §3)") == {3}
    assert cited("semantics §2, §4; semantics §5 and 6; Semantics, §7") == {2, 4, 5, 6, 7}
    assert cited("Toro §4.2, Paraiso §3.1") == set()


def test_every_cited_section_of_the_semantics_is_there():
    texts = ((name, cited(text)) for name, text in tracked_texts() if name != "tests/test_docs.py")
    found = {name: numbers for name, numbers in texts if numbers}
    print(f"{len(found)} files cite the semantics")
    assert len(found) > 10
    unknown = {name: numbers - sections(SEMANTICS) for name, numbers in found.items()}
    assert not {name: numbers for name, numbers in unknown.items() if numbers}
    inside = {int(number) for number in re.findall(r"§(\d+)", SEMANTICS)}
    assert inside <= sections(SEMANTICS)


def test_contributing_is_short_and_its_way_is_that_of_the_pipeline():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    arrows = re.findall(r"──(\w+)──>", text)
    rows = re.findall(r"^\| `(?:pipeline\.|Program\.)(\w+)`", text, re.MULTILINE)
    assert arrows == rows
    assert all(callable(getattr(pipeline, name)) for name in arrows[:-1])
    assert arrows[:-1] == re.findall(r"──(\w+)──>", pipeline.__doc__)


def test_every_test_that_contributing_tells_to_run_is_there():
    text = " ".join((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split())
    told = re.findall(r"`((?:tests/[\w./]+ ?)+)`: (\d+) s", text)
    print(f"{len(told)} kinds of change have tests")
    assert len(told) >= 12
    assert not [path for paths, _ in told for path in paths.split() if not (ROOT / path).exists()]


DECISIONS = [ROOT / "labextension" / "DECISIONS.md", *sorted((ROOT / "workbench").rglob("DECISIONS.md"))]


def test_every_path_that_is_named_for_contributors_is_there():
    named = {file: named_paths(file.read_text(encoding="utf-8")) for file in (ROOT / "CONTRIBUTING.md", *DECISIONS)}
    print(f"{sum(map(len, named.values()))} paths named")
    assert len(named[ROOT / "CONTRIBUTING.md"]) > 60
    assert sum(map(len, named.values())) > 120
    gone = {path for paths in named.values() for path in paths if path not in MADE_LATER and not is_there(path)}
    assert not sorted(gone)


def test_decisions_have_a_day_and_a_title_and_are_in_one_file():
    titles = []
    for file in DECISIONS:
        text = file.read_text(encoding="utf-8")
        entries = re.findall(r"^- (.*?)(?=^- |^#|\Z)", text, re.MULTILINE | re.DOTALL)
        assert entries, file
        found = [re.match(r"20\d\d-\d\d-\d\d \*\*(.+?)\*\*", " ".join(each.split())) for each in entries]
        assert all(found), [each for each, matched in zip(entries, found, strict=True) if not matched]
        titles += [matched[1] for matched in found]
    print(f"{len(titles)} decisions in {len(DECISIONS)} files")
    assert len(DECISIONS) > 10
    assert len(set(titles)) == len(titles)


def test_paths_that_are_gone_are_noticed():
    assert not is_there("views/drawn.py")
    assert not is_there("graph/operator")
    assert not is_there("test_nothing.py")
    assert is_there("test_docs.py")
    assert is_there("graph/operators")
    assert is_there("tuning/")


def test_the_semantics_lists_every_operator_with_a_bound():
    listed = re.search(
        r"\*\*Operators with a bound\*\* have 4 ulp in their row, `power` 8, `rsqrt` 2: `([^`]*)`",
        " ".join(SEMANTICS.split()),
    )
    assert sorted(listed[1].split()) == sorted(name for name, row in OPERATORS.items() if row.ulp)
    assert {name: row.ulp for name, row in OPERATORS.items() if row.ulp not in (0, 4)} == {"power": 8, "rsqrt": 2}


def words_of(literal):
    """The words of a Literal, those of others inside it too."""
    return [word for each in get_args(literal) for word in (words_of(each) if get_args(each) else [each])]


def test_the_semantics_has_a_row_for_every_boundary_rule():
    rows = set(re.findall(r'^  \| `"?(\w+)', SEMANTICS, re.MULTILINE))
    assert set(words_of(Kind)) - {"undefined"} <= rows


def test_semantics_and_formats_name_every_section_of_a_genome():
    sections = [word for word in get_args(Section) if word]
    told = re.search(r"^- A genome is `v2-.*?(?=^- )", SEMANTICS, re.MULTILINE | re.DOTALL)[0]
    assert re.findall(r"\b([A-Z]) \(", told) == sections
    formats = (ROOT / "workbench" / "FORMATS.md").read_text(encoding="utf-8")
    assert re.findall(r"'([A-Z])'", re.search(r"^    section = .*$", formats, re.MULTILINE)[0]) == sections


def test_the_glossary_is_in_order_and_says_each_term_once():
    terms = re.findall(r"^\| ([^|]+) \|", SEMANTICS.partition("## Glossary")[2], re.MULTILINE)[1:]
    assert len(terms) >= 40
    assert terms == sorted(terms, key=str.lower)
    assert len(set(terms)) == len(terms)
