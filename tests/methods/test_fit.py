"""Fitting: which generator fits which release, by its method's own choice or by the caller's."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import torch

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.evaluate.tables.sample import read
from pointillist.methods import Gallery, ImageMerf, Perceptual, methods_of
from pointillist.methods.fit import placed

People = Callable[..., pa.Table]

METHODS: dict[str, Any] = {
    "mosaic": pt.Mosaic(components=7, steps=3),
    "merf": pt.Merf(features=20),
    "hermite": pt.Hermite(order=4, product_order=2, products=4),
}
OTHERS: dict[str, Any] = {
    "reduced-set": pt.ReducedSet(features=20, points=5),
    "landmarks": pt.Landmarks(candidates=64, number=20),
    "chronicle": pt.Chronicle(components=7, steps=3),
}
POINTS = pt.PointsSettings(points=8, steps=3, stop=False)
GENERATORS: dict[str, Any] = {
    "mixture": pt.MixtureSettings(components=4, steps=5, grain=8),
    "network": pt.NetworkSettings(hidden=(8,), steps=4, batch=20, check=2),
}


@pytest.fixture
def release(schema: pt.Schema, people: People) -> Callable[..., pt.Release]:
    """A release of a small table, by a method's name."""

    def make(method: str, target: str | None = "sex") -> pt.Release:
        rows, facts = people(200), schema
        if method == "chronicle":
            rows = rows.append_column("who", pa.array([number // 2 for number in range(200)]))
            facts = schema.model_copy(update={"person": pt.Person(column="who", max_rows=2)})
        return pt.release(rows, facts, epsilon=3.0, target=target, method=(METHODS | OTHERS)[method])

    return make


@pytest.mark.parametrize("target", ["sex", "age", None])
@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("method", METHODS)
def test_generators_fit_releases(
    method: str, generator: str, target: str | None, release: Callable[..., pt.Release], schema: pt.Schema
) -> None:
    model = pt.fit(release(method, target), generator=GENERATORS[generator])
    assert generator in model.generator.describe()
    assert read(model.sample(60, seed=0), schema).rows == 60  # every value is one of the schema's
    assert model.sample(60, seed=0).equals(model.sample(60, seed=0))


def documented() -> dict[str, dict[str, str]]:
    """What docs/how-to/generators.md says, by method and generator."""
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "generators.md").read_text(encoding="utf-8")
    rows = [[cell.strip(" `") for cell in row.split("|")[1:-1]] for row in re.findall(r"^\|.*\|$", page, re.M)]
    heading = next(row for row in rows if row[0] == "release by")
    return {row[0]: dict(zip(heading[1:], row[1:], strict=True)) for row in rows if row[1] in ("yes", "no")}


@pytest.mark.parametrize("method", METHODS | OTHERS)
def test_the_pairs_in_the_docs_are_those_that_work(method: str, release: Callable[..., pt.Release]) -> None:
    assert documented().keys() == (METHODS | OTHERS).keys() == methods_of("tables").keys()
    made = release(method)
    for name, settings in (GENERATORS | {"points": POINTS}).items():
        if documented()[method][name] == "yes":
            assert pt.fit(made, generator=settings).sample(10, seed=0).num_rows == 10
        else:
            with pytest.raises(UsageError, match="its own method"):
                pt.fit(made, generator=settings)


@pytest.mark.parametrize("method", ["mosaic", "landmarks"])
def test_a_fit_that_is_for_its_own_releases_refuses_others(method: str, release: Callable[..., pt.Release]) -> None:
    with pytest.raises(UsageError, match=r"a release by merf .* Fit it by its own method"):
        pt.fit(release("merf"), method=(METHODS | OTHERS)[method])


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("method", METHODS)
def test_tables_with_hardly_a_row(method: str, generator: str, rows: int, schema: pt.Schema, people: People) -> None:
    for epsilon in (0.1, 9.0):
        made = pt.release(people(rows), schema, epsilon=epsilon, target="member", method=METHODS[method])
        assert pt.fit(made, generator=GENERATORS[generator]).sample(20, seed=0).num_rows == 20


def test_a_release_is_fitted_as_it_was_planned(release: Callable[..., pt.Release]) -> None:
    assert pt.fit(release("mosaic")).generator.describe() == "a mixture of 7 components"
    again = pt.fit(release("mosaic"), method=pt.Mosaic(components=9, steps=2))
    assert again.generator.describe() == "a mixture of 9 components"


def test_generator_and_method_go_by_name_too(release: Callable[..., pt.Release]) -> None:
    """With defaults, which are too slow for a test to wait for: the first step will do."""

    class Begun(Exception):
        pass

    def progress(step: str, fraction: float) -> None:
        raise Begun

    made = release("merf")
    for chosen in ({"generator": "network"}, {"generator": "mixture"}, {"method": "merf"}, {}):
        with pytest.raises(Begun):
            pt.fit(made, progress=progress, **chosen)  # type: ignore[arg-type]


def test_mistakes_are_named(release: Callable[..., pt.Release]) -> None:
    made = release("merf")
    with pytest.raises(UsageError, match=r"generator 'gan' is not known\. Known generators: mixture, network"):
        pt.fit(made, generator="gan")
    with pytest.raises(UsageError, match="a method or a generator, not both"):
        pt.fit(made, method=METHODS["merf"], generator="network")
    with pytest.raises(UsageError, match="mosaic is a method, not a generator"):
        pt.fit(made, generator=pt.Mosaic())  # type: ignore[arg-type]
    for wrong in (pt.NetworkSettings(), "magic", pt.Merf):
        with pytest.raises(UsageError, match="Known methods"):
            pt.fit(made, method=wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match='Pass generator="network" as well'):
        pt.fit(made, checkpoint="c")
    with pytest.raises(UsageError, match="fit takes a Release"):
        pt.fit("a.release", generator="network")  # type: ignore[arg-type]


def test_networks_run_on_a_device_and_nothing_else_does(release: Callable[..., pt.Release]) -> None:
    made = release("mosaic")
    network = GENERATORS["network"]
    assert pt.fit(made, generator=network, device="cpu").to_bytes() == pt.fit(made, generator=network).to_bytes()
    assert pt.fit(made, device="cpu").to_bytes() == pt.fit(made).to_bytes()
    with pytest.raises(UsageError, match="device 'gpu' is not known"):
        pt.fit(made, generator=network, device="gpu")


def test_a_device_goes_to_what_fits() -> None:
    """To a method's network, to what it looks at images with where it fits none, or to a generator's settings."""
    assert placed(pt.NetworkSettings(steps=7), "auto") == pt.NetworkSettings(steps=7, device="auto")
    assert placed(ImageMerf(), "auto").device == "auto"
    assert placed(Perceptual(network={"steps": 5}), "auto").network == replace(
        Perceptual(network={"steps": 5}).network, device="auto"
    )
    assert placed(Perceptual(), "auto").network.device == "auto"
    assert placed(Gallery(), "auto").device == "auto"
    assert placed(pt.Mosaic(), "cpu") == pt.Mosaic()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a card")
@pytest.mark.parametrize("given", [{}, {"generator": "network"}, {"generator": "mixture"}])
def test_a_card_that_is_not_there_is_refused(release: Callable[..., pt.Release], given: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=r"cuda is not available here.*Use --device cpu"):
        pt.fit(release("mosaic"), device="cuda", **given)  # type: ignore[arg-type]


def test_a_log_has_a_line_for_each_look(release: Callable[..., pt.Release], tmp_path: Path) -> None:
    """Nothing about the fit changes; a method that fits no network is refused before the file is made."""
    made, path = release("merf"), tmp_path / "fit.jsonl"
    network = GENERATORS["network"]
    assert pt.fit(made, generator=network, log=path).to_bytes() == pt.fit(made, generator=network).to_bytes()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(each["step"], each["steps_left"]) for each in lines] == [(2, 2), (4, 0)]
    assert all(each["loss"] > 0 and each["chi2"] > each["chi2_expected"] > 0 for each in lines)
    with pytest.raises(UsageError, match="only networks write a log"):
        pt.fit(made, log=tmp_path / "none.jsonl")
    assert not (tmp_path / "none.jsonl").exists()
