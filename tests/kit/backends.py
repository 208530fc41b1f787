"""The ways of running a program whose results must equal the reference's, to the bit."""

# Backend and threads. Two threads share cells evenly, three do not.
WAYS = (("openmp", 1), ("openmp", 2), ("openmp", 3), ("cuda-sim", 0))
