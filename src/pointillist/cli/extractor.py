"""`pointillist extractor`: train or fetch a public network that `perceptual` measures images with."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import Device, Json, Overwrite, Quiet, TrainingLogFile
from pointillist.cli.outputs import free, print_json
from pointillist.errors import UsageError

PublicSets = Annotated[
    list[Path], typer.Argument(metavar="PUBLIC...", help="Public images, npz; several sets are learned side by side.")
]
ImageSchema = Annotated[
    Path | None,
    typer.Option("--schema", help="The private images' schema: their size and channels are taken.", show_default=False),
]
Height = Annotated[int | None, typer.Option(help="Without --schema: the images' height.", show_default=False)]
Width = Annotated[int | None, typer.Option(help="Without --schema: the images' width.", show_default=False)]

extractor_app = typer.Typer(no_args_is_help=True, help="Train or fetch a public network to measure images with.")
app.add_typer(extractor_app, name="extractor", rich_help_panel=Panel.PREPARE)


@extractor_app.callback()
def _extractor() -> None:
    """Train or fetch a public network to measure images with."""


@extractor_app.command("fetch")
def extractor_fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Such as torchvision:vgg19 or timm:resnet18.")],
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Fetch the weights of a well-known network to this machine, once, by the library that has it.

    No other command fetches anything: a release that names a network is fitted with weights that are here, or refused.

    Example: pointillist extractor fetch torchvision:vgg19
    """
    from pointillist.cli import console
    from pointillist.features import Extractor

    found = Extractor.named(name, download=True)
    if as_json:
        print_json({"name": found.name, "sha256": found.sha256, "layers": list(found.layers)})
    elif not quiet:
        console.say(f"{found.name} is on this machine: {len(found.layers)} layers, sha256 {found.sha256[:12]}.")


@extractor_app.command("train")
def extractor_train(
    public: PublicSets,
    output: Annotated[Path, typer.Option("-o", "--output", help="The extractor file to write.", show_default=False)],
    schema: ImageSchema = None,
    height: Height = None,
    width: Width = None,
    colour: Annotated[bool, typer.Option("--colour", help="Without --schema: in colour; otherwise grey.")] = False,
    steps: Annotated[int, typer.Option(help="Batches that are learned from.")] = 1500,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the training.")] = 0,
    device: Device = None,
    log: TrainingLogFile = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train a small network on public images, for --method perceptual. A few minutes; costs no privacy.

    Images must be public: the network travels with every release that it is used for. They are brought to the size and
    channels of the private ones. Where they have labels, those are learned; where not, how images were turned.

    Example: pointillist extractor train letters.npz --schema digits.toml -o letters.extractor
    """
    from pointillist.cli import console
    from pointillist.cli.progress_bars import Steps
    from pointillist.device import CPU, device_named
    from pointillist.features.images.extractor_training import PublicImages, train_extractor
    from pointillist.features.images.public_network import require_torch
    from pointillist.training_log import logged

    free(output, overwrite, schema, *public)
    high, wide, channels = _size(schema, height, width, colour)
    require_torch()
    place = device_named(device or CPU).type
    sets = [PublicImages.load(path) for path in public]
    name = output.name.split(".")[0]
    learning: dict[str, Any] = {"name": name, "steps": steps, "seed": seed, "device": place}
    with Steps(quiet or as_json).shown() as shown, logged(log, shown) as progress:
        trained = train_extractor(sets, height=high, width=wide, channels=channels, **learning, progress=progress)
    extractor = trained.extractor
    extractor.save(output)
    facts = {
        "output": str(output),
        "sha256": extractor.sha256,
        "layers": list(extractor.layers),
        "features": sum(channels * high * wide for channels, high, wide in extractor.shapes),
        "accuracy": trained.accuracy,
        "chance": trained.chance,
        "held_out": trained.held_out,
    }
    if as_json:
        print_json(facts)
    elif not quiet:
        console.say(
            f"It tells {trained.accuracy:.0%} of {trained.held_out:,} public images right that it did not learn from "
            f"(guessing: {trained.chance:.0%}). Written to {output}, sha256 {extractor.sha256[:12]}."
        )


def _size(schema: Path | None, height: int | None, width: int | None, colour: bool) -> tuple[int, int, int]:
    """The size and channels of the private images, as their schema or the options state them."""
    from pointillist.schema import Schema

    if schema is None:
        if height is None or width is None:
            raise UsageError("name the private images' --schema, or their --height and --width.")
        return height, width, 3 if colour else 1
    if height is not None or width is not None or colour:
        raise UsageError("--schema states size and channels: leave --height, --width and --colour out.")
    image = Schema.load(schema).image
    if image is None:
        raise UsageError(f"{schema}: has no column of images.")
    return image[1].shape
