"""Find the seeds at a path, by its content."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from sandmill.errors import name_some, shorten
from sandmill.models.seed import SkippedSource
from sandmill.seeds.cards import SeedReading, bundled_cards, read_card
from sandmill.seeds.folder import read_folder
from sandmill.seeds.mlebench import COMPETITION_FILES, read_competition
from sandmill.seeds.source_problems import SourceProblem, Unsound
from sandmill.seeds.table_files import TABLE_SUFFIXES
from sandmill.seeds.wording import did_you_mean

FORMS = (
    "a card (*.yaml), a folder with one CSV or Parquet table and seed.yaml, "
    "an MLE-bench competition folder (config.yaml, description.md, leaderboard.csv), or a folder of these"
)
_CARD_SUFFIXES = frozenset({".yaml", ".yml"})
_LISTED = 6
_LINK = "a link; links in a folder are not followed, but can be given themselves"


@dataclass(frozen=True)
class Source:
    """The path of one seed, and the function that reads it."""

    path: Path
    file: str
    """Its name in messages, as the user wrote it."""
    read: Callable[[Path, str], SeedReading]
    is_foreign: bool = False
    """Whether it is a competition. Among other sources, one that cannot be read is set aside and is no error."""


@dataclass
class Found:
    """The sources at all given paths."""

    sources: list[Source] = field(default_factory=list)
    skipped: list[SkippedSource] = field(default_factory=list)
    """Children of folders that are no seeds."""
    problems: list[SourceProblem] = field(default_factory=list)
    """Paths that hold no seed."""


def find_sources(given: tuple[str, ...]) -> Found:
    """Expand paths into single sources. No path means the bundled cards."""
    found = Found()
    if not given:
        found.sources = [Source(path, file, read_card) for path, file in bundled_cards()]
    first: dict[Path, str] = {}
    for text in given:
        try:
            at = _sources_at(text, first)
        except Unsound as unsound:
            found.problems += unsound.problems
        else:
            found.sources += at.sources
            found.skipped += at.skipped
    return found


def _sources_at(text: str, first: dict[Path, str]) -> Found:
    """Return the sources at a path, and add the path to those that were given."""
    path, name = Path(text), text.rstrip("/") or text
    if "://" in text:
        raise _unknown(text, "an address", "Copy it to a local folder first.")
    is_name = bool(text) and "\0" not in text
    if not is_name or not path.exists():
        raise _unknown(text, "nothing at this path", _nearby(path) if is_name else "")
    place = path.resolve()
    if place in first:
        saw = "given twice" if first[place] == text else f"given twice, first as {shorten(first[place], 200)}"
        raise Unsound([SourceProblem(shorten(text, 200), saw, "each path once")])
    first[place] = text
    try:
        return _in_folder(path, name) if path.is_dir() else Found([_single_file(place, name)])
    except OSError as error:
        raise _unknown(text, error.strerror or "a path that cannot be read") from None


def _single_file(path: Path, name: str) -> Source:
    if path.suffix in _CARD_SUFFIXES and path.is_file():
        return Source(path, name, read_card)
    hint = "Put it into a folder beside a seed.yaml and give the folder." if path.suffix in TABLE_SUFFIXES else ""
    kind = f"a {path.suffix} file" if path.suffix else "a file whose name has no ending"
    raise _unknown(name, kind if path.is_file() else "a pipe, socket or device", hint)


def _in_folder(path: Path, name: str) -> Found:
    """Return the one seed that a folder is, or the seeds among its children, sorted by name."""
    inside = _visible(path)
    if single := _single_folder(path, name, inside):
        return Found([single])
    found = Found()
    for child in inside.values():
        file = f"{name}/{child.name}"
        if child.is_symlink():
            found.skipped.append(SkippedSource(source=file, reason=_LINK))
            continue
        try:
            within = _visible(child) if child.is_dir() else {}
            seed = _single_folder(child, file, within) if child.is_dir() else _single_file(child, file)
            reason = _listing(list(within))
        except (Unsound, OSError) as error:
            seed = None
            reason = error.problems[0].saw if isinstance(error, Unsound) else error.strerror or "it cannot be read"
        if seed:
            found.sources.append(seed)
        else:
            found.skipped.append(SkippedSource(source=file, reason=reason))
    if found.sources:
        return found
    hint = "A table needs a seed.yaml beside it." if any(e.suffix in TABLE_SUFFIXES for e in inside.values()) else ""
    raise _unknown(name, _listing(list(inside)), hint)


def _single_folder(path: Path, name: str, inside: dict[str, Path]) -> Source | None:
    files = {child for child in inside if inside[child].is_file()}
    if "config.yaml" in files and len(files & COMPETITION_FILES) > 1:
        return Source(path, name, read_competition, is_foreign=True)
    return Source(path, name, read_folder) if "seed.yaml" in files else None


def _visible(path: Path) -> dict[str, Path]:
    return {entry.name: entry for entry in sorted(path.iterdir()) if not entry.name.startswith(".")}


def _listing(names: list[str]) -> str:
    return f"a folder with {name_some(map(shorten, names), _LISTED)}" if names else "an empty folder"


def _nearby(path: Path) -> str:
    try:
        return did_you_mean(path.name, [entry.name for entry in path.parent.iterdir()])
    except OSError:
        return ""


def _unknown(text: str, saw: str, hint: str = "") -> Unsound:
    return Unsound([SourceProblem(shorten(text, 200) or '""', saw, FORMS, hint=hint)])
