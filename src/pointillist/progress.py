"""Progress: how long work says how far it is."""

from collections.abc import Callable

Progress = Callable[[str, float], None]
"""Told the step under way and how much of it is done, from 0 to 1."""

_WORDS = {
    "fit": "fitting the generator", "write": "writing", "evaluate": "comparing with the real data",
    "audit": "attacking", "train": "training the extractor", "refits": "fitting again with fresh noise",
}  # fmt: skip


def silent(step: str, fraction: float) -> None:
    """For work that nobody watches."""


def in_words(step: str) -> str | None:
    """What a step is called where people read it; none if nobody has to wait for it."""
    if step.startswith("pass"):
        return step.replace("pass", "reading the records, pass")
    return step.replace("noise", "drawing noise,") if step.startswith("noise") else _WORDS.get(step)
