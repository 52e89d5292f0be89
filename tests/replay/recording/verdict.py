"""Verdict: what may differ between two runs under the same frozen noise, and what may not.

Three things are held against each pair of neighbours, all of them exactly:

1. every part of the two outcomes is the same;
2. the exact sums differ by at most what the noise was calibrated for: in every round, ||S - S'|| <= sigma mu sqrt(share),
   and over all rounds the sum of ||S - S'||^2 / sigma^2 is at most mu^2;
3. they differ by the person's own features and nothing else: S - S' is the sum over that person's rows alone. A row that
   changes how another one is read shows here, however little it moves the sum.
"""

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from pointillist.curator.choosing import Choice
from pointillist.release import Release
from recording.frozen import FrozenNoise, Integers
from recording.outcome import Outcome, Room, Run, Work, play

_COLD = ("calls",)
"""The first run fills caches, so it takes other ways. The later ones are compared with each other."""


class Leak(AssertionError):
    """Something about a person gets out beside the noise."""


@dataclass(frozen=True)
class Works:
    """One call on four data sets: two neighbours, and alone the person of whom each has the other not."""

    first: Work
    second: Work
    lost: Work | None
    """The rows that only the first has; none if there are none."""
    gained: Work | None
    """The rows that only the second has."""


def verify(works: Works, place: Room, noise: FrozenNoise, *, watched: bool = True) -> Fraction:
    """Run all of it, or raise `Leak`. The squared share of the sensitivity that the pair made use of, at its most.

    If it is `watched`, calls are compared, too.
    """
    first = play(works.first, place, noise, watched=False)
    second = play(works.second, place, noise, watched=watched)
    if first.outcome.error is not None:
        raise Leak(f"the first was refused: {first.outcome.error}")
    found = differences(first.outcome, second.outcome, but=_COLD)
    if found:
        raise Leak("neighbours differ in " + "; ".join(found))
    lost, gained = (
        None if work is None else play(work, place, noise, watched=watched) for work in (works.lost, works.gained)
    )
    for alone in (lost, gained):
        # Of what was made, only the number of rows may differ, and only where neighbours have the same: see the reader.
        found = [] if alone is None else differences(second.outcome, alone.outcome, but=("made", "file"))
        if found:
            raise Leak("a person alone differs in " + "; ".join(found))
    if not isinstance(first.release, Choice):
        _own_features(first, second, lost, gained)
    return used(first, second)


def differences(first: Outcome, second: Outcome, but: Sequence[str] = ()) -> list[str]:
    """The names of all parts that differ, with what they are where it is short."""
    found = []
    for each in fields(Outcome):
        one, other = getattr(first, each.name), getattr(second, each.name)
        if each.name in but or one == other:
            continue
        if each.name == "calls":
            place = next(
                (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
            )
            one, other = one[place : place + 3], other[place : place + 3]
        if isinstance(one, bytes) and isinstance(other, bytes):
            one, other = _members(one), _members(other)
            names = sorted(name for name in one | other if one.get(name) != other.get(name))
            one, other = ([f"{name} = {facts.get(name)}"[:100] for name in names] for facts in (one, other))
        found.append(f"{each.name} ({str(one)[:300]} / {str(other)[:300]})")
    return found


def _members(content: bytes) -> dict[str, Any]:
    """What is in a release's file, by name, so that a message can say which of it differs."""
    if not content.startswith(b"PK"):
        return {"content": content}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        found = {name: archive.read(name) for name in archive.namelist() if name != "manifest.json"}
    return json.loads(found.pop("facts.json")) | found


def used(first: Run, second: Run) -> Fraction:
    """How much of the stated sensitivity lies between two runs, squared; raises `Leak` if it is more than all of it."""
    made = first.release
    apart = [_squared(_apart(one, other)) for one, other in zip(first.tape.sums, second.tape.sums, strict=True)]
    if isinstance(made, Choice):
        # The scale is 2 Delta / epsilon, and the largest score counts, not the length of all of them.
        stated = [(Fraction(first.tape.scales[0]) * Fraction(made.guarantee.epsilon) / 2) ** 2]
        apart = [max(each**2 for each in _apart(first.tape.sums[0], second.tape.sums[0]))]
    else:
        assert isinstance(made, Release)
        mu = Fraction(made.guarantee.mu) ** 2
        shares = [Fraction(each.share) for each in made.plan.rounds]
        stated = [Fraction(sigma) ** 2 * mu * share for sigma, share in zip(first.tape.scales, shares, strict=True)]
        loss = sum(each / Fraction(sigma) ** 2 for each, sigma in zip(apart, first.tape.scales, strict=True))
        if loss > mu:
            raise Leak(f"all rounds together cost {float(loss / mu):.3f} of the stated mu squared")
    shares = [each / bound for each, bound in zip(apart, stated, strict=True)]
    for number, share in enumerate(shares):
        if share > 1:
            raise Leak(f"the sums of round {number + 1} differ by {float(share) ** 0.5:.6f} of the stated sensitivity")
    return max(shares)


def _own_features(first: Run, second: Run, lost: Run | None, gained: Run | None) -> None:
    for number, (one, other) in enumerate(zip(first.tape.sums, second.tape.sums, strict=True)):
        own = [0] * one.size
        for sign, run in ((-1, lost), (1, gained)):
            if run is not None:
                own = [value + sign * int(each) for value, each in zip(own, run.tape.sums[number], strict=True)]
        if [-each for each in _apart(one, other)] != own:
            raise Leak(
                f"the sums of round {number + 1} differ by more than the person's own features: others moved too"
            )


def _apart(one: Integers, other: Integers) -> list[int]:
    return [a - b for a, b in zip(one.tolist(), other.tolist(), strict=True)]


def _squared(values: list[int]) -> int:
    return sum(value * value for value in values)
