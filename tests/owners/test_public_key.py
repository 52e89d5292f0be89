"""Public keys: their text, and signatures under them."""

import pytest

from pointillist.owners.public_key import PublicKey


def test_the_round_trip_of_its_text() -> None:
    key = PublicKey(bytes(range(32)), bytes(range(32, 64)))
    assert PublicKey.parse(key.to_text()) == key


@pytest.mark.parametrize("text", ["", "00", "zz" * 64, "00" * 63, "00" * 65])
def test_what_is_no_key(text: str) -> None:
    with pytest.raises(ValueError):
        PublicKey.parse(text)


def test_a_signature_of_nobody_is_none() -> None:
    assert not PublicKey(bytes(32), bytes(32)).signed(bytes(64), b"words")
