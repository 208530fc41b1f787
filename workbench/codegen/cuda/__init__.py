"""CUDA: a kernel's plan as `__global__` functions and the launches of its steps."""
