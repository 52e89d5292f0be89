"""Forecast: what error the synthetic rows of mosaic will have, told by a plan before anything is spent."""

import math

from pointillist.fitting.evidence import raw_error
from pointillist.plan import Expectation, Plan
from pointillist.schema.levels import BINS, Levels, coarse_size, levels_of

STRONGEST = "ten strongest pairs of columns"


def expected_errors(plan: Plan) -> tuple[Expectation, ...]:
    """What error synthetic rows will have, in public bins, from public facts alone.

    The error that the noise makes in one-way marginals is known, and the fit takes some of it out. Pairs are another
    matter: how much the fit can take out depends on how few of their cells hold rows and on how strongly columns depend
    on each other, which only the data know. The rules are powers of the noise that were found on five tables between
    5,000 and 465,000 rows at epsilon from 0.3 to 3, that of the ten pairs that depend on each other most on seven tables
    between 2,000 and 43,000 rows from 0.1 to 3; `factor` is how far off they were there, rounded up.
    """
    rows, levels = plan.request.schema.rows, levels_of(plan.request.schema)
    if rows is None:
        return ()
    noise = {block.name: plan.noise_rows(0, block) for block in plan.rounds[0].blocks}
    raw = sum(raw_error(coarse_size(each), noise[one_way_block(each)], rows) for each in levels) / len(levels)
    found = [Expectation("one-way marginals", min(0.42 * raw**0.88, 1.0), 1.5)]
    if len(plan.rounds) > 1:
        least = raw * math.sqrt(plan.rounds[0].share)  # were all of the budget spent on single columns
        found.append(Expectation("pairs of columns", min(3.1 * least**0.57 / math.sqrt(len(levels)), 1.0), 2.2))
        found.append(Expectation(STRONGEST, min(0.8 * least**0.53, 1.0), 2.2))
    return tuple(found)


def one_way_block(levels: Levels) -> str:
    """The block that measures a column by itself in public bins."""
    return f"one-way marginals, {BINS} bins" if coarse_size(levels) < levels.size else "one-way marginals"
