"""The command line: one command for each step, and one for all of them; each stands in the file of its name."""

from pointillist.cli.app import main

# Importing a command registers it. Within a panel, help lists commands in this order.
from pointillist.cli import (  # isort: skip
    demo,
    schema,
    methods,
    extractor,
    release,
    fit,
    sample,
    synth,
    query,
    errors,
    evaluate,
    card,
    audit,
    inspect,
    ledger,
)

__all__ = [
    "audit",
    "card",
    "demo",
    "errors",
    "evaluate",
    "extractor",
    "fit",
    "inspect",
    "ledger",
    "main",
    "methods",
    "query",
    "release",
    "sample",
    "schema",
    "synth",
]
