"""The stage itself: every source read, every problem gathered, what cannot be made yet set aside with its needs."""

from collections.abc import Sequence

from sandmill.errors import count, shorten
from sandmill.models.seed import SeedIntake, SeedNote, SeedTask, UnsupportedSeed
from sandmill.seeds.reading import Reading
from sandmill.seeds.source_problems import SourceProblem, Unsound, seed_error
from sandmill.seeds.sources import Source, find_sources
from sandmill.seeds.support import missing_support

_MOST_PROBLEMS = 3
"""Problems of one unreadable competition that are listed."""


def ingest(sources: tuple[str, ...]) -> SeedIntake:
    """Read seeds so that a build starts from checked facts or does not start at all.

    Args:
        sources: paths of cards, folders with a table and seed.yaml, MLE-bench competition folders, and folders of
            these; none means the bundled cards.

    Returns:
        Seeds in the order of their sources, supported ones apart from those that are set aside.

    Raises:
        SeedError: with all problems of all sources, or if not one seed is supported.
    """
    read, intake = _take_in(sources)
    if not intake.supported:
        raise seed_error([_nothing_supported(source, reading.seed) for source, reading in read])
    return intake


def survey(sources: tuple[str, ...]) -> SeedIntake:
    """Read seeds as `ingest` does, for a person to look at: it is no error if not one seed is supported.

    Raises:
        SeedError: with all problems of all sources.
    """
    return _take_in(sources)[1]


def _take_in(sources: tuple[str, ...]) -> tuple[list[tuple[Source, Reading]], SeedIntake]:
    found = find_sources(sources)
    findings = list(found.findings)
    read: list[tuple[Source, Reading]] = []
    is_alone = len(found.sources) == 1
    for source in found.sources:
        try:
            read.append((source, _set_aside(source.read(source.path, source.file))))
        except Unsound as unsound:
            if is_alone or not source.is_foreign:
                findings += unsound.findings
            else:
                read.append((source, Reading(_unreadable(source, unsound))))
    findings += _repeated_ids(read)
    if findings:
        raise seed_error(findings)
    read = _give_way(read)
    seeds = [reading.seed for _, reading in read]
    notes = [SeedNote(seed_id=reading.seed.id, text=text) for _, reading in read for text in reading.notes]
    return read, SeedIntake(
        supported=tuple(seed for seed in seeds if isinstance(seed, SeedTask)),
        unsupported=tuple(seed for seed in seeds if isinstance(seed, UnsupportedSeed)),
        notes=tuple(notes),
        skipped=tuple(found.skipped),
    )


def _set_aside(reading: Reading) -> Reading:
    """Turn a sound seed whose structure cannot be made into one that is set aside."""
    if isinstance(reading.seed, UnsupportedSeed):
        return reading
    needs = missing_support(reading.seed.structure)
    return Reading(UnsupportedSeed(id=reading.seed.id, needs=needs), reading.notes) if needs else reading


def _unreadable(source: Source, unsound: Unsound) -> UnsupportedSeed:
    """Set a competition aside that cannot be read, under the name of its folder."""
    shown = unsound.findings[:_MOST_PROBLEMS]
    more = len(unsound.findings) - len(shown)
    needs = [_fixed(finding, source) for finding in shown]
    return UnsupportedSeed(
        id=shorten(source.path.name),
        needs=(*needs, *([f"{count(more, 'more problem')} fixed"] if more else [])),
        hint=next((finding.hint for finding in shown if finding.hint), ""),
    )


def _fixed(finding: SourceProblem, source: Source) -> str:
    place = finding.place(with_file=False)
    where = f"{place}: " if finding.line or finding.field else ""
    name = finding.file.removeprefix(f"{source.file}/")
    return f"{name} fixed ({where}saw {finding.saw}, expected {finding.expected})"


def _repeated_ids(read: Sequence[tuple[Source, Reading]]) -> list[SourceProblem]:
    """Find ids that two seeds have whose files somebody wrote for this build."""
    first: dict[str, str] = {}
    findings = []
    for source, reading in read:
        if source.is_foreign:
            continue
        if reading.seed.id in first:
            saw = f'"{reading.seed.id}", which {first[reading.seed.id]} has too'
            findings.append(SourceProblem(source.file, saw, "each id once", field="id"))
        first.setdefault(reading.seed.id, source.file)
    return findings


def _give_way(read: Sequence[tuple[Source, Reading]]) -> list[tuple[Source, Reading]]:
    """Set a competition aside whose id another seed has: a card or a table, or an earlier competition."""
    taken = {reading.seed.id: source for source, reading in read if not source.is_foreign}
    kept = []
    for source, reading in read:
        other = taken.setdefault(reading.seed.id, source)
        if other is not source and isinstance(reading.seed, SeedTask):
            need = f"an id that no other seed has ({other.file} has it)"
            reading = Reading(UnsupportedSeed(id=reading.seed.id, needs=(need,)))
        kept.append((source, reading))
    return kept


def _nothing_supported(source: Source, seed: SeedTask | UnsupportedSeed) -> SourceProblem:
    needs = "; ".join(seed.needs) if isinstance(seed, UnsupportedSeed) else ""
    return SourceProblem(source.file, f"a seed that needs {needs}", "at least one seed that can be made today")
