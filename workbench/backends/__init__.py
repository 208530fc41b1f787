"""Backends: source to running kernels, each with the same contract (`base`)."""
