"""Spectral: from images to images, at the noise that is promised."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from scipy import stats

import pointillist as pt
from pointillist.curator.embedding import Embedding
from pointillist.curator.releasing import embed
from pointillist.errors import SchemaError, UsageError
from pointillist.features import FeatureMap, ImageFourier, Labelled, OneHot, Records, Weighted
from pointillist.generators.gaussians.gaussians import Gaussians
from pointillist.methods.measuring import require_planned
from pointillist.plan import Plan
from pointillist.privacy.accounting import gaussian_delta
from pointillist.privacy.guarantee import Neighbours
from pointillist.privacy.sensitivity import squared_sensitivity
from pointillist.reading.opening import open_source
from pointillist.release import Measurement

ROWS, EPSILON = 600, 50.0
NAMES = ("a", "b", "c", "d")
RELATIONS = [each.value for each in Neighbours]


@dataclass(frozen=True)
class Shapes:
    """A set of noisy shapes, one for each class: a bar above, a bar on the left, a square in the middle."""

    shape: tuple[int, int, int] = (8, 8, 1)
    classes: int = 3
    """How many of the classes have images."""
    named: int | None = None
    """How many the schema names; none are labelled if there are 0."""
    strict: bool = True

    @property
    def labelled(self) -> bool:
        return self.named != 0

    @cached_property
    def codes(self) -> NDArray[np.uint16]:
        return (np.arange(ROWS) % self.classes).astype(np.uint16)

    @cached_property
    def pixels(self) -> NDArray[np.uint8]:
        height, width, channels = self.shape
        y, x = np.mgrid[:height, :width]
        middle = (abs(y - height / 2 + 0.5) <= 1) & (abs(x - width / 2 + 0.5) <= 1)
        shapes = np.stack([y < 2, x < 2, middle]) * 0.6 + 0.1
        colours = np.array([1.0, 0.7, 0.4])[:channels]
        rng = np.random.default_rng(0)
        noise = rng.normal(0, 0.08, (ROWS, *self.shape))
        return np.rint(255 * np.clip(shapes[self.codes][..., None] * colours + noise, 0, 1)).astype(np.uint8)

    @property
    def schema(self) -> pt.Schema:
        height, width, channels = self.shape
        columns: dict[str, Any] = {"image": pt.Image(height=height, width=width, colour=channels == 3)}
        if self.labelled:
            rule: Any = {"missing": False, "out_of_domain": "error"} if self.strict else {}
            columns["label"] = pt.Categorical(categories=NAMES[: self.named or self.classes], **rule)
        return pt.Schema(name="shapes", rows=ROWS, columns=columns)

    def write(self, path: Path) -> Path:
        arrays: dict[str, Any] = {"x": self.pixels}
        if self.labelled:
            arrays["y"] = np.array(NAMES)[self.codes]
        np.savez(path, **arrays)
        return path

    def records(self) -> Records:
        return Records(ROWS, {"label": self.codes} if self.labelled else {}, {}, {"image": self.pixels})


SETS = {
    "labelled": Shapes(),
    "colour": Shapes(shape=(8, 8, 3)),
    "oblong": Shapes(shape=(6, 10, 1)),
    "without labels": Shapes(classes=1, named=0),
    "one class": Shapes(classes=1),
    "an empty class": Shapes(named=4),
    "unlisted and missing labels allowed": Shapes(strict=False),
}
Maker = Callable[..., pt.Release]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Maker:
    """A release of a set at a generous budget, made once."""
    folder = tmp_path_factory.mktemp("shapes")
    made: dict[tuple[str, str], pt.Release] = {}

    def make(name: str, neighbours: str = "replace-one") -> pt.Release:
        key = (name, neighbours)
        if key not in made:
            path = SETS[name].write(folder / f"{len(made)}.npz")
            ledger = pt.Ledger(folder / f"{len(made)}.sqlite")
            ledger.set_cap("shapes", pt.Budget(100.0, 1e-5))
            made[key] = pt.release(
                path, SETS[name].schema, epsilon=EPSILON, neighbours=neighbours, ledger=ledger, threads=1
            )
        return made[key]

    return make


def fitted(release: pt.Release) -> pt.Model:
    return pt.fit(release)


def mean_images(pixels: NDArray[np.uint8], codes: NDArray[np.uint16], classes: int) -> NDArray[np.float64]:
    return np.stack([pixels[codes == code].mean(axis=0).ravel() / 255 for code in range(classes)])


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("name", SETS)
def test_means_of_classes_come_back(released: Maker, name: str, neighbours: str) -> None:
    """Root mean square over pixels: 0.05, where classes differ by 0.3.

    The release's noise is 0.003 on a class's mean, the sample's 0.004 for 500 images, and colours, which get fewer
    frequencies, lose 0.02 and more at sharp edges. For chance to make up for 0.02 of 60 pixels at a deviation of 0.005, the
    mean of their squares must be 16 times what is expected: less than once in 10^100.
    """
    shapes = SETS[name]
    pictures = fitted(released(name, neighbours)).sample(500 * shapes.classes, seed=0)
    assert pictures.pixels.dtype == np.uint8
    assert pictures.pixels.shape[1:] == shapes.shape
    codes = pictures.codes if shapes.labelled else np.zeros(len(pictures), dtype=np.uint16)
    assert codes is not None
    real = mean_images(shapes.pixels, shapes.codes, shapes.classes)
    made = mean_images(pictures.pixels, codes, shapes.classes)
    apart = np.sqrt(((real[:, None] - made[None]) ** 2).mean(axis=2))
    assert np.diag(apart).max() < 0.05
    if shapes.classes > 1:
        assert (apart + np.eye(shapes.classes)).min() > 0.15


@pytest.mark.parametrize("name", SETS)
def test_images_vary_about_as_much_as_real_ones(released: Maker, name: str) -> None:
    """Deviations of pixels, 0.08, come back with the noise on covariances: 1.3 times as large, give or take 0.08, at worst.

    2.5 times is 15 of that.
    """
    shapes = SETS[name]
    pictures = fitted(released(name)).sample(600, seed=0)
    codes = pictures.codes if shapes.labelled else np.zeros(600, dtype=np.uint16)
    assert codes is not None
    for code in range(shapes.classes):
        real, made = shapes.pixels[shapes.codes == code] / 255, pictures.pixels[codes == code] / 255
        assert 0.5 < made.std(axis=0).mean() / real.std(axis=0).mean() < 2.5


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_an_empty_class_gets_hardly_an_image(released: Maker, neighbours: str) -> None:
    """Counts have a noise of under 3 images at this budget: 30 of 600 are 10 deviations."""
    model = fitted(released("an empty class", neighbours))
    codes = model.sample(600, seed=0).codes
    assert codes is not None
    counts = np.bincount(codes, minlength=4)
    assert abs(counts - [200, 200, 200, 0]).max() < 30
    asked = model.sample(5, given={"label": "d"}, seed=0)  # its images are poor, but images
    assert asked.labels is not None
    assert asked.labels.tolist() == ["d"] * 5


def test_classes_as_asked_for(released: Maker) -> None:
    model = fitted(released("labelled"))
    balanced = model.sample(90, balance="label", seed=0).codes
    assert balanced is not None
    assert np.bincount(balanced).tolist() == [30, 30, 30]
    with pytest.raises(UsageError, match="is not a class of 'label'"):
        model.sample(3, given={"label": "e"})
    with pytest.raises(UsageError, match="leave frame out"):
        model.sample(3, frame="pandas")


def test_the_number_of_images(released: Maker) -> None:
    """Public with replace-one; otherwise counted, with noise of under 5 images in all: 50 are 10 deviations."""
    assert released("labelled", "replace-one").rows == ROWS
    assert fitted(released("labelled", "replace-one")).default_count == ROWS
    for name in ("labelled", "without labels"):
        secret = released(name, "add-remove")
        assert secret.rows is None
        assert abs(fitted(secret).default_count - ROWS) < 50


class TestPlan:
    @pytest.mark.parametrize("neighbours", RELATIONS)
    @pytest.mark.parametrize("name", SETS)
    def test_all_of_the_budget_is_spent_and_no_more(self, name: str, neighbours: str) -> None:
        schema = SETS[name].schema
        plan = pt.plan(schema, epsilon=1.0, delta=1e-6, neighbours=neighbours)
        assert plan.method == "spectral"
        assert math.fsum(each.share for each in plan.rounds) == pytest.approx(1.0, abs=1e-12)
        relation, promised = plan.request.neighbours, plan.guarantee
        ratios = [each.sensitivity(relation, schema) / plan.sigma(i) for i, each in enumerate(plan.rounds)]
        assert math.sqrt(sum(ratio**2 for ratio in ratios)) <= promised.mu
        for ratio, each in zip(ratios, plan.rounds, strict=True):
            assert ratio == pytest.approx(promised.mu * math.sqrt(each.share), rel=1e-9)
        spent = gaussian_delta(promised.mu, promised.epsilon - promised.epsilon_slack) + promised.delta_slack
        assert 0.99 * promised.delta < spent <= promised.delta
        assert (promised.epsilon, promised.delta, promised.neighbours) == (1.0, 1e-6, relation)

    def test_the_sensitivity_is_that_of_its_maps(self) -> None:
        """The first round is nonnegative, the others positive: sqrt 2 with replace-one, 1 with add-remove."""
        for neighbours, factor in (("replace-one", math.sqrt(2)), ("add-remove", 1.0)):
            plan = pt.plan(
                SETS["labelled"].schema, epsilon=1.0, neighbours=neighbours, method=pt.Spectral(kinds=3, frequencies=8)
            )
            first, *others = plan.rounds
            assert len(others) == 2
            relation, schema = plan.request.neighbours, plan.request.schema
            assert first.nonnegative
            assert first.sensitivity(relation, schema) == pytest.approx(factor * first.grid.scale)
            for each in others:
                assert (each.nonnegative, each.positive) == (False, True)
                found = each.sensitivity(relation, schema)
                assert factor * each.grid.scale <= found <= 1.001 * factor * each.grid.scale
                bound = squared_sensitivity(
                    each.grid.squared_norm, relation, None, nonnegative=False, positive=each.dimension
                )
                assert found**2 == pytest.approx(bound, rel=1e-12)

    @pytest.mark.parametrize("name", SETS)
    def test_maps_are_what_the_plan_says(self, released: Maker, name: str) -> None:
        plan = pt.plan(SETS[name].schema, epsilon=EPSILON, neighbours="replace-one")
        for measurement, each in zip(released(name).measurements, plan.rounds, strict=True):
            fewer = plan.options["fewest_frequencies"] < plan.options["frequencies"] and each is plan.rounds[-1]
            assert measurement.feature_map.dimension == each.dimension or fewer
            assert measurement.feature_map.bound <= 1 + 1e-12
            assert measurement.feature_map.image_columns == {"image"}
            require_planned(measurement.feature_map, each)

    def test_options_are_those_that_were_used(self) -> None:
        plan = pt.plan(SETS["labelled"].schema, epsilon=1.0)
        again = pt.plan(SETS["labelled"].schema, epsilon=1.0, method=pt.Spectral(**plan.options))
        assert again.options == plan.options
        assert again.rounds == plan.rounds

    @pytest.mark.parametrize("name", ["frequencies", "kinds"])
    def test_a_larger_budget_keeps_detail(self, name: str) -> None:
        """More of it never lowers the number of frequencies or kinds, and in the end raises it."""
        schema = SETS["labelled"].schema
        found = [pt.plan(schema, epsilon=epsilon).options[name] for epsilon in (0.1, 1.0, 10.0, 50.0)]
        assert found == sorted(found)
        assert found[0] < found[-1]

    def test_frequencies_may_be_settled_by_the_first_pass(self) -> None:
        schema = SETS["labelled"].schema
        open_plan = pt.plan(schema, epsilon=50.0)
        assert open_plan.options["fewest_frequencies"] < open_plan.options["frequencies"]
        assert any("frequencies of each direction" in note for note in open_plan.notes)
        given_plan = pt.plan(schema, epsilon=50.0, method=pt.Spectral(frequencies=6))
        assert given_plan.options["fewest_frequencies"] == given_plan.options["frequencies"] == 6
        assert given_plan.notes == ()
        unlabelled = pt.plan(SETS["without labels"].schema, epsilon=50.0)  # no classes that could differ
        assert unlabelled.options["fewest_frequencies"] == unlabelled.options["frequencies"]
        assert unlabelled.notes == ()

    @pytest.mark.parametrize(("waves", "measured"), [(1, 3), (5, 6), (11, 12)])
    def test_as_many_frequencies_as_classes_differ_in(self, waves: int, measured: int, tmp_path: Path) -> None:
        """Classes are stripes of one frequency; at this budget a frequency is missed with a chance below 1e-6."""
        stripes = np.cos(np.pi * waves * (np.arange(16) + 0.5) / 16)
        codes = np.arange(ROWS) % 2
        images = 0.5 + 0.4 * np.where(codes[:, None, None], stripes, -stripes) * np.ones((ROWS, 16, 1))
        np.savez(tmp_path / "stripes.npz", x=np.rint(255 * images).astype(np.uint8), y=np.array(NAMES)[codes])
        schema = Shapes(shape=(16, 16, 1), classes=2).schema
        ledger = pt.Ledger(tmp_path / "ledger.sqlite")
        ledger.set_cap("shapes", pt.Budget(100.0, 1e-5))
        method = pt.Spectral(frequencies=16, fewest_frequencies=3, kinds=1)
        release = pt.release(tmp_path / "stripes.npz", schema, epsilon=EPSILON, method=method, ledger=ledger)
        generator = pt.fit(release).generator
        assert isinstance(generator, Gaussians)
        assert len(generator.waves) == measured**2
        # One image replaced by its opposite moves fewer features by no more than the plan's bound for all of them.
        last, planned = release.measurements[-1], pt.plan(schema, epsilon=EPSILON, method=method).rounds[-1]
        pixels = np.rint(255 * images[:20]).astype(np.uint8)[..., None]
        whole = Records(20, {"label": codes[:20].astype(np.uint16)}, {}, {"image": pixels})
        opposite = Records(20, whole.codes, {}, {"image": np.concatenate([255 - pixels[:1], pixels[1:]])})
        assert last.feature_map.dimension < planned.dimension
        bound = planned.sensitivity(Neighbours.REPLACE_ONE, schema)
        assert 0 < moved(last, whole, opposite) <= bound**2

    def test_one_kind_needs_no_pass_to_tell_kinds_apart(self) -> None:
        schema = SETS["labelled"].schema
        one, two = (pt.plan(schema, epsilon=1.0, method=pt.Spectral(kinds=kinds)) for kinds in (1, 2))
        assert [len(each.rounds) for each in (one, two)] == [2, 3]
        assert one.rounds[-1].share == pytest.approx(1 - one.options["mean_share"])


class TestNoise:
    @pytest.mark.parametrize("neighbours", RELATIONS)
    @pytest.mark.parametrize("name", ["labelled", "without labels", "colour"])
    def test_the_noise_is_what_the_plan_states(
        self, released: Maker, name: str, neighbours: str, tmp_path: Path
    ) -> None:
        """All coordinates of all rounds against the exact sums: chi^2 at 1e-8 on each side, 36 times."""
        release, path = released(name, neighbours), SETS[name].write(tmp_path / "again.npz")
        plan = pt.plan(SETS[name].schema, epsilon=EPSILON, neighbours=neighbours)
        for number, measurement in enumerate(release.measurements):
            assert measurement.sigma == plan.sigma(number) == release.plan.rounds[number].sigma
            exact, rows = embed(open_source(path), release.schema, measurement.feature_map, measurement.grid)
            assert rows == ROWS
            noise = (measurement.values - exact) / measurement.sigma
            low, high = stats.chi2.ppf([1e-8, 1 - 1e-8], len(noise))
            assert low < float(noise @ noise) < high

    @pytest.mark.parametrize("name", ["labelled", "colour", "without labels"])
    def test_exact_sums_do_not_depend_on_threads_batches_or_order(
        self, released: Maker, name: str, tmp_path: Path
    ) -> None:
        path, release = SETS[name].write(tmp_path / "again.npz"), released(name)
        order = np.random.default_rng(0).permutation(ROWS)
        for measurement in release.measurements:
            source = open_source(path)
            first, _ = embed(source, release.schema, measurement.feature_map, measurement.grid, threads=1)
            again, _ = embed(source, release.schema, measurement.feature_map, measurement.grid, threads=3)
            np.testing.assert_array_equal(first, again)
            parts = Embedding(measurement.feature_map, measurement.grid)
            for start in range(0, ROWS, 37):
                parts.add(SETS[name].records().part(order[start : start + 37]))
            np.testing.assert_array_equal(first, parts.sums())


def moved(measurement: Measurement, records: Records, other: Records) -> int:
    sums = []
    for each in (records, other):
        embedding = Embedding(measurement.feature_map, measurement.grid)
        embedding.add(each)
        sums.append(embedding.sums())
    return sum((int(a) - int(b)) ** 2 for a, b in zip(*sums, strict=True))


@pytest.mark.parametrize("name", ["labelled", "without labels"])
@settings(max_examples=40)
@given(
    images=hnp.arrays(np.uint8, (2, 8, 8, 1)),
    codes=st.tuples(st.integers(0, 2), st.integers(0, 2)),
    kind=st.sampled_from(["any", "opposite", "black and white", "around the mean"]),
)
def test_neighbours_are_within_the_planned_sensitivity(
    released: Maker, name: str, images: NDArray[np.uint8], codes: tuple[int, int], kind: str
) -> None:
    """With the centres that a release has found: one image replaced, or taken away, among twenty."""
    shapes, plan = SETS[name], {r: pt.plan(SETS[name].schema, epsilon=EPSILON, neighbours=r) for r in RELATIONS}
    images = images.copy()
    if kind == "opposite":
        images[1] = 255 - images[0]
    elif kind == "black and white":
        images[0], images[1] = 0, 255
    elif kind == "around the mean":
        mean = shapes.pixels[shapes.codes == codes[0] % shapes.classes].mean(axis=0)
        images[0], images[1] = np.clip(mean + images[0] / 2, 0, 255), np.clip(mean - images[0] / 2, 0, 255)
    whole = shapes.records().part(slice(0, 20))
    with_one = [_with(whole, image, code) for image, code in zip(images, codes, strict=True)]
    for number, measurement in enumerate(released(name).measurements):
        for relation, pair in (("replace-one", with_one), ("add-remove", [whole, with_one[0]])):
            each, neighbours = plan[relation].rounds[number], plan[relation].request.neighbours
            assert math.sqrt(moved(measurement, *pair)) <= each.sensitivity(neighbours, shapes.schema)


def _with(records: Records, image: NDArray[np.uint8], code: int) -> Records:
    codes = {name: np.append(values, np.uint16(code)) for name, values in records.codes.items()}
    return Records(records.rows + 1, codes, {}, {"image": np.concatenate([records.images["image"], image[None]])})


def test_less_variety_makes_images_that_are_more_alike(released: Maker) -> None:
    release = released("labelled")
    deviations = []
    for variety in (1.0, 0.25):
        model = pt.fit(release, method=pt.Spectral(variety=variety))
        pixels = model.sample(300, given={"label": "a"}, seed=0).pixels / 255
        deviations.append(float(pixels.std(axis=0).mean()))
    assert 0.3 < deviations[1] / deviations[0] < 0.8


def two_kinds(seed: int = 0) -> NDArray[np.uint8]:
    """One class of two kinds: a bar above, or a bar on the left, never both."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:8, :8]
    bars = np.stack([y < 3, x < 3]) * 0.7 + 0.1
    noise = rng.normal(0, 0.04, (ROWS, 8, 8))
    return np.rint(255 * np.clip(bars[np.arange(ROWS) % 2] + noise, 0, 1)).astype(np.uint8)[..., None]


def test_kinds_of_a_class_are_told_apart() -> None:
    """Where one Gaussian makes crosses and blanks, two kinds make bars: both corners far from the bars, or one.

    A bar has one of its far corners bright and the other dark; a cross has both bright. The differences are 0.7 in real
    images; noise and chance are below 0.1.
    """
    told = {}
    for kinds in (1, 2):
        schema = pt.Schema(name=f"bars {kinds}", rows=ROWS, columns={"image": pt.Image(height=8, width=8)})
        method = pt.Spectral(kinds=kinds, frequencies=8)
        release = pt.release(pt.images(two_kinds()), schema, epsilon=9.0, method=method)
        pixels = fitted(release).sample(400, seed=0).pixels[..., 0] / 255
        told[kinds] = float(np.mean(abs(pixels[:, 1, 6] - pixels[:, 6, 1]) > 0.35))
    assert told[2] > 0.9
    assert told[1] < 0.85


class TestFiles:
    @pytest.mark.parametrize("name", SETS)
    def test_a_release_read_back_is_the_same_and_gives_the_same_images(
        self, released: Maker, name: str, tmp_path: Path
    ) -> None:
        release = released(name)
        release.save(tmp_path / "a.release")
        back = pt.Release.load(tmp_path / "a.release")
        for first, again in zip(release.measurements, back.measurements, strict=True):
            np.testing.assert_array_equal(first.values, again.values)
            assert (first.sigma, first.grid) == (again.sigma, again.grid)
            records = SETS[name].records().part(slice(0, 5))
            np.testing.assert_array_equal(first.feature_map(records), again.feature_map(records))
        assert back.to_bytes() == release.to_bytes()
        model, second = fitted(release), fitted(back)
        assert model.to_bytes() == second.to_bytes()
        np.testing.assert_array_equal(model.sample(20, seed=3).pixels, second.sample(20, seed=3).pixels)

    def test_a_model_read_back_gives_the_same_images(self, released: Maker, tmp_path: Path) -> None:
        model = fitted(released("labelled"))
        model.save(tmp_path / "a.model")
        back = pt.Model.load(tmp_path / "a.model")
        first, again, other = model.sample(20, seed=3), back.sample(20, seed=3), model.sample(20, seed=4)
        np.testing.assert_array_equal(first.pixels, again.pixels)
        np.testing.assert_array_equal(first.codes, again.codes)
        assert not np.array_equal(first.pixels, other.pixels)

    def test_an_output_file_is_the_release(self, tmp_path: Path) -> None:
        path = SETS["labelled"].write(tmp_path / "a.npz")
        made = pt.release(path, SETS["labelled"].schema, epsilon=1.0, output=tmp_path / "a.release", threads=1)
        assert (tmp_path / "a.release").read_bytes() == made.to_bytes()


@dataclass(frozen=True, kw_only=True)
class Liar(pt.Spectral):
    """It plans for a positive map, and then brings another."""

    def feature_map(self, plan: Plan, measured: Sequence[Measurement]) -> FeatureMap:
        if not measured:
            return super().feature_map(plan, measured)
        return negative()


def negative() -> FeatureMap:
    """Random waves by class, within the bound: their inner products have either sign."""
    waves = ImageFourier.draw("image", 8, 8, 1, 10, (0.3,), seed=0)
    return Weighted(Labelled.of(waves, OneHot("label", 3)), 0.9)


class TestRefusals:
    def test_a_map_that_is_not_positive(self, tmp_path: Path) -> None:
        path, schema = SETS["labelled"].write(tmp_path / "a.npz"), SETS["labelled"].schema
        with pytest.raises(RuntimeError, match="not what its plan says"):
            pt.release(path, schema, epsilon=1.0, neighbours="replace-one", method=Liar(), threads=1)
        first, last = pt.plan(schema, epsilon=1.0, neighbours="replace-one", method=pt.Spectral(kinds=1)).rounds
        assert negative().dimension <= last.dimension
        for each in (first, last):
            with pytest.raises(RuntimeError, match="not what its plan says"):
                require_planned(negative(), each)

    def test_moments_where_nothing_may_be_negative(self, released: Maker) -> None:
        """Positive is less than nonnegative: the first round's sensitivity has no slack."""
        plan = pt.plan(SETS["labelled"].schema, epsilon=EPSILON, neighbours="replace-one")
        moments = released("labelled").measurements[1].feature_map
        with pytest.raises(RuntimeError, match="not what its plan says"):
            require_planned(moments, plan.rounds[0])

    @pytest.mark.parametrize("method", ["mosaic", pt.Mosaic(), pt.Merf(), "landmarks", "spectre"])
    def test_methods_that_are_not_for_images(self, method: Any) -> None:
        with pytest.raises(UsageError, match=r"for images\. Known methods: spectral"):
            pt.plan(SETS["labelled"].schema, epsilon=1.0, method=method)

    @pytest.mark.parametrize("method", ["spectral", pt.Spectral()])
    def test_spectral_for_tables(self, method: Any) -> None:
        table = pt.Schema(name="t", columns={"a": pt.Boolean()})
        with pytest.raises(UsageError, match=r"for tables\. Known methods: mosaic"):
            pt.plan(table, epsilon=1.0, method=method)

    def test_a_target_that_is_not_the_label(self) -> None:
        with pytest.raises((UsageError, SchemaError), match="target 'image' is not the label"):
            pt.plan(SETS["labelled"].schema, epsilon=1.0, target="image")
        with pytest.raises(SchemaError, match="target 'sort' is not a measured column"):
            pt.plan(SETS["labelled"].schema, epsilon=1.0, target="sort")
        assert pt.plan(SETS["labelled"].schema, epsilon=1.0, target="label").request.target == "label"

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("mean_share", 0.0),
            ("mean_share", 1.0),
            ("count_share", 0.0),
            ("count_share", -0.1),
            ("brightness", 0.0),
            ("radius", 1.5),
            ("radius", math.nan),
            ("lift", -1.0),
            ("reach", 0.0),
            ("variety", 0.0),
            ("kind_share", 0.0),
            ("spread_share", 1.0),
            ("kinds", 0),
            ("kinds", 1000),
            ("frequencies", 0),
            ("frequencies", 1000),
            ("fewest_frequencies", 0),
            ("fewest_frequencies", 1000),
        ],
    )
    def test_settings_that_cannot_be(self, name: str, value: Any) -> None:
        with pytest.raises(UsageError, match=f"{name} must lie between"):
            pt.Spectral(**{name: value})
