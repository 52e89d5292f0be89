"""The registry's entry: its parts by the names that the registry's schema gives them, its figures those of the card."""

import json

import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.pages.deployment import Deployment
from pointillist.pages.registry_entry import registry_entry

PARTS = {
    "basic": "name data_curators description intended_use data_product_type data_product_region data_product_sector "
    "publication_date",
    "dp_variant": "variant_name data_domain unprotected_quantities",
    "privacy_loss": "privacy_unit privacy_unit_details number_of_privacy_units privacy_parameters "
    "privacy_parameters_details",
    "deployment_model": "model_name trust_assumptions release_type release_type_details data_source_type access_type",
    "implementation": "preprocessing_and_hyperparameter_tuning mechanisms composition post_processing justification "
    "utility",
    "administrative": "status registry_authors tier",
}
STATED = Deployment(by="City", purpose="Teaching", kind="Government", region="Norway", sector="Healthcare")


@pytest.fixture(scope="module")
def release() -> pt.Release:
    schema = pt.Schema(name="A b", columns={"a": pt.Boolean()})
    return pt.release(pa.table({"a": [True, False] * 50}), schema, epsilon=1.0, ledger=None)


def test_its_parts_and_figures(release: pt.Release) -> None:
    entry = registry_entry(pt.Card.of(release, deployment=STATED))
    assert {name: set(part) for name, part in entry["deployment"].items()} == {
        name: set(words.split()) for name, words in PARTS.items()
    }
    assert entry["deployment"]["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0, "delta": 1e-5}
    assert entry["deployment"]["basic"]["publication_date"] == release.created[:10]
    assert entry["url_slug"].startswith("a-b-")
    json.dumps(entry, allow_nan=False)


def test_what_only_the_owner_knows_is_asked_for(release: pt.Release) -> None:
    with pytest.raises(UsageError, match=r"needs --by, --kind, --purpose, --region"):
        registry_entry(pt.Card.of(release))
