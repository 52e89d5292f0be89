"""A model in a terminal: what it makes, and the promise behind it."""

from collections.abc import Callable

import pointillist as pt
from pointillist.cli.show.model import show_model

Shown = Callable[[], list[str]]


def test_a_model_of_a_table(schema: pt.Schema, random_model: Callable[..., pt.Model], shown: Shown) -> None:
    model = random_model(schema, rows=1234.5)
    show_model(model)
    lines = shown()
    text = " ".join(" ".join(lines).split())
    assert lines[0] == "Model of people, fitted to release none"
    assert model.guarantee.sentence() in text
    assert f"It is {model.generator.describe()} over 6 columns; about 1,234 private rows by its noisy count." in text
    assert {line.split()[0] for line in lines if line} >= set(schema.columns)
