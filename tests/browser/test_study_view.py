"""A study in a real JupyterLab: points arrive, pause, a reloaded page, resume, stop."""

import pytest

from tests.browser.lab import open_notebook

pytestmark = pytest.mark.browser

MACHINE = """\
import numpy as np
import workbench as wb
mean = wb.trace('u = field("u", boundary="periodic")\\nu.next = 0.5 * (u[-1] + u[+1])', dim=1, name="mean")
sim = mean.simulate(u=np.sin(np.arange(4096.0)), backend="openmp")
sim.start()"""
STUDY = """\
study = mean.tune(u=np.sin(np.arange(4096.0)), budget=500, backend="openmp", path="study.sqlite")
study"""


STATUS = ".swb-pane-status"


def status(page):
    return page.locator(STATUS).first.inner_text()


def tried(page):
    return int(status(page).partition(" tried")[0].rpartition(" ")[2])


@pytest.mark.usefixtures("own_page")
def test_points_arrive_pause_reload_resume_and_the_winner_is_taken(lab, page):
    notebook = open_notebook(lab, page, "study.ipynb", MACHINE, STUDY)
    page.wait_for_selector('.swb-pane[data-opened="true"]', timeout=60_000)
    notebook.wait_text(STATUS, "cells/s")
    page.wait_for_function(f"() => parseInt(/(\\d+) tried/.exec(document.querySelector('{STATUS}').innerText)[1]) > 4")
    notebook.picture("study-light")
    page.get_by_role("button", name="Pause").click()
    notebook.wait_text(STATUS, "paused")
    page.evaluate("async () => { await window.jupyterapp.commands.execute('docmanager:save') }")
    page.reload()
    notebook.wait_loaded()
    page.wait_for_selector('.swb-pane[data-opened="true"]', timeout=60_000)
    notebook.wait_text(STATUS, "paused")
    before = tried(page)
    assert before > 4
    page.get_by_role("button", name="Resume").click()
    notebook.wait_text(STATUS, "1 worker, about")
    page.wait_for_function(
        f"() => parseInt(/(\\d+) tried/.exec(document.querySelector('{STATUS}').innerText)[1]) > {before}"
    )
    notebook.wait_text(STATUS, "launches: best with")
    notebook.wait_text(STATUS, "share of the scores' variance")
    page.get_by_role("button", name="Use the best now").click()
    notebook.wait_text(STATUS, "1 simulation now goes on with number")
    page.get_by_role("button", name="Stop").click()
    notebook.wait_text(STATUS, "stopped")
    assert tried(page) > before
    page.evaluate("void window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    page.wait_for_selector('body[data-jp-theme-light="false"]', state="attached")
    notebook.picture("study-dark")


GENERAL = """\
%%tune blocks
[variables]
variables = {{A}, {B}}
[values]
A = 1, 2, 3, 4, 5, 6, 7, 8
B = 1, 2, 3, 4, 5, 6, 7, 8
[testing]
evaluation = sleep 0.7; [ %A% != 3 ] && echo $((10 + (%A% - 5) * (%A% - 5) + %B%))
"""


def test_tests_of_a_cell_arrive_and_can_be_paused(lab, page):
    notebook = open_notebook(lab, page, "general.ipynb", "%load_ext workbench", GENERAL)
    page.wait_for_selector('.swb-pane[data-opened="true"]', timeout=60_000)
    notebook.wait_text(STATUS, "of 64 combinations")
    notebook.wait_text(STATUS, "failed: 1 runtime")
    page.get_by_role("button", name="Pause").click()
    notebook.wait_text(STATUS, "paused")
    notebook.picture("tune-cell-light")
    page.get_by_role("button", name="Resume").click()
    notebook.wait_text(STATUS, "done, 15 tests")
    assert "best: test" in status(page)
    assert "A = 5, B = 1" in status(page)
    page.evaluate("void window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    page.wait_for_selector('body[data-jp-theme-light="false"]', state="attached")
    notebook.picture("tune-cell-dark")
