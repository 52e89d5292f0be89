"""synthcity's verbs: a plugin for its list, so that its benchmark runs on us.

synthcity's own `fit` reads bounds and categories from the rows, and its own `generate` cuts synthetic rows to them; the
plugin does neither.
"""

from pathlib import Path
from typing import Any

from pointillist.adapters.facts import Asked, Facts
from pointillist.adapters.fitting import Fitting
from pointillist.errors import UsageError
from pointillist.privacy.budget import DEFAULT_DELTA
from pointillist.schema import Person

NAME = "pointillist"
_SHOWN = 1_000
"""Synthetic rows that synthcity's own schema of the plugin is read from."""


def register() -> type[Any]:
    """Put the plugin into synthcity's list: `Plugins().get("pointillist", schema=..., epsilon=1.0)`."""
    try:
        from synthcity.plugins import Plugins
    except ImportError:
        raise UsageError("synthcity is needed for its plugin, and is not installed: pip install synthcity.") from None
    made = plugin()
    Plugins().add(NAME, made)
    return made


def plugin() -> type[Any]:
    """The plugin's class. synthcity is loaded here, and not before: its plugins are classes of its own."""
    from synthcity.plugins.core.plugin import Plugin

    return type("PointillistPlugin", (_Verbs, Plugin), {"__doc__": _Verbs.__doc__})


class _Verbs:
    """A release, and a model fitted to it. Every fit spends: a benchmark with three repeats spends three times.

    A schema is bought once for each plugin. `fitting.synthesizer.release_` is the last release that was paid for."""

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        schema: Any = None,
        schema_epsilon: float | None = None,
        name_of_data: str | None = None,
        person: Person | None = None,
        one_row_per_person: bool = False,
        delta: float = DEFAULT_DELTA,
        target: Any = None,
        method: Any = None,
        ledger: Any = None,
        random_state: int = 0,
        workspace: Path = Path("workspace"),
        **options: Any,
    ):
        rest: Any = super()  # synthcity's own
        rest.__init__(random_state=random_state, workspace=workspace, **options)
        self.random_state = random_state
        facts = Facts.given(
            schema, name_of_data, schema_epsilon, delta, person=person, one_row_per_person=one_row_per_person
        )
        self.fitting = Fitting(facts, Asked(epsilon, delta, target, method, ledger=ledger))
        self.fitted = False

    @staticmethod
    def name() -> str:
        return NAME

    @staticmethod
    def type() -> str:
        return "privacy"

    @staticmethod
    def hyperparameter_space(**_: Any) -> list[Any]:
        return []  # a search over settings would spend at every try

    def fit(self, X: Any, *arguments: Any, **options: Any) -> Any:
        """Measure the rows once, with noise. Of the rows nothing else is kept, not even their number."""
        from synthcity.plugins.core.schema import Schema as Seen

        if options.get("cond") is not None:
            raise UsageError("cond is not for this plugin: pass constraints to generate.")
        rows = X if hasattr(X, "columns") and not hasattr(X, "dataframe") else X.dataframe()
        self.made = self.fitting.fit(rows, rows)
        self.data_info = {"len": round(self.made.model_.rows)}
        self._loads = {"target_column": getattr(X, "target_column", None)}
        shown = self.made.sample(_SHOWN, seed=0, frame="pandas")
        self._schema = self._training_schema = Seen(data=_loaded(shown, self._loads))
        self.fitted = True
        return self

    def _fit(self, X: Any, *arguments: Any, **options: Any) -> Any:
        return self.fit(X)

    def generate(
        self, count: int | None = None, constraints: Any = None, random_state: int | None = None, **options: Any
    ) -> Any:
        """Synthetic rows; of those that break the caller's constraints, none."""
        from synthcity.plugins.core.constraints import Constraints

        if not self.fitted:
            raise RuntimeError("Fit the generator first")
        seed = self.random_state if random_state is None else random_state
        rows = self.made.sample(count or self.data_info["len"], seed=seed, frame="pandas")
        loaded = _loaded(rows, self._loads)
        return loaded if constraints is None else loaded.match(Constraints(rules=constraints.rules))

    def _generate(self, count: int, syn_schema: Any, **options: Any) -> Any:
        return self.generate(count)


def _loaded(rows: Any, options: dict[str, Any]) -> Any:
    """Rows as synthcity passes them around."""
    from synthcity.plugins.core.dataloader import GenericDataLoader

    return GenericDataLoader(rows, **options)
