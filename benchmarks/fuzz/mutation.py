"""Mutation: small damage to bytes and texts, of the kinds that disks, networks, editors and enemies do."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

NUMBERS: tuple[Any, ...] = (
    0, 1, -1, 2, 255, 256, 65_535, 2**31 - 1, 2**31, -(2**31), 2**32, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**40,
    0.5, -0.0, 1e-320, 1e308, -1e308, float("nan"), float("inf"), float("-inf"),
)  # fmt: skip
TEXTS = (
    "", " ", "a", "NA", "nan", "1e999", "-", "0x10", "1_000", "٣", "é", "e\u0301", "\x00", "\x1b[31m", "\x9b2J", "\u202eabc",
    "\u2028", "\ufeff", "\U000e0041", "😀", "=1+1", "'", '"', "`", ";", "--", "%s", "{0}", "${x}", "../..",
    "/dev/zero", "a,b", "\r\n", "\t", "\\", "x" * 300, "1" * 400, "9999-12-31", "2020-02-30", "0000-00-00", "inf", "true",
    "None", "null", "[", "]",
)  # fmt: skip


def damaged(content: bytes, rng: Random, most: int = 4) -> bytes:
    """The bytes with up to so many places damaged; at times with none."""
    found = bytearray(content)
    for _ in range(rng.randint(0, most)):
        rng.choice(_DAMAGE)(found, rng)
    return bytes(found)


def garbled(text: str, rng: Random, most: int = 4, pieces: Sequence[str] = TEXTS) -> str:
    """The text with up to so many places changed."""
    for _ in range(rng.randint(0, most)):
        begin, end = _span(len(text), rng, 12)
        kind = rng.randrange(4)
        new = rng.choice(pieces) if kind < 2 else "" if kind == 2 else text[begin:end] * rng.randint(2, 40)
        text = text[:begin] + new + text[end if kind else begin :]
    return text


def other_value(rng: Random) -> Any:
    """Any value that JSON or TOML can hold, and some that only one of them can."""
    return rng.choice(
        (
            rng.choice(NUMBERS),
            rng.choice(TEXTS),
            None,
            True,
            False,
            [],
            {},
            [rng.choice(NUMBERS)],
            {"a": rng.choice(TEXTS)},
        )
    )


def _span(length: int, rng: Random, most: int) -> tuple[int, int]:
    begin = rng.randint(0, length)
    return begin, min(length, begin + rng.randint(0, most))


def _flip(content: bytearray, rng: Random) -> None:
    if content:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)


def _flip_near_an_end(content: bytearray, rng: Random) -> None:
    """Heads and tails say what the rest means."""
    if content:
        place = rng.randrange(min(len(content), 64))
        content[place if rng.random() < 0.5 else -1 - place] = rng.randrange(256)


def _number(content: bytearray, rng: Random) -> None:
    """A count or an offset becomes another."""
    width = rng.choice((1, 2, 4, 8))
    if len(content) >= width:
        place = rng.randrange(len(content) - width + 1)
        value = rng.choice(
            (0, 1, 0x7F, 0xFF, 1 << 31, (1 << 32) - 1, (1 << 63) - 1, (1 << 64) - 1, rng.getrandbits(64))
        )
        content[place : place + width] = (value % (1 << (8 * width))).to_bytes(width, rng.choice(("little", "big")))


def _cut(content: bytearray, rng: Random) -> None:
    del content[rng.randint(0, len(content)) :]


def _remove(content: bytearray, rng: Random) -> None:
    begin, end = _span(len(content), rng, 32)
    del content[begin:end]


def _repeat(content: bytearray, rng: Random) -> None:
    begin, end = _span(len(content), rng, 64)
    content[begin:begin] = content[begin:end] * rng.randint(1, 20)


def _insert(content: bytearray, rng: Random) -> None:
    place = rng.randint(0, len(content))
    content[place:place] = rng.choice(TEXTS).encode() if rng.random() < 0.5 else rng.randbytes(rng.randint(1, 16))


_DAMAGE: tuple[Callable[[bytearray, Random], None], ...] = (
    _flip, _flip, _flip, _flip_near_an_end, _number, _number, _cut, _remove, _repeat, _insert,
)  # fmt: skip
