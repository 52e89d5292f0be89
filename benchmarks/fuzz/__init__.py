"""Hostile inputs for everything that reads one: `python -m benchmarks.fuzz`."""
