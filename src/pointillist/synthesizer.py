"""Synthesizer: release, fit and sample behind the familiar two verbs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pointillist.curator.releasing import release
from pointillist.errors import UsageError
from pointillist.generators import generator_for, generator_named
from pointillist.generators.base import GeneratorSettings
from pointillist.methods import Method
from pointillist.methods.fit import fit
from pointillist.model import Model
from pointillist.privacy.budget import DEFAULT_DELTA
from pointillist.privacy.ledger import Ledger
from pointillist.progress import Progress, silent
from pointillist.release import Release
from pointillist.schema import Schema


class Synthesizer:
    """`Synthesizer(schema, epsilon=1.0).fit(frame).sample(1000)`.

    After `fit`, `release_` holds the public release and `model_` the fitted model. Fitting again spends again.
    """

    release_: Release
    model_: Model

    def __init__(
        self,
        schema: Schema | str | Path,
        *,
        epsilon: float,
        delta: float = DEFAULT_DELTA,
        target: str | Sequence[str] | None = None,
        neighbours: str = "add-remove",
        method: str | Method | None = None,
        generator: str | GeneratorSettings | None = None,
        seed: int = 0,
        ledger: Ledger | str | Path | None = None,
    ):
        self.schema, self.epsilon, self.delta, self.target = schema, epsilon, delta, target
        self.neighbours, self.method, self.seed, self.ledger = neighbours, method, seed, ledger
        self.generator = None if generator is None else generator_named(generator)

    def fit(self, table: Any, *, progress: Progress = silent) -> Self:
        """Measure the table once, with noise, and fit a model to the release."""
        if self.generator is not None:
            schema = self.schema if isinstance(self.schema, Schema) else Schema.load(self.schema)
            generator_for(schema, self.generator)  # better known before anything is spent
        self.release_ = release(
            table,
            self.schema,
            epsilon=self.epsilon,
            delta=self.delta,
            target=self.target,
            neighbours=self.neighbours,
            method=self.method,
            ledger=self.ledger,
            progress=progress,
        )
        self.model_ = fit(self.release_, generator=self.generator, seed=self.seed, progress=progress)
        return self

    def sample(
        self,
        count: int | None = None,
        *,
        given: Mapping[str, Any] | None = None,
        balance: str | None = None,
        seed: int | None = None,
        frame: str | None = None,
    ) -> Any:
        """Synthetic rows in the kind of frame that was fitted; `Model.sample` says what the arguments mean."""
        if not hasattr(self, "model_"):
            raise UsageError("call fit(table) before sample().")
        return self.model_.sample(count, given=given, balance=balance, seed=seed, frame=frame)
