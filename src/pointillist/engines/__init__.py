"""Engines: how the pass over the records is run."""
