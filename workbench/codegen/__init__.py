"""Plan to source: operators' spelling, expressions, templates, and a line map from text to nodes and cell lines."""
