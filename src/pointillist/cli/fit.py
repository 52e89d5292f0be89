"""`pointillist fit`: a generator from a release."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import Device, GeneratorName, Overwrite, Quiet, ReleaseFile, Settings, TrainingLogFile
from pointillist.cli.outputs import free
from pointillist.errors import UsageError

if TYPE_CHECKING:
    from pointillist.release import Release

Steps = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Steps of a network's fit, also of the network that image methods fit by themselves: more take longer.",
        show_default=False,
    ),
]
Variety = Annotated[
    float | None,
    typer.Option(help="Of a spectral release: less than 1 for tidier images that are more alike.", show_default=False),
]
Photos = Annotated[
    Path | None,
    typer.Option(
        "--public",
        metavar="FILE",
        help="Of a gallery release, on another machine than it was made on: its public images.",
        show_default=False,
    ),
]


@app.command(rich_help_panel=Panel.MAKE)
def fit(
    release: ReleaseFile,
    output: Annotated[Path, typer.Option("-o", "--output", help="The model file to write.", show_default=False)],
    seed: Annotated[int, typer.Option(min=0, help="Seed of the fit.")] = 0,
    generator: GeneratorName = None,
    settings: Settings = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            help="With --generator network or image-network: keep the state here, and go on from it if it is there.",
            show_default=False,
        ),
    ] = None,
    steps: Steps = None,
    variety: Variety = None,
    photos: Photos = None,
    device: Device = None,
    log: TrainingLogFile = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> str | None:
    """Fit a generator to a release. Costs no privacy, however often it is done.

    Example: pointillist fit people.release -o people.model

    Example: pointillist fit people.release --set components=400 -o finer.model

    Example: pointillist fit digits.release --variety 0.6 -o tidy.model

    Example: pointillist fit faces.release --device auto --log fit.jsonl -o faces.model
    """
    from pointillist.cli import console, progress_bars
    from pointillist.files import container
    from pointillist.methods.fit import fit as make_fit
    from pointillist.release import Release

    free(output, overwrite, release)
    public = Release.load(release)
    if settings and (steps is not None or variety is not None):
        raise UsageError("--steps and --variety are settings, too: beside --set, give them as --set steps=… and so on.")
    if photos is not None and (generator is not None or steps is not None or variety is not None):
        raise UsageError("--public is for gallery releases, fitted in gallery's own way: without --generator, --steps.")
    chosen = _with_settings(public, generator, settings) if settings else _fitted_by(public, generator, steps, variety)
    if photos is not None:
        chosen = {"method": _with_images(public, chosen.get("method"), photos)}
    with container.reserve(output, 0) as pending:
        with progress_bars.Steps(quiet).shown() as shown:
            how: dict[str, Any] = {"checkpoint": checkpoint, "device": device, "log": log, "seed": seed}
            model = make_fit(public, **chosen, **how, progress=shown)
        pending.commit(model.to_bytes())
    if not quiet:
        table = ".csv" if public.schema.image is None else ""
        for note in model.notes:
            console.say(note)
        console.say(f"Written to {output}.")
        return f"pointillist sample {output} -o synthetic{table}"
    return None


def _with_settings(release: "Release", generator: str | None, settings: list[str]) -> dict[str, Any]:
    """The generator, or the release's own method, with some settings changed."""
    from pointillist.generators import generator_for
    from pointillist.methods.planned_method import planned_method
    from pointillist.settings import parsed, refusing, settings_of

    if generator is not None:
        usual: Any = generator_for(release.schema, generator)
        given = parsed(type(usual), generator, settings)
        with refusing(generator):
            return {"generator": replace(usual, **given)}
    method: Any = planned_method(release)
    changed = parsed(type(method), method.name, settings)
    later = [each.name for each in settings_of(type(method)) if each.of_fit]
    early = [name for name in changed if name not in later]
    if early:
        choice = f"Of {method.name}, a fit can set {', '.join(later)}. " if later else ""
        raise UsageError(
            f"--set {early[0]}: it decides what is measured, and the release is made. {choice}A generator that is named by "
            "--generator has settings of its own."
        )
    with refusing(method.name):
        return {"method": replace(method, **changed)}


def _with_images(release: "Release", method: Any, photos: Path) -> Any:
    """The method of a gallery release, with its public images."""
    from pointillist.methods.planned_method import planned_method
    from pointillist.reading.public_images import public_images

    if release.method != "gallery":
        raise UsageError(f"--public is for gallery releases, and this is one by {release.method}. Leave it out.")
    own: Any = method or planned_method(release)
    return replace(own, public=public_images(photos, release.schema))


def _fitted_by(release: "Release", generator: str | None, steps: int | None, variety: float | None) -> dict[str, Any]:
    """The method or the generator that a release is to be fitted by, with what the user wants changed in it."""
    from pointillist.generators.image_network.settings import ImageNetworkSettings
    from pointillist.generators.network.settings import NetworkSettings
    from pointillist.methods import Perceptual, Spectral, method_for

    if variety is not None:
        if release.method != "spectral" or generator is not None or steps is not None:
            raise UsageError(
                "--variety is for spectral releases, fitted in spectral's own way: without --generator, --steps."
            )
        return {"method": Spectral(variety=variety)}
    if steps is None:
        return {"generator": generator}
    if generator == "network":
        return {"generator": NetworkSettings(steps=steps)}
    if generator == "image-network":
        return {"generator": ImageNetworkSettings(steps=steps)}
    if generator is None and release.method == "perceptual":
        return {"method": Perceptual(network={**release.plan.options["network"], "steps": steps})}
    if generator is None:
        own = getattr(method_for(release.schema, release.method, release.plan.options), "network", None)
        if isinstance(own, ImageNetworkSettings):
            return {"generator": replace(own, steps=steps)}
    raise UsageError(
        f"--steps is for networks, and {generator or f'a {release.method} release'} is not fitted by one. Fit with "
        f"--generator {'network' if release.schema.image is None else 'image-network'}."
    )
