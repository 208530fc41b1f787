"""Packed codes are few bytes, and no code changes."""

import math
import zlib

import numpy as np
import pytest
from isal import isal_zlib

from workbench.views.field import packing
from workbench.views.field.packing import LEAST_CELLS, LEAST_GAIN, pack
from workbench.views.field.summary import LARGEST_SIDE


@pytest.fixture(params=[isal_zlib, zlib], autouse=True)
def compress(request, monkeypatch):
    """What packs: with isal, and where that is missing."""
    monkeypatch.setattr(packing, "compress", request.param.compress)


def unpacked(body, shape):
    """What labextension/src/field/unpacking.ts does."""
    cells = math.prod(shape)
    half = (cells + 1) // 2
    whole = np.frombuffer(zlib.decompress(body, -15), np.uint8)
    steps = np.concatenate((whole[:half] & 15, whole[:half] >> 4))[:cells]
    differences = steps - np.uint8(7)
    assert np.count_nonzero(steps == 15) == whole.size - half
    differences[steps == 15] = whole[half:]
    return np.cumsum(differences, dtype=np.uint8).reshape(shape)


@pytest.mark.parametrize("shape", [(512, 512), (LARGEST_SIDE, 17), (128, 1024), (1, LEAST_CELLS), (129, 131)])
def test_codes_survive_packing(shape):
    rows, columns = (np.arange(n) for n in shape)
    codes = (127 + 120 * np.sin(rows / 40)[:, None] * np.cos(columns / 30)).astype(np.uint8)
    codes[0, 3:9] = 255  # NaN
    body = pack(codes)
    assert body is not None
    assert len(body) < LEAST_GAIN * codes.size
    assert np.array_equal(unpacked(body, shape), codes)


def test_every_difference_survives_packing():
    codes = np.zeros((64, 512), np.uint8)
    codes[::8, 1::2] = np.arange(256)
    assert np.array_equal(unpacked(pack(codes), codes.shape), codes)


def test_smooth_field_is_an_eighth():
    x = np.linspace(0, 2 * np.pi, 512)
    codes = (127 + 127 * np.sin(x)[:, None] * np.cos(x)).astype(np.uint8)
    assert len(pack(codes)) < codes.size / 8


def test_noise_and_small_pictures_go_as_they_are():
    noise = np.random.default_rng(1).integers(0, 255, (512, 512), np.uint8)
    assert pack(noise) is None
    assert pack(np.zeros((64, 64), np.uint8)) is None
