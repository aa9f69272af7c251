"""The stage itself: every source read, every problem gathered, what cannot be made yet set aside with its needs."""

from sandmill.models.seed import SeedIntake, SeedTask, UnsupportedSeed
from sandmill.seeds.findings import Finding, gathered, seed_error
from sandmill.seeds.sources import Source, find_sources
from sandmill.seeds.support import missing_support


def ingest(sources: tuple[str, ...]) -> SeedIntake:
    """Read seeds so that a build starts from checked facts or does not start at all.

    Args:
        sources: paths of cards, folders of cards, folders with a table and seed.yaml, MLE-bench competition
            folders; none means the bundled cards.

    Returns:
        Seeds in the order of their sources, supported ones apart from those that have to wait.

    Raises:
        SeedError: with all problems of all sources, or if not one seed is supported.
    """
    single, findings = find_sources(sources)
    read: list[tuple[Source, SeedTask | UnsupportedSeed]] = []
    for source in single:
        with gathered(findings):
            read.append((source, source.read(source.path, source.file)))
    findings += _repeated_ids(read)
    if findings:
        raise seed_error(findings)
    seeds = [seed for _, seed in read if isinstance(seed, SeedTask)]
    needs = {seed.id: missing_support(seed.structure) for seed in seeds}
    waiting = {seed.id: seed.needs for _, seed in read if isinstance(seed, UnsupportedSeed)}
    waiting |= {seed_id: needed for seed_id, needed in needs.items() if needed}
    supported = tuple(seed for seed in seeds if seed.id not in waiting)
    if not supported:
        raise seed_error([_nothing_supported(source, waiting[seed.id]) for source, seed in read])
    in_order = (seed.id for _, seed in read if seed.id in waiting)
    unsupported = tuple(UnsupportedSeed(id=seed_id, needs=waiting[seed_id]) for seed_id in in_order)
    return SeedIntake(supported=supported, unsupported=unsupported)


def _repeated_ids(read: list[tuple[Source, SeedTask | UnsupportedSeed]]) -> list[Finding]:
    first: dict[str, str] = {}
    findings = []
    for source, seed in read:
        if seed.id in first:
            saw = f'"{seed.id}", which {first[seed.id]} has too'
            findings.append(Finding(source.file, saw, "each id once", field="id"))
        first.setdefault(seed.id, source.file)
    return findings


def _nothing_supported(source: Source, needs: tuple[str, ...]) -> Finding:
    return Finding(
        source.file, f"a sound seed that needs {', '.join(needs)}", "at least one seed that can be made today"
    )
