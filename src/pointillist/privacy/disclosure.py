"""Disclosure: what a privacy loss means for one person, as chances of an attacker who knows all but that person's part.

Every figure is an upper bound over all attacks, and follows from a trade-off curve alone. The proofs are in
docs/explanation/privacy-person.md.
"""

import math

from scipy.special import ndtri

from pointillist.privacy.trade_off import TradeOff

UNLUCKY = 0.01
"""Beliefs are stated for all but this share of the releases that might have been drawn: no curve of Gaussian noise bounds
the last one."""
CHANCE_FIT = 0.01
"""Singling out starts from a description that fits exactly one of the people with about this chance, without any release."""
CONFIDENCE = 0.999
"""Where the number of people is known with noise only, a bound is stated for a number that is exceeded this seldom."""


def belief(curve: TradeOff, prior: float, unlucky: float = UNLUCKY) -> float:
    """The most that anyone believes what is true of a person, who believed it with `prior`: but for a chance `unlucky`.

    The chance is over the noise, where the belief is true. Reached by an attack that waits for the one in `1 / unlucky`
    outcomes that speak most for it.
    """
    told = prior * unlucky
    return told / (told + (1 - prior) * curve.alarm(unlucky))


def guess(curve: TradeOff, baseline: float) -> float:
    """The most likely that a guess about a person is right, which without that person's data is right with `baseline`."""
    return max(baseline, curve.power(baseline))


def rarity(people: float) -> float:
    """The share of a population that a description fits, for it to fit one of so many people with about `CHANCE_FIT`."""
    return CHANCE_FIT / max(1.0, people)


def most_people(estimate: float, error: float) -> int:
    """The largest number of people that a noisy count leaves possible, with `CONFIDENCE`; the count itself without noise."""
    return max(1, math.ceil(estimate + float(ndtri(CONFIDENCE)) * error))


def singled_out_by_chance(people: float, share: float) -> float:
    """The most likely that a description of a share of the population fits just one of up to so many, without a release."""
    likeliest = min(people, max(1.0, 1 / share))  # among more people it is likelier to fit two
    return likeliest * share * math.exp((likeliest - 1) * math.log1p(-share))


def singled_out(curve: TradeOff, people: float, share: float) -> float:
    """The most likely that a description fits exactly one of up to so many people, if it is chosen in view of the release.

    For descriptions that fit at most `share` of the population from which the people were drawn, each independently of
    the others. `people` must be their number or more: with fewer this is no bound.
    """
    return min(1.0, people * curve.power(share))
