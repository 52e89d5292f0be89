"""Engines: how the pass over the private rows is run. `base` says what an engine is and how to add one."""

from pointillist.engines.base import ENGINES, Engine, Job, Partial, Sum, engine_for, opened

__all__ = ["ENGINES", "Engine", "Job", "Partial", "Sum", "engine_for", "opened"]
