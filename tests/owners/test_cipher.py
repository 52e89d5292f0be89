"""Cipher: the primitives do what their standards say, and say how to get them."""

import sys

import pytest

from pointillist.errors import UsageError
from pointillist.owners import cipher


def test_x25519_agrees_and_has_its_base_point() -> None:
    """RFC 7748, section 4.1: the base point has the u-coordinate 9; and both sides agree."""
    secret = cipher.derived(b"own", b"test")
    other = cipher.derived(b"other", b"test")
    base = (9).to_bytes(32, "little")
    assert cipher.agreed_secret(secret, base) == cipher.agreement_key(secret)
    shared = cipher.agreed_secret(secret, cipher.agreement_key(other))
    assert shared == cipher.agreed_secret(other, cipher.agreement_key(secret))


def test_chacha20_as_in_rfc_8439() -> None:
    """Appendix A.1, test vector 1: the key stream of a zero key and a zero nonce."""
    assert cipher.stream(bytes(32), 16).hex() == "76b8e0ada0f13d90405d6ae55386bd28"


def test_hkdf_as_in_rfc_5869() -> None:
    """Test case 3: no salt and no purpose; the first 32 bytes."""
    expected = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
    assert cipher.derived(bytes([0x0B] * 22), b"").hex() == expected


def test_ed25519_as_in_rfc_8032() -> None:
    """Section 7.1, test 1."""
    secret = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    public = cipher.signing_key(secret)
    assert public.hex() == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    found = cipher.signature(secret, b"")
    assert found.hex().startswith("e5564300c360ac729086e2cc806e828a")
    assert cipher.signed(public, found, b"")
    assert not cipher.signed(public, found, b"other")
    assert not cipher.signed(public, b"short", b"")


def test_a_key_of_zeros_gives_no_secret() -> None:
    with pytest.raises(ValueError):
        cipher.agreed_secret(cipher.derived(b"own", b""), bytes(32))


@pytest.mark.parametrize(
    "call",
    [
        lambda: cipher.derived(b"", b""),
        lambda: cipher.stream(bytes(32), 1),
        lambda: cipher.agreement_key(bytes(32)),
        lambda: cipher.signing_key(bytes(32)),
        lambda: cipher.signed(bytes(32), b"", b""),
    ],
)
def test_without_the_library_it_is_said_how_to_get_it(call: object, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.split(".")[0] == "cryptography"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match=r"pip install 'pointillist\[owners\]'"):
        call()  # type: ignore[operator]
