"""Person risk: what a release means for one person, in the three tests that officers ask about. Bounds, by formula alone.

Each holds against every attack by anyone, whatever else they know, and follows from the privacy loss: no data are needed.
docs/explanation/privacy-person.md has the proofs.
"""

from dataclasses import dataclass
from typing import Any, Self

from pointillist.pages import at_most
from pointillist.privacy.disclosure import UNLUCKY, belief, guess, rarity, singled_out, singled_out_by_chance
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
    """By the chance that a guess about a person is right if their data are left out: the same with them in."""
    singling_out: float
    """The most likely that a description chosen in view of the release fits exactly one of the people ..."""
    by_chance: float
    """... which without a release it does with this chance ..."""
    rarity: float
    """... if it fits this share of the population."""

    @classmethod
    def of(cls, curve: TradeOff, people: float) -> Self:
        """The bounds that a trade-off curve gives, for a person among so many."""
        share = rarity(people)
        return cls(
            advantage=curve.advantage,
            linkage={prior: belief(curve, prior) for prior in PRIORS},
            inference={prior: guess(curve, prior) for prior in PRIORS},
            singling_out=singled_out(curve, people, share),
            by_chance=singled_out_by_chance(people, share),
            rarity=share,
        )

    @property
    def coin(self) -> float:
        """The most likely that anyone tells right whether a person's data are in, where a coin decided it."""
        return (1 + self.advantage) / 2

    def sentence(self, guarantee: Guarantee) -> str:
        """The one sentence for someone who reads neither code nor letters; true word for word of what is promised."""
        whose = f"one {guarantee.record}" if guarantee.person is None else "one person's data"
        removed = guarantee.neighbours is Neighbours.ADD_REMOVE
        tossed = "used" if removed else "used, or another's in their place"
        verb = "is" if guarantee.person is None else "are"
        known = "" if guarantee.owners is None else guarantee.owners.unless
        return (
            f"Suppose that a coin decides whether {whose} {verb} {tossed}: whoever knows all the rest{known}, sees "
            f"everything that was made, and guesses how the coin fell is right at most {at_most(self.coin)} of the time, "
            "and 50 % without the release."
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "advantage": self.advantage,
            "linkage": {f"{prior:g}": value for prior, value in self.linkage.items()},
            "inference": {f"{prior:g}": value for prior, value in self.inference.items()},
            "unlucky": UNLUCKY,
            "singling_out": {
                "at_most": self.singling_out,
                "by_chance": self.by_chance,
                "description_fits": self.rarity,
            },
        }
