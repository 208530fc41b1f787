"""Plan: sub-kernels, memory and roofline of a plan."""
