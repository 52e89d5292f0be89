"""Evaluation: everything there is to know about a set of synthetic images, beside the real one.

Computed from private images: exact, not differentially private, and for the owner's eyes only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pointillist.device import CPU
from pointillist.errors import UsageError, without_context
from pointillist.evaluate.evaluation import AnyEvaluation, opened_release, read_each, schema_of
from pointillist.evaluate.images.feature_space import Space
from pointillist.evaluate.images.metric import METRICS, ImageContext
from pointillist.evaluate.images.metrics.classifiers import CLASSIFIERS, CNN, MOST_IMAGES, Results
from pointillist.evaluate.images.metrics.copies import Copies
from pointillist.evaluate.images.metrics.distances import Distance
from pointillist.evaluate.images.metrics.diversity import Diversity
from pointillist.evaluate.images.reading import read
from pointillist.evaluate.learners.classifiers import available, require_models
from pointillist.evaluate.metric import Steps
from pointillist.evaluate.report import Words
from pointillist.files.images import Images
from pointillist.generators.requirements import require_torch
from pointillist.pages import count
from pointillist.pages.blocks import html
from pointillist.progress import Progress, silent
from pointillist.release import Release
from pointillist.schema import Schema
from pointillist.watching import watched

if TYPE_CHECKING:
    from pointillist.evaluate.audit.finding import Audit

MODELS = ("logistic regression", "random forest", CNN)
"""What the report trains; all of the papers' classifiers if asked to."""
_HELD_BACK = (
    "No holdout was given: classifiers were tested on a quarter of the real images. Those images took part in the "
    "release, which favours images sampled from it by no more than its guarantee allows; and copies of released "
    "images could not be looked for."
)


@dataclass(frozen=True, eq=False, repr=False)
class ImageEvaluation(AnyEvaluation):
    """Of images. What a metric found is in `results`, by its name; what these properties do not name is there, too."""

    metrics = METRICS

    images: dict[str, int]
    """Real, synthetic, and those held out or held back."""
    size: tuple[int, int, int]
    """Height, width and channels."""
    label: str | None

    @property
    def shares(self) -> dict[str, tuple[float, float]]:
        """By class: of the real images, and of the synthetic ones."""
        return self.results["shares"].shares

    @property
    def samples(self) -> dict[str, tuple[Images, Images]]:
        """By class: some real and some synthetic images."""
        return self.results["samples"].by_class

    @property
    def classifiers(self) -> dict[str, Results]:
        """By what they were trained on, "real" or "synthetic"; empty without labels."""
        return self.results["classifiers"].results

    @property
    def majority(self) -> float:
        """Accuracy on the test images of always answering their most frequent class; 0 without labels."""
        return self.results["classifiers"].majority

    @property
    def diversity(self) -> Diversity:
        return self.results["diversity"]

    @property
    def distances(self) -> tuple[Distance, ...]:
        return self.results["distances"].each

    @property
    def copies(self) -> Copies | None:
        """None without images that took no part in the release."""
        return self.results["copies"]

    @property
    def compared(self) -> dict[str, Any]:
        return {"images": self.images, "size": list(self.size), "label": self.label}

    @property
    def words(self) -> Words:
        sets = ", ".join(f"{count(number)} {role}" for role, number in self.images.items())
        height, width, channels = self.size
        return Words(
            record="image",
            warning=html(
                "This page was computed from the real images and shows some of them. Its figures are exact, and it carries "
                "no privacy guarantee: keep it where the data are kept. What may be shared are the synthetic images, the "
                "release and its data card (<code>pointillist card</code>)."
            ),
            heading=f"{self.name}: how good are the synthetic images?",
            summary=f"{sets}; {height} x {width} pixels, {'grey' if channels == 1 else 'colour'}.",
            sampled="The promise holds for images that were sampled from this release. This page cannot prove that these "
            "are.",
            no_audit=html("No audit was passed with <code>--audit</code>."),
            grades="Grades follow the rules printed beside them and nothing else; they say how near the sets are, not "
            "whether the images are fit for your purpose.",
            foot="Computed from private images, and shows some: for the data owner's eyes.",
        )


@watched
@without_context
def evaluate_images(
    real: Any,
    synthetic: Any,
    schema: Schema | str | Path | None = None,
    *,
    holdout: Any = None,
    release: Release | str | Path | None = None,
    audit: "Audit | None" = None,
    models: Sequence[str] | None = None,
    most_images: int = MOST_IMAGES,
    spaces: tuple[Space, ...] | None = None,
    fid_network: str | Path | None = None,
    device: str = CPU,
    seed: int = 0,
    progress: Progress = silent,
) -> ImageEvaluation:
    """Compare synthetic images with the real ones that they stand for.

    `schema` may be left out where a `release` is given. `holdout` are real images that the release has not seen:
    classifiers are tested on them; without it, on a quarter of the real images. `spaces` are where Fréchet distances are
    taken, such as `Space("name of a network", its features)`. With `fid_network`, the weights of FID's Inception network as
    a safetensors file, FID and KID are given that can be compared with published ones; it runs on `device`.
    """
    known = opened_release(release, audit)
    public = schema_of(schema, known)
    if most_images < 1:
        raise UsageError(f"most_images must be at least 1, not {most_images}.")
    chosen = require_models(available(MODELS) if models is None else models, CLASSIFIERS)
    fid = None if fid_network is None else _fid_space(fid_network, device)
    steps = Steps(progress)
    steps.part(0.0)
    given = {"real": real, "synthetic": synthetic} | ({} if holdout is None else {"holdout": holdout})
    sets = read_each(given, public, read, "images", _name)
    context = ImageContext(
        real=sets["real"],
        synthetic=sets["synthetic"],
        holdout=sets.get("holdout"),
        schema=public,
        target=public.label,
        release=known,
        seed=seed,
        report=steps.part,
        models=chosen,
        most_images=most_images,
        spaces=spaces,
        fid=fid,
    )
    sizes = {role: len(each) for role, each in sets.items()}
    if holdout is None:
        sizes["held back"] = len(context.training_and_test[1])
    return ImageEvaluation.of(
        context,
        steps,
        audit,
        (_HELD_BACK,) if holdout is None else (),
        images=sizes,
        size=tuple(context.real.pixels.shape[1:]),
        label=public.label,
    )


def _fid_space(network: str | Path, device: str) -> Space:
    """FID's network, refused before the images are read if it is none."""
    require_torch("FID needs")
    from pointillist.evaluate.images.inception import fid_space

    return fid_space(network, device)


def _name(table: Any) -> str:
    return str(table) if isinstance(table, str | Path) else str(getattr(table, "name", ""))


PictureEvaluation, evaluate_pictures = ImageEvaluation, evaluate_images
"""What they were called before; kept for those who call them so."""
