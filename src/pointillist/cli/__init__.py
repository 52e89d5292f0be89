"""The command line: one command for each step, and one for all of them; each stands in the file of its name."""

from pointillist.cli.app import main

# Importing a command registers it. Within a panel, help lists commands in this order.
from pointillist.cli import (  # isort: skip
    demo,
    schema,
    methods,
    extractor,
    release,
    plan,
    join,
    contribute,
    merge,
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
    "contribute",
    "demo",
    "errors",
    "evaluate",
    "extractor",
    "fit",
    "inspect",
    "join",
    "ledger",
    "main",
    "merge",
    "methods",
    "plan",
    "query",
    "release",
    "sample",
    "schema",
    "synth",
]
