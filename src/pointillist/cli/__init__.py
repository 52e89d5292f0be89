"""The command line: one command for each step, and one for all of them."""

# isort: off  importing a module registers its commands, and help lists them in this order
from pointillist.cli import asking, extracting, judging, keeping, making
from pointillist.cli.app import main

# isort: on

__all__ = ["asking", "extracting", "judging", "keeping", "main", "making"]
