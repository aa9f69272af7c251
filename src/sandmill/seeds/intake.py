"""Read all sources, collect all problems, and set aside the seeds that cannot be built yet."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from sandmill.errors import name_some, shorten
from sandmill.models.base import OnProgress
from sandmill.models.seed import SeedIntake, SeedNote, SeedTask, SkippedSource, UnsupportedSeed
from sandmill.seeds.cards import SeedReading, bundled_cards, read_card
from sandmill.seeds.explain import did_you_mean
from sandmill.seeds.folder import read_folder, read_single_table
from sandmill.seeds.graders import missing_support
from sandmill.seeds.mlebench import COMPETITION_FILES, read_competition
from sandmill.seeds.source_files import SourceProblem, Unsound, seed_error
from sandmill.seeds.table_files import TABLE_SUFFIXES

FORMS = (
    "a card (*.yaml), a folder with one CSV or Parquet table and seed.yaml, a table and its target (table.csv:TARGET), "
    "an MLE-bench competition folder (config.yaml, description.md, leaderboard.csv), or a folder of these"
)
_CARD_SUFFIXES = frozenset({".yaml", ".yml"})
_LISTED = 6
_LINK = "a link; links in a folder are not followed, but can be given themselves"

_MOST_PROBLEMS = 3
"""Problems that are listed for one unreadable competition."""


@dataclass(frozen=True)
class Source:
    """The path of one seed, and the function that reads it."""

    path: Path
    file: str
    """Its name in messages, as the user wrote it."""
    read: Callable[[Path, str], SeedReading]
    is_foreign: bool = False
    """Whether it is a competition. Among other sources, one that cannot be read is set aside and is no error."""
    is_child: bool = False
    """Whether it lies in a folder of seeds. If only its table cannot be read, it is set aside like a competition."""

    def can_be_set_aside(self, unsound: Unsound) -> bool:
        """Whether problems with it do not stop the reading of the others."""
        is_table = all(Path(problem.file).suffix in TABLE_SUFFIXES for problem in unsound.problems)
        return self.is_foreign or (self.is_child and is_table)


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
    target = ""
    if is_name and not path.exists() and Path(text.partition(":")[0]).suffix in TABLE_SUFFIXES:
        name, _, target = text.partition(":")
        path = Path(name)
    if not is_name or not path.exists():
        raise _unknown(text, "nothing at this path", _nearby(path) if is_name else "")
    place = path.resolve()
    if place in first:
        saw = "given twice" if first[place] == text else f"given twice, first as {shorten(first[place], 200)}"
        raise Unsound([SourceProblem(shorten(text, 200), saw, "each path once")])
    first[place] = text
    try:
        return _in_folder(path, name) if path.is_dir() else Found([_single_file(place, name, target)])
    except OSError as error:
        raise _unknown(text, error.strerror or "a path that cannot be read") from None


def _single_file(path: Path, name: str, target: str = "") -> Source:
    if path.suffix in _CARD_SUFFIXES and path.is_file():
        return Source(path, name, read_card)
    is_table = path.suffix in TABLE_SUFFIXES
    if is_table and target and path.is_file():
        return Source(path, name, partial(read_single_table, target=target))
    hint = "Name its target, or put it into a folder beside a seed.yaml and give the folder." if is_table else ""
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
            found.sources.append(replace(seed, is_child=True))
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


def ingest(sources: tuple[str, ...]) -> SeedIntake:
    """Read seeds for a build.

    Args:
        sources: paths of cards, folders with a table and seed.yaml, MLE-bench competition folders, and folders of
            these, and tables as `path:target`; none means the bundled cards.

    Returns:
        Seeds in the order of their sources, supported and unsupported ones.

    Raises:
        SeedError: with all problems of all sources, or if not one seed is supported.
    """
    intake = survey(sources)
    if not intake.supported:
        expected = "at least one seed that can be made today"
        needs = {seed.id: "; ".join(seed.needs) for seed in intake.unsupported}
        raise seed_error([SourceProblem(name, f"a seed that needs {need}", expected) for name, need in needs.items()])
    return intake


def survey(sources: tuple[str, ...], on_progress: OnProgress = lambda _done, _total: None) -> SeedIntake:
    """Read seeds as `ingest` does, but do not raise if no seed is supported.

    Raises:
        SeedError: with all problems of all sources.
    """
    found = find_sources(sources)
    problems, read = list(found.problems), list[SeedReading]()
    first: dict[str, str] = {}
    for number, source in enumerate(found.sources):
        on_progress(number, len(found.sources))
        try:
            reading = source.read(source.path, source.file)
            needs = missing_support(reading.seed.structure) if isinstance(reading.seed, SeedTask) else ()
            if needs:
                reading = SeedReading(UnsupportedSeed(id=reading.seed.id, needs=needs), reading.notes)
        except Unsound as unsound:
            if len(found.sources) == 1 or not source.can_be_set_aside(unsound):
                problems += unsound.problems
                continue
            reading = SeedReading(_unreadable(source, unsound))
        read.append(reading)
        if (other := first.setdefault(reading.seed.id, source.file)) != source.file:
            saw = f'"{reading.seed.id}", which {other} has too'
            problems.append(SourceProblem(source.file, saw, "each id once", field="id"))
    if problems:
        raise seed_error(problems)
    return SeedIntake(
        supported=tuple(one.seed for one in read if isinstance(one.seed, SeedTask)),
        unsupported=tuple(one.seed for one in read if isinstance(one.seed, UnsupportedSeed)),
        notes=tuple(SeedNote(seed_id=one.seed.id, text=text) for one in read for text in one.notes),
        skipped=tuple(found.skipped),
        guards={one.seed.guard: one.guard for one in read if isinstance(one.seed, SeedTask) and one.seed.guard},
    )


def _unreadable(source: Source, unsound: Unsound) -> UnsupportedSeed:
    """Set an unreadable source aside, under the name of its folder."""
    return UnsupportedSeed(
        id=shorten(source.path.name),
        needs=tuple(_fixed(problem, source) for problem in unsound.problems[:_MOST_PROBLEMS]),
        hint=next((problem.hint for problem in unsound.problems if problem.hint), ""),
    )


def _fixed(problem: SourceProblem, source: Source) -> str:
    place = problem.place(with_file=False)
    where = f"{place}: " if problem.line or problem.field else ""
    name = problem.file.removeprefix(f"{source.file}/")
    return f"{name} fixed ({where}saw {problem.saw}, expected {problem.expected})"
