"""The first result of a cell in a new process, by parts: python first_result.py MOMENT SCHEDULE CELLS < cell.

MOMENT is when the process was asked for, by the clock of `time.perf_counter`, which is the system's on Linux. Prints
seconds as JSON: import (with the start of Python), trace, plan, text, compiler, backends (looking for a compiler and
devices), run (all else: arrays, the first march, reading the field) and all of them together.
"""

import json
import sys
import time

MOMENT, SCHEDULE, CELLS = float(sys.argv[1]), sys.argv[2], int(sys.argv[3])
STEPS = 128  # as the quickstart does before its second curve


class Parts:
    """Seconds of each part; one inside another is not counted twice."""

    def __init__(self, moment):
        self.seconds, self._open, self._last = {}, ["import"], moment

    def close(self):
        """Count what has passed since the last change for what is open."""
        now = time.perf_counter()
        self.seconds[self._open[-1]] = self.seconds.get(self._open[-1], 0.0) + now - self._last
        self._last = now

    def begin(self, part):
        self.close()
        self._open.append(part)

    def end(self):
        self.close()
        self._open.pop()

    def time(self, holder, name, part):
        """Count what a function or method takes for a part from now on."""
        function = getattr(holder, name)

        def timed(*given, **named):
            self.begin(part)
            try:
                return function(*given, **named)
            finally:
                self.end()

        setattr(holder, name, timed)


def main():
    parts = Parts(MOMENT)
    import numpy as np

    import workbench as wb
    from workbench import pipeline
    from workbench.backends import host_backend
    from workbench.backends.cuda import CudaBackend
    from workbench.backends.openmp import OpenmpBackend

    parts.time(wb, "trace", "trace")
    parts.time(pipeline, "_plan_once", "plan")
    parts.time(OpenmpBackend, "_render", "text")
    parts.time(host_backend, "build", "compiler")
    for kind in (CudaBackend, OpenmpBackend):
        parts.time(kind, "availability", "backends")
    text = sys.stdin.read()
    parts.begin("run")
    wave = wb.trace(text, 1, name="wave")
    x = np.linspace(0, 2 * np.pi, CELLS, endpoint=False)
    simulation = wave.simulate(u=np.exp(-20 * (x - np.pi) ** 2), v=0.0, schedule=SCHEDULE)
    simulation.run(STEPS)
    read = float(simulation.u[0])
    parts.end()
    assert np.isfinite(read)
    print(json.dumps({**parts.seconds, "all": time.perf_counter() - MOMENT}))


if __name__ == "__main__":
    main()
