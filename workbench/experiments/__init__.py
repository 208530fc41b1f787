"""Experiments: what is measured of solvers, plans and machines: accuracy, the cost of storing, memory of large runs."""
