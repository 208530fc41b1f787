"""The exam of the hydrodynamics solver (Paraiso §4.1, fig. 10): accuracy, and what must hold to the last bit.

    from workbench.experiments.exam import run_exam
    print(run_exam(dims=(1,), resolutions=(16, 32, 64), genomes=2))

`workbench exam` is the same as a command; `--results FILE` lets a long one be stopped and taken up again.
"""

from workbench.experiments.exam.accuracy import PROBLEMS, SCHEMES, Series, measure_error
from workbench.experiments.exam.course import PLACEMENTS, RESOLUTIONS, Course, Exam, run_exam
from workbench.experiments.exam.invariance import Check
from workbench.experiments.exam.plans import PlansExam, examine_plans, read_plan
from workbench.experiments.exam.random_genomes import random_genome
from workbench.experiments.exam.results import ExamResults

__all__ = [
    "PLACEMENTS",
    "PROBLEMS",
    "RESOLUTIONS",
    "SCHEMES",
    "Check",
    "Course",
    "Exam",
    "ExamResults",
    "PlansExam",
    "Series",
    "examine_plans",
    "measure_error",
    "random_genome",
    "read_plan",
    "run_exam",
]
