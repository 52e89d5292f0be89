"""Schema: what is public about a table. Columns by kind, levels, constraints, selections."""

from pointillist.schema.kinds import *  # noqa: F403
from pointillist.schema.kinds import __all__ as _kinds
from pointillist.schema.person import Person
from pointillist.schema.schema import Schema
from pointillist.schema.texts import MISSING_TEXTS

__all__ = ["MISSING_TEXTS", "Person", "Schema", *_kinds]  # noqa: PLE0604
