"""The studio as people see it: a real server, real workers, a real browser. All requests but to this machine are aborted.

Needs a Chromium on the machine, and is skipped without one; POINTILLIST_BROWSER=required makes that a failure. Screenshots
for the documentation are written to the folder that POINTILLIST_SCREENSHOTS names.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from pointillist.privacy.budget import Budget
from pointillist.privacy.ledger import Ledger

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), ""
)
REQUIRED = os.environ.get("POINTILLIST_BROWSER") == "required"
pytestmark = [
    pytest.mark.skipif(not (CHROMIUM or REQUIRED), reason="no Chromium on this machine"),
    pytest.mark.xdist_group("studio in a browser"),  # one server, used by one test after the other
]

SERVER = """
import sys
from pathlib import Path
from pointillist.studio.server import serve
serve(Path(sys.argv[1]), demo=True, demo_rows=300, ledger=Path(sys.argv[2]),
      ready=lambda url, folder: print(url, flush=True))
"""
SLOW = 120_000
"""Milliseconds that a step may take on a machine that has other things to do."""
WIDE = """[...document.querySelectorAll('main *, header *')].filter(e => !e.closest('.scroll'))
  .filter(e => e.getBoundingClientRect().right > 381).map(e => e.outerHTML.slice(0, 100))"""
"""What is wider than a phone."""
SERIOUS = ("serious", "critical")


@dataclass
class Site:
    """A studio that runs, and what its pages said and asked for."""

    page: Page
    url: str
    folder: Path
    ledger: Path
    scratch: Path
    server: subprocess.Popen[str]
    said: list[str]
    outside: list[str]
    faults: dict[str, list[str]]
    """What axe finds to be serious, by page."""

    def at(self, step: str) -> None:
        base = urlsplit(self.url)
        project = base.path.split("/")[2]
        self.page.goto(f"http://{base.netloc}/p/{project}/{step}")

    def look(self, name: str, *schemes: Any) -> None:
        """Have accessibility checked, in these schemes or in light, and the width of a phone."""
        for scheme in schemes or ("light",):
            self.page.emulate_media(color_scheme=scheme)
            found = Axe().run(self.page).response["violations"]
            self.faults[f"{name}, {scheme}"] = [
                f"{each['id']}: {node['html'][:120]}"
                for each in found
                if each["impact"] in SERIOUS
                for node in each["nodes"]
            ]
        self.page.emulate_media(color_scheme="light")
        self.page.set_viewport_size({"width": 380, "height": 800})
        width = self.page.evaluate("document.documentElement.scrollWidth")
        wide = self.page.evaluate(WIDE) if width > 380 else []
        self.faults[f"{name}, phone"] = [f"{width} pixels wide", *wide] if width > 380 else []
        self.page.set_viewport_size({"width": 1280, "height": 900})

    def screenshot(self, name: str, width: int, height: int, scheme: Any = "light", top: str = "body") -> None:
        """Draw what the documentation shows, from an element down, if a folder for it is named."""
        folder = os.environ.get("POINTILLIST_SCREENSHOTS")
        if folder is None:
            return
        self.page.emulate_media(color_scheme=scheme)
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.locator(top).first.evaluate("each => each.scrollIntoView({behavior: 'instant'})")
        self.page.screenshot(path=Path(folder) / f"{name}.png", animations="disabled")
        self.page.emulate_media(color_scheme="light")
        self.page.set_viewport_size({"width": 1280, "height": 900})


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield started
        started.close()


@pytest.fixture(scope="module")
def site(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    scratch = folder / "tmp"
    scratch.mkdir()
    command = [sys.executable, "-c", SERVER, str(folder / "studio"), str(folder / "ledger")]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(scratch)})
    assert server.stdout is not None
    url = server.stdout.readline().strip()
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    outside: list[str] = []

    def only_here(route: Any) -> None:
        if urlsplit(route.request.url).hostname == "127.0.0.1":
            route.continue_()
        else:
            outside.append(route.request.url)
            route.abort()

    context.route("**/*", only_here)
    page = context.new_page()
    page.set_default_timeout(SLOW)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("response", lambda answer: answer.status < 400 or said.append(answer.text()))
    page.on("pageerror", lambda error: said.append(str(error)))
    yield Site(page, url, folder / "studio", folder / "ledger", scratch, server, said, outside, {})
    context.close()
    if server.poll() is None:
        server.kill()
    server.wait()
    server.stdout.close()


def test_the_whole_way_on_the_demo(site: Site) -> None:
    _reviewed_and_planned(site)
    _released_and_made(site)
    _judged_and_shared(site)
    assert site.said == []
    assert site.outside == []


def _reviewed_and_planned(site: Site) -> None:
    page = site.page
    page.goto(site.url)
    assert "token" not in page.url
    page.wait_for_url("**/review", timeout=SLOW)
    page.locator("#column-0").scroll_into_view_if_needed()
    page.wait_for_selector("#column-0 svg")
    site.look("review", "light", "dark")
    site.screenshot("studio-review", 1000, 700)
    page.get_by_role("button", name="Take all").click()
    expect(page.get_by_role("button", name="Undo the last change (1)")).to_be_visible()
    page.get_by_label("anyone may know every fact").check()
    page.get_by_role("button", name="Accept").click()

    page.wait_for_url("**/plan")
    page.get_by_label("Privacy budget ε").press("ArrowRight")  # by keyboard alone
    expect(page.locator("#forecast")).not_to_contain_text("× 2.72")
    page.locator("#epsilon").fill("1")
    expect(page.locator("#forecast")).to_contain_text("× 2.72")
    site.look("plan")
    site.screenshot("studio-plan", 1000, 700, "dark")
    page.get_by_role("button", name="Go on with this plan").click()


def _released_and_made(site: Site) -> None:
    page = site.page
    page.wait_for_url("**/release")
    site.look("release")
    page.get_by_label("Spend ε = 1").check()
    page.get_by_role("button", name="Release").click()
    page.wait_for_selector("h1:has-text('Released')")
    page.get_by_role("link", name="Make synthetic data").click()
    page.get_by_label("Rows").fill("200")
    page.get_by_label("Column of condition 1").select_option("sex")
    page.get_by_label("Value or range of condition 1").fill("female")
    page.get_by_role("button", name="Make").click()
    page.wait_for_selector("#made")
    site.look("make")
    cells = page.locator("tbody tr td:first-child").all_inner_texts()
    assert set(cells) == {"female"}


def _judged_and_shared(site: Site) -> None:
    page = site.page
    page.get_by_role("link", name="Judge it").click()
    page.get_by_role("button", name="Compare").click()
    frame = page.frame_locator("iframe")
    expect(frame.locator("h1")).to_contain_text("how good is the synthetic table?", timeout=SLOW)
    site.look("judge", "light", "dark")
    page.get_by_role("link", name="Share it").click()
    with page.expect_download() as download:
        page.get_by_label("Who gets them?").fill("students")
        page.get_by_role("button", name="Download the archive").click()
    assert download.value.suggested_filename.endswith(".zip")
    site.look("share")
    page.get_by_role("link", name="ask the release").click()
    page.get_by_label("Figure").select_option("share")
    page.get_by_label("for each").select_option("sex")
    page.get_by_role("button", name="Ask").click()
    page.wait_for_selector("#answers")
    site.look("receiver")
    site.screenshot("studio-receiver", 390, 780, top="#answers")
    page.get_by_role("link", name="Ledger").click()
    expect(page.locator("main")).to_contain_text("mosaic, target chronic")
    site.look("ledger")
    page.get_by_role("link", name="Open", exact=True).click()
    site.look("open")


def test_axe_finds_nothing_serious_and_a_phone_is_wide_enough(site: Site) -> None:
    assert len(site.faults) == 9 * 2 + 2
    assert {name: found for name, found in site.faults.items() if found} == {}


def test_a_bad_upload_is_told(site: Site, tmp_path: Path) -> None:
    site.page.goto(f"http://{urlsplit(site.url).netloc}/")
    site.page.set_input_files(
        "input[type=file]", {"name": "broken.parquet", "mimeType": "", "buffer": b"PAR1 SECRETVALUE"}
    )
    expect(site.page.get_by_role("alert")).to_contain_text("broken.parquet: cannot be read", timeout=SLOW)
    assert "SECRETVALUE" not in site.page.content()
    assert "broken" not in site.page.url
    assert [path.stat().st_mode & 0o077 for path in site.scratch.rglob("broken.parquet")] == [0]


def test_a_worker_can_be_stopped(site: Site) -> None:
    site.page.get_by_role("button", name="Try again").click()
    site.page.get_by_role("button", name="Stop").click()
    expect(site.page.get_by_role("alert")).to_contain_text("Nothing was lost")


def test_a_budget_that_is_used_up_cannot_be_released(site: Site) -> None:
    (book,) = site.folder.glob("*/ledger.sqlite")
    Ledger(book).set_cap("simulated-registry", Budget(1.0, 1e-5))
    site.at("plan")
    expect(site.page.locator("#forecast")).to_contain_text("The budget does not allow it")
    site.page.get_by_role("button", name="Go on with this plan").click()
    expect(site.page.locator("main")).to_contain_text("over its cap of ε = 1")
    assert site.page.get_by_role("button", name="Release").count() == 0


def test_uploads_are_gone_when_it_ends_and_what_was_made_stays(site: Site) -> None:
    """The last of these tests: it ends the server, as Ctrl-C does."""
    assert list(site.scratch.rglob("broken.parquet"))
    site.server.send_signal(signal.SIGINT)
    site.server.wait(60)
    assert not list(site.scratch.rglob("*.parquet"))
    assert list(site.folder.rglob("table.release"))
