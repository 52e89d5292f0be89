"""Registry entry: a card as an entry of the public registry of differential-privacy deployments (arXiv 2509.13509).

The layout is that of the registry's own schema, tier 3; see docs/reference/card.md.
"""

import re
from importlib.metadata import version
from typing import Any

from pointillist.errors import UsageError
from pointillist.pages.card import Card
from pointillist.privacy.guarantee import Neighbours, short

_NEEDED = {"by": "--by", "kind": "--kind", "purpose": "--purpose", "region": "--region"}


def registry_entry(card: Card) -> dict[str, Any]:
    """A draft of an entry. What only the owner knows must have been stated."""
    missing = [option for name, option in _NEEDED.items() if not getattr(card.deployment, name)]
    if missing:
        raise UsageError(f"an entry of the registry needs {', '.join(missing)}.")
    return {
        "url_slug": re.sub(r"[^a-z0-9]+", "-", f"{card.name} {card.id[:8]}".lower()).strip("-"),
        "deployment": {
            "basic": _basic(card),
            "dp_variant": _variant(card),
            "privacy_loss": _privacy_loss(card),
            "deployment_model": _model(card),
            "implementation": _implementation(card),
            "administrative": {"status": "Draft", "registry_authors": [card.deployment.by], "tier": 3},
        },
    }


def _basic(card: Card) -> dict[str, Any]:
    stated = card.deployment
    return {
        "name": card.name,
        "data_curators": [{"data_curator_name": stated.by, "data_curator_type": stated.kind}],
        "description": f"Synthetic {card.guarantee.record}s of {len(card.columns)} columns, made from noisy sums by the "
        f"method {card.method}. Release {card.id}.",
        "intended_use": stated.purpose + (f" (for {stated.to})" if stated.to else ""),
        "data_product_type": "Synthetic data",
        "data_product_region": stated.region,
        **({"data_product_sector": stated.sector} if stated.sector else {}),
        "publication_date": card.created[:10],
    }


def _variant(card: Card) -> dict[str, Any]:
    read = "; ".join(f"{name or 'the whole'}: {', '.join(facts)}" for name, facts in card.vouched.items())
    counted = f" The number of {card.guarantee.record}s is public." if card.rows_exact else ""
    return {
        "variant_name": "Approximate DP" if card.guarantee.delta else "Pure DP",
        "data_domain": f"All sets of {card.guarantee.record}s; values outside the public schema are clipped or left out.",
        "unprotected_quantities": (f"Read from the data and declared public: {read}." if read else "None.") + counted,
    }


def _privacy_loss(card: Card) -> dict[str, Any]:
    guarantee = card.guarantee
    counted = {"number_of_privacy_units": round(card.rows)} if guarantee.person is None else {}
    bought = f" {card.bought}" if card.bought else ""
    return {
        "privacy_unit": "User-level" if guarantee.person else f"One {guarantee.record}",
        "privacy_unit_details": guarantee.sentence(),
        **counted,
        "privacy_parameters": {"epsilon": guarantee.epsilon, "delta": guarantee.delta},
        "privacy_parameters_details": f"{card.check} {card.risk.sentence(guarantee)}{bought}",
    }


def _model(card: Card) -> dict[str, Any]:
    owners, account = card.guarantee.owners, card.account
    several = account is not None and len(account.entries) > 1
    capped = (
        "The ledger's account is not stated: other releases from the same data are not counted here."
        if account is None
        else f"The ledger has {len(account.entries)} spends on these data, together ε = {account.spent:.4g} at δ = "
        f"{short(account.delta)}, under a cap of ε = {account.cap_epsilon:g}; nothing resets it."
    )
    return {
        "model_name": "Central" if owners is None else "Federated",
        "trust_assumptions": "The owner sees the private data; everyone else sees the release alone, with any knowledge."
        if owners is None
        else owners.sentence(),
        "release_type": "Many releases" if several else "One release",
        "release_type_details": capped,
        "data_source_type": "Static",
        "access_type": "Non-interactive",
    }


def _implementation(card: Card) -> dict[str, Any]:
    relation = (
        "the number of records is noisy" if card.guarantee.neighbours is Neighbours.ADD_REMOVE else "it is public"
    )
    audit = (
        ""
        if card.audited is None
        else f" Attacks on made-up data proved ε ≥ {card.audited.epsilon:.3g} (confidence {card.audited.confidence:g})."
    )
    noise = "; ".join(f"{each.name}: ± {each.noise:.1f} on each of {each.cells:,}" for each in card.measured)
    return {
        "preprocessing_and_hyperparameter_tuning": "The schema is public, reviewed before the release; later choices see "
        f"noisy sums alone, and cost nothing.{' ' + card.bought if card.bought else ''}",
        "mechanisms": "Bounded feature maps; exact integer sums, clipped in integers; discrete Gaussian noise from a "
        f"cryptographic source (OpenDP's sampler), on an integer grid; {relation}. Pointillist {version('pointillist')}.",
        "composition": "Gaussian rounds compose exactly: their squares of sensitivity over noise add up.",
        "post_processing": "A generator is fitted to the noisy sums, and synthetic data are drawn from it.",
        "justification": f"Neighbours: {card.guarantee.neighbours}.{audit}",
        "utility": f"Standard deviation of the noise. {noise}.",
    }
