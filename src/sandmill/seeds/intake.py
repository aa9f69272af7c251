"""Read all sources, collect all problems, and set aside the seeds that cannot be built yet."""

from collections.abc import Sequence

from sandmill.errors import count, shorten
from sandmill.models.seed import SeedIntake, SeedNote, SeedTask, UnsupportedSeed
from sandmill.seeds.cards import SeedReading
from sandmill.seeds.source_problems import SourceProblem, Unsound, seed_error
from sandmill.seeds.sources import Source, find_sources
from sandmill.seeds.support import missing_support

_MOST_PROBLEMS = 3
"""Problems that are listed for one unreadable competition."""


def ingest(sources: tuple[str, ...]) -> SeedIntake:
    """Read seeds for a build.

    Args:
        sources: paths of cards, folders with a table and seed.yaml, MLE-bench competition folders, and folders of
            these; none means the bundled cards.

    Returns:
        Seeds in the order of their sources, supported and unsupported ones.

    Raises:
        SeedError: with all problems of all sources, or if not one seed is supported.
    """
    read, intake = _take_in(sources)
    if not intake.supported:
        raise seed_error([_nothing_supported(source, reading.seed) for source, reading in read])
    return intake


def survey(sources: tuple[str, ...]) -> SeedIntake:
    """Read seeds as `ingest` does, but do not raise if no seed is supported.

    Raises:
        SeedError: with all problems of all sources.
    """
    return _take_in(sources)[1]


def _take_in(sources: tuple[str, ...]) -> tuple[list[tuple[Source, SeedReading]], SeedIntake]:
    found = find_sources(sources)
    problems = list(found.problems)
    read: list[tuple[Source, SeedReading]] = []
    is_alone = len(found.sources) == 1
    for source in found.sources:
        try:
            read.append((source, _set_aside(source.read(source.path, source.file))))
        except Unsound as unsound:
            if is_alone or not source.is_foreign:
                problems += unsound.problems
            else:
                read.append((source, SeedReading(_unreadable(source, unsound))))
    problems += _repeated_ids(read)
    if problems:
        raise seed_error(problems)
    read = _give_way(read)
    readings = [reading for _, reading in read]
    return read, SeedIntake(
        supported=tuple(one.seed for one in readings if isinstance(one.seed, SeedTask)),
        unsupported=tuple(one.seed for one in readings if isinstance(one.seed, UnsupportedSeed)),
        notes=tuple(SeedNote(seed_id=one.seed.id, text=text) for one in readings for text in one.notes),
        skipped=tuple(found.skipped),
    )


def _set_aside(reading: SeedReading) -> SeedReading:
    """Set a seed aside if its structure cannot be built yet."""
    needs = missing_support(reading.seed.structure) if isinstance(reading.seed, SeedTask) else ()
    return SeedReading(UnsupportedSeed(id=reading.seed.id, needs=needs), reading.notes) if needs else reading


def _unreadable(source: Source, unsound: Unsound) -> UnsupportedSeed:
    """Set an unreadable competition aside, under the name of its folder."""
    shown = unsound.problems[:_MOST_PROBLEMS]
    more = len(unsound.problems) - len(shown)
    needs = [_fixed(problem, source) for problem in shown]
    return UnsupportedSeed(
        id=shorten(source.path.name),
        needs=(*needs, *([f"{count(more, 'more problem')} fixed"] if more else [])),
        hint=next((problem.hint for problem in shown if problem.hint), ""),
    )


def _fixed(problem: SourceProblem, source: Source) -> str:
    place = problem.place(with_file=False)
    where = f"{place}: " if problem.line or problem.field else ""
    name = problem.file.removeprefix(f"{source.file}/")
    return f"{name} fixed ({where}saw {problem.saw}, expected {problem.expected})"


def _repeated_ids(read: Sequence[tuple[Source, SeedReading]]) -> list[SourceProblem]:
    """Find ids that two seeds share. Competitions are left out: they are set aside instead."""
    first: dict[str, str] = {}
    problems = []
    for source, reading in read:
        if source.is_foreign:
            continue
        if reading.seed.id in first:
            saw = f'"{reading.seed.id}", which {first[reading.seed.id]} has too'
            problems.append(SourceProblem(source.file, saw, "each id once", field="id"))
        first.setdefault(reading.seed.id, source.file)
    return problems


def _give_way(read: Sequence[tuple[Source, SeedReading]]) -> list[tuple[Source, SeedReading]]:
    """Set a competition aside if a card, a table or an earlier competition has its id."""
    taken = {reading.seed.id: source for source, reading in read if not source.is_foreign}
    kept = []
    for source, reading in read:
        other = taken.setdefault(reading.seed.id, source)
        if other is not source and isinstance(reading.seed, SeedTask):
            need = f"an id that no other seed has ({other.file} has it)"
            reading = SeedReading(UnsupportedSeed(id=reading.seed.id, needs=(need,)))
        kept.append((source, reading))
    return kept


def _nothing_supported(source: Source, seed: SeedTask | UnsupportedSeed) -> SourceProblem:
    needs = "; ".join(seed.needs) if isinstance(seed, UnsupportedSeed) else ""
    return SourceProblem(source.file, f"a seed that needs {needs}", "at least one seed that can be made today")
