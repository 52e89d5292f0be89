import re
import time
from typing import Any

import pyarrow as pa
from pyarrow import parquet
from tests.studio.conftest import RARE

from pointillist.schema.fingerprint import fingerprint
from pointillist.studio import jobs


def test_the_page_says_what_was_read_off_the_data(visitor: Any) -> None:
    visitor.work("open")
    page = visitor.get("review").text
    assert "For your eyes" in page
    assert "1 of 3 categories has fewer than 10 rows" in page
    assert page.index("1 of 3 categories") < page.index("Edit the TOML")
    card = visitor.get("review/2").text
    assert "<svg" in card
    assert " style=" not in card
    assert 'name="categories"' in card
    assert 'name="categories"' not in visitor.get("review/2?kind=boolean").text


def test_one_click_is_safer_and_can_be_undone(visitor: Any) -> None:
    visitor.work("open")
    before = visitor.project.schema_file.read_text()
    visitor.post("review/safer", column="2", fact="categories")
    assert RARE not in visitor.project.schema().columns["job"].categories
    visitor.post("review/undo")
    assert visitor.project.schema_file.read_text() == before
    visitor.post("review/safer", all="yes")
    assert RARE not in visitor.project.schema_file.read_text()


def test_cards_and_text_change_each_other(visitor: Any) -> None:
    visitor.work("open")
    text = visitor.project.schema_file.read_text() + "\n# my own words\n"
    visitor.post("review/text", text=text.replace("\n", "\r\n"))
    visitor.post("review/1", kind="integer", min="0", max="120", description="in years")
    column = visitor.project.schema().columns["age"]
    assert (column.min, column.max, column.description, column.missing) == (0, 120, "in years", False)
    assert "max" not in column.read_from_data
    assert "# my own words" in visitor.project.schema_file.read_text()
    assert 'value="120"' in visitor.get("review/1").text


def test_mistakes_leave_the_schema_alone(visitor: Any) -> None:
    visitor.work("open")
    before = visitor.project.schema_file.read_text()
    assert "max" in visitor.post("review/1", kind="integer", min="0", max="-4").text
    answer = visitor.post("review/text", text="name = <b>").text
    assert "not valid TOML" in answer
    assert "name = &lt;b&gt;" in answer  # what was typed is not lost
    assert "no such column" in visitor.post("review/99", kind="ignore").text
    assert "Tick the box first" in visitor.post("review/accept").text
    assert visitor.project.schema_file.read_text() == before


def test_who_a_row_belongs_to_is_asked(visitor: Any) -> None:
    table = pa.table({"patient": [f"p{n // 3}" for n in range(300)], "age": [n % 70 for n in range(300)]})
    parquet.write_table(table, visitor.table)
    visitor.work("open")
    assert "Whose is a row?" in visitor.get("review").text
    assert "repeat" in visitor.accept().text
    visitor.post("review/unit", unit="person", person="patient", max_rows="3")
    person = visitor.project.schema().person
    assert (person.column, person.max_rows) == ("patient", 3)
    visitor.post("review/unit", unit="row")
    assert visitor.project.schema().one_row_per_person


def test_rules_can_be_taken_out(visitor: Any) -> None:
    visitor.work("open")
    text = visitor.project.schema_file.read_text()
    visitor.post("review/text", text=text + '\n[[constraints]]\nimpossible = { sex = "male", member = true }\n')
    count = len(visitor.project.schema().constraints)
    assert "Rules that hold in every row" in visitor.get("review").text
    visitor.post("review/rule", rule=str(count - 1))
    assert len(visitor.project.schema().constraints) == count - 1


def test_many_columns_come_in_pages(visitor: Any) -> None:
    """The first page of a wide table is small, and draws nothing before it is looked at."""
    columns = "".join(f'[columns.c{n}]\nkind = "integer"\nmin = 0\nmax = {n + 1}\n' for n in range(300))
    visitor.project.write_schema(f'name = "wide"\n{columns}')
    first, last = visitor.get("review").text, visitor.get("review?page=13").text
    assert first.count('class="card column"') == 24
    assert last.count('class="card column"') == 12
    assert "<svg" not in first.partition("<main")[2]
    assert visitor.get("review?find=c29").text.count('class="card column"') == 11


def test_what_another_tab_changed_is_not_accepted_unseen(visitor: Any) -> None:
    visitor.work("open")
    shown = re.findall(r'name="shown" value="([0-9a-f]{64})"', visitor.get("review").text)
    assert len(set(shown)) == 1
    visitor.post("review/1", kind="integer", min="0", max="777")
    answer = visitor.post("review/accept", public="yes", shown=shown[0])
    assert "perhaps in another tab" in answer.text
    assert 'value="' + fingerprint(visitor.project.schema()) in answer.text  # what is shown now can be accepted
    assert "perhaps in another tab" in visitor.post("review/accept", public="yes").text
    assert not visitor.project.schema().reviewed
    stale = visitor.post("review/text", text='name = "mine"\n', shown=shown[0]).text
    assert "perhaps in another tab" in stale
    assert "name = &#34;mine&#34;" in stale
    assert visitor.project.schema().columns["age"].max == 777
    assert visitor.accept().url.path.endswith("/plan")


def test_a_safer_choice_that_was_taken_is_not_offered_again(visitor: Any) -> None:
    visitor.work("open")
    page = visitor.get("review").text
    assert "safer choice for categories of job" in page
    page = visitor.post("review/safer", column="2", fact="categories").text
    assert "safer choice for categories of job" not in page
    page = visitor.post("review/safer", all="yes").text
    assert "shared by few rows" not in page
    assert "Take all" not in page
    for _ in range(2):
        page = visitor.post("review/undo").text
    assert "shared by few rows" in page
    assert "safer choice for categories of job" in page


def test_after_a_restart_rows_are_counted_again(visitor: Any) -> None:
    """Counts go with the studio; the warning before Accept may not."""
    visitor.work("open")
    for path in visitor.project.scratch.iterdir():
        path.unlink()
    page = visitor.get("review").text
    assert "Wait until the rows are counted" in page
    assert 'name="public"' not in page
    for _ in range(600):
        if not visitor.studio.jobs.state(visitor.project, "open").active:
            break
        time.sleep(0.1)
    page = visitor.get("review").text
    assert "shared by few rows" in page
    assert 'name="public"' in page
    visitor.post("review/safer", all="yes")
    assert RARE not in visitor.project.schema_file.read_text()


def test_a_table_that_is_gone_is_no_all_clear(visitor: Any) -> None:
    visitor.work("open")
    for path in visitor.project.scratch.iterdir():
        path.unlink()
    visitor.table.unlink()
    assert visitor.work("open").state == jobs.FAILED
    page = visitor.get("review").text
    assert "some may be shared by few" in page
    assert "Try again" in page
