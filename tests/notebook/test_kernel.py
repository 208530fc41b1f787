"""A real kernel process: what a front end receives."""

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter

from tests.notebook.cells import BAD, HEAT
from tests.notebook.conftest import SECONDS


def test_a_cell_shows_its_card(kernel):
    ((kind, content),) = kernel.run(HEAT)
    assert kind == "display_data"
    assert content["data"]["text/plain"].startswith("heat: 1-D machine")
    assert 'class="swb-card"' in content["data"]["text/html"]


def test_an_error_arrives_without_machinery(kernel):
    ((kind, content),) = kernel.run(BAD)
    assert kind == "error"
    assert content["ename"] == "TraceError"
    assert content["evalue"].startswith("line 3: 'if' needs")
    text = "\n".join(content["traceback"])
    assert 'File "<stencil bad>", line 3' in text
    assert "workbench/" not in text
    assert "IPython" not in text


def test_a_usage_error_has_no_traceback(kernel):
    ((kind, content),) = kernel.run("%%stencil heat --backend tpu\npass")
    assert kind in ("stream", "error")
    assert "invalid choice: 'tpu'" in (content.get("text") or content["evalue"])


def test_a_simulation_in_the_next_cell(kernel):
    kernel.run(HEAT)
    assert not [kind for kind, _ in kernel.run("sim = heat.simulate(u=1.0, shape=16)\nsim.run(5);") if kind == "error"]
    ((kind, content),) = kernel.run("print(sim.steps, float(sim.u.sum()))")
    assert (kind, content["text"]) == ("stream", "5 16.0\n")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("%%stencil wave --backend op", ["openmp"]),
        ("%%stencil wave --boun", ["--boundary"]),
        ("%%stencil wave --boundary=per", ["periodic"]),
    ],
)
def test_the_option_line_offers_options_and_nothing_else(kernel, code, expected):
    assert kernel.complete(code + "\nu = field('u')", len(code)) == expected


def test_the_body_offers_own_names_vocabulary_and_python(kernel):
    head = '%%stencil wave\ndensity = field("density")\n'
    assert "density" in kernel.complete(head + "den")
    assert "reduce_sum" in kernel.complete(head + "reduce_s")
    assert "density.next" in kernel.complete(head + "density.ne")
    kernel.run("notebook_number = 3")
    assert "notebook_number" in kernel.complete(head + "notebook_n")


def test_words_complete_as_what_they_are(kernel):
    head = '%%stencil wave\ndensity = field("density")\ndef flux(a):\n    return a\n'
    assert kernel.kinds(head + "reduce_s")["reduce_sum"] == "function"
    assert kernel.kinds(head + "fl")["flux"] == "function"
    assert kernel.kinds(head + "density.a")["density.at"] == "function"


def test_shift_tab_in_a_cell_explains_its_words(kernel):
    head = '%%stencil wave\ndensity = field("density")\n'
    shown = kernel.inspect(head + "w = laplacian(density, ")
    assert shown.startswith("laplacian(u, dx, accuracy=2, form='cross')\n\nThe sum of the second derivatives")
    assert 'u.next = laplacian(u, 1.0, form="star")\n    # line 2: form=' in shown
    assert kernel.inspect(head + "w = density.at(").startswith("u.at(offset, axis)")
    kernel.run("def my_own_flux(a):\n    'Of the notebook.'")
    assert "Of the notebook." in kernel.inspect(head + "w = my_own_flux(")
    assert kernel.inspect("w = laplacian(density, ").startswith(
        "laplacian("
    )  # as long as it is no name of the notebook
    assert kernel.inspect("w = laplacians(density, ") == ""
    assert kernel.inspect(head + "sin = density\nw = sin") == ""


def test_other_cells_complete_as_before(kernel):
    assert "reduce_sum" not in kernel.complete("reduce_s")


def test_an_exported_notebook_keeps_text_and_html(tmp_path):
    cells = ["%load_ext workbench", HEAT]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    (output,) = notebook.cells[1].outputs
    assert set(output.data) == {"text/plain", "text/html"}
    page, _ = HTMLExporter().from_notebook_node(notebook)
    assert 'aria-label="machine heat"' in page
    assert "sim = heat.simulate(u=..., k=0.2)" in page


def test_a_front_end_reads_and_watches_the_registry_while_a_cell_runs(kernel):
    """A comm of the front end's own, opened on a subshell as JupyterLab does."""
    client = kernel.client
    session = client.session

    def say(kind, content, subshell=None):
        message = session.msg(kind, content)
        if subshell is not None:
            message["header"]["subshell_id"] = subshell
        channel = client.control_channel if kind.endswith("subshell_request") else client.shell_channel
        channel.send(message)
        return message["header"]["msg_id"]

    def heard(wanted):
        while True:
            message = client.get_iopub_msg(timeout=SECONDS)
            if message["msg_type"] == "comm_msg" and message["content"]["comm_id"] == "watch":
                data = message["content"]["data"]
                if wanted(data):
                    return data

    kernel.run("import numpy as np, threading, workbench as wb")
    asked = say("create_subshell_request", {})
    reply = client.get_control_msg(timeout=SECONDS)
    assert reply["parent_header"]["msg_id"] == asked
    subshell = reply["content"]["subshell_id"]
    say("comm_open", {"comm_id": "watch", "target_name": "stencil-workbench.registry", "data": {}}, subshell)
    opening = heard(lambda data: data["type"] == "snapshot")
    assert opening["number"] == 1
    client.execute(
        "watched = wb.trace('u = field(\"u\", boundary=\"periodic\")\\nu.next = u[+1] - u[-1]', name='watched')\n"
        "probe = watched.simulate(u=np.arange(8.0), backend='reference')\n"
        "let_go = threading.Event()\n"
        "from workbench.views.registry import channel as registry_channel\n"
        "while registry_channel._channels: let_go.wait(0.05)\n"
        "probe.close(); print('closed while the cell ran')"
    )
    changed = heard(lambda data: any(row["machine"] == "watched" for row in data["simulations"]))
    (row,) = [row for row in changed["simulations"] if row["machine"] == "watched"]
    assert row["extents"] == [8]
    say("comm_close", {"comm_id": "watch", "data": {}}, subshell)
    while True:
        message = client.get_iopub_msg(timeout=SECONDS)
        if message["msg_type"] == "stream":
            assert message["content"]["text"] == "closed while the cell ran\n"
            break
    say("delete_subshell_request", {"subshell_id": subshell})
    client.get_control_msg(timeout=SECONDS)
    kernel.run("pass")
