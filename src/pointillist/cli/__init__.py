"""The command line: one command for each step, and one for all of them."""

from pointillist.cli import asking, extracting, judging, keeping, making  # importing them registers their commands
from pointillist.cli.app import main

__all__ = ["asking", "extracting", "judging", "keeping", "main", "making"]
