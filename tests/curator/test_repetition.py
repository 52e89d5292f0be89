"""Which columns a draft takes for people with several rows, and how the owner answers."""

import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.curator.table_drafting import draft
from pointillist.demo.people import simulate
from pointillist.errors import SchemaError


def visits(people: int = 300, seed: int = 0, **columns: object) -> dict[str, object]:
    """From one to five visits of each of some people, whose sex and town stay as they are."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), rng.integers(1, 6, people))
    numbers = rng.permutation(people * 10)[:people]
    return {
        "which": numbers[who],
        "sex": np.array(["f", "m"])[rng.integers(0, 2, people)][who],
        "town": np.array(list("abcdef"))[rng.integers(0, 6, people)][who],
        "weight": rng.normal(70, 10, len(who)).round(1),
        **columns,
    }


def suspects(table: object) -> list[str]:
    return list(draft(table, name="t").several_rows)


class TestHits:
    def test_by_repetition_and_not_by_name(self) -> None:
        made = draft(pa.table(visits()), name="t")
        assert list(made.several_rows) == ["which"]
        assert made.several_rows["which"] == 3
        assert isinstance(made.columns["which"], pt.Ignore)

    def test_in_any_order(self) -> None:
        rows = pa.table(visits())
        assert suspects(rows.take(np.random.default_rng(1).permutation(rows.num_rows))) == ["which"]

    def test_in_a_file_of_texts(self, tmp_path: Path) -> None:
        frame = pd.DataFrame(visits())
        frame.loc[::50, "which"] = None
        frame.to_csv(tmp_path / "t.csv", index=False)
        assert suspects(tmp_path / "t.csv") == ["which"]

    def test_texts(self) -> None:
        rows = visits()
        assert suspects(pa.table({**rows, "which": [f"k{each:x}" for each in rows["which"]]})) == ["which"]  # type: ignore[attr-defined]

    def test_the_same_number_of_rows_each(self) -> None:
        rng = np.random.default_rng(0)
        rows = {
            "who": np.repeat(rng.permutation(900)[:100], 4),
            "day": np.tile(range(4), 100),
            "x": rng.normal(size=400),
        }
        assert suspects(pa.table(rows)) == ["who"]

    def test_a_visit_number_does_not_hide_the_patient(self) -> None:
        rows = visits()
        number = np.random.default_rng(0).permutation(10**6)[: len(rows["which"])]  # type: ignore[arg-type]
        assert suspects(pa.table({"visit": number, **rows})) == ["which"]


class TestFalseAlarms:
    def test_the_registry(self) -> None:
        assert suspects(simulate()) == []

    def test_measurements(self) -> None:
        rng = np.random.default_rng(0)
        age = rng.integers(18, 90, 2000)
        pay = (np.exp(rng.normal(7, 1, 2000)) // 10 * 10).astype(int)
        rows = {"age": age, "group": age // 10, "pay": pay, "tax": pay // 4, "sex": rng.integers(0, 2, 2000)}
        assert suspects(pa.table(rows)) == []

    def test_towns(self) -> None:
        """Some towns have very many people: a person would not have so many rows."""
        rng = np.random.default_rng(0)
        town = np.minimum(rng.zipf(1.4, 3000), 400)
        assert suspects(pa.table({"town": [f"t{each}" for each in town], "x": rng.normal(size=3000)})) == []

    def test_a_unique_number(self) -> None:
        rng = np.random.default_rng(0)
        rows = {"file": rng.permutation(10**6)[:400], "batch": np.repeat(np.arange(100), 4), "x": rng.normal(size=400)}
        assert suspects(pa.table(rows)) == []

    def test_a_person_that_is_named(self) -> None:
        made = draft(pa.table(visits()), name="t", person=pt.Person(column="which", max_rows=3))
        assert made.several_rows == {}


class TestAnswers:
    @pytest.fixture
    def text(self) -> str:
        return draft(pa.table(visits()), name="t").to_toml().replace("reviewed = false", "reviewed = true")

    def parsed(self, text: str) -> pt.Schema:
        return pt.Schema.parse(tomllib.loads(text))

    def test_none(self, text: str) -> None:
        schema = self.parsed(text)
        with pytest.raises(SchemaError, match=r"'which'.*\[person\].*one_row_per_person = true"):
            schema.require_reviewed()
        with pytest.raises(SchemaError, match="one_row_per_person"):
            pt.release(pa.table(visits()), schema, epsilon=1.0)

    def test_several_rows(self, text: str) -> None:
        """The lines are there: the owner takes the # away."""
        for line in ("[person]", 'column = "which"', "max_rows = 3"):
            assert f"# {line}" in text
            text = text.replace(f"# {line}", line)
        schema = self.parsed(text)
        schema.require_reviewed()
        assert schema.person == pt.Person(column="which", max_rows=3)
        assert self.parsed(schema.to_toml()) == schema

    def test_one_row(self, text: str) -> None:
        schema = self.parsed(text.replace("# one_row_per_person = true", "one_row_per_person = true"))
        schema.require_reviewed()
        assert schema.person is None
        assert self.parsed(schema.to_toml()) == schema
        assert pt.Schema.from_json(schema.to_json()) == schema

    def test_both(self, text: str) -> None:
        person = {"column": "which", "max_rows": 3}
        with pytest.raises(SchemaError, match="contradict"):
            pt.Schema.parse({**tomllib.loads(text), "one_row_per_person": True, "person": person})

    def test_it_is_no_person(self, text: str) -> None:
        """Whoever gives the column another kind has answered, too."""
        facts = tomllib.loads(text)
        facts["columns"]["which"] = {"kind": "integer", "min": 0, "max": 3000}
        pt.Schema.parse(facts).require_reviewed()


@pytest.mark.parametrize("name", ["year", "which"])
def test_years_are_no_people(name: str) -> None:
    """A panel of 40 countries over 60 years: a country's facts stay, and so does what happened in a year."""
    rng = np.random.default_rng(0)
    year, country = np.tile(np.arange(1950, 2010), 40), np.repeat(np.arange(40), 60)
    rows = {name: year, "place": country, "war": (year % 7 < 2).astype(int), "x": rng.normal(0, 1, 2400).round(2)}
    assert name not in suspects(pa.table(rows))


def test_the_question_says_how_many_rows_each_has() -> None:
    assert "'which' (about 3 rows each)" in draft(pa.table(visits()), name="t").to_toml()
