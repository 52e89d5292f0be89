"""Hooks: what the site takes from the code when it is built, so that no page repeats it by hand.

- `reference/cli.md` is the command line's own help, by Typer.
- `::: pt.NAME` on a page is the docstring of a public name, wherever it lives; the build fails if one has no place.
- Formulas, which are plain text in the sources, get raised and lowered letters.
- Tables and charts of `benchmarks/*/results` are pages and images of the site, and notebooks are files of it; links to them
  work on GitHub as well.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
CLI_PAGE, API_PAGE = "reference/cli.md", "reference/api.md"
RESULTS = "results/"
"""The site's folder for what benches have written."""
ELSEWHERE = {"CONTRIBUTING.md": "contributing/index.md", "CHANGELOG.md": "notes/changelog.md"}
"""Pages that stand outside of `docs`, and where the site has them."""
FORMULAS = re.compile(r"explanation/(privacy|kernels|intervals)|how-to/choosing")
"""Pages with formulas."""


def on_files(files: Files, *, config: Any) -> Files:
    """Add the pages that are not written by hand, or not here."""
    files.append(File.generated(config, CLI_PAGE, content=_commands()))
    for source in _outside():
        files.append(File.generated(config, _site(source), abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Fill in public names, and turn links that are right in the repository into links of the site."""
    here = page.file.src_uri
    if here.startswith(RESULTS):
        page.meta["search"] = {"exclude": True}
    if here == API_PAGE:
        _check_complete(markdown)
    if FORMULAS.match(here):
        markdown = _typeset(markdown)
    markdown = re.sub(r"(?m)^::: pt\.(\w+)$", lambda found: _directive(found[1]), markdown)
    return re.sub(r"\]\((?![a-z]+:|#)([^)\s#]+)([^)\s]*)\)", lambda found: _link(here, found[1], found[2]), markdown)


def _typeset(markdown: str) -> str:
    """Powers and indices outside of code; a formula on a line of its own stands in a little."""
    parts = re.split(r"(?s)(```.*?```|`[^`]*`|\]\([^)]*\))", markdown)
    for number in range(0, len(parts), 2):
        text = re.sub(r"\^\{([^{}]+)\}|\^([−-]?\w+)", lambda found: f"<sup>{found[1] or found[2]}</sup>", parts[number])
        text = re.sub(
            r"_\{([^{}]+)\}|(?<=\S)_([A-Za-z])(?!\w)", lambda found: f"<sub>{found[1] or found[2]}</sub>", text
        )
        parts[number] = re.sub(r"(?<=\n\n)  (?=\S)", "&emsp;&emsp;", text)
    return "".join(parts)


def _outside() -> list[str]:
    results = [path for kind in ("md", "svg", "png") for path in ROOT.glob(f"benchmarks/**/results/**/*.{kind}")]
    found = sorted(path.relative_to(ROOT).as_posix() for path in [*results, *ROOT.glob("notebooks/*.ipynb")])
    return [*ELSEWHERE, "benchmarks/README.md", *found]


def _site(source: str) -> str:
    """Where the site has a file of the repository."""
    return ELSEWHERE.get(source) or source.replace("benchmarks/", RESULTS).removeprefix("docs/")


def _source(page: str) -> str:
    """Where the repository has a page of the site."""
    at_home = {site: source for source, site in ELSEWHERE.items()}
    return at_home.get(page) or (page.replace(RESULTS, "benchmarks/") if page.startswith(RESULTS) else f"docs/{page}")


def _link(here: str, path: str, anchor: str) -> str:
    target = posixpath.normpath(posixpath.join(posixpath.dirname(_source(here)), path))
    return f"]({posixpath.relpath(_site(target), posixpath.dirname(here) or '.')}{anchor})"


def _commands() -> str:
    """Help of all commands, with those of a group below it."""
    import typer
    from typer.cli import get_docs_for_click
    from typer.main import get_command

    import pointillist.cli  # noqa: F401  registers the commands
    from pointillist.cli.app import NAME, app

    command = get_command(app)
    text = get_docs_for_click(obj=command, ctx=typer.Context(command, info_name=NAME), name=NAME, title="Commands")
    text = re.sub(r"(?m)^Example: (.+)$", r"**Example**: `\1`", text)
    return re.sub(r"(?m)^\* `--help`: .*\n", "", text)


def _directive(name: str) -> str:
    """The directive for a public name, with an anchor that does not change when its home does."""
    options = {"heading": f"pt.{name}", "toc_label": f"pt.{name}"}
    lines = [f"      {key}: {value}" for key, value in options.items()]
    return "\n".join([f'<a id="pt.{name}"></a>', "", f"::: {_home(name)}", "    options:", *lines, ""])


def _home(name: str) -> str:
    """Where a public name is defined: its package may only pass it on."""
    import pointillist as pt

    found = getattr(pt, name)
    return f"{found.__module__}.{found.__name__}"


def _check_complete(markdown: str) -> None:
    import pointillist as pt

    shown = set(re.findall(r"(?m)^::: pt\.(\w+)$", markdown))
    own = {name for name in pt.__all__ if getattr(pt, name).__name__ == name}  # older names of a thing have no place
    if missing := sorted(own - shown):
        raise PluginError(f"{API_PAGE}: no place for {', '.join(missing)}")
