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
        told, follows = file.facts["person"], card.risk.to_json()
        same = (
            told.keys() == follows.keys()
            and _near(told, follows)
            and file.facts["promise"] == card.guarantee.sentence()
        )
    except (ValueError, LookupError, TypeError, AttributeError):
        same = False
    said = "follow" if same else "do not follow"
    yield Check(same, f"What it says about a person and the promise {said} from its ε, δ and μ.")


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
        public = Release.load(release)
        same = (public.id, public.guarantee.to_json()) == (file.facts.get("id"), file.facts.get("guarantee"))
        yield Check(same, f"{release}: {'is' if same else 'is not'} the release whose promise the card states.")
    if schema is not None:
        same = fingerprint(Schema.load(schema)) == file.facts.get("schema")
        yield Check(same, f"{schema}: {'is' if same else 'is not'} the schema that was approved.")
    for path in data:
        yield _held(path, "synthetic data", known)


def _held(path: Path, role: str, known: list[HashedFile]) -> Check:
    own = HashedFile.of(path, role)
    same = any(each.role == role and each.same(own) for each in known)
    return Check(
        same, f"{path}: {'is' if same else 'is not'} the {role} that was approved (SHA-256 {own.sha256[:16]}…)."
    )
