"""Why a test may be skipped: each reason once, by name, so that no test goes missing unseen."""

# A skip's reason starts with one of these; what follows may say more. With WORKBENCH_CI=1 any other skip is a failure.
EXPECTED_SKIPS: tuple[str, ...] = (
    "no CUDA device",
    "no CUDA compiler",  # neither nvcc nor NVRTC
    "no CuPy",
    "no system to compare with",  # Numba, JAX, Halide, torch: extras that no test needs
    "no scheduling policy of one thread",  # elsewhere than Linux
)


def is_expected(reason):
    return reason.removeprefix("Skipped: ").startswith(EXPECTED_SKIPS)
