"""The card: shareable, complete, and made of nothing but the release."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import norm

import pointillist as pt
from pointillist.errors import ArtefactError, UsageError
from pointillist.pages.account_statement import AccountStatement, Entry
from pointillist.pages.card_file import CardFile
from pointillist.pages.deployment import Deployment
from pointillist.privacy.disclosure import most_people
from pointillist.schema.purchase import Purchase


@pytest.fixture
def release(schema: pt.Schema, people: object) -> pt.Release:
    return pt.release(people(2_000), schema, epsilon=1.0, target="sex")  # type: ignore[operator]


def test_a_card_follows_from_the_release_file_alone(release: pt.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "r")
    assert pt.Card.of(pt.Release.load(tmp_path / "r")) == pt.Card.of(release)


def test_its_figures_are_those_of_the_plan(release: pt.Release) -> None:
    """A release states its plan with the blocks that were really measured."""
    card = pt.Card.of(release)
    planned = [block for each in release.plan.rounds for block in each.blocks]
    assert [each.name for each in card.measured] == [block.name for block in planned]
    for each, block in zip(card.measured, planned, strict=True):
        assert each.tables == block.count
        assert each.cells == block.cells
        assert each.noise == pytest.approx(block.noise_rows, rel=1e-4)  # but for the rounding of weights to the grid
        expected = 0.5 * each.cells / each.tables * math.sqrt(2 / math.pi) * each.noise / card.rows
        assert each.error == (pytest.approx(expected, rel=1e-3) if block.counts else None)
    assert sum(each.budget for each in card.measured) == pytest.approx(1.0)


def test_the_row_count_is_estimated_from_the_noisy_sums(release: pt.Release) -> None:
    """Six standard deviations of the least noisy sum of cells: one false alarm in 500 million."""
    card = pt.Card.of(release)
    fewest = min(block.dimension for block, _ in pt_blocks(release))
    assert abs(card.rows - 2_000) < 6 * card.measured[0].noise * math.sqrt(fewest)
    assert not card.rows_exact


def pt_blocks(release: pt.Release) -> list[tuple[object, float]]:

    return release.measurements[0].feature_map.blocks()  # type: ignore[return-value]


def test_a_public_row_count_is_stated_as_such(schema: pt.Schema, people: object, tmp_path: Path) -> None:
    made = pt.release(people(500), schema, epsilon=1.0, neighbours="replace-one", ledger=tmp_path / "l")  # type: ignore[operator]
    card = pt.Card.of(made)
    assert (card.rows, card.rows_exact) == (500, True)
    assert "replaced by any other" in card.to_markdown()


def test_the_formula_on_the_card_holds(release: pt.Release) -> None:
    """What the statistician is told to check, checked."""
    guarantee = release.guarantee
    epsilon, mu = guarantee.epsilon - guarantee.epsilon_slack, guarantee.mu
    delta = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    assert delta <= guarantee.delta - guarantee.delta_slack
    assert f"μ = {mu:.6f}" in pt.Card.of(release).check


def test_facts_read_from_the_data_are_named(schema: pt.Schema, people: object) -> None:
    age = schema.columns["age"].model_copy(update={"read_from_data": ("min", "max")})
    vouched = schema.model_copy(update={"columns": {**schema.columns, "age": age}})
    with pytest.warns(pt.FactsFromDataWarning):
        card = pt.Card.of(pt.release(people(50), vouched, epsilon=1.0))  # type: ignore[operator]
    for text in (card.to_html(), card.to_markdown()):
        assert f"age: min {age.min}, max {age.max}" in text
        assert f"on {card.created[:10]} or before" in text
        assert "declared" in text


@pytest.mark.parametrize("ending", ["html", "md", "json"])
def test_it_is_written_by_its_ending(release: pt.Release, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"card.{ending}"
    pt.Card.of(release).save(path)
    text = path.read_text(encoding="utf-8")
    assert "(ε = 1, δ = 1e-5)-differentially private" in text
    assert all(name in text for name in release.schema.measured)
    if ending == "json":
        measured = json.loads(text)["measured"]
        lost = [None if each["error"] is None else math.ceil(3 * each["noise"]) for each in measured]
        assert [each["smallest_group"] for each in measured] == lost


def test_other_endings_and_folders_that_are_not_there_are_refused(release: pt.Release, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"card\.pdf: a card is written as \.html, \.md or \.json"):
        pt.Card.of(release).save(tmp_path / "card.pdf")
    with pytest.raises(ArtefactError, match="no/card"):
        pt.Card.of(release).save(tmp_path / "no" / "card.md")


def test_names_cannot_break_out_of_a_page() -> None:
    odd = 'a|b\n<script>alert("x")</script>'
    schema = pt.Schema(name=odd, columns={odd: pt.Categorical(categories=(odd, "c"), description=odd)})
    card = pt.Card.of(pt.release(pa.table({odd: [odd, "c"]}), schema, epsilon=1.0))
    assert "<script" not in card.to_html()
    markdown = card.to_markdown()
    assert "<script" not in markdown
    (row,) = [line for line in markdown.splitlines() if line.startswith("| a")]
    assert row.count("|") - row.count("\\|") == 7  # six cells


def test_a_card_holds_no_private_value(schema: pt.Schema, people: object) -> None:
    table = people(300)  # type: ignore[operator]
    marked = table.set_column(0, "sex", pa.array(["SECRETVALUE"] * 300))
    marked = marked.set_column(3, "age", pa.array(np.full(300, 987_654)))
    card = pt.Card.of(pt.release(marked, schema, epsilon=5.0))
    for text in (card.to_html(), card.to_markdown(), json.dumps(card.to_json())):
        assert "SECRETVALUE" not in text
        assert not any(secret in text for secret in ("987654", "987,654", "987 654"))


def test_whole_number_categories_survive_the_round_trip() -> None:
    """An unlisted whole number is written as a gap, and read again as unlisted: synthetic tables can be judged."""
    schema = pt.Schema(name="codes", columns={"code": pt.Categorical(categories=(1, 2, 3), missing=False)})
    table = pa.table({"code": [1, 2, 9, 9] * 500})
    made = pt.fit(pt.release(table, schema, epsilon=5.0)).sample(2_000, seed=1)
    assert made["code"].null_count > 500
    result = pt.evaluate(table, made, schema)
    assert result.columns.columns[0].distance < 0.05
    assert {bar.label for bar in result.columns.columns[0].bars} == {"1", "2", "3", "other"}


def test_its_bounds_are_those_of_mu_and_of_what_the_schema_cost(release: pt.Release) -> None:
    card = pt.Card.of(release)
    assert card.risk.advantage == pytest.approx(2 * norm.cdf(release.guarantee.mu / 2) - 1, rel=1e-4)
    paid = replace(card, purchase=Purchase(epsilon=0.5, delta=1e-6, id="x", seen_from=9))
    bought = math.tanh(0.25) + 1e-6 * (1 - math.tanh(0.25))
    assert paid.risk.advantage == pytest.approx(card.risk.advantage + bought)
    assert paid.risk.inference[0.1] > card.risk.inference[0.1]


def test_a_card_can_be_read_again_from_its_file(release: pt.Release, tmp_path: Path) -> None:
    card = pt.Card.of(release, deployment=Deployment(by="<b>City</b>", to="all"))
    card.save(tmp_path / "card.json")
    again = pt.Card.from_file(CardFile.load(tmp_path / "card.json"))
    assert again.to_json() == card.to_json()
    assert again.to_markdown() == card.to_markdown()
    assert "&lt;b&gt;City" in again.to_html()


def test_singling_out_is_bounded_where_the_noise_took_people_away() -> None:
    """60 people, of whom a release that counted 20 knows nothing: its bound must be that of 60."""
    card = pt.Card.of(few_people())
    unlucky = replace(card, rows=20.0, most=most_people(20.0, card.rows_error), rows_exact=False)
    share, mu = 0.01 / 20, card.guarantee.mu
    assert card.rows_error > 13  # one in a thousand such releases is 40 too low, so this is no idle case
    assert unlucky.risk.singling_out >= 60 * norm.cdf(norm.ppf(share) + mu)
    assert pt.Card.from_file(CardFile(unlucky.to_json())).risk == unlucky.risk
    for text in (unlucky.to_html(), unlucky.to_markdown()):
        assert "1 in 2,000 of the population" in text
        assert f"({unlucky.most:,} at most)" in text
        assert "drawn independently of each other" in text
        assert "99.9 % confidence" in text


def few_people() -> pt.Release:
    """Few people and much noise on their number."""
    categories = tuple(f"c{number}" for number in range(40))
    schema = pt.Schema(name="few", columns={"a": pt.Categorical(categories=categories)})
    return pt.release(pa.table({"a": [categories[number % 40] for number in range(60)]}), schema, epsilon=1.0)


def test_the_most_people_are_those_of_the_noisy_count(release: pt.Release) -> None:
    card = pt.Card.of(release)
    assert card.most == math.ceil(card.rows + norm.ppf(0.999) * card.rows_error)
    assert card.to_json()["rows"]["at_most"] == card.risk.people == card.most


def test_words_for_officers(release: pt.Release) -> None:
    """No names of options, no letters without words."""
    card = pt.Card.of(release)
    for text in (card.to_html(), card.to_markdown()):
        assert "add-remove" not in text
        assert "two tables are neighbours if one has one row more than the other" in text
        assert "Beliefs hold" not in text
        assert "None was read from the private data" in text
        assert "no audit attached" in text


def test_neighbours_that_are_replaced_are_said_to_be(schema: pt.Schema, people: object, tmp_path: Path) -> None:
    made = pt.release(people(500), schema, epsilon=1.0, neighbours="replace-one", ledger=tmp_path / "l")  # type: ignore[operator]
    card = pt.Card.of(made)
    for text in (card.to_html(), card.to_markdown()):
        assert "left out" not in text.split("How it was made")[0]
        assert "that row replaced by another’s" in text
        assert "99.9 %" not in text  # the number of rows is public
    assert card.most == 500


def test_a_part_is_not_said_to_give_away_more_than_the_whole(release: pt.Release) -> None:
    """What a schema cost is known by its epsilon alone, in the account by its mu: the better bound counts."""
    mu = release.guarantee.mu
    spends = tuple(Entry("2026-01-02", each, 0.5, 1e-5, each == "mosaic") for each in ("draft", "mosaic"))
    account = AccountStatement("people", "2026-01-03", 3.0, 1e-5, 1.1, math.hypot(mu, 0.14), 1e-7, 1e-12, spends)
    paid = replace(pt.Card.of(release), purchase=Purchase(epsilon=0.5, delta=1e-6, id="x", seen_from=9))
    card = replace(paid, account=account)
    assert card.account_risk is not None
    assert card.risk.advantage == card.account_risk.advantage < paid.risk.advantage
    assert card.risk.singling_out <= card.account_risk.singling_out
    assert all(card.risk.linkage[prior] <= each for prior, each in card.account_risk.linkage.items())
