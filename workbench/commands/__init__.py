"""Commands of the program `workbench`, one module each; `workbench.cli` parses the command line and calls them."""
