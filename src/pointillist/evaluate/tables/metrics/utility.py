"""Utility: models trained on synthetic rows and tested on real ones, beside the same models trained on real rows.

Scores are computed from predicted probabilities, one fixed configuration for each model, nothing chosen on the test
rows. (The papers' own protocol is another one, in `papers_protocol`.)
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from markupsafe import Markup

from pointillist.evaluate.advice import NO_NAMES, Advice, Commands, in_column
from pointillist.evaluate.arrays import Codes, Floats
from pointillist.evaluate.learners.trained_classifier import TrainedClassifier, ranking_scores, train
from pointillist.evaluate.metric import Result
from pointillist.evaluate.tables.design_matrix import gapless, wide
from pointillist.evaluate.tables.leakage import Leak, leaks
from pointillist.evaluate.tables.metric import METRICS, MODELS, TableContext, TableMetric
from pointillist.evaluate.tables.prediction_task import (
    PredictionTask,
    inputs_of,
    nothing_to_predict,
    task_of,
    unlearnable,
)
from pointillist.evaluate.tables.recipes import recipe
from pointillist.evaluate.tables.sample import Sample, require_same_columns
from pointillist.evaluate.verdict import UNCLEAR, Point, grade_kept, listed, part_kept
from pointillist.pages import charts, count, number
from pointillist.pages.blocks import TRAINED_ON, Card, Cards, Column, Table, Text, html
from pointillist.pages.report import Section
from pointillist.progress import Progress, silent

MOST_ROWS = 50_000
"""Models are trained and tested on at most this many rows, drawn at random."""

_CLASSIFY, _REGRESS = ("AUROC", "AUPRC", "F1"), ("R²",)
_CLASSIFIERS = ("logistic regression", "random forest", "gradient boosting")


@dataclass(frozen=True)
class Score:
    """How one model did on the test rows."""

    model: str
    real: dict[str, float]
    """Trained on real rows, by measure."""
    synthetic: dict[str, float]
    """Trained on synthetic rows."""

    @property
    def gap(self) -> dict[str, float]:
        """What is lost by training on synthetic rows."""
        return {name: self.real[name] - self.synthetic[name] for name in self.real}


@dataclass(frozen=True)
class Utility(Result):
    """All models on one target."""

    target: str
    task: str
    """"classification" or "regression"."""
    positive: str | None
    """The class whose scores are reported, where there are two: the rarer one."""
    rows: dict[str, int]
    """Rows used: real, synthetic, test."""
    scores: tuple[Score, ...]
    notes: tuple[str, ...] = ()
    leaks: tuple[Leak, ...] = ()
    """Columns that alone give the target away."""
    commands: Commands = NO_NAMES

    @property
    def measures(self) -> tuple[str, ...]:
        return _CLASSIFY if self.task == "classification" else _REGRESS

    def mean(self, measure: str, trained_on: str) -> float:
        """The mean over models."""
        return float(np.mean([getattr(each, trained_on)[measure] for each in self.scores]))

    def to_json(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "task": self.task,
            "positive": self.positive,
            "rows": self.rows,
            "scores": [{**vars(each), "gap": each.gap} for each in self.scores],
            "notes": list(self.notes),
            "leaks": [dict(vars(each)) for each in self.leaks],
        }

    def table(self) -> pa.Table:
        rows = [
            {"model": each.model, "measure": name, "real": each.real[name], "synthetic": each.synthetic[name],
             "gap": each.gap[name]}
            for each in self.scores
            for name in self.measures
        ]  # fmt: skip
        return pa.Table.from_pylist(rows)

    def headlines(self) -> dict[str, float]:
        return {
            f"{measure}, trained on {trained_on}": self.mean(measure, trained_on)
            for measure in self.measures
            for trained_on in ("real", "synthetic")
        }

    def points(self) -> tuple[Point, ...]:
        measure = self.measures[0]
        real, made = self.mean(measure, "real"), self.mean(measure, "synthetic")
        base = 0.5 if measure == "AUROC" else 0.0
        kept = part_kept(real, made, base)
        nothing = "" if kept is not None else " So there is nothing that synthetic rows could keep."
        graded = grade_kept(kept)
        return (
            Point(
                "models trained on it",
                UNCLEAR if self.leaks and graded == "good" else graded,
                "–" if kept is None else f"{kept:.0%}",
                f"Predicting {self.target}, models trained on synthetic rows reach {measure} {made:.3f} on real ones; "
                f"trained on real rows they reach {real:.3f}.{nothing}{self._leaking()}",
                f"{measure} above {base:g}, as a part of what real rows give: good from 95 %, fair from 85 %; unclear "
                "where real rows give nothing, and not good where one column gives the target away",
                self._advice(graded),
            ),
        )

    def _leaking(self) -> str:
        """Which columns give the target away, in a sentence."""
        if not self.leaks:
            return ""
        best = self.leaks[0]
        others = f" (so do {listed([each.column for each in self.leaks[1:6]])})" if len(self.leaks) > 1 else ""
        return (
            f" But {best.column} alone gives {self.target} away ({best.measure} {best.score:.3f} on real rows){others}: how "
            "well models do says little about the other columns."
        )

    def _advice(self, graded: str) -> tuple[Advice, ...]:
        found: list[Advice] = []
        if self.leaks:
            name = self.leaks[0].column
            said = f"Is {name} known before {self.target} is? If not, leave it out, or choose another target."
            found.append(Advice(said, in_column(name, 'kind = "ignore"'), in_schema=True))
        if graded in ("fair", "poor"):
            if self.commands.epsilon is not None and self.commands.target is None:
                said = f"The release names no target: with one, pairs with {self.target} are measured first."
                found.append(Advice(said, self.commands.synth(target=self.target)))
            found.append(self.commands.larger_epsilon())
        return tuple(found)

    def sections(self) -> tuple[Section, ...]:
        rarer = "" if self.positive is None else f" (the rarer class, {self.positive})"
        what = html(
            "Models that predict <strong>{}</strong>{} from all other columns, trained on {} synthetic rows, beside the "
            "same models trained on {} real rows; all tested on the same {} real rows. Scores come from predicted {}; one "
            "fixed configuration for each model.",
            self.target, rarer, *(count(self.rows[role]) for role in ("synthetic", "real", "test")),
            "probabilities" if self.task == "classification" else "values",
        )  # fmt: skip
        told = (*self.notes, *([self._leaking().removeprefix(" But ")] if self.leaks else []))
        notes = [Text(note[:1].upper() + note[1:], "note") for note in told]
        drawn = Cards(tuple(Card(measure, (self._chart(measure),)) for measure in self.measures))
        return (MODELS.saying(what, blocks=[*notes, TRAINED_ON, drawn, self._scores()]),)

    def _chart(self, measure: str) -> Markup:
        rows = [(each.model, each.real[measure], each.synthetic[measure]) for each in self.scores]
        return charts.scores(rows, measure, least=-1.0 if measure == "R²" else 0.0)

    def _scores(self) -> Table:
        columns = [
            Column(f"{name}{what}", kind) if what else Column("gap", kind)
            for name in self.measures
            for what, kind in ((", real", "number"), (", synthetic", "synthetic"), ("", "number"))
        ]
        rows = [
            (each.model, *(number(value) for name in self.measures for value in (
                each.real[name], each.synthetic[name], each.gap[name]
            )))
            for each in self.scores
        ]  # fmt: skip
        return Table((Column("model"), *columns), tuple(rows), "Scores of all models")


@METRICS.register("utility", place=60)
class UtilityMetric(TableMetric[Utility]):
    """Models trained on either table."""

    needs = ("target",)
    cost = 10

    def compute(self, real: Sample, synthetic: Sample, context: TableContext) -> Utility | None:
        if context.target is None or len(real.columns) < 2:
            return None
        training, test = context.training_and_test
        found = utility(
            training, synthetic, test, context.target, seed=context.seed, progress=lambda _, done: context.report(done)
        )
        # The commands name the target that the release was planned with: that it has none may be what is wrong.
        named = None if context.release is None else context.release.target
        return replace(
            found, leaks=leaks(training, test, context.target), commands=replace(context.commands, target=named)
        )

    def notes(self, found: Utility | None, context: TableContext) -> tuple[str, ...]:
        if context.target is None:
            return ("No target was named, so no models were trained. Name one with --target.",)
        if found is None:
            return ("The table has one column only, so there is nothing to predict it from.",)
        if context.holdout is not None:
            return ()
        return (
            "No holdout was given: models were tested on a quarter of the real rows. Those rows took part in the "
            "release, which favours a table sampled from it by no more than its guarantee allows.",
        )


def utility(
    real: Sample, synthetic: Sample, test: Sample, target: str, *, seed: int = 0, progress: Progress = silent
) -> Utility:
    """Predict `target` from all other columns. `real` are the rows that the test rows are not among."""
    require_same_columns(real, synthetic, test)
    predict = _numbers if real.level(target).numeric else _classes
    real, synthetic, test = (sample.at_most(MOST_ROWS, seed=seed) for sample in (real, synthetic, test))
    return predict(real, synthetic, test, target, seed, progress)


def _classes(real: Sample, synthetic: Sample, test: Sample, target: str, seed: int, progress: Progress) -> Utility:
    job = task_of(synthetic, test, target, real)

    def judge(model: TrainedClassifier, x: Floats, truth: Codes) -> dict[str, float]:
        return {**ranking_scores(truth, model.scores(x), job.positive), "F1": _f1(truth, model.predict(x), job)}

    scores = []
    for step, name in enumerate(_CLASSIFIERS):
        progress("utility", step / len(_CLASSIFIERS))
        form, make = recipe(name, seed)
        found = {}
        for role, sample in job.training.items():
            x = form(sample, job.inputs, sample)
            model = train(make, x, job.labels(sample), len(job.codes))
            found[role] = judge(model, form(job.test, job.inputs, sample), job.labels(job.test))
        scores.append(Score(name, **found))
    progress("utility", 1.0)
    return Utility(target, "classification", job.positive_name, job.rows, tuple(scores), job.notes)


def _f1(truth: Codes, predicted: Codes, job: PredictionTask) -> float:
    """Of the positive class, or the mean over classes."""
    from sklearn.metrics import f1_score

    wanted = [job.positive] if job.positive is not None else range(len(job.codes))
    return float(np.mean([f1_score(truth == each, predicted == each, zero_division=0.0) for each in wanted]))


def _numbers(real: Sample, synthetic: Sample, test: Sample, target: str, seed: int, progress: Progress) -> Utility:
    from sklearn.metrics import r2_score

    columns = inputs_of(real, target)
    samples = {"real": real, "synthetic": synthetic, "test": test}
    samples = {role: sample.take(~sample.missing(target)) for role, sample in samples.items()}
    values = {role: _on_scale(sample, target) for role, sample in samples.items()}
    for role in ("real", "test"):
        if len(np.unique(values[role])) < 2:
            raise nothing_to_predict(samples[role], target, role)
    notes = []
    if len(np.unique(values["synthetic"])) < 2:
        notes.append(unlearnable(samples["synthetic"], target))
    models = _regressors(seed)
    scores = []
    for step, (name, (form, make)) in enumerate(models.items()):
        progress("utility", step / len(models))
        x = form(samples["test"], columns)
        found = {}
        for role in ("real", "synthetic"):
            if not samples[role].rows:
                found[role] = {"R²": 0.0}  # nothing to learn from: no better than a guess
                continue
            model = make().fit(form(samples[role], columns), values[role])
            found[role] = {"R²": float(r2_score(values["test"], model.predict(x)))}
        scores.append(Score(name, **found))
    progress("utility", 1.0)
    rows = {role: sample.rows for role, sample in samples.items()}
    return Utility(target, "regression", None, rows, tuple(scores), tuple(notes))


def _on_scale(sample: Sample, target: str) -> Floats:
    """Numbers on their column's scale."""
    level, values = sample.level(target), sample.values(target)
    return np.asarray(
        level.column.curve.bend(np.maximum(values, level.bounds[0]) if level.column.scale == "log" else values)
    )


def _regressors(seed: int) -> dict[str, tuple[Callable[[Sample, tuple[str, ...]], Floats], Callable[[], Any]]]:
    from sklearn import ensemble, linear_model, pipeline, preprocessing

    return {
        "ridge regression": (
            wide,
            lambda: pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.Ridge()),
        ),
        "random forest": (
            gapless,
            lambda: ensemble.RandomForestRegressor(50, min_samples_leaf=5, max_features=1 / 3, random_state=seed),
        ),
        "gradient boosting": (
            gapless,
            lambda: ensemble.HistGradientBoostingRegressor(early_stopping=False, random_state=seed),
        ),
    }
