"""Front end: from the text of a cell, or a Python function, to a graph."""
