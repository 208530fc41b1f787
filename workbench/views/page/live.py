"""Live: what every view says to a notebook, so that the page finds its live form."""

import os

MIME = "application/vnd.stencil-workbench.view+json"
"""The labextension draws {"version": 1, "model_id": ...} live, or shows the picture beside it if the model is gone.

It shows the picture of {"version": 1, "closed": true} with a line that says so."""

WIDGET_MIME = "application/vnd.jupyter.widget-view+json"
"""ipywidgets' own form. Once the model is gone JupyterLab shows an error for it, and VS Code what is beside it."""

APART = "stencil-workbench.apart"
"""In the metadata of a message: its bodies need not pass the page where its worker has a connection of its own."""

LIVE_ADVICE = "For a live view type: pip install 'stencil-workbench[lab]'"

CLOSED_ADVICE = "This view was closed. Run the cell that made it to open another."


def still_entries(words: str, *, closed: bool) -> dict[str, object]:
    """The entries of a mime bundle of a view that does not live: its words, and how to get one that does."""
    if not closed:
        return {"text/plain": f"{words}\n{LIVE_ADVICE}"}
    return {"text/plain": f"{words}\n{CLOSED_ADVICE}", MIME: {"version": 1, "closed": True}}


def live_entries(model_id: str) -> dict[str, object]:
    """The entries of a mime bundle by which a page finds the live form: our own, and in VS Code ipywidgets'."""
    entries: dict[str, object] = {MIME: {"version": 1, "model_id": model_id}}
    if in_vscode():
        entries[WIDGET_MIME] = {"version_major": 2, "version_minor": 0, "model_id": model_id}
    return entries


def in_vscode() -> bool:
    """Whether VS Code started this kernel process, or has put the path of its notebook into the names of cells."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()  # type: ignore[no-untyped-call, unused-ignore]
    return "VSCODE_PID" in os.environ or (shell is not None and "__vsc_ipynb_file__" in shell.user_ns)


def in_terminal() -> bool:
    """Whether IPython runs in a terminal, which shows words alone."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()  # type: ignore[no-untyped-call, unused-ignore]
    formatter = None if shell is None else shell.display_formatter
    return formatter is not None and formatter.active_types == ["text/plain"]
