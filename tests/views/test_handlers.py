"""What pages say is heard at once, whatever else goes on; what a view takes it gives back; for every kind of view."""

import gc
import threading
import weakref

import numpy as np
import pytest
from ipywidgets import Widget

import workbench as wb
from tests.kit.waiting import wait_for
from workbench.views.inspection.inspection import Inspection
from workbench.views.kinds import VIEWS
from workbench.views.page.canvas import _canvases
from workbench.views.page.live import CLOSED_ADVICE, MIME

PATIENCE = 60
MACHINE = wb.trace(
    """\
u = field("u", boundary="periodic")
c = param("c", 0.1)
a = u[+1] - u[-1]
u.next = u + c * (a[+1] - a[-1])
""",
    name="trade",
).annotate("a", "delayed")
MESSAGES = (
    {"type": "ready"},
    {"type": "opened", "view": "v1", "bokeh": "", "dark": True},
    {"type": "step"},
    {"type": "set", "name": "c", "value": 0.2},
    {"type": "reset"},
    {"type": "point", "column": 1, "row": 0},
    {"type": "tool", "name": "undo", "value": ""},
    {"type": "button", "name": "undo"},
    {"type": "key", "key": "Enter"},
    {"type": "theme", "dark": False},
    {"type": "drawn", "number": 1},
    {"type": "nonsense"},
)


class Opened:
    """One view of a kind with its inspection and simulation, and its end of the wire."""

    def __init__(self, kind):
        self.simulation = MACHINE.simulate(u=np.sin(np.arange(32.0)), backend="reference")
        self.inspection = Inspection(MACHINE, simulation=self.simulation)
        before = set(_canvases)
        self.steps = VIEWS[kind].of == "simulation"  # pages of these may run it
        if self.steps:
            self.view = VIEWS[kind].open(self.simulation, "u")
        else:
            self.view = VIEWS[kind].open(self.inspection)
        self.pages = [canvas for name, canvas in _canvases.items() if name not in before]
        assert self.pages

    def hear(self, *messages):
        for page in self.pages:
            for message in messages:
                page.hear(message)

    def close(self):
        self.view.close()
        self.simulation.close()


@pytest.fixture(params=VIEWS)
def opened(request):
    made = Opened(request.param)
    yield made
    made.close()


def test_handlers_wait_for_nobody(opened):
    opened.simulation._owner.reserve("a run that never comes to a whole step")
    held, free, done = threading.Event(), threading.Event(), threading.Event()

    def hold():
        with opened.inspection._lock:
            held.set()
            free.wait(PATIENCE)

    def hear():
        opened.hear(*MESSAGES)
        for page in opened.pages:
            page.listener.leave()
        done.set()

    threading.Thread(target=hold, daemon=True).start()
    assert held.wait(PATIENCE)
    threading.Thread(target=hear, daemon=True).start()
    try:
        assert done.wait(PATIENCE), "a handler of messages waits for a lock or for the simulation"
    finally:
        free.set()
        opened.simulation._owner.release()


def test_handlers_leave_the_work_to_other_threads(opened):
    seen = set()
    for topic in ("plan", "selection", "comparison"):
        opened.inspection.on(topic, lambda _: seen.add(threading.get_ident()))
    opened.simulation._state.march = noting(opened.simulation._state.march, seen)
    opened.hear(*MESSAGES)
    if opened.steps:
        wait_for(lambda: seen)
    opened.view.close()  # waits for what is under way
    assert threading.get_ident() not in seen


def noting(function, seen):
    def noted(*arguments):
        seen.add(threading.get_ident())
        return function(*arguments)

    return noted


def test_closing_gives_everything_back(opened):
    opened.view._repr_mimebundle_()
    opened.hear(*MESSAGES)
    threads = {thread.name for thread in threading.enumerate()}
    assert threads & {"field view", "bokeh pane", "plan view", "source view"}
    models, gone = {page.model_id for page in opened.pages}, weakref.ref(opened.view)
    opened.view.close()
    opened.view.close()
    names = ("view", "bokeh pane", "launch facts", "compiler report")
    wait_for(lambda: not [t for t in threading.enumerate() if t.name.endswith(names)])
    opened.view = opened.inspection = Closed()
    opened.pages = []
    gc.collect()
    assert gone() is None
    assert not models & set(_canvases)
    assert not models & {widget.model_id for widget in living_widgets()}
    assert not opened.simulation._state.watches._all


def test_closed_view_says_how_to_get_another(opened):
    assert CLOSED_ADVICE not in opened.view._repr_mimebundle_()["text/plain"]
    opened.view.close()
    bundle = opened.view._repr_mimebundle_()
    assert bundle["text/plain"].endswith(CLOSED_ADVICE)
    assert bundle[MIME] == {"version": 1, "closed": True}


class Closed:
    """In place of a view that the fixture would close once more."""

    def close(self):
        pass


def living_widgets():
    from ipywidgets.widgets import widget as module

    return [each for each in module._instances.values() if isinstance(each, Widget)]


def test_nothing_runs_before_a_page_is_there(opened):
    opened.view._repr_mimebundle_()
    running = [thread.name for thread in threading.enumerate()]
    assert not [name for name in running if name.endswith(("view", "bokeh pane"))]
