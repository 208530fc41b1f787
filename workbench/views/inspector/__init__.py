"""Inspector: the whole workbench as one widget."""
