"""Notebook: magics, completion and cards. Only this package and `views` import IPython."""
