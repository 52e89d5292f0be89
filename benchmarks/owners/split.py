"""Split: one table as three owners would hold it, at random or by where people come from."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

OWNERS = 3
LATIN = (
    "Columbia", "Cuba", "Dominican-Republic", "Ecuador", "El-Salvador", "Guatemala", "Haiti", "Honduras", "Jamaica",
    "Mexico", "Nicaragua", "Outlying-US(Guam-USVI-etc)", "Peru", "Puerto-Rico", "Trinadad&Tobago",
)  # fmt: skip
"""Countries of birth of Adult: Latin America and the Caribbean."""
BIRTH = "native_country"


def at_random(table: pa.Table, seed: int) -> list[pa.Table]:
    """Three parts of equal size."""
    order = np.random.default_rng(seed).permutation(table.num_rows)
    return [table.take(np.sort(part)) for part in np.array_split(order, OWNERS)]


def by_region(table: pa.Table, seed: int) -> list[pa.Table]:
    """Born in the United States; in Latin America or the Caribbean; elsewhere, or nobody knows. Where a table has no country
    of birth, by its first column of texts."""
    if BIRTH in table.column_names:
        home = pc.fill_null(pc.equal(table[BIRTH], "United-States"), False)
        latin = pc.fill_null(pc.is_in(table[BIRTH], pa.array(LATIN)), False)
        return [table.filter(home), table.filter(latin), table.filter(pc.invert(pc.or_(home, latin)))]
    name = next(field.name for field in table.schema if pa.types.is_string(field.type))
    codes = np.unique(np.asarray(table[name].to_pylist(), dtype=str), return_inverse=True)[1]
    return [table.filter(pa.array(codes % OWNERS == owner)) for owner in range(OWNERS)]


SPLITS = {"at random": at_random, "by region": by_region}
