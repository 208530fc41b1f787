"""What the last lesson of notebook 09 reads of a reader's own picture."""

import ast
import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

NOTEBOOK = Path(__file__).parents[1] / "notebooks/09-collectives.ipynb"
GREY = np.linspace(0, 65535, 48 * 64).astype(np.uint16).reshape(48, 64)


@pytest.fixture(scope="module")
def brightness():
    cells = ["".join(cell["source"]) for cell in json.loads(NOTEBOOK.read_text())["cells"]]
    (text,) = (cell for cell in cells if "def brightness" in cell)
    names = {"io": io, "np": np, "Pillow": Pillow}
    (function,) = (part for part in ast.parse(text).body if getattr(part, "name", "") == "brightness")
    exec(compile(ast.Module([function], []), str(NOTEBOOK), "exec"), names)
    return names["brightness"]


def written(picture, format):
    file = io.BytesIO()
    picture.save(file, format)
    return file.getvalue()


@pytest.mark.parametrize("format", ["PNG", "TIFF"])
def test_a_picture_of_16_bits_has_the_brightness_of_one_of_8(brightness, format):
    values = brightness(written(Pillow.fromarray(GREY), format))
    np.testing.assert_allclose(values, GREY / 257)
    assert values.min() == 0
    assert values.max() == 255


@pytest.mark.parametrize(
    ("mode", "format"), [("L", "PNG"), ("RGB", "BMP"), ("RGBA", "PNG"), ("P", "GIF"), ("CMYK", "TIFF")]
)
def test_all_kinds_of_pictures_have_their_brightness(brightness, mode, format):
    grey = (GREY >> 8).astype(np.uint8)
    values = brightness(written(Pillow.fromarray(grey).convert(mode), format))
    assert values.shape == grey.shape
    np.testing.assert_allclose(values, grey, atol=1)


@pytest.mark.parametrize("content", [b"", b"no picture", written(Pillow.fromarray(GREY), "PNG")[:90]])
def test_what_is_no_picture_raises_what_the_cell_says(brightness, content):
    with pytest.raises(OSError, match="image"):
        brightness(content)
