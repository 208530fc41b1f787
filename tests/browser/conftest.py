"""A browser and a JupyterLab for all tests of this folder."""

import os
import sys

import pytest

from tests.browser.lab import ARTEFACTS, PATIENCE, chromium, end_kernels, running_lab
from tests.browser.shared_page import VIEWPORT, leave

LONGEST_MESSAGE = 1000  # characters
FAILED = pytest.StashKey[bool]()


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """(address, folder). WORKBENCH_LAB_PYTHON: the Python of an environment with another JupyterLab."""
    folder = tmp_path_factory.mktemp("lab")
    with running_lab(folder, os.environ.get("WORKBENCH_LAB_PYTHON", sys.executable)) as address:
        yield address, folder


@pytest.fixture(scope="session")
def direct_lab(tmp_path_factory):
    """The same, whose notebook server sends frames directly to a worker of the page."""
    folder = tmp_path_factory.mktemp("direct-lab")
    with running_lab(folder, os.environ.get("WORKBENCH_LAB_PYTHON", sys.executable), direct=True) as address:
        yield address, folder


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    path = chromium()
    assert path, "no Chromium; type: sudo apt install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def own_page():
    """For `usefixtures`: the test's page is a new one, because it loads, watches or changes the page as such."""


class Pages:
    """The page that tests share, as long as none fails or leaves it in another state than it was."""

    def __init__(self, browser):
        self._browser = browser
        self._shared = None

    def new(self):
        page = self._browser.new_page(viewport=VIEWPORT)
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: print(f"console, {message.type}: {message.text[:LONGEST_MESSAGE]}"))
        page.on("pageerror", lambda error: print(f"error of the page: {str(error)[:LONGEST_MESSAGE]}"))
        return page

    def take(self):
        page, self._shared = self._shared or self.new(), None
        return page

    def give_back(self, page):
        if leave(page):
            self._shared = page
        else:
            page.close()

    def close(self):
        if self._shared is not None:
            self._shared.close()


@pytest.fixture(scope="session")
def pages(browser):
    pages = Pages(browser)
    yield pages
    pages.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


@pytest.fixture
def page(pages, request):
    """A page of 1200 x 1000 pixels; what it looked like at the end is kept. A failed test shows what its console said.

    A JupyterLab that it shows already stays: `NotebookPage` opens its notebook there alone, as in a new page. With
    `own_page` the page is a new one, which no other test gets.
    """
    own = "own_page" in request.fixturenames
    page = pages.new() if own else pages.take()
    yield page
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(ARTEFACTS / f"end-of-{request.node.name}.png"))
    if own or request.node.stash.get(FAILED, False):
        page.close()
    else:
        pages.give_back(page)
    end_kernels()
