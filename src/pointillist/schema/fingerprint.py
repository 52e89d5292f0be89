"""Fingerprint: a short text that stands for a whole schema."""

import hashlib
import json

from pointillist.schema.schema import Schema


def fingerprint(schema: Schema) -> str:
    """A hash that two schemas share only if they state the same."""
    return hashlib.sha256(json.dumps(schema.to_json(), sort_keys=True).encode()).hexdigest()
