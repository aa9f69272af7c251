"""Recognise what a path holds by its content, and list the single sources in it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sandmill.models.seed import SeedTask, UnsupportedSeed
from sandmill.seeds.cards import bundled_cards, read_card
from sandmill.seeds.findings import Finding, Unsound
from sandmill.seeds.folder import read_folder
from sandmill.seeds.mlebench import COMPETITION_FILES, read_competition
from sandmill.seeds.tables import TABLE_SUFFIXES
from sandmill.seeds.wording import did_you_mean, shorten

FORMS = (
    "a card (*.yaml), a folder of cards, a folder with one CSV or Parquet table and seed.yaml, "
    "or an MLE-bench competition folder (config.yaml, description.md, leaderboard.csv)"
)
_CARD_SUFFIXES = frozenset({".yaml", ".yml"})
_LISTED = 6


@dataclass(frozen=True)
class Source:
    """One seed's place and the way to read it."""

    path: Path
    file: str
    """Its name in messages: as the person wrote it."""
    read: Callable[[Path, str], SeedTask | UnsupportedSeed]


def find_sources(given: tuple[str, ...]) -> tuple[list[Source], list[Finding]]:
    """Expand what was asked for into single sources; none means the bundled cards."""
    if not given:
        return [Source(path, file, read_card) for path, file in bundled_cards()], []
    sources: list[Source] = []
    findings: list[Finding] = []
    for text in given:
        try:
            sources += _sources_at(text)
        except Unsound as unsound:
            findings += unsound.findings
    return sources, findings


def _sources_at(text: str) -> list[Source]:
    path, name = Path(text), text.rstrip("/") or text
    if "://" in text:
        raise _unknown(text, "an address", "Copy it to a local folder first.")
    if not text or "\0" in text or not path.exists():
        raise _unknown(text, "nothing at this path", _nearby(path) if text and "\0" not in text else "")
    try:
        return _in_folder(path, name) if path.is_dir() else [_single_file(path, name)]
    except OSError as error:
        raise _unknown(text, error.strerror or "a path that cannot be read") from None


def _single_file(path: Path, name: str) -> Source:
    if path.suffix in _CARD_SUFFIXES and path.is_file():
        return Source(path, name, read_card)
    hint = "Put it into a folder beside a seed.yaml and give the folder." if path.suffix in TABLE_SUFFIXES else ""
    raise _unknown(name, f"a {path.suffix or 'nameless'} file", hint)


def _in_folder(path: Path, name: str) -> list[Source]:
    inside = {entry.name: entry for entry in sorted(path.iterdir()) if not entry.name.startswith(".")}
    if "config.yaml" in inside and len(inside.keys() & COMPETITION_FILES) > 1:
        return [Source(path, name, read_competition)]
    if "seed.yaml" in inside:
        return [Source(path, name, read_folder)]
    if cards := [entry for entry in inside.values() if entry.suffix in _CARD_SUFFIXES and entry.is_file()]:
        return [Source(card, f"{name}/{card.name}", read_card) for card in cards]
    hint = "A table needs a seed.yaml beside it." if any(e.suffix in TABLE_SUFFIXES for e in inside.values()) else ""
    raise _unknown(name, _listing(list(inside)), hint)


def _listing(names: list[str]) -> str:
    if not names:
        return "an empty folder"
    rest = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"a folder with {', '.join(shorten(name) for name in names[:_LISTED])}{rest}"


def _nearby(path: Path) -> str:
    try:
        return did_you_mean(path.name, [entry.name for entry in path.parent.iterdir()])
    except OSError:
        return ""


def _unknown(text: str, saw: str, hint: str = "") -> Unsound:
    return Unsound([Finding(shorten(text, 200) or '""', saw, FORMS, hint=hint)])
