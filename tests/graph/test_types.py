"""Every usual spelling of a storage type names it."""

import numpy as np
import pytest

from workbench.graph import TYPES, storage_type


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_spellings_agree(type_):
    assert storage_type(type_.name) == type_
    assert storage_type(type_.numpy) == type_
    assert storage_type(type_.numpy.name) == type_
    assert storage_type(type_.numpy.type) == type_
    assert type_.itemsize == max(type_.bits // 8, 1)


@pytest.mark.parametrize("spelling", ["complex128", "f16", "float16", object(), np.dtype("U3")])
def test_unknown_spellings_are_refused(spelling):
    with pytest.raises(KeyError):
        storage_type(spelling)


def test_python_types_name_the_widest_of_their_kind():
    assert [storage_type(t).name for t in (bool, int, float)] == ["bool", "i64", "f64"]
