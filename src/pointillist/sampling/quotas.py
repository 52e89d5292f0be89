"""Quotas: every class of a column gets the same number of records."""

import contextlib

import numpy as np

from pointillist.errors import UsageError
from pointillist.generators.base import LabelFirst
from pointillist.sampling.condition import Condition
from pointillist.sampling.constrained_sampler import ConstrainedSampler, Unreachable
from pointillist.sampling.sample import Sample
from pointillist.schema.levels import Levels


def balanced(
    sampler: ConstrainedSampler,
    condition: Condition,
    column: Levels,
    count: int,
    rng: np.random.Generator,
    before: int | None = None,
) -> Sample:
    """`count` records that meet a condition, of each of a column's classes the same number to within one.

    Of a sample in parts, `before` says how many records came before these: then the whole is even to within one, too.
    """
    source = sampler.sampler
    if isinstance(source, LabelFirst) and source.label == column.name:
        return _by_label(source, condition, column, count, rng, before or 0)
    found = []
    for each in condition.by_class(column):
        with contextlib.suppress(Unreachable):
            found.append(sampler.under(each, rng))
    if not found:
        raise UsageError(f"balance: no class of column {column.name!r} has any probability. Loosen the condition.")
    share, rest = divmod(count, len(found))
    turn = rng.permutation(len(found)) if before is None else (np.arange(len(found)) - before) % len(found)
    more = turn < rest
    parts = [
        each.sample(share + int(one), rng).settled(sampler.levels, rng) for each, one in zip(found, more, strict=True)
    ]
    return Sample.joined(parts).part(rng.permutation(count))


def _by_label(
    source: LabelFirst, condition: Condition, column: Levels, count: int, rng: np.random.Generator, before: int
) -> Sample:
    """Where labels come first, they are dealt out: no class has to be looked for. Unlisted ones and gaps are no classes."""
    cut = condition.cuts.get(column.name)
    classes = np.arange(column.regular) if cut is None else np.flatnonzero(cut.shares > 0)
    dealt = classes[rng.permutation((np.arange(count) + before) % len(classes))]
    return Sample(source.with_labels(dealt.astype(np.uint16), rng), {})
