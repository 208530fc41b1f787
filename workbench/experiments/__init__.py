"""Experiments with solvers: accuracy, speed of storing against recomputing, memory of large runs."""
