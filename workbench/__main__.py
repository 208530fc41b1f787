"""`python -m workbench`: the same as the command `workbench`."""

import sys

from workbench.cli import main

sys.exit(main())
