from typing import Any


def test_spends_are_listed_with_who_and_why(walked: Any) -> None:
    page = walked.client.get("/ledger").text
    assert "mosaic, target member" in page
    assert "ε = 1 of 10 at δ = 1e-5" in page
    assert str(walked.studio.ledger_file) in page


def test_a_cap_can_be_set_on_an_account_that_is_there(visitor: Any) -> None:
    from pointillist.privacy.budget import Budget

    def cap(**fields: str) -> Any:
        return visitor.client.post("/ledger/cap", data={"csrf": visitor.studio.security.csrf, **fields})

    assert "Nothing has been spent yet" in visitor.client.get("/ledger").text
    visitor.studio.ledger().set_cap("people", Budget(3.0, 1e-5))
    assert cap(dataset="people", epsilon="2", delta="1e-6").status_code == 200
    assert visitor.studio.ledger().accounts()[0].cap == Budget(2.0, 1e-6)
    assert "there is no account" in cap(dataset="others", epsilon="2", delta="1e-6").text
    assert "two numbers" in cap(dataset="people", epsilon="x", delta="1e-6").text
    assert visitor.studio.ledger().accounts()[0].cap == Budget(2.0, 1e-6)
