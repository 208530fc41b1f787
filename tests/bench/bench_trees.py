"""Speed and error of sums by a tree: python -m tests.bench.bench_trees [N ...] [--rounds R] [--of cube | plummer].

Gravity on N bodies in f64, one thread: later calls in processor time, the least of R rounds, in which all angles and
the sum over all pairs take turns. That sum is taken for 2,000 targets spread over all bodies, and its time is scaled to
N of them; errors are those of these targets, root mean squares relative to that of the accelerations.
"""

import argparse
import time

import numpy as np

from workbench.programs import n_body

SIZES, ANGLES, TARGETS = (10_000, 100_000, 1_000_000), (0.3, 0.5, 0.7), 2000


def bodies(of, n):
    """Places and masses: at random in a cube, or Plummer's sphere without its outermost hundredth."""
    draw = np.random.default_rng(n)
    if of == "cube":
        x = draw.random((3, n))
    else:
        along = draw.normal(size=(3, n))
        x = along / np.linalg.norm(along, axis=0) / np.sqrt((0.99 * draw.random(n)) ** (-2 / 3) - 1)
    return dict(zip("xyz", x, strict=True)) | {"m": np.full(n, 1 / n)}


def timed(call):
    """Processor seconds, and the accelerations as one array."""
    begin = time.process_time()
    found = call()
    return time.process_time() - begin, np.array([found[name] for name in ("ax", "ay", "az")])


def measure(of, n, rounds):
    """Print the row of a size."""
    given, pairs, tree = bodies(of, n), n_body.machine(), n_body.machine(tree=True)
    some = np.unique(np.linspace(0, n - 1, TARGETS).astype(int))
    targets = {name: given[name][some] for name in "xyz"}
    how = {"backend": "openmp", "threads": 1}
    calls = [lambda: pairs(targets=targets, sources=given, **how)]
    calls += [lambda theta=theta: tree(**given, theta=theta, **how) for theta in ANGLES]
    for warm in (pairs, tree):
        warm(**{name: values[:100] for name, values in given.items()}, **how)
    least, found = [np.inf] * len(calls), [np.empty(0)] * len(calls)
    for _ in range(rounds):
        for number, call in enumerate(calls):
            seconds, found[number] = timed(call)
            least[number] = min(least[number], seconds)
    scale = np.sqrt((found[0] ** 2).mean())
    errors = [np.sqrt(((each[:, some] - found[0]) ** 2).mean()) / scale for each in found[1:]]
    print(f"{n:9,}  {least[0] * n / len(some):9.2f}", end="")
    for seconds, error in zip(least[1:], errors, strict=True):
        print(f"  {seconds:9.3f} s {error:8.1e}", end="")
    print(flush=True)


def main():
    """Parse the arguments and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--of", choices=("cube", "plummer"), default="cube")
    chosen = parser.parse_args()
    print(f"{'N':>9}  {'all pairs':>9}" + "".join(f"  {f'angle {angle}: time, error':>20}" for angle in ANGLES))
    for n in chosen.sizes:
        measure(chosen.of, n, chosen.rounds)


if __name__ == "__main__":
    main()
