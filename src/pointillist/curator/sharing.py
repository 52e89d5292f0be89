"""Sharing: a plan for several owners who pool no rows. Sees no data and spends nothing."""

from collections.abc import Sequence
from pathlib import Path

from pointillist.curator.releasing import plan
from pointillist.errors import UsageError
from pointillist.files.container import write
from pointillist.methods import Method, method_for
from pointillist.methods.base import CopiesRows
from pointillist.owners.shared_plan import SharedPlan
from pointillist.privacy.budget import DEFAULT_DELTA
from pointillist.privacy.guarantee import Neighbours
from pointillist.privacy.owners import Owners, Trust
from pointillist.reading.opening import open_schema
from pointillist.schema import Schema


def shared_plan(
    schema: Schema | str | Path,
    *,
    owners: int,
    epsilon: float,
    trust: str | Trust = Trust.NOBODY,
    colluding: int | None = None,
    delta: float = DEFAULT_DELTA,
    target: str | Sequence[str] | None = None,
    neighbours: str | Neighbours = Neighbours.ADD_REMOVE,
    method: str | Method | None = None,
    output: str | Path | None = None,
) -> SharedPlan:
    """A plan by which several owners make one release without pooling their rows. It is public, and the schema with it.

    Arguments:
        schema: the public facts about all owners' tables, reviewed; or the path of its TOML file.
        owners: how many there are.
        trust: "nobody" (default): every owner's part carries the whole noise, and is private by itself. "sum": every part
            carries a share of the noise and is masked, so that only the sum of all can be read.
        colluding: with trust in the sum, against how many owners together the promise is to hold; by default 1. With 0 the
            sum has as little noise as one release of pooled rows, and the promise does not hold against fellow owners.
        output: also write the plan to this file, whole or not at all.

    The others are as for `release`. What comes next: with trust in the sum `join`, then `contribute`, and `merge`.
    """
    schema = open_schema(schema)
    recipe = method_for(schema, method)
    schema.require_reviewed()
    schema.warn_of_vouched()
    whom = Trust.parse(trust)
    together = Owners(owners, whom, int(whom is Trust.SUM) if colluding is None else colluding)
    if isinstance(recipe, CopiesRows) and recipe.copied_rows is not None:
        raise UsageError(
            f"{recipe.name} copies public rows into the release, which are compared with the private ones first; that is "
            "not done for several owners. Choose another method, or say that the rows are public although some are private."
        )
    settled = plan(
        schema, epsilon=epsilon, delta=delta, target=target, neighbours=neighbours, method=recipe, owners=together
    )
    made = SharedPlan.of(settled, recipe.feature_map(settled, ()))
    if output is not None:
        write(output, made.to_bytes())
    return made
