"""Inspector: graph, source, plan and launch views of a machine, with a field view, in one widget."""
