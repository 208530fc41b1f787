"""Launch facts: registers from the CUDA compiler, touched cells from the simulator; found in the background, kept."""

from __future__ import annotations

import atexit
import contextlib
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable

from workbench.backends.build_cache import BuildCancelledError
from workbench.backends.device_text import compile_for_device
from workbench.backends.launch_trace import LaunchTrace, trace_plan
from workbench.backends.nvrtc import KernelResources, find_compilers
from workbench.codegen.cuda.render import render_cuda
from workbench.errors import StencilError
from workbench.planning.plan import Plan
from workbench.views.faults import fault_text
from workbench.views.launch.summary import CAPABILITY, Findings

_KEPT = 32
_SMALL: dict[int, tuple[int, ...]] = {1: (96,), 2: (12, 48), 3: (4, 8, 40)}  # cells that can be told apart

_known: OrderedDict[tuple[object, ...], Findings] = OrderedDict()
_lock = threading.Lock()


def small_extents(dim: int) -> tuple[int, ...]:
    """The grid that launches are recorded on."""
    return _SMALL.get(dim, (3,) * max(dim - 1, 0) + (20,))


def known_facts(plan: Plan) -> Findings | None:
    """What was found already of this plan's text and launches; compiles nothing."""
    with _lock:
        return _known.get(_key(plan))


def find_facts(plan: Plan, cancel: threading.Event | None = None) -> Findings:
    """Compile for registers, and run one step on the simulator; takes as long as two compilers, later calls no time.

    Raises BuildCancelledError if `cancel` is set meanwhile.
    """
    key = _key(plan)
    with _lock:
        if key in _known:
            _known.move_to_end(key)
            return _known[key]
    found = _find(plan, cancel)
    _keep(key, found)
    return found


def _keep(key: tuple[object, ...], found: Findings) -> None:
    with _lock:
        _known[key] = found
        while len(_known) > _KEPT:
            _known.popitem(last=False)


class FactSearch:
    """Finds the facts of one plan in a thread, which calls `told` when it knows them."""

    def __init__(self, plan: Plan, told: Callable[[], None]) -> None:
        """Starts at once."""
        self._cancel = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(plan, told), name="launch facts", daemon=True)
        _living.add(self)
        self._thread.start()

    def wait(self, timeout: float | None = None) -> None:
        """Until it is done, at most so many seconds."""
        self._thread.join(timeout)

    def end(self, timeout: float = 2.0) -> None:
        """Stop compilers and wait for that, unless called in that thread."""
        self._cancel.set()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout)

    def _run(self, plan: Plan, told: Callable[[], None]) -> None:
        with contextlib.suppress(BuildCancelledError):
            try:
                find_facts(plan, self._cancel)
            except BuildCancelledError:
                raise
            except Exception as error:  # no caller waits for this thread, so the view says it
                _keep(_key(plan), Findings((), "", (), (), fault_text(error, "registers are assumed")))
            if not self._cancel.is_set():
                told()


_living: weakref.WeakSet[FactSearch] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    # Compilers would outlive the interpreter, and their folders with them.
    for search in list(_living):
        search.end()


def _find(plan: Plan, cancel: threading.Event | None) -> Findings:
    problems = []
    text = render_cuda(plan)
    told, architecture = "", f"sm_{CAPABILITY.replace('.', '')}"
    resources: tuple[KernelResources, ...] = ()
    traces: tuple[LaunchTrace, ...] = ()
    if find_compilers():
        try:
            binary = compile_for_device(plan, text.source, architecture)
            told, resources = f"as {binary.compiler.name} says for {architecture}", binary.resources
        except StencilError as error:
            problems.append(str(error))
    else:
        problems.append(
            "Registers are assumed, because no CUDA compiler is here. Type: pip install 'stencil-workbench[cuda-check]'"
        )
    extents = small_extents(plan.graph.dim)
    try:
        traces = trace_plan(plan, extents, cancel)
    except BuildCancelledError:
        raise
    except StencilError as error:
        problems.append(str(error))
    return Findings(resources, told, traces, extents, "\n".join(problems))


def _key(plan: Plan) -> tuple[object, ...]:
    choices = plan.choices.plan
    return render_cuda(plan).digest, choices.device, choices.loops
