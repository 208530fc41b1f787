"""The course notebooks run top to bottom without a GPU and are kept without outputs.

`make pages` runs all of them (mark `pages`) and keeps what they give; `make test` runs the quickstart.
"""

import os
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert.exporters import HTMLExporter

from workbench.views.page.live import MIME

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PAGES = ROOT / "artefacts" / "pages"
LARGEST = 300_000  # bytes of a picture


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 3


def execute(path, folder):
    """The notebook with its outputs, and its page; both are written into `folder`.

    By what `jupyter nbconvert --execute` calls, whose process takes seconds to start.
    """
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "IPYTHONDIR": str(folder / "ipython"),
        "WORKBENCH_CACHE": str(folder / "cache"),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    }
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute(env=environment)
    nbformat.write(notebook, folder / path.name)
    page, _ = HTMLExporter().from_filename(str(folder / path.name))
    (folder / path.with_suffix(".html").name).write_text(page, encoding="utf-8")
    return notebook, page


@pytest.mark.pages
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_and_its_page_shows_every_view(path, tmp_path):
    shows_every_view(path, tmp_path)
    PAGES.mkdir(parents=True, exist_ok=True)
    for file in (tmp_path / path.name, tmp_path / path.with_suffix(".html").name):
        shutil.copy(file, PAGES / file.name)


def test_the_quickstart_runs_and_its_page_shows_every_view(tmp_path):
    shows_every_view(NOTEBOOKS[0], tmp_path)


def shows_every_view(path, folder):
    notebook, page = execute(path, folder)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert len(outputs) > 3
    for cell in notebook.cells:  # those that show an error must, the others must not
        wrong = [output for output in cell.get("outputs", ()) if output.output_type == "error"]
        assert bool(wrong) == ("raises-exception" in cell.metadata.get("tags", ())), cell.source
    hidden = re.findall(r"the notebook's \w+ is not seen", str(outputs))
    assert not hidden, "a course hides no word of a cell behind a name of its own"
    views = [output.data for output in outputs if MIME in output.get("data", {})]
    print(f"{path.stem}: {len(outputs)} outputs, {len(views)} of them live views")
    for data in views:  # nbconvert shows one form of each, text/html first
        shown = data.get("text/html") or data["image/png"]
        assert shown.strip()[:200].split("\n")[0] in page


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stripped(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(code) > 5
    assert not [cell.source for cell in code if cell.outputs or cell.execution_count]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_axes_of_every_picture_have_names(path):
    code = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    for source in code:
        if "plt.subplots" in source:
            assert "xlabel=" in source
            assert "ylabel=" in source


def test_pictures_of_the_readme_are_the_notebooks_own_and_small():
    shown = re.findall(r"!\[[^\]]*\]\(([^)]*)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert shown
    assert all(name.startswith("notebooks/pictures/") and (ROOT / name).is_file() for name in shown)
    sizes = {file.name: file.stat().st_size for file in (ROOT / "notebooks" / "pictures").iterdir()}
    assert {name: size for name, size in sizes.items() if size > LARGEST} == {}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_views_live_on_after_all_cells_have_run(path):
    code = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert not [source for source in code if ".close()" in source]
    followed = [source for source in code if ".inspect(" in source]
    assert followed == [] or followed == code[-1:]  # what is double clicked there runs and is measured
