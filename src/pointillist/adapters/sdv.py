"""SDV's verbs: a synthesizer that is used as those of the Synthetic Data Vault are."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pointillist.adapters.facts import Asked, Facts
from pointillist.adapters.fitting import Fitting
from pointillist.adapters.sdv_metadata import Metadata
from pointillist.errors import UsageError
from pointillist.generators.base import GeneratorSettings
from pointillist.methods import Method
from pointillist.model import Model
from pointillist.privacy.budget import DEFAULT_DELTA
from pointillist.privacy.ledger import Ledger
from pointillist.schema import Person, Schema
from pointillist.synthesizer import NotFitted, Synthesizer


class SDVSynthesizer:
    """`SDVSynthesizer(metadata, schema="people.toml", epsilon=1.0)`, then `fit(frame)` and `sample(num_rows=1000)`.

    Metadata say which columns there are, not what they may hold: give a schema, or `schema_epsilon`, `name` and whose a row
    is (`person` or `one_row_per_person`) to buy one. Columns that the metadata call identifiers or personal are left out. It
    needs pandas; it does not need SDV.
    """

    def __init__(
        self,
        metadata: Any,
        *,
        epsilon: float,
        schema: Any = None,
        schema_epsilon: float | None = None,
        name: str | None = None,
        person: Person | None = None,
        one_row_per_person: bool = False,
        delta: float = DEFAULT_DELTA,
        target: str | Sequence[str] | None = None,
        method: str | Method | None = None,
        generator: str | GeneratorSettings | None = None,
        ledger: Ledger | str | Path | None = None,
    ):
        self._metadata = Metadata.read(metadata)
        facts = Facts.given(schema, name, schema_epsilon, delta, person=person, one_row_per_person=one_row_per_person)
        if facts.schema is not None:
            self._metadata.require(facts.schema)
        self._fitting = Fitting(facts, Asked(epsilon, delta, target, method, generator, ledger))
        self._model: Model | None = None

    def fit(self, data: Any) -> None:
        """Measure a pandas frame once, with noise, and fit a model to the release. Every call spends; a schema is bought
        once. If a model cannot be fitted, the release is `synthesizer.release_`: `pointillist.fit` takes it for nothing."""
        if missing := [each for each in self._metadata.columns if each not in data.columns]:
            raise UsageError(f"column {missing[0]!r} of the metadata is not in the table.")
        described = data[list(self._metadata.columns)]
        self._model = self._fitting.fit(data, described, self._metadata.left_out).model_

    @property
    def schema(self) -> Schema | None:
        """The public facts: as they were given or, after the first fit, bought."""
        return self._fitting.facts.schema

    @property
    def synthesizer(self) -> Synthesizer | None:
        """What does the work, once there is a release: `synthesizer.release_`."""
        return self._fitting.synthesizer

    def sample(self, num_rows: int, *, seed: int | None = None) -> Any:
        """Synthetic rows as a pandas frame."""
        return self.model.sample(num_rows, seed=seed, frame="pandas")

    def sample_from_conditions(self, conditions: Iterable[Any], *, seed: int | None = None) -> Any:
        """Rows for each of SDV's conditions (`column_values` and `num_rows`), one below the other."""
        import pandas as pd

        asked = [
            self.model.sample(each.num_rows, given=dict(each.column_values), seed=seed, frame="pandas")
            for each in conditions
        ]
        return pd.concat(asked, ignore_index=True)

    @property
    def model(self) -> Model:
        """The fitted model."""
        if self._model is None:
            raise NotFitted("call fit(data), or load a model, before sample().")
        return self._model

    def get_metadata(self) -> dict[str, Any]:
        """The metadata of what is sampled, as a dictionary: columns that are left out are not in it."""
        if self._model is None:
            return self._metadata.without(set(self._metadata.left_out))
        return self._metadata.without(set(self._metadata.columns) - set(self._model.schema.measured))

    def get_parameters(self) -> dict[str, Any]:
        """The settings."""
        return dict(vars(self._fitting.asked))

    def save(self, filepath: str | Path) -> None:
        """Write the fitted model, as `Model.save` does: no pickle, and nothing private in it."""
        self.model.save(filepath)
