"""The vocabulary of a cell for scripts and modules: from workbench.language import *.

It also exports names for authors of solvers: the classes of vectors and boundary rules, and the largest dimension and
order of accuracy.
"""

from workbench.frontend.boundaries import Rule as Rule
from workbench.frontend.finite_differences import HIGHEST_ACCURACY as HIGHEST_ACCURACY
from workbench.frontend.language import *  # noqa: F403  # the list is frontend.language.__all__
from workbench.frontend.language import __all__ as __all__
from workbench.frontend.tensors import Tensor as Tensor
from workbench.frontend.trace import MOST_DIMENSIONS as MOST_DIMENSIONS
