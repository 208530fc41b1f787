"""Code generation: from a plan to source text, with a map from its lines to nodes and to lines of the cell."""
