"""Fitting: what both adapters do with a table. What was paid for is kept, whatever fails after it."""

from collections.abc import Collection
from typing import Any

from pointillist.adapters.facts import Asked, Facts
from pointillist.synthesizer import Synthesizer


class Fitting:
    """Facts and settings, and what has been made of them so far."""

    def __init__(self, facts: Facts, asked: Asked):
        self.facts, self.asked = facts, asked
        self.synthesizer: Synthesizer | None = None
        """What does the work, once there is a release: `release_` is there even where no model could be fitted to it."""

    def fit(self, data: Any, described: Any, left_out: Collection[str] = ()) -> Synthesizer:
        """Release the table and fit a model. A schema is bought of what is `described`, once, and serves later fits, too."""
        self.facts = self.facts.settled(described, left_out, self.asked)
        assert self.facts.schema is not None
        made = Synthesizer(self.facts.schema, **vars(self.asked))
        try:
            return made.fit(data)
        finally:
            if hasattr(made, "release_"):
                self.synthesizer = made
