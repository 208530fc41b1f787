"""Solvers: programs in the language of a cell that are ready to run, each a module with `machine(...)`."""
