"""Simulated: tables whose dependence is known, made anew each time: parities of columns, and few strong pairs among many.

Four fifths of the rows are learnt from, so a table of 25,000 gives 20,000 to a method.
"""

import numpy as np
import pyarrow as pa

from pointillist.schema import Schema
from pointillist.schema.kinds import Boolean, Categorical, Column, Real

_FLIPPED = 0.1
"""The part of a parity's target that is turned round: models trained on real rows are right in nine rows of ten."""
_GROUPS = ("a", "b", "c", "d", "e")
CORRELATION, PAIRS, COLUMNS = 0.89, 10, 40


def parity_schema(order: int) -> Schema:
    """The columns whose parity the target is, and eight that have no part in it."""
    columns: dict[str, Column] = {f"bit{i}": Boolean(missing=False) for i in range(order)}
    columns |= {f"coin{i}": Boolean(missing=False) for i in range(3)}
    columns |= {f"group{i}": Categorical(categories=_GROUPS, missing=False, out_of_domain="error") for i in range(2)}
    columns |= {f"number{i}": Real(min=-4, max=4, missing=False, decimals=3) for i in range(3)}
    return Schema(name=f"xor{order}", rows=20_000, columns={**columns, "odd": Boolean(missing=False)})


def parity(order: int, rows: int = 25_000) -> pa.Table:
    """Whether an odd number of `order` fair bits is set: no table of fewer columns shows anything."""
    rng = np.random.default_rng(order)
    bits = rng.random((order, rows)) < 0.5
    return pa.table({
        **{f"bit{i}": each for i, each in enumerate(bits)},
        **{f"coin{i}": rng.random(rows) < (0.5, 0.3, 0.1)[i] for i in range(3)},
        **{f"group{i}": rng.choice(_GROUPS, rows, p=(0.4, 0.3, 0.15, 0.1, 0.05)) for i in range(2)},
        **{f"number{i}": np.clip(rng.standard_normal(rows), -4, 4).round(3) for i in range(3)},
        "odd": (bits.sum(axis=0) % 2 == 1) ^ (rng.random(rows) < _FLIPPED),
    })  # fmt: skip


def pairs_schema() -> Schema:
    columns: dict[str, Column] = {f"x{i}": Real(min=-4, max=4, missing=False, decimals=3) for i in range(COLUMNS)}
    return Schema(name="pairs40", rows=5_000, columns=columns)


def pairs(rows: int = 6_250) -> pa.Table:
    """Normal columns: each of the first ten depends on one of the next ten, all others on nothing."""
    rng = np.random.default_rng(40)
    values = rng.standard_normal((COLUMNS, rows))
    ahead, behind = values[:PAIRS], values[PAIRS : 2 * PAIRS]
    values[PAIRS : 2 * PAIRS] = CORRELATION * ahead + np.sqrt(1 - CORRELATION**2) * behind
    return pa.table({f"x{i}": np.clip(each, -4, 4).round(3) for i, each in enumerate(values)})
