"""Card check: whether a card was signed, says what its release says, and belongs to the files that somebody holds."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pointillist.files.hashed_file import HashedFile
from pointillist.owners.card_signing import holds
from pointillist.pages.card import Card
from pointillist.pages.card_file import CardFile
from pointillist.release import Release
from pointillist.schema import Schema
from pointillist.schema.fingerprint import fingerprint


@dataclass(frozen=True)
class Check:
    """One question, and whether the answer is yes."""

    holds: bool
    sentence: str


def checked_card(
    file: CardFile,
    *,
    release: Path | None = None,
    schema: Path | None = None,
    data: Iterable[Path] = (),
    signers: Iterable[str] = (),
) -> list[Check]:
    """All checks of a card, with the files that somebody holds and the public keys of those who must have signed."""
    return [*_signatures(file, signers), *_statement(file), *_files(file, release, schema, data)]


def _signatures(file: CardFile, signers: Iterable[str]) -> Iterator[Check]:
    if not file.signatures:
        yield Check(False, "Nobody has signed this card.")
    sound = {each.key.lower() for each in file.signatures if holds(file, each)}
    for each in file.signatures:
        if each.key.lower() in sound and holds(file, each):
            yield Check(True, f"Signed by {each.signer}, {each.at}, with the key {each.key}")
        else:
            yield Check(
                False, f"The signature of {each.signer} does not hold: the card was altered since, or it is made up."
            )
    for key in signers:
        wanted = "".join(key.lower().split())
        yield Check(wanted in sound, f"The key {wanted[:16]}… has {'' if wanted in sound else 'not '}signed it.")


def _statement(file: CardFile) -> Iterator[Check]:
    """A card may be signed and still state figures that its own guarantee does not give."""
    try:
        card = Card.from_file(file)
        risks = (("person", card.risk), ("account_person", card.account_risk))
        same = file.facts["promise"] == card.guarantee.sentence() and all(
            file.facts[name] is None if risk is None else _near(file.facts[name], risk.to_json())
            for name, risk in risks
        )
    except (ValueError, LookupError, TypeError, AttributeError):
        same = False
    said = "follow" if same else "do not follow"
    yield Check(same, f"What it says about a person and the promise {said} from its ε, δ, μ and number of people.")


def _near(told: object, follows: object) -> bool:
    """The same, but for what another machine rounds differently."""
    if isinstance(follows, dict) and isinstance(told, dict):
        return told.keys() == follows.keys() and all(_near(told[name], follows[name]) for name in follows)
    return (
        isinstance(told, int | float)
        and isinstance(follows, int | float)
        and abs(told - follows) <= 1e-6 * abs(follows)
    )


def _files(file: CardFile, release: Path | None, schema: Path | None, data: Iterable[Path]) -> Iterator[Check]:
    known = [HashedFile.from_json(each) for each in file.facts.get("files", [])]
    if release is not None:
        yield _held(release, "release", known)
        same = _same_release(file, Release.load(release))
        yield Check(same, f"{release}: {'is' if same else 'is not'} the release whose promise the card states.")
    if schema is not None:
        same = fingerprint(Schema.load(schema)) == file.facts.get("schema")
        yield Check(same, f"{schema}: {'is' if same else 'is not'} the schema that was approved.")
    for path in data:
        yield _held(path, "synthetic data", known)


def _same_release(file: CardFile, public: Release) -> bool:
    """Whether a card says what a release says: who it is, its promise, its schema with the price, the number of people."""
    stated, follows = file.facts, Card.of(public).to_json()
    if any(stated.get(name) != follows.get(name) for name in ("id", "guarantee", "schema", "bought_for")):
        return False
    rows = stated.get("rows")
    most = rows.get("at_most") if isinstance(rows, dict) else None
    return isinstance(most, int) and abs(most - follows["rows"]["at_most"]) <= 1  # another machine may round otherwise


def _held(path: Path, role: str, known: list[HashedFile]) -> Check:
    own = HashedFile.of(path, role)
    same = any(each.role == role and each.same(own) for each in known)
    return Check(
        same, f"{path}: {'is' if same else 'is not'} the {role} that was approved (SHA-256 {own.sha256[:16]}…)."
    )
