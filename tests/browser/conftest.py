"""A browser and a JupyterLab for all tests of this folder."""

import os
import sys

import pytest

from tests.browser.lab import ARTEFACTS, PATIENCE, chromium, end_kernels, running_lab

LONGEST_MESSAGE = 1000  # characters


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
def page(browser, request):
    """A page; what it looked like at the end is kept. A test that fails shows what the page's console said."""
    page = browser.new_page(viewport={"width": 1200, "height": 1000})
    page.set_default_timeout(PATIENCE)
    page.on("console", lambda message: print(f"console, {message.type}: {message.text[:LONGEST_MESSAGE]}"))
    page.on("pageerror", lambda error: print(f"error of the page: {str(error)[:LONGEST_MESSAGE]}"))
    yield page
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(ARTEFACTS / f"end-of-{request.node.name}.png"))
    page.close()
    end_kernels()
