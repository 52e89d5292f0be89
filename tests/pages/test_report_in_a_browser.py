"""The report and the card in a real browser: as people see, print and tab through them.

Needs a Chromium on the machine, and is skipped without one; POINTILLIST_BROWSER=required makes that a failure.
"""

import itertools
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

import pointillist as pt
from pointillist.evaluate.audit import Audit, Finding
from pointillist.evaluate.audit.finding import fingerprint
from pointillist.evaluate.tables.evaluation import evaluate
from pointillist.files.hashed_file import HashedFile
from pointillist.owners.card_signing import make_key, sign
from pointillist.pages import charts
from pointillist.pages.account_statement import AccountStatement
from pointillist.pages.card import Card
from pointillist.pages.card_file import CardFile
from pointillist.pages.deployment import Deployment
from pointillist.schema.purchase import Purchase

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), ""
)
REQUIRED = os.environ.get("POINTILLIST_BROWSER") == "required"
pytestmark = [
    pytest.mark.skipif(not (CHROMIUM or REQUIRED), reason="no Chromium on this machine"),
    pytest.mark.xdist_group("browser"),  # the pages are made once
]

WIDTHS = (400, 1400)
A4 = (688, 975)
"""The printable part of an A4 page at 14 mm margins, in CSS pixels."""


def wide_table(rows: int, seed: int, columns: int = 50) -> pa.Table:
    """Categories (few, many, rare), numbers with atoms, whole numbers, dates and gaps, all depending on one another."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=rows)
    made: dict[str, Any] = {}
    for number in range(columns):
        mixed = hidden * (number % 3) + rng.normal(size=rows)
        name = f"column number {number} with a long name"
        match number % 4:
            case 0:
                made[name] = [f"category {value}" for value in np.clip((mixed * 4).astype(int), -20, 20)]
            case 1:
                made[name] = pa.array(np.where(mixed > 0.5, 0.0, np.exp(mixed) * 10), mask=rng.random(rows) < 0.1)
            case 2:
                made[name] = np.clip((mixed * 10 + 50).astype(int), 0, 100)
            case _:
                made[name] = pa.array((18_000 + mixed * 300).astype(np.int32)).cast(pa.date32())
    return pa.table(made)


def wide_schema(columns: int = 50) -> pt.Schema:
    kinds: list[Any] = [
        pt.Categorical(categories=tuple(f"category {value}" for value in range(-20, 21)), missing=False),
        pt.Real(min=0.1, max=1000, special=(0.0,), scale="log"),
        pt.Integer(min=0, max=100, missing=False),
        pt.Datetime(min="2010-01-01", max="2030-01-01"),
    ]
    named = {f"column number {number} with a long name": kinds[number % 4] for number in range(columns)}
    return pt.Schema(name='wide <b>&</b> "quoted"', rows=800, columns=named)


def audit_of(release: pt.Release) -> Audit:
    finding = Finding("white-box", 0.93, 0.95, False, "The attack saw 93 % of the promise.", {}, False)
    return Audit(
        dataset=release.schema.name, schema=fingerprint(release.schema), target=release.target, method=release.method,
        neighbours="add-remove", unit="one row", epsilon=1.0, delta=1e-5, mu=0.268,
        findings=(finding,), notes=("None of these releases is published.",),
    )  # fmt: skip


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A report on 50 columns, a report with everything on it, and a card."""
    folder = tmp_path_factory.mktemp("pages")
    real, made = wide_table(800, 1), wide_table(800, 2)
    target = "column number 0 with a long name"
    few = wide_schema(5)
    release = pt.release(wide_table(800, 1, 5), few, epsilon=1.0, target=target, ledger=folder / "ledger")
    found = {
        "wide": evaluate(real, made, wide_schema()).to_html(),
        "full": evaluate(
            wide_table(800, 1, 5),
            wide_table(800, 2, 5),
            holdout=wide_table(800, 3, 5),
            release=release,
            audit=audit_of(release),
        ).to_html(),
        "card": Card.of(release).to_html(),
    }
    paths = {}
    for name, html in found.items():
        paths[name] = folder / f"{name}.html"
        paths[name].write_text(html, encoding="utf-8")
    return paths


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield started
        started.close()


def opened(browser: Browser, path: Path, width: int, scheme: Any = "light") -> Page:
    page = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme).new_page()
    page.set_default_timeout(60_000)
    page.goto(path.as_uri())
    return page


@pytest.mark.parametrize("name", ["wide", "full", "card"])
@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_is_quiet_and_fits(pages: dict[str, Path], browser: Browser, name: str, width: int) -> None:
    page = browser.new_context(viewport={"width": width, "height": 900}).new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(pages[name].as_uri(), wait_until="networkidle")
    assert said == []
    assert asked == [pages[name].as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.scripts.length") == 0
    small = page.evaluate(
        """[...document.querySelectorAll('svg[role=img]')].map(svg => [...svg.querySelectorAll('text')].map(text =>
        parseFloat(getComputedStyle(text).fontSize) * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width))
        .flat().reduce((a, b) => Math.min(a, b), 99)"""
    )
    assert small >= 5.5  # the numbers over a heat map of 50 columns; all else is twice as large
    if name != "wide":
        assert small >= 7


def test_names_are_shown_and_never_run(pages: dict[str, Path], browser: Browser) -> None:
    page = opened(browser, pages["full"], 1400)
    assert 'wide <b>&</b> "quoted"' in page.inner_text("h1")
    assert page.locator("h1 b").count() == 0


def test_the_report_says_that_it_is_private_and_the_card_that_it_is_not(
    pages: dict[str, Path], browser: Browser
) -> None:
    report, card = (opened(browser, pages[name], 1400) for name in ("full", "card"))
    first = report.inner_text("header").splitlines()[0]
    assert first.startswith("Private. This page was computed from the real rows.")
    assert "may travel with the data" in card.inner_text("header")
    for page in (report, card):
        assert "(ε = 1, δ = 1e-5)-differentially private: if one row were added or removed" in page.inner_text("main")
    assert "The attack saw 93 % of the promise." in report.inner_text("#audit")


def test_a_report_on_fifty_columns_is_below_five_megabytes(pages: dict[str, Path]) -> None:
    assert pages["wide"].stat().st_size < 5_000_000


@pytest.mark.parametrize("name", ["wide", "full", "card"])
def test_every_chart_has_words(pages: dict[str, Path], browser: Browser, name: str) -> None:
    page = opened(browser, pages[name], 1400)
    labels = page.evaluate("[...document.querySelectorAll('svg')].filter(s => s.getAttribute('aria-hidden') !== 'true')"
                           ".map(s => s.getAttribute('role') === 'img' ? s.getAttribute('aria-label') : '')")  # fmt: skip
    assert all(len(label) > 20 for label in labels)
    assert (name == "card") == (labels == [])
    unnamed = page.evaluate("[...document.querySelectorAll('[role=region]')].filter(r => !r.ariaLabel).length")
    assert unnamed == 0
    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(h => +h.tagName[1])")
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


CONTRASTS = """selectors => {
  const parse = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const behind = node => { for (let n = node; n; n = n.parentElement) {
    const colour = parse(getComputedStyle(n).backgroundColor); if (colour.length < 4 || colour[3] > 0) return colour; }
    return [255, 255, 255]; };
  return selectors.map(selector => { const node = document.querySelector(selector); if (!node) return 99;
    const [a, b] = [light(parse(getComputedStyle(node).color)), light(behind(node))].sort((x, y) => y - x);
    return (a + .05) / (b + .05); });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(pages: dict[str, Path], browser: Browser, scheme: str) -> None:
    """WCAG AA asks for a contrast of 4.5."""
    page = opened(browser, pages["full"], 1400, scheme)
    selectors = ["body", ".soft", ".private", ".synth", ".rule", ".good", ".fair", ".poor", "th", "footer p", "summary"]
    contrasts = dict(zip(selectors, page.evaluate(CONTRASTS, selectors), strict=True))
    assert min(contrasts.values()) >= 4.5, contrasts
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert (sum(paper) < 200) == (scheme == "dark")


def test_everything_can_be_reached_by_keyboard(pages: dict[str, Path], browser: Browser) -> None:
    page = opened(browser, pages["full"], 1400)
    wanted = page.evaluate("document.querySelectorAll('a[href], summary, [tabindex=\"0\"]').length")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    for _ in range(wanted):
        page.evaluate("document.activeElement.dataset.seen = 1")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none"  # whoever tabs can see where they are
        page.keyboard.press("Tab")
    assert page.evaluate("document.querySelectorAll('[data-seen]').length") == wanted


@pytest.mark.parametrize("name", ["wide", "full", "card"])
def test_it_prints_without_cutting_a_chart(pages: dict[str, Path], browser: Browser, name: str, tmp_path: Path) -> None:
    page = opened(browser, pages[name], A4[0])
    page.emulate_media(media="print")
    boxes = page.evaluate(
        """[...document.querySelectorAll('svg[role=img]')].map(svg => [svg.getBoundingClientRect(),
        getComputedStyle(svg).breakInside]).map(([box, rule]) => [box.left, box.right, box.height, rule])"""
    )
    for left, right, height, rule in boxes:
        assert left >= 0
        assert right <= A4[0] + 0.5
        assert height <= A4[1]  # it fits on a page, and
        assert rule == "avoid"  # is moved to the next one rather than cut
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


def signed_card(folder: Path) -> Card:
    """A card with everything on it: words, an account of several spends, an audit, files, bought facts, two signatures."""
    schema = wide_schema(14)
    marked = {name: {"read_from_data": ("min", "max")} for name in list(schema.columns)[1:3]}
    columns = {name: each.model_copy(update=marked.get(name, {})) for name, each in schema.columns.items()}
    schema = schema.model_copy(update={"columns": columns})
    ledger, table = pt.Ledger(folder / "ledger"), wide_table(800, 1, 14)
    pt.release(table, schema, epsilon=0.5, ledger=ledger)
    release = pt.release(table, schema, epsilon=1.0, ledger=ledger, output=folder / "wide.release")
    card = replace(
        Card.of(
            release,
            deployment=Deployment(
                "City Hospital, Research Office", "Members of the public", "Teaching", "A. Berg, head"
            ),
            account=AccountStatement.of(ledger, release),
            audited=audit_of(release).published(),
            files=(HashedFile.of(folder / "wide.release", "release"),),
        ),
        paid_for=dict.fromkeys(list(schema.columns)[4:], ("kind",)),
        purchase=Purchase(epsilon=0.1, delta=1e-6, id="x", seen_from=9),
    )
    file = CardFile(card.to_json())
    for name in ("A. Berg, data-protection officer", "C. Dahl, head of research"):
        file = sign(file, make_key(folder / name[:1]), name)
    return Card.from_file(file)


@pytest.mark.filterwarnings("ignore::pointillist.errors.FactsFromDataWarning")
def test_what_an_officer_signs_prints_on_one_page(browser: Browser, tmp_path: Path) -> None:
    signed_card(tmp_path).save(tmp_path / "card.html")
    page = opened(browser, tmp_path / "card.html", A4[0])
    assert page.locator(".officer .sign").count() == 1
    page.evaluate("document.querySelector('style').append('main > :not(.officer), footer { display: none }')")
    page.pdf(path=tmp_path / "page.pdf", format="A4", prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", (tmp_path / "page.pdf").read_bytes())) == 1


LONG = (
    "the monthly income of the whole household",
    "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWW",
    "这是一个非常长的列名这是一个非常长的列名",
    "x",
)
OVERLAPS = """[...document.querySelectorAll('svg[role=img]')].flatMap(svg => {
  const texts = [...svg.querySelectorAll('text')].map(node => [node.textContent, node.getBoundingClientRect()]);
  const frame = svg.getBoundingClientRect();
  const out = texts.filter(([, box]) => box.left < frame.left - 1 || box.right > frame.right + 1)
    .map(([text]) => text + ' leaves the chart');
  const met = texts.flatMap(([a, one], i) => texts.slice(i + 1)
    .filter(([, other]) => Math.min(one.right, other.right) - Math.max(one.left, other.left) > 0.5
      && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 0.3 * one.height)
    .map(([b]) => a + ' meets ' + b));
  return out.concat(met); })"""
"""Labels that overlap or leave their chart; a line's box is higher than its letters."""


def test_labels_of_charts_do_not_overlap(browser: Browser) -> None:
    """Long and wide names, shares of 100 %, scores far below zero, ticks close together."""
    shares = [(name, 1.0, 1.0) for name in LONG]
    scores = [(name, -12.345, -99.999) for name in LONG]
    drawn = [
        charts.bars(shares, "t", rest=("12345 more", 1.0, 1.0)),
        charts.dumbbells(scores, "t", low=-1.0, high=1.0),
        charts.dumbbells(shares, "t", low=0.9, high=1.0),
        charts.dumbbells([("a", 1e9, -1e9)], "t", low=-0.00123, high=0.00123),
        charts.amounts([(name, 1.0) for name in LONG], "t"),
        charts.marks([(name * 3, [("synthetic", 0.0123)]) for name in LONG], "t"),
        charts.histogram([0.0, 1.0], [1.0], [1.0], ("2010-01-01 00:00:00" * 2, "9" * 60), "t"),
        charts.heat_map(np.zeros((120, 120)).tolist(), [f"{n % 7}{LONG[n % 4]}" for n in range(120)], "t"),
    ]
    page = browser.new_context(viewport={"width": 2600, "height": 900}).new_page()
    page.set_content(charts_page("".join(drawn)))
    assert page.locator("svg[role=img]").count() == len(drawn)
    assert page.evaluate(OVERLAPS) == []


def charts_page(body: str) -> str:
    style = (Path(charts.__file__).parent / "templates" / "style.css").read_text(encoding="utf-8")
    return f"<!doctype html><html lang=en><style>{style}</style><body>{body}"


@pytest.mark.parametrize("name", ["wide", "full"])
def test_labels_of_a_report_do_not_overlap(pages: dict[str, Path], browser: Browser, name: str) -> None:
    assert opened(browser, pages[name], 1400).evaluate(OVERLAPS) == []
