"""Synthesizer: release, fit and sample behind the familiar two verbs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

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
from pointillist.watching import watched

if TYPE_CHECKING:  # scikit-learn has no types

    class _Base:
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...

else:
    _Base = BaseEstimator


class NotFitted(UsageError, NotFittedError):  # type: ignore[misc]
    """Asked for rows before anything was fitted; scikit-learn's own error as well."""


class Synthesizer(_Base):
    """`Synthesizer(schema, epsilon=1.0).fit(frame).sample(1000)`.

    After `fit`, `release_` holds the public release and `model_` the fitted model. Fitting again spends again: in a search
    over settings, every fit is a release of its own. Settings are scikit-learn's parameters (`get_params`, `set_params`,
    `clone`); they are checked when `fit` is called, before anything is spent.
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
        self.generator = generator  # as it was given: `clone` asks for the same object

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:  # scikit-learn's own would print the schema's facts
        fitted = f", fitted to release {self.release_.id[:8]}" if hasattr(self, "release_") else ""
        return f"<Synthesizer: epsilon = {self.epsilon}, delta = {self.delta}{fitted}>"

    def _repr_html_(self) -> str:
        from pointillist.pages.notebook import Box

        settings = [f"{name}: {value!r}" for name, value in self.get_params(deep=False).items() if value is not None]
        return Box("Synthesizer", "fitted" if hasattr(self, "model_") else "not fitted", settings).to_html()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.two_d_array = False  # a table with names, as the schema has them; not an array of numbers
        tags.no_validation = True
        tags.non_deterministic = True  # privacy noise has no seed
        return tags

    @watched
    def fit(self, table: Any, y: None = None, *, progress: Progress = silent) -> Self:
        """Measure the table once, with noise, and fit a model to the release.

        `y` is there for scikit-learn's pipelines and must be None: what is to be predicted is a column of the table.
        """
        if y is not None:
            raise UsageError(
                "y must be None: put what is to be predicted into the table, and name its column by target=."
            )
        generator = None if self.generator is None else generator_named(self.generator)
        if generator is not None:
            schema = self.schema if isinstance(self.schema, Schema) else Schema.load(self.schema)
            generator_for(schema, generator)  # better known before anything is spent
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
        self.model_ = fit(self.release_, generator=generator, seed=self.seed, progress=progress)
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
            raise NotFitted("call fit(table) before sample().")
        return self.model_.sample(count, given=given, balance=balance, seed=seed, frame=frame)
