"""What the command `workbench` does: one command a module; `workbench.cli` reads the command line and calls them."""
