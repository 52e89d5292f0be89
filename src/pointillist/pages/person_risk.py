"""Person risk: what a release means for one person, in the three tests that officers ask about. Bounds, by formula alone.

Each holds against every attack, under the assumptions that `assumed` states, and follows from the privacy loss and the
number of people: no data are needed. docs/explanation/privacy-person.md has the proofs.
"""

from dataclasses import dataclass
from typing import Any, Self

from pointillist.pages import at_most
from pointillist.privacy.disclosure import (
    CONFIDENCE,
    UNLUCKY,
    belief,
    guess,
    rarity,
    singled_out,
    singled_out_by_chance,
)
from pointillist.privacy.guarantee import Guarantee, Neighbours
from pointillist.privacy.trade_off import TradeOff

PRIORS = (0.5, 0.1, 0.01)
"""What someone believes, or guesses right, without the release."""


@dataclass(frozen=True)
class PersonRisk:
    """Upper bounds on what an attacker gains about one person."""

    advantage: float
    """The most that the chance of any conclusion can differ between a world with the person's data and one without."""
    linkage: dict[float, float]
    """By what someone believes of a person's being in the data: the most that they believe after the release, where it is
    true, but for one release in a hundred."""
    inference: dict[float, float]
    """By the chance that a guess about a person is right without their data (left out, or another's in their place): the
    same with them in."""
    singling_out: float
    """The most likely that a description chosen in view of the release fits exactly one of the people ..."""
    by_chance: float
    """... which without a release it does with this chance at most ..."""
    rarity: float
    """... if it fits this share of the population ..."""
    people: int
    """... and there are no more people than this."""

    @classmethod
    def of(cls, curve: TradeOff, estimate: float, most: int) -> Self:
        """The bounds that a trade-off curve gives, for a person among about `estimate` people, who are `most` at most.

        How rare a description is follows from the estimate, which is public. The bound must hold for the true number of
        people, which a noisy estimate may be below.
        """
        share = rarity(estimate)
        return cls(
            advantage=curve.advantage,
            linkage={prior: belief(curve, prior) for prior in PRIORS},
            inference={prior: guess(curve, prior) for prior in PRIORS},
            singling_out=singled_out(curve, most, share),
            by_chance=singled_out_by_chance(most, share),
            rarity=share,
            people=most,
        )

    @property
    def coin(self) -> float:
        """The most likely that anyone tells right whether a person's data are in, where a coin decided it."""
        return (1 + self.advantage) / 2

    @property
    def one_in(self) -> str:
        """How rare the description is that is to fit one of the people."""
        return f"1 in {1 / self.rarity:,.0f}"

    def sentence(self, guarantee: Guarantee) -> str:
        """The one sentence for someone who reads neither code nor letters; true word for word of what is promised."""
        whose = f"one {guarantee.record}" if guarantee.person is None else "one person's data"
        removed = guarantee.neighbours is Neighbours.ADD_REMOVE
        instead = "another's in its place" if guarantee.person is None else "another's in their place"
        tossed = "used" if removed else f"used, or {instead}"
        verb = "is" if guarantee.person is None else "are"
        known = "" if guarantee.owners is None else guarantee.owners.unless
        return (
            f"Suppose that a coin decides whether {whose} {verb} {tossed}: whoever knows all the rest{known}, sees "
            f"everything made from this release, and guesses how the coin fell is right at most {at_most(self.coin)} of "
            "the time, and 50 % without the release."
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "advantage": self.advantage,
            "coin": self.coin,
            "linkage": {f"{prior:g}": value for prior, value in self.linkage.items()},
            "inference": {f"{prior:g}": value for prior, value in self.inference.items()},
            "unlucky": UNLUCKY,
            "singling_out": {
                "at_most": self.singling_out,
                "by_chance": self.by_chance,
                "description_fits": self.rarity,
                "people_at_most": self.people,
            },
        }


def explained(risk: PersonRisk, guarantee: Guarantee, units: str, *, bought: bool) -> str:
    """How to read the bounds, below a table of them; `units` are people, rows or images."""
    mine = f"that {guarantee.record}" if guarantee.person is None else "that person’s data"
    removed = guarantee.neighbours is Neighbours.ADD_REMOVE
    other = f"{mine} left out" if removed else f"{mine} replaced by another’s"
    source = f"μ = {guarantee.mu:.4g}" if guarantee.delta else f"ε = {guarantee.epsilon:g}"
    price = ", what the schema cost" if bought else ""
    return (
        f"Upper bounds from {source}{price} and the number of {units}, rounded up. “Without” is with {other}. Presence: "
        f"a coin decided it; the attacker’s advantage, right less wrong guesses, is {at_most(risk.advantage)} at most. "
        f"Linkage: once in {1 / UNLUCKY:,.0f} releases, the noise may by chance lead to a firmer belief than this."
    )


def assumed(units: str, exact: bool) -> str:
    """What the bounds assume, for whoever relies on them; `exact` where the number of units is public."""
    noisy = (
        ""
        if exact
        else f" Their number is known with noise only; with {100 * CONFIDENCE:g} % confidence it is no larger than stated."
    )
    return (
        "Assumed: nothing made from the same private data is known but what the head of a column names; one person’s data "
        f"do not change whose else are in, or what those say; for singling out, the {units} are drawn independently of each "
        f"other.{noisy}"
    )
