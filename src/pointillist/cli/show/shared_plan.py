"""Show a plan that several owners follow: who they are, where it stands, and what it measures."""

from typing import Any

from pointillist.cli.console import out
from pointillist.cli.show.plan import show_plan
from pointillist.owners.shared_plan import SharedPlan


def show_shared_plan(shared: SharedPlan) -> None:
    """What all owners follow."""
    show_plan(shared.plan)
    out.print(shared.owners.sentence())
    state = (
        "the owners have to join first" if shared.needs_keys else f"round {shared.round} of {shared.rounds} comes next"
    )
    out.print(f"Plan {shared.id[:8]}: {state}. Noise in the table above is that of the sum of all parts.")
    if shared.keys:
        out.print(f"Fingerprint, for the owners to compare: {shared.fingerprint}")
    if shared.absent:
        out.print(f"Without owner {', '.join(map(str, shared.absent))}.")


def shared_plan_facts(shared: SharedPlan) -> dict[str, Any]:
    """The same for a program to read."""
    return {
        "id": shared.id,
        "round": shared.round,
        "of": shared.rounds,
        "needs_keys": shared.needs_keys,
        "fingerprint": shared.fingerprint,
        "absent": list(shared.absent),
        "guarantee": shared.plan.guarantee.to_json(),
        **shared.plan.to_json(),
    }
