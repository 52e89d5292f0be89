"""Membership: can someone who sees the synthetic data alone tell who was in the private table?

Real persons are taken in by the toss of a coin, a release is made, a model fitted, rows are sampled; then three attacks
score every person by those rows. `distance`: how near the nearest synthetic row is. `density`: how dense synthetic rows
are around the person, compared with other real rows. `shadows`: the attacker repeats the whole pipeline with other
tosses, learns for every person how near synthetic rows come with and without them, and takes the likelihood ratio.

Attacks on synthetic data are weak: a low score here is no proof of privacy. The white-box attack is the test of that.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import DataError
from pointillist.evaluate.arrays import Codes, Floats
from pointillist.evaluate.audit.audited_pipeline import AuditedPipeline
from pointillist.evaluate.audit.epsilon_bounds import SHARES, area, best_one_run, hits_at, refutes
from pointillist.evaluate.audit.finding import ALARM, Finding
from pointillist.evaluate.tables.design_matrix import wide
from pointillist.evaluate.tables.owned_rows import Private, read_rows
from pointillist.evaluate.tables.sample import Sample, read
from pointillist.privacy.guarantee import Neighbours
from pointillist.progress import Progress, silent

Flags = NDArray[np.bool_]

MOST_PERSONS = 4_000
"""Persons who are tossed for, at most; half as many others serve for comparison."""
LEAST_PERSONS = 60
_NEAR = 5
"""Density is read off the distance to so many rows."""


def membership(
    table: Any,
    audited: AuditedPipeline,
    *,
    persons: int = MOST_PERSONS,
    shadows: int,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress = silent,
) -> tuple[Finding, ...]:
    """Attack the synthetic data of one release, with `shadows` more to learn from."""
    generator = np.random.default_rng(seed)
    private = read_rows(table, audited.schema)
    tried, owners, compared = _split(private, persons, generator)
    count = int(owners.max()) + 1
    space = _Space(private.sample.take(tried))
    replaced = audited.neighbours is Neighbours.REPLACE_ONE
    tosses, near = [], []
    for run in range(1 + shadows):
        progress("membership", run / (1 + shadows))
        member = _toss(count, replaced, generator)
        rows = private.table.take(tried[member[owners]])
        model = audited.pipeline.fit(audited.release(rows), seed=seed + run)
        made = read(model.sample(rows.num_rows, seed=seed + run, frame="pyarrow"), audited.schema)
        tosses.append(member)
        near.append(space.distances(made))
    progress("membership", 1.0)
    reference = _remoteness(space.distances(private.sample.take(compared)))
    by_person = {
        "distance": _per_person(-near[0][:, 0], owners, count),
        "density": _per_person(reference - _remoteness(near[0]), owners, count),
    }
    if shadows >= 4:
        logs = np.array([_per_person(-_remoteness(each), owners, count) for each in near])
        by_person["shadows"] = _likelihood_ratio(logs[0], logs[1:], np.array(tosses[1:]))
    return (_finding(by_person, tosses[0], replaced, audited, confidence, shadows),)


def _remoteness(distances: Floats) -> Floats:
    """How far from others each row lies: the mean logarithm of its distances, where equal rows count as very near."""
    return np.asarray(np.log(distances + 1e-3).mean(axis=1))


class _Space:
    """Real rows as points, from which distances to synthetic rows are measured."""

    def __init__(self, sample: Sample):
        self._points = wide(sample, sample.columns)

    def distances(self, others: Sample) -> Floats:
        """For each real row the distances to its nearest rows among others, nearest first."""
        from sklearn.neighbors import NearestNeighbors

        fitted = NearestNeighbors(n_neighbors=min(_NEAR, others.rows)).fit(wide(others, others.columns))
        return np.asarray(fitted.kneighbors(self._points)[0])


def _split(private: Private, persons: int, generator: np.random.Generator) -> tuple[Codes, Codes, Codes]:
    """Rows of the persons that are tossed for, their owners from 0, and rows for comparison."""
    everyone, number = np.unique(private.owners, return_inverse=True)
    if len(everyone) < LEAST_PERSONS:
        raise DataError(
            f"{private.sample.name}: has fewer than {LEAST_PERSONS} persons: too few for a membership attack."
        )
    place = generator.permutation(len(everyone))[number]
    tossed = min(persons, 2 * len(everyone) // 3) // 2 * 2
    chosen = np.flatnonzero(place < tossed)
    return chosen, place[chosen], np.flatnonzero((place >= tossed) & (place < tossed + tossed // 2))


def _toss(count: int, replaced: bool, generator: np.random.Generator) -> Flags:
    """Who goes in: everyone by their own coin or, where one takes another's place, one of each couple."""
    if not replaced:
        return generator.random(count) < 0.5
    first = generator.random(count // 2) < 0.5
    return np.stack([first, ~first], axis=1).ravel()


def _per_person(scores: Floats, owners: Codes, count: int) -> Floats:
    """The mean score of each person's rows."""
    return np.bincount(owners, scores, count) / np.bincount(owners, minlength=count)


def _likelihood_ratio(seen: Floats, shadows: Floats, tosses: Flags) -> Floats:
    """For each person: is what was seen more likely with them in or out, by the shadow runs?

    Normal distributions, with one variance for all persons: a dozen runs are too few for a variance each.
    """
    weights = np.maximum(tosses.sum(axis=0), 1), np.maximum((~tosses).sum(axis=0), 1)
    inside, outside = (shadows * tosses).sum(axis=0) / weights[0], (shadows * ~tosses).sum(axis=0) / weights[1]
    centre = np.where(tosses, inside, outside)
    variance = max(float(np.mean((shadows - centre) ** 2)), 1e-12)
    both = tosses.any(axis=0) & ~tosses.all(axis=0)
    return np.where(both, ((seen - outside) ** 2 - (seen - inside) ** 2) / (2 * variance), 0.0)


def _finding(
    scores: dict[str, Floats],
    member: Flags,
    replaced: bool,
    audited: AuditedPipeline,
    confidence: float,
    shadows: int,
) -> Finding:
    promise = audited.promise
    # Where one takes another's place, a guess is about a couple: which of the two.
    slots = {name: each[0::2] - each[1::2] if replaced else each for name, each in scores.items()}
    heads = member[0::2] if replaced else member
    share = (1 - confidence) / len(scores)

    attacks: list[dict[str, Any]] = []
    for name, each in scores.items():
        outside, inside = each[~member], each[member]
        curve, hits = area(outside, inside, (1 - confidence) / 2), hits_at(outside, inside, 0.01, (1 - confidence) / 2)
        attacks.append(
            {
                "name": name,
                "auc": curve.value,
                "auc_low": curve.low,
                "auc_high": curve.high,
                "tpr_at_1_percent_fpr": hits.value,
                "tpr_low": hits.low,
                "tpr_high": hits.high,
                "epsilon": best_one_run(slots[name], heads, promise.delta, share)[0],
            }
        )
    epsilon = max(each["epsilon"] for each in attacks)
    violated = any(refutes(each, heads, audited.promises, ALARM / len(slots)) for each in slots.values())
    best = max(attacks, key=lambda each: each["auc"])
    most = best_one_run(heads.astype(np.float64), heads, promise.delta, share)[0]
    verdict = (
        f"{'VIOLATED' if violated else 'Consistent'}: ε ≥ {epsilon:.3g} at {confidence:.0%} confidence where "
        f"{promise.epsilon:g} is promised. From synthetic data alone the best attack ({best['name']}) tells members from "
        f"others with AUC {best['auc']:.3f} ({best['auc_low']:.3f} to {best['auc_high']:.3f}; 0.5 is guessing) and finds "
        f"{best['tpr_at_1_percent_fpr']:.1%} of members at 1% false positives. With {len(member):,} persons, guesses that "
        f"are all right would show ε ≥ {most:.2g}. Such attacks are weak: this is no proof."
    )
    measures = {
        "attacks": attacks,
        "persons": len(member),
        "members": int(member.sum()),
        "shadows": shadows,
        "epsilon_at_most": most,
        "guessed_shares": list(SHARES),
    }
    return Finding("membership", epsilon, confidence, violated, verdict, measures, private=True)
