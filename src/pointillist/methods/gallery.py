"""Gallery: public photographs, chosen class by class by where private ones lie in the space of a public network.

After Balog et al. (2018), Algorithm 1, which weights public points, with perceptual features in the place of a kernel
(Harder et al., 2022). A generator that is trained from nothing draws no photographs at a budget one would want; public
photographs are photographs already. One pass measures, in one vector: the mean of each class, how many images it has, one
second moment, and the spectrum; a second counts how often a small network that learned from the chosen images is right.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from pointillist.device import CPU, DeviceName, require_device_name
from pointillist.errors import UsageError
from pointillist.features import Extractor, FeatureMap, OneHot, Records
from pointillist.features.images.extractor_training import PublicImages, train_extractor
from pointillist.features.images.gallery import GalleryMoments, GalleryOutside, GalleryPoint, positive_count
from pointillist.features.images.probe import ImageProbe
from pointillist.features.images.public_gallery import MOST_KEPT, PublicGallery
from pointillist.features.images.spectrum import ImageSpectrum
from pointillist.fitting.class_shares import record_count, shares_of_counts
from pointillist.generators.gallery.chosen import Chosen
from pointillist.generators.gallery.gallery import Gallery as Generator
from pointillist.generators.gallery.telling import of_reach, told
from pointillist.generators.image_generator import ImageColumns
from pointillist.methods.base import METHODS, ImageMethod
from pointillist.methods.image_parts import image_of, label_of_images, require_images
from pointillist.methods.parts import Part, by_class, joined, require_share, round_of
from pointillist.model import Model
from pointillist.plan import Block, Plan, Request, Round
from pointillist.privacy.guarantee import Neighbours
from pointillist.progress import Progress, silent
from pointillist.release import Measurement, Release
from pointillist.schema import Schema
from pointillist.settings import of_fit

_DIRECTIONS = (256, 128, 64, 32, 16, 8)
_MOST_EDGE = 7.0
"""The noise's edge may be so many times what the second moment has along one direction on average."""
_PER_DIRECTION = 4
"""Public images for each direction, at least: of fewer, directions are chance."""
_SPREAD_OUT, _MOST_IMAGES = 1.2, 1000
"""All classes together take the gallery less than once over, and no class more than so many."""
_PROBE_IMAGES, _PROBE_SIDE = 100, 8
"""A probe needs so many images to learn from, and so many pixels each way."""
_MEANS = 1.0


@METHODS.register("gallery", place=95)
@dataclass(frozen=True, kw_only=True, eq=False)
class Gallery(ImageMethod):
    """Public images, chosen by where private ones lie in the space of a public network. For photographs."""

    public: PublicImages | Mapping[str, Any] | None = None
    """Public images, as `pointillist.public_images` reads them. In a release's plan: how many there were, and their hash."""
    extractor: str | Path | Extractor | Mapping[str, Any] = "efficientnet-lite0@96"
    """The public network: a name ("efficientnet-lite0", "torchvision:vgg19", "timm:NAME", each with @SIZE), the file of
    `pointillist extractor train`, or an Extractor. In a release's plan: its name and hash."""
    directions: int | None = None
    """How many directions in which public images differ are measured. None: as many as the noise leaves, from 8 to 256."""
    pictures: int | None = of_fit(None)
    """How many public images stand for a class. None: 1,000, or fewer of a small gallery."""
    second_weight: float = 0.7
    """The second moment's weight beside that of the means, which is 1."""
    count_weight: float = 0.3
    """The class counts' weight, with add-remove. With replace-one at least what makes all inner products positive: it is
    free there."""
    spectrum_share: float = 0.05
    """Part of the first pass's budget (of mu^2) for the mean spectrum, which public images are filtered to."""
    outside_share: float = 0.02
    """Part of the first pass's budget for how much of private images the gallery cannot express, by class."""
    probe_share: float = 0.05
    """Part of the budget for the check by a small network. 0: no check. Without labels there is none."""
    probe_steps: int = 500
    """Batches that this network learns from."""
    sharpness: bool = of_fit(True)
    """Whether public images are filtered to the private spectrum."""
    overlap: bool = False
    """Whether private images may be among the public ones: they are public all the same, and you say so."""
    device: DeviceName = of_fit(CPU)
    """What the public network and the check's run on: cpu, cuda, mps, or auto for a graphics card if there is one. Files do
    not say it."""
    _known: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)
    """What was worked out last: a plan and its feature maps ask for the same."""

    def __post_init__(self) -> None:
        require_device_name(self.device)
        for name in ("spectrum_share", "outside_share"):
            require_share(name, getattr(self, name))
        require_share("probe_share", self.probe_share, zero=True)
        for name in ("second_weight", "count_weight"):
            if not 0.01 <= getattr(self, name) <= 10:
                raise UsageError(f"{name} must lie between 0.01 and 10, not {getattr(self, name)}.")
        for name in ("directions", "pictures", "probe_steps"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"{name} must be at least 1, not {value}.")
        if self.directions is not None and self.directions > MOST_KEPT:
            raise UsageError(f"directions must be at most {MOST_KEPT}, not {self.directions}.")
        if self.public is not None and not isinstance(self.public, PublicImages | Mapping):
            raise UsageError("public must be public images, as pointillist.public_images(photos, schema) reads them.")

    @property
    def copied_rows(self) -> Records | None:
        """Public images leave as they are, so no private one may be among them."""
        if self.overlap or not isinstance(self.public, PublicImages):
            return None
        return Records(len(self.public.pixels), {}, {}, {"image": self.public.pixels})

    def plan(self, request: Request) -> Plan:
        require_images(request, self.name, self.count_weight)
        gallery = self._gallery(request.schema)
        directions, notes = self._directions(request, gallery)
        narrowed = gallery.leading(directions)
        rounds = self._rounds(request, narrowed)
        options = self._options(narrowed, request.schema)
        return Plan.make(self.name, options, request, rounds, (*notes, *self._notes(request, rounds)))

    def feature_map(self, plan: Plan, measured: Sequence[Measurement]) -> FeatureMap:
        schema = plan.request.schema
        gallery = self._gallery(schema).leading(int(plan.options["directions"]))
        if not measured:
            return joined(self._parts(plan.request, gallery))
        return self._probe(schema, gallery, measured[0], int(plan.options["pictures"]))

    def fit(self, release: Release, *, seed: int, progress: Progress) -> Model:
        """Nothing is drawn, so the seed changes nothing."""
        progress("fit", 0.0)
        first = release.measurements[0]
        moments = _moments(first.feature_map, release.method)
        gallery = self._again(release, moments.point)
        rows = record_count(release)
        number = self._number(gallery, release.schema)
        chosen = Chosen.of(first, gallery, rows, number, sharpness=self.sharpness)
        notes = list(told(release))
        label = label_of_images(release.schema)
        shares: tuple[float, ...] = ()
        if label is not None:
            notes.append(of_reach(release.schema, chosen.reach))
            shares = tuple(shares_of_counts(chosen.counts, rows).tolist())
        columns = ImageColumns.of(release.schema)
        made = Generator.choosing(chosen.images, chosen.members, chosen.weights, shares, tuple(notes), columns)
        progress("fit", 1.0)
        return Model.of(release, rows=rows, generator=made)

    def _options(self, gallery: PublicGallery, schema: Schema) -> dict[str, Any]:
        """The settings as JSON: images and network are named, not held."""
        options = {each.name: getattr(self, each.name) for each in fields(self) if each.init and each.name != "device"}
        extractor = gallery.space.extractor
        return {
            **options,
            "public": gallery.facts,
            "extractor": {"name": extractor.name, "sha256": extractor.sha256},
            "directions": gallery.space.directions,
            "pictures": self._number(gallery, schema),
        }

    def _gallery(self, schema: Schema) -> PublicGallery:
        """The public images as the network sees them; the network looks at them once."""
        if "gallery" in self._known:
            found: PublicGallery = self._known["gallery"]
        else:
            if not isinstance(self.public, PublicImages):
                raise UsageError(
                    "gallery needs public images: --public photos/, or public=pointillist.public_images(photos, schema)."
                )
            if isinstance(self.extractor, Mapping):
                raise UsageError(
                    "these are the settings of a release, which name its extractor. Pass the extractor itself."
                )
            found = self._known["gallery"] = PublicGallery.of(
                self.public, Extractor.open(self.extractor).on(self.device)
            )
        wanted = image_of(schema, self.name)[1].shape
        if found.images.pixels.shape[1:] != wanted:
            raise UsageError(
                f"{found.images.name}: its images are not of the schema's size. Read them with "
                "pointillist.public_images(photos, schema)."
            )
        return found

    def _again(self, release: Release, point: GalleryPoint) -> PublicGallery:
        """The gallery of a release: as it was given to this method, or from the cache."""
        named = release.plan.options.get("public")
        sha256 = str(named.get("sha256", "")) if isinstance(named, Mapping) else ""
        images = self.public if isinstance(self.public, PublicImages) else None
        space = replace(point.space, extractor=point.space.extractor.on(self.device))
        found = PublicGallery.again(sha256, space, images)
        if found is not None:
            return found
        if images is not None:
            raise UsageError(
                f"{images.name}: these are not the public images that the release was made with (sha256 {sha256[:12]}...), "
                "or not in the same order. Pass those."
            )
        raise UsageError(
            "the release names its public images by their hash, and they are not in the cache of this machine. Pass them: "
            "pointillist fit RELEASE --public photos/, or method=Gallery(public=pointillist.public_images(photos, schema))."
        )

    def _number(self, gallery: PublicGallery, schema: Schema) -> int:
        """How many images stand for a class; without classes all do, by their weights."""
        images = len(gallery.images.pixels)
        label = label_of_images(schema)
        if label is None:
            return images
        if self.pictures is not None:
            return min(self.pictures, images)
        return max(1, min(_MOST_IMAGES, int(images / (_SPREAD_OUT * label.regular))))

    def _directions(self, request: Request, gallery: PublicGallery) -> tuple[int, tuple[str, ...]]:
        """As many as asked for, or as the noise on the second moment leaves."""
        most = min(gallery.space.directions, max(1, len(gallery.images.pixels) // _PER_DIRECTION))
        if self.directions is not None:
            return min(self.directions, gallery.space.directions), ()
        sizes = [size for size in _DIRECTIONS if size <= most] or [most]
        for size in sizes:
            trial = Plan.make(self.name, {}, request, self._rounds(request, gallery.leading(size)), ())
            noise = trial.noise_rows(0, trial.rounds[0].blocks[2]) / request.assumed_rows
            if size * 2 * math.sqrt(size / 2) * noise <= _MOST_EDGE:
                break
        assumed = (
            "" if request.schema.rows else f" for {request.assumed_rows:,} images, as the schema does not state them"
        )
        return size, (
            f"{size} directions of {gallery.space.directions} in which {len(gallery.images.pixels):,} public images differ, "
            f"as the noise on their second moment leaves{assumed}.",
        )

    def _rounds(self, request: Request, gallery: PublicGallery) -> tuple[Round, ...]:
        first = round_of(self._parts(request, gallery), 1.0)
        first = replace(first, blocks=(*_split(self._parts(request, gallery)[0], request), *first.blocks[1:]))
        label = label_of_images(request.schema)
        if label is None or not self._probes(request.schema, gallery):
            return (first,)
        check = Block("check by a probe", 1, 2 * label.size, 1.0)
        return (replace(first, share=1 - self.probe_share), Round.of_counts(self.probe_share, (check,)))

    def _probes(self, schema: Schema, gallery: PublicGallery) -> bool:
        """Whether a probe can be taught."""
        label, (_, image) = label_of_images(schema), image_of(schema, self.name)
        if label is None or label.regular < 2 or self.probe_share == 0:
            return False
        enough = self._number(gallery, schema) * label.size >= _PROBE_IMAGES
        return enough and min(image.height, image.width) >= _PROBE_SIDE

    def _parts(self, request: Request, gallery: PublicGallery) -> list[Part]:
        name, image = image_of(request.schema, self.name)
        label = label_of_images(request.schema)
        point = GalleryPoint(name, gallery.space)
        counted = self.count_weight
        if request.neighbours is Neighbours.REPLACE_ONE:
            counted = max(counted, positive_count(_MEANS, self.second_weight))
        weights = np.array([_MEANS, counted, self.second_weight])
        means, counts, squares = (weights / np.linalg.norm(weights)).tolist()
        one_hot = None if label is None else OneHot(label.name, label.size)
        moments = GalleryMoments.of(point, one_hot, (means, counts, squares))
        rest = 1 - self.spectrum_share - self.outside_share
        spectrum = ImageSpectrum(name, *image.shape)
        outside = by_class([Part("outside the gallery", GalleryOutside(point), self.outside_share)], label)
        return [Part("moments", moments, rest), Part("spectrum", spectrum, self.spectrum_share), *outside]

    def _probe(self, schema: Schema, gallery: PublicGallery, first: Measurement, number: int) -> FeatureMap:
        """A small network that learned from the chosen images: public, as it is made from what was measured with noise."""
        key = (id(first), number)
        if key not in self._known:
            label, (name, image) = label_of_images(schema), image_of(schema, self.name)
            assert label is not None
            chosen = Chosen.of(first, gallery, None, number, sharpness=self.sharpness)
            pixels = chosen.images[chosen.members.ravel()]
            codes = np.repeat(np.arange(label.size), chosen.members.shape[1])
            height, width, channels = image.shape
            sets = [PublicImages.of("the chosen images", pixels, codes)]
            trained = train_extractor(
                sets,
                height=height,
                width=width,
                channels=channels,
                name="probe",
                steps=self.probe_steps,
                device=self.device,
                progress=silent,
            )
            made = ImageProbe.taught(name, label.name, trained.extractor.on(self.device), pixels, codes, label.size)
            self._known[key] = first, made
        found: FeatureMap = self._known[key][1]
        return found

    def _notes(self, request: Request, rounds: tuple[Round, ...]) -> tuple[str, ...]:
        notes = [
            "Public images with labels that were learned privately, many of them wrong: for training, not for looking."
        ]
        if len(rounds) == 1:
            why = (
                "there are no labels"
                if request.schema.label is None
                else "it is turned off, or there is too little to learn from"
            )
            notes.append(f"No check by a probe: {why}. Nothing will tell what the images are worth for training.")
        return tuple(notes)


def _split(moments: Part, request: Request) -> tuple[Block, ...]:
    """The moments as the three blocks that they are."""
    assert isinstance(moments.map, GalleryMoments)
    of_class = "" if request.schema.label is None else " by class"
    names = (f"means{of_class}", "image count" if request.schema.label is None else "class counts", "second moment")
    return tuple(
        Block(name, 1, each.dimension, math.sqrt(moments.share) * weight, counts=each.parts[0].indicator)
        for name, each, weight in zip(names, moments.map.maps, moments.map.weights, strict=True)
    )


def _moments(feature_map: FeatureMap, method: str) -> GalleryMoments:
    found = [part for each in feature_map.parts for part in (each, *each.parts) if isinstance(part, GalleryMoments)]
    if not found:
        raise UsageError(f"a release by {method} holds no moments in a gallery's space. Fit it by its own method.")
    return found[0]
