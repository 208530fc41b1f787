"""Programs that tests call, compiled in one unit before: headers are read once for all of them."""

from contextlib import contextmanager

import pytest

from tests.kit.optimised import optimised
from workbench.backends.registry import get_backend


@contextmanager
def compiled_together(backend, machines, level=None):
    """Within it, calls of these machines on this backend take what was compiled here; all else is compiled as always.

    level: of optimisation, that of users if None.
    """
    own = get_backend(backend)
    maker = own if level is None else optimised(backend, level)
    plans = [machine.plan(backend) for machine in machines]
    made, compile_alone = dict(zip(plans, maker.compile_many(plans), strict=True)), own.compile
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(own, "compile", lambda plan, cancel=None: made.get(plan) or compile_alone(plan, cancel))
        yield
