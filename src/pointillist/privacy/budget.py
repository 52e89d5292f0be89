"""Budget: what may be spent."""

import math
from dataclasses import dataclass

from pointillist.errors import BudgetError

DEFAULT_DELTA = 1e-5


@dataclass(frozen=True)
class Budget:
    """How much privacy loss is allowed: epsilon > 0 and 0 < delta < 1."""

    epsilon: float
    delta: float = DEFAULT_DELTA

    def __post_init__(self) -> None:
        if not (math.isfinite(self.epsilon) and self.epsilon > 0):
            raise BudgetError(
                f"epsilon must be a number above 0, not {self.epsilon}. Usual choices lie from 0.1 to 10."
            )
        if self.epsilon > 500:
            raise BudgetError(f"epsilon = {self.epsilon:g} protects nobody. Choose from 0.1 to 10, say.")
        if not 0 < self.delta < 1:
            raise BudgetError(
                f"delta must lie between 0 and 1, not {self.delta}. Choose it well below 1 / (number of people), "
                "such as 1e-5 or 1e-6."
            )
