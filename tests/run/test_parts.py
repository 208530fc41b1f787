"""Parts of a field: what was read answers for what lies in it, and for nothing else."""

import numpy as np
import pytest

from workbench.run.parts import Every, FieldParts, index_of, part_of

VALUES = np.arange(7 * 8 * 9).reshape(7, 8, 9)
READ = ((3, Every(), Every()), (Every(2), 5, Every(3)), (1, 2, 3))
WITHIN = (
    *READ,
    (3, 4, 5),
    (3, Every(4), 8),
    (3, Every(), 0),
    (4, 5, 6),
    (Every(2), 5, 3),
    (Every(4), 5, Every(6)),
)
BEYOND = ((2, 4, 5), (1, 5, 3), (4, 5, 7), (Every(), 5, 3), (Every(3), 5, 3), (Every(2), 5, Every(2)), (1, 2, Every()))


def field():
    return FieldParts(VALUES.shape, {part: VALUES[index_of(part)].copy() for part in READ})


@pytest.mark.parametrize("part", WITHIN)
def test_what_lies_in_a_part_that_was_read_is_there(part):
    assert part in field()
    assert np.array_equal(part_of(field(), part), VALUES[index_of(part)])
    assert np.array_equal(part_of(VALUES, part), VALUES[index_of(part)])


@pytest.mark.parametrize("part", BEYOND)
def test_what_was_not_read_is_not(part):
    assert part not in field()
    with pytest.raises(LookupError, match="was not read"):
        field()[part]
