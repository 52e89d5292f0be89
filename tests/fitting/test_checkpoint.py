"""Checkpoints: a fit that was broken off ends where it would have ended; a file that does not belong is refused."""

import json
import signal
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from safetensors.numpy import load as load_arrays
from tests.fixtures.killed import VICTIMS, fit_and_die

import pointillist as pt
from pointillist.errors import ArtefactError, UsageError
from pointillist.files import container
from pointillist.fitting.checkpoint import FORMAT, KIND
from pointillist.progress import silent

QUICK = pt.NetworkSettings(hidden=(12, 8), steps=60, batch=50, check=10)


class Broken(Exception):
    """As if the machine had gone down."""


def breaking(after: float) -> Callable[[str, float], None]:
    def progress(step: str, fraction: float) -> None:
        if fraction >= after:
            raise Broken

    return progress


@pytest.fixture(scope="module")
def releases(
    shapes: Callable[..., pa.Table], shapes_schema: pt.Schema, seeded_release: Callable[..., pt.Release]
) -> dict[str, pt.Release]:
    """Two releases of one table, by different noise."""
    return {
        name: seeded_release(shapes(500), shapes_schema, method=pt.Merf(features=20), target="kind", seed=seed)
        for name, seed in (("this", 0), ("other", 1))
    }


@pytest.fixture(scope="module")
def whole(releases: dict[str, pt.Release]) -> bytes:
    """The model of a fit that ran through."""
    return pt.Model.fitted(releases["this"], QUICK, seed=3, progress=silent).to_bytes()


@pytest.fixture
def begun(releases: dict[str, pt.Release], tmp_path: Path) -> Path:
    """The checkpoint of a fit that was broken off half-way."""
    path = tmp_path / "fit.checkpoint"
    with pytest.raises(Broken):
        QUICK.fit(releases["this"], seed=3, progress=breaking(0.5), checkpoint=path)
    return path


def test_a_fit_that_was_broken_off_ends_where_it_would_have_ended(
    begun: Path, releases: dict[str, pt.Release], whole: bytes
) -> None:
    """To the bit, and without doing again what was done."""
    steps: list[float] = []
    again = pt.Model.fitted(
        releases["this"], QUICK, seed=3, progress=lambda step, fraction: steps.append(fraction), checkpoint=begun
    )
    assert again.to_bytes() == whole
    assert steps[0] > 0.4


def test_a_fit_may_be_broken_off_again_and_again(releases: dict[str, pt.Release], tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "c"
    for after in (0.1, 0.3, 0.5, 0.5, 0.9):
        with pytest.raises(Broken):
            QUICK.fit(releases["this"], seed=3, progress=breaking(after), checkpoint=path)
    assert pt.Model.fitted(releases["this"], QUICK, seed=3, progress=silent, checkpoint=path).to_bytes() == whole


@pytest.mark.parametrize("writing", [False, True], ids=["at a look", "while the state is written"])
def test_a_fit_that_was_killed_ends_where_it_would_have_ended(
    releases: dict[str, pt.Release], tmp_path: Path, whole: bytes, writing: bool
) -> None:
    """Twice, by SIGKILL, which leaves no time to tidy up. Then to the bit; what was written is whole, or not there."""
    place, path = tmp_path / "this.release", tmp_path / "c"
    releases["this"].save(place)
    for done in (20, 40) if not writing else (10, 20):
        victim = VICTIMS.Process(target=fit_and_die, args=(place, QUICK, path, 3 if not writing else 2, writing))
        victim.start()
        victim.join(120)
        assert victim.exitcode == -signal.SIGKILL
        assert container.unpack(path, KIND, FORMAT)[0]["step"] == done
    assert pt.fit(pt.Release.load(place), generator=QUICK, seed=3, checkpoint=path).to_bytes() == whole


def test_a_checkpoint_changes_nothing_about_a_fit_that_runs_through(
    releases: dict[str, pt.Release], tmp_path: Path, whole: bytes
) -> None:
    path = tmp_path / "c"
    assert pt.fit(releases["this"], generator=QUICK, seed=3, checkpoint=path).to_bytes() == whole
    assert pt.fit(releases["this"], generator=QUICK, seed=3, checkpoint=str(path)).to_bytes() == whole  # it is done


def test_a_fit_that_stops_early_does_so_after_a_break_too(releases: dict[str, pt.Release], tmp_path: Path) -> None:
    """Where noise drowns everything, and its chi^2 is just below its mean, one look at it is enough."""
    (measured,) = releases["this"].measurements
    sigma = 1e6 * measured.sigma
    drawn = np.random.default_rng(0).standard_normal(len(measured.values))
    drawn *= 0.99 * np.sqrt(len(drawn)) / np.linalg.norm(drawn)
    noise = replace(measured, values=np.rint(sigma * drawn).astype(np.int64), sigma=sigma)
    release = replace(releases["this"], measurements=(noise,))
    steps: list[float] = []
    models = [
        pt.Model.fitted(
            release, QUICK, seed=3, progress=lambda step, fraction: steps.append(fraction), checkpoint=tmp_path / "c"
        ).to_bytes()
        for _ in range(2)
    ]
    assert len(steps) <= 2 * 2  # the first look, and the end
    assert models[0] == models[1] == pt.Model.fitted(release, QUICK, seed=3, progress=silent).to_bytes()


@pytest.mark.parametrize(
    ("release", "seed", "settings"),
    [
        ("other", 3, QUICK),
        ("this", 4, QUICK),
        ("this", 3, replace(QUICK, rate=2e-2)),
        ("this", 3, replace(QUICK, steps=61)),
        ("this", 3, replace(QUICK, hidden=(12, 9))),
        ("this", 3, replace(QUICK, reweighted=True)),
        ("this", 3, replace(QUICK, loss="distance")),
    ],
    ids=["release", "seed", "rate", "steps", "shape", "weights", "loss"],
)
def test_the_checkpoint_of_another_fit_is_refused(
    begun: Path, releases: dict[str, pt.Release], release: str, seed: int, settings: pt.NetworkSettings
) -> None:
    kept = begun.read_bytes()
    with pytest.raises(UsageError, match=r"fit\.checkpoint: belongs to a fit of another release.*remove"):
        settings.fit(releases[release], seed=seed, progress=silent, checkpoint=begun)
    assert begun.read_bytes() == kept


def test_a_damaged_file_is_refused(begun: Path, releases: dict[str, pt.Release]) -> None:
    content = begun.read_bytes()
    flipped = bytearray(content)
    flipped[len(content) // 2] ^= 255
    for wrong in (b"", b"no zip", content[:-40], bytes(flipped)):
        begun.write_bytes(wrong)
        with pytest.raises(ArtefactError, match=r"fit\.checkpoint"):
            QUICK.fit(releases["this"], seed=3, progress=silent, checkpoint=begun)
        assert begun.read_bytes() == wrong


def test_a_file_of_another_kind_is_refused(begun: Path, releases: dict[str, pt.Release]) -> None:
    releases["this"].save(begun)
    with pytest.raises(ArtefactError, match="is a release file, where a checkpoint file is needed"):
        QUICK.fit(releases["this"], seed=3, progress=silent, checkpoint=begun)


def without(arrays: dict[str, Any], word: str) -> dict[str, Any]:
    return {name: value for name, value in arrays.items() if word not in name}


@pytest.mark.parametrize(
    "change",
    [
        lambda facts, arrays: ({**facts, "random": None}, arrays),
        lambda facts, arrays: ({**facts, "random": {**facts["random"], "bit_generator": "MT19937"}}, arrays),
        lambda facts, arrays: ({name: value for name, value in facts.items() if name != "step"}, arrays),
        lambda facts, arrays: ({**facts, "step": "soon"}, arrays),
        lambda facts, arrays: (facts, without(arrays, "weights.0")),
        lambda facts, arrays: (facts, {**arrays, "moments.first.exp_avg": np.zeros(3)}),
    ],
)
def test_a_state_that_does_not_fit_is_refused(
    change: Callable[..., Any], begun: Path, releases: dict[str, pt.Release]
) -> None:
    """Whole by its hashes, but not what this version writes."""
    facts, arrays = change(*container.unpack(begun, KIND, FORMAT))
    container.write(begun, container.pack(KIND, FORMAT, facts, arrays))
    with pytest.raises(ArtefactError, match="does not hold the state of such a network"):
        QUICK.fit(releases["this"], seed=3, progress=silent, checkpoint=begun)


def test_no_code_can_hide_in_it(begun: Path) -> None:
    """Nothing but JSON and plain arrays: no pickle, which is what torch itself would write."""
    with zipfile.ZipFile(begun) as archive:
        assert set(archive.namelist()) == {"manifest.json", "facts.json", "arrays.safetensors"}
        assert all(isinstance(json.loads(archive.read(name)), dict) for name in ("manifest.json", "facts.json"))
        arrays = load_arrays(archive.read("arrays.safetensors"))
    assert {name.partition(".")[0] for name in arrays} == {"weights", "moments"}


def test_a_folder_is_no_checkpoint(releases: dict[str, pt.Release], tmp_path: Path) -> None:
    with pytest.raises(ArtefactError):
        QUICK.fit(releases["this"], seed=3, progress=silent, checkpoint=tmp_path)
    with pytest.raises(ArtefactError, match="folder does not exist"):
        QUICK.fit(releases["this"], seed=3, progress=silent, checkpoint=tmp_path / "none" / "c")


def test_mixtures_take_no_checkpoint(releases: dict[str, pt.Release], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Only networks do"):
        pt.fit(releases["this"], generator="mixture", checkpoint=tmp_path / "c")
    with pytest.raises(UsageError, match='Pass generator="network"'):
        pt.fit(releases["this"], checkpoint=tmp_path / "c")
    assert not (tmp_path / "c").exists()


def _one(arrays: container.Arrays, ending: str) -> str:
    return next(name for name in arrays if name.endswith(ending))


STATES: dict[str, Callable[[dict[str, Any], container.Arrays], Any]] = {
    "steps below 0": lambda f, a: f.update(step=-1),
    "steps that are none": lambda f, a: f.update(step=True),
    "no random state": lambda f, a: f.update(random=None),
    "another random state": lambda f, a: f["random"].update(state={"state": -1, "inc": "x"}),
    "moments of another shape": lambda f, a: a.update({_one(a, ".exp_avg"): np.zeros((3, 3), dtype=np.float32)}),
    "moments below 0": lambda f, a: a.update({_one(a, ".exp_avg_sq"): -1 - a[_one(a, ".exp_avg_sq")]}),
    "moments of no weight": lambda f, a: a.update({"moments.999.exp_avg": np.zeros(1, dtype=np.float32)}),
    "moments without a number": lambda f, a: a.update({"moments.x.exp_avg": np.zeros(1, dtype=np.float32)}),
    "weights of another shape": lambda f, a: a.update({_one(a, "weight"): np.zeros(3, dtype=np.float32)}),
}


@pytest.mark.parametrize("name", STATES)
def test_edited_states_are_refused(name: str, begun: Path, releases: dict[str, pt.Release]) -> None:
    facts, arrays = container.unpack(begun, KIND, FORMAT)
    STATES[name](facts, arrays)
    begun.write_bytes(container.pack(KIND, FORMAT, facts, arrays))
    with pytest.raises(ArtefactError, match="Remove it to begin anew"):
        QUICK.fit(releases["this"], seed=3, progress=silent, checkpoint=begun)
