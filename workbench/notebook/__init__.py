"""The notebook: magics, completion and cards; the only room, with the views, that knows IPython."""
