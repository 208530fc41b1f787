"""Backends: compile source and run its kernels; all implement the protocols in `backends/base`."""
