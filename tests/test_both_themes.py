"""The style of the course's figures: no background, and words that can be read on light and on dark paper."""

import io
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import nbformat
import pytest
from matplotlib_inline.backend_inline import _fetch_figure_metadata
from PIL import Image

NOTEBOOKS = sorted((Path(__file__).resolve().parent.parent / "notebooks").glob("*.ipynb"))
STYLE = "workbench.both_themes"
PAPERS = {"light": 0xFF, "dark": 0x11}  # JupyterLab's, grey levels
READABLE = 3.9  # contrast; no grey has 4.5, which WCAG asks of small letters, with both


def luminance(level):
    """Relative luminance of a grey level, 0 to 255 (WCAG 2)."""
    share = level / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


@pytest.fixture
def picture():
    with mpl.style.context(STYLE):
        figure, axes = plt.subplots()
        axes.plot([0, 1], [0, 1], label="a line")
        axes.set(xlabel="x (m)", ylabel="u (K)", title="a title")
        axes.legend()
        file = io.BytesIO()
        figure.savefig(file)
        plt.close(figure)
    return Image.open(file)


def test_a_figure_has_no_background(picture):
    alphas = picture.getchannel("A")
    assert alphas.getpixel((0, 0)) == 0
    assert alphas.getpixel((picture.width // 2, picture.height // 4)) == 0
    assert alphas.histogram()[0] > 0.8 * picture.width * picture.height


def test_words_and_axes_are_readable_on_both_papers(picture):
    greys = {(r, g, b) for r, g, b, alpha in picture.get_flattened_data() if alpha == 255 and r == g == b}
    assert greys
    for level, _, _ in greys:
        for paper, shade in PAPERS.items():
            light, dark = sorted((luminance(level), luminance(shade)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) > READABLE, paper


def test_no_notebook_puts_a_background_behind_a_figure():
    with mpl.style.context(STYLE):
        figure, axes = plt.subplots()
        axes.plot([0, 1], [0, 1])
        assert _fetch_figure_metadata(figure) is None
        plt.close(figure)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_that_draws_uses_it(path):
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    drawing = [number for number, source in enumerate(cells) if "plt.subplots" in source]
    styled = [number for number, source in enumerate(cells) if f'plt.style.use("{STYLE}")' in source]
    assert len(styled) == bool(drawing)
    assert styled <= drawing[:1]
    assert not [number for number in drawing if '"k"' in cells[number] or "black" in cells[number]]
