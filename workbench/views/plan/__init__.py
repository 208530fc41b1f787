"""Plan view: sub-kernels, memory and roofline of a plan."""
