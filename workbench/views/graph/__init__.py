"""Graph: values and their dependencies, drawn as a graph in which choices are flipped."""
