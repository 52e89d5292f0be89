from typing import Any


def test_spends_go_where_they_belong(visitor: Any) -> None:
    assert visitor.studio.ledger().path == visitor.studio.ledger_file
    assert visitor.studio.ledger(visitor.project).path == visitor.studio.ledger_file
    visitor.project.update(demo=True)
    assert visitor.studio.ledger(visitor.project).path == visitor.project.folder / "ledger.sqlite"
