"""What is seen where neither ipywidgets nor bokeh is installed."""

import subprocess
import sys

PROGRAM = '''
import sys

class Missing:
    """As if these had never been installed."""
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("ipywidgets", "bokeh", "IPython", "comm", "traitlets"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

import importlib.util
found = importlib.util.find_spec
def find_spec(name, package=None):
    try:
        return found(name, package)
    except ModuleNotFoundError:
        return None
importlib.util.find_spec = find_spec
sys.meta_path.insert(0, Missing())

import base64
import numpy as np
import workbench as wb
made = wb.trace('u = field("u", boundary="periodic")\\nw = u[+1, 0]\\nu.next = w + 1')
sim = made.simulate(u=np.eye(3), backend="reference")
view = sim.view("w")
opened = [made.view(kind) for kind in ("graph", "plan", "source", "launch")] + [made.inspect(sim)]
for other in opened:
    shown = other._repr_mimebundle_()
    assert {"image/png", "text/html"} & set(shown), other
    assert "stencil-workbench[lab]" in shown["text/plain"], other
bundle = view._repr_mimebundle_()
print(sorted(bundle))
print(base64.b64decode(bundle["image/png"])[1:4].decode())
print(bundle["text/plain"].splitlines()[-1])
view.save(sys.argv[1] + "/w.svg")
view.record(sys.argv[1] + "/w.gif", frames=2)
'''


def test_view_is_a_picture_that_names_the_extra(tmp_path):
    ran = subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True)
    assert ran.stdout.splitlines() == [
        "['image/png', 'text/plain']",
        "PNG",
        "For a live view type: pip install 'stencil-workbench[lab]'",
    ], ran.stderr
    assert (tmp_path / "w.svg").read_text().startswith("<svg ")
    assert (tmp_path / "w.gif").read_bytes().startswith(b"GIF89a")
