"""Live: what every view says to a notebook, so that the page finds its live form."""

MIME = "application/vnd.stencil-workbench.view+json"
"""The labextension draws {"version": 1, "model_id": ...} live, or shows the picture beside it if the model is gone."""

LIVE_ADVICE = "For a live view type: pip install 'stencil-workbench[lab]'"
