"""The exam of the hydrodynamics solver (Paraiso §4.1, fig. 10): accuracy, and what must hold to the last bit.

    from workbench.solvers.exam import run_exam
    print(run_exam(dims=(1,), resolutions=(16, 32, 64), genomes=2))

`workbench exam` is the same as a command.
"""

from workbench.solvers.exam.accuracy import PROBLEMS, SCHEMES, Series, measure_error
from workbench.solvers.exam.course import RESOLUTIONS, Course, Exam, run_exam
from workbench.solvers.exam.invariance import Check
from workbench.solvers.exam.random_genomes import random_genome

__all__ = [
    "PROBLEMS",
    "RESOLUTIONS",
    "SCHEMES",
    "Check",
    "Course",
    "Exam",
    "Series",
    "measure_error",
    "random_genome",
    "run_exam",
]
