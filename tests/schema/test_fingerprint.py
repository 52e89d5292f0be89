"""A schema's fingerprint."""

import pointillist as pt
from pointillist.schema.fingerprint import fingerprint


def test_it_is_the_same_for_the_same_facts_alone() -> None:
    schema = pt.Schema(name="p", columns={"a": pt.Boolean(), "b": pt.Integer(min=0, max=9)})
    assert fingerprint(schema) == fingerprint(pt.Schema.from_json(schema.to_json()))
    assert fingerprint(schema) != fingerprint(schema.model_copy(update={"name": "q"}))
