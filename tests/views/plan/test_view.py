"""The plan view, with a page that only listens."""

import pytest

from tests.kit.ear import Ear, body
from tests.views.machines import trade_off, wave
from workbench.errors import PlanError
from workbench.solvers import gray_scott
from workbench.views.inspection.inspection import Inspection, Measurement
from workbench.views.inspection.selection import SubkernelRef, value_named
from workbench.views.kinds import VIEWS
from workbench.views.page.live import LIVE_ADVICE, MIME
from workbench.views.plan import view as plan_view
from workbench.views.plan.view import PlanView


@pytest.fixture
def looked_at():
    ear = Ear()
    inspection = Inspection(trade_off("manifest"), backend="openmp")
    view = PlanView(inspection, ear)
    yield ear, inspection, view
    view.close()


def test_a_page_gets_the_table(looked_at):
    ear, _, _ = looked_at
    ear.listener.ready()
    sent = body(ear.wait("table"))
    assert sent["title"] == "Plan of trade"
    assert [row["name"] for row in sent["rows"]] == ["step_0_b", "step_1_u"]
    assert all(len(row["cells"]) == len(sent["columns"]) for row in sent["rows"])
    assert sent["rows"][0]["cells"][-1] == "not measured"
    assert "2 sub-kernels" in sent["caption"]
    assert any(option["label"].startswith("b (Manifest") for option in sent["values"])


def test_a_row_selects_its_sub_kernel_and_a_value_its_rows(looked_at):
    ear, inspection, _ = looked_at
    ear.listener.ready()
    ear.listener.receive({"type": "row", "name": "step_1_u"})
    ear.wait("selected", lambda m: tuple(m.content["rows"]) == ("step_1_u",))
    assert inspection.selection == SubkernelRef("step", "step_1_u")
    inspection.select("a")
    told = ear.wait("selected", lambda m: tuple(m.content["rows"]) == ("step_0_b",)).content
    assert told["text"].startswith("a: Delayed")


def test_values_to_choose_from_are_told_apart():
    inspection = Inspection(gray_scott.machine(dim=2), backend="openmp")
    view = PlanView(inspection, ear := Ear())
    ear.listener.ready()
    labels = [option["label"] for option in body(ear.wait("table"))["values"]]
    view.close()
    assert len(labels) == len(set(labels))
    assert "step (Global)" in labels
    assert len([label for label in labels if label.startswith("reaction (line ")]) == 2


def test_one_may_ask_why_two_values_are_apart(looked_at):
    ear, inspection, view = looked_at
    ear.listener.ready()
    keys = {option["label"].split(" ")[0]: option["value"] for option in body(ear.wait("table"))["values"]}
    b = value_named(inspection.plan, "b")
    ear.listener.receive({"type": "ask", "first": f"{b.node}@step", "second": keys["u.next"]})
    answer = ear.wait("answer").content["text"]
    assert "because it needs b" in answer
    assert view.explain("b", "u") == answer.replace("u.next", "u")
    ear.listener.receive({"type": "ask", "first": "nonsense", "second": keys["u.next"]})
    assert "has no value" in ear.wait("error").content["text"]


def test_a_flip_changes_the_table(looked_at):
    ear, inspection, _ = looked_at
    ear.listener.ready()
    ear.wait("table")
    inspection.flip("b")
    ear.wait("table", lambda m: len(body(m)["rows"]) == 1)


def test_measured_times_arrive(looked_at):
    ear, inspection, view = looked_at
    ear.listener.ready()
    parts = (("step_0_b", 1e-3), ("step_1_u", 2e-3))
    inspection.report_measured(Measurement(inspection.choices, "openmp", (100,), 3.5e-3, parts))
    sent = body(ear.wait("table", lambda m: "measured 3.5 ± 0.1 ms" in body(m)["caption"]))
    assert [row["cells"][-1] for row in sent["rows"]] == ["1 ms", "2 ms"]
    assert view.summary.extents == (100,)


def test_the_host_is_measured_when_asked(looked_at, monkeypatch):
    ear, _, view = looked_at
    figures = plan_view.host_figures()
    monkeypatch.setattr(plan_view, "measure_host", lambda: type(figures)(1e9, 2e9, "measured just now"))
    ear.listener.ready()
    ear.listener.receive({"type": "button", "name": "measure"})
    ear.wait("table", lambda m: any("measured just now" in note for note in body(m)["notes"]))
    assert view.summary.figures.bandwidth == 1e9


def test_the_host_is_not_measured_beside_a_run(looked_at, monkeypatch):
    ear, inspection, _ = looked_at
    monkeypatch.setattr(plan_view, "measure_host", lambda: pytest.fail("measured beside a run"))
    ear.listener.ready()
    with inspection.machine.simulate(u=0.0, shape=8, backend="reference") as simulation:
        simulation.start()
        ear.listener.receive({"type": "button", "name": "measure"})
        ear.wait("error", lambda m: "cannot be measured while a simulation runs" in m.content["text"])


def test_steps_are_a_choice():
    ear = Ear()
    view = PlanView(Inspection(wave()), ear)
    ear.listener.ready()
    ear.listener.receive({"type": "choice", "name": "step", "value": "step, observed"})
    ear.wait("table", lambda m: "energy" in str(body(m)["rows"]))
    with pytest.raises(PlanError, match="no step init"):
        view.show("init")
    view.close()


def test_the_time_of_the_usual_step_is_not_that_of_an_observed_one():
    view = PlanView(Inspection(wave(), backend="openmp"))
    view.inspection.report_measured(Measurement(view.inspection.choices, "openmp", (100,), 1e-3))
    assert view.summary.step_measured == 1e-3
    view.show("step, observed")
    assert view.summary.step_measured is None


def test_static_forms():
    view = PlanView(Inspection(trade_off("manifest")))
    bundle = view._repr_mimebundle_()
    assert "2 sub-kernels" in bundle["text/plain"]
    assert bundle["text/plain"].endswith(LIVE_ADVICE)
    assert "<svg" in bundle["text/html"]
    assert '<th scope="row" role="rowheader">step_<wbr>0_<wbr>b</th>' in bundle["text/html"]
    assert "<script" not in bundle["text/html"]
    assert view.png.startswith(b"\x89PNG")
    assert view.svg.startswith("<svg")
    assert MIME not in bundle


def test_closing_frees_the_page_and_the_listeners(looked_at):
    ear, inspection, view = looked_at
    ear.listener.ready()
    ear.wait("table")
    view.close()
    view.close()
    assert ear.closed
    count = len(ear.heard)
    inspection.flip("b")
    assert len(ear.heard) == count


def test_a_live_view_is_a_box_of_table_and_charts():
    view = VIEWS["plan"].open(trade_off("manifest"))
    try:
        assert view._repr_mimebundle_()[MIME] == {"version": 1, "model_id": view.widget.model_id}
        assert len(view.widget.children) == 2
        view.inspection.flip("b")
        assert "1 sub-kernel" in repr(view)
    finally:
        view.close()
