"""Commands of the program `workbench`, one module each; `parser` has their options, and `workbench.cli` calls them."""
