"""Seconds from a flip to its code running, cold and cached; run: python tests/bench/bench_flip.py [cells [flips]].

The wave machine runs in the background all the time. Cold: each wish is a plan that no compiler has seen; the cache is
a new folder. Cached: the same plans again, from the libraries of this process, and after it has forgotten them.
"""

import os
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import workbench as wb
from tests.programs.wave import TEXT, start
from workbench import pipeline
from workbench.planning.choices import Choices, PlanChoices
from workbench.planning.sites import storage_sites


def flips(simulation, keys):
    """Seconds of each wish, one after the other."""
    seconds = []
    for key in keys:
        report = simulation.replan(Choices(plan=PlanChoices().changed(manifest=frozenset([key])))).wait()
        seconds.append((report.seconds, report.compile_seconds))
    return seconds


def show(label, seconds):
    whole, compiler = zip(*seconds, strict=True)
    print(
        f"{label:<28} median {statistics.median(whole):.3f} s, worst {max(whole):.3f} s; "
        f"compiler median {statistics.median(compiler):.3f} s ({len(whole)} flips)"
    )


def main():
    cells = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    flips_wanted = int(sys.argv[2]) if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WORKBENCH_CACHE"] = folder
        machine = wb.trace(TEXT, name="wave")
        keys = [site.key for site in storage_sites(machine.plan().graph)]
        keys = keys[:flips_wanted]
        with machine.simulate(**start(cells), backend="openmp", threads=1) as simulation:
            simulation.start()
            print(f"wave of {cells} cells, running; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")
            show("cold", flips(simulation, keys))
            show("cached in this process", flips(simulation, keys))
            pipeline._programs.clear()
            show("cached in the folder", flips(simulation, keys))


main()
