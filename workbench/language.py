"""The vocabulary of a cell for scripts and modules: from workbench.language import *."""

from workbench.frontend.language import *  # noqa: F403  # the list is frontend.language.__all__
from workbench.frontend.language import __all__ as __all__
