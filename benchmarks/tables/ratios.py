"""Ratios: one table's errors and losses as multiples of another's, and their geometric means."""

import math
from collections.abc import Iterable

LEAST_LOSS = 0.005
"""Losses of AUROC and AUPRC are compared with this much added to both, and gains count as no loss: they are chance."""

LEAST_DEPENDENCE = 0.002
"""The same for errors of dependence, which are hardly any where columns are independent."""


def of_errors(ours: float | None, theirs: float | None, slack: float = 0.0) -> float | None:
    """None where there is nothing to compare with. The slack is added to both: what lies below it is chance."""
    return None if ours is None or theirs is None or theirs + slack <= 0 else (ours + slack) / (theirs + slack)


def of_losses(ours: float | None, theirs: float | None) -> float | None:
    """What models lose against real rows."""
    if ours is None or theirs is None:
        return None
    return (max(ours, 0.0) + LEAST_LOSS) / (max(theirs, 0.0) + LEAST_LOSS)


def geometric_mean(ratios: Iterable[float | None]) -> float | None:
    """Of those that there are."""
    logs = [math.log(each) for each in ratios if each]
    return math.exp(sum(logs) / len(logs)) if logs else None
