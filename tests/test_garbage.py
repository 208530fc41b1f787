"""Garbage is not collected while a program is made, and then is again."""

import gc

import numpy as np
import pytest

import workbench as wb
from workbench.garbage import kept_garbage


def test_collection_goes_on_as_it_was():
    assert gc.isenabled()
    with kept_garbage():
        assert not gc.isenabled()
        with kept_garbage():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    try:
        with kept_garbage():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_nothing_is_collected_while_a_function_is_traced():
    seen = []

    @wb.collective(backend="reference")
    def doubled(xs):
        seen.append(gc.isenabled())
        return xs + xs

    doubled(np.ones(3))
    assert seen == [False]
    assert gc.isenabled()


def test_a_function_that_cannot_be_traced_leaves_collection_on():
    @wb.collective(backend="reference")
    def broken(xs):
        return xs.nothing

    with pytest.raises(wb.StencilError):
        broken(np.ones(3))
    assert gc.isenabled()
