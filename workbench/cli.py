"""The command `workbench`: what the package offers outside a notebook."""

import argparse
from collections.abc import Sequence

from workbench._version import __version__


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line, one subparser a command."""
    parser = argparse.ArgumentParser(prog="workbench", description="Stencils from a notebook cell to CPU and GPU.")
    parser.add_argument("--version", action="version", version=f"stencil-workbench {__version__}")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status. `arguments` defaults to those of the process."""
    parser = build_parser()
    parser.parse_args(arguments)
    parser.print_help()
    return 0
