"""sandmill show: the tasks of a release, and all facts of one task."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sandmill.cli.screen import JsonOption, ReleaseArgument, open_console, refuse_options, write_json
from sandmill.errors import InputError, IntegrityError, Problem, count, shorten, visible

if TYPE_CHECKING:
    from sandmill.cli.screen import PlainConsole
    from sandmill.models.release import TaskRecord
    from sandmill.report.text_tables import TextTable
    from sandmill.store.catalogue import TaskLineage
    from sandmill.store.release import StoredRelease

SHOW_EXAMPLES = (
    "Examples: `sandmill show releases/micro` · `sandmill show releases/micro@2 sm3f9a1c0d5e7b --lineage` · "
    "`sandmill show releases/micro --fidelity`"
)

_COLUMNS = ("task_id", "split", "domain", "structure", "metric", "band", "difficulty", "trivial", "gold", "oracle")

_ROWS = 50
_LONGEST = 200
"""Characters of one cell or line whose text comes from a release."""

FUNNEL_REPORT = "funnel.json"
"""Report with a `Funnel`, if the release has one."""

_SECTIONS = ("task", "seed", "design", "streams", "code", "run")
_LONGEST_FACT = 500


def show(
    release: ReleaseArgument,
    task: Annotated[str | None, typer.Argument(metavar="TASK", help="Id of one task, to see all of it.")] = None,
    lineage: Annotated[
        bool,
        typer.Option(
            "--lineage", help="With TASK: seed card, design, streams, code, run, shard and hashes of its files."
        ),
    ] = False,
    fidelity: Annotated[
        bool,
        typer.Option("--fidelity", help="Which traits of its seed each task has, or with TASK the traits of both."),
    ] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help=f"Rows listed at most; default {_ROWS}. --json lists all.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a release holds, one task of it, or the datasets that lie in a folder.

    With TASK the private view is shown; do not paste it where an agent reads. Its words:

    - trivial, oracle: score of the best guess without features, and of the best prediction by the true rule: the best
    possible score, or an upper bound or an estimate of it

    - informed: score of a model that knows the form of every feature and learns the weights

    - reference: the solver that is published as the solution, and its score

    - order held: share of bootstraps in which the thresholds keep their order; steps: distances between thresholds,
    as shares of the gap from trivial to oracle

    - solve rate: share of simulated agents that reach bronze

    - skills: gap that a solver closes with a skill, less the gap without it

    Where items are pictures, sounds or texts, a few of them follow as facts.
    """
    from sandmill.store.release import load

    refuse_options(
        "sandmill show",
        "Nothing was shown.",
        (lineage and task is None, Problem("--lineage", "no TASK", "the id of a task beside it")),
        (limit and task is not None, Problem("--limit", "a TASK", "only one of them", "It limits lists of tasks.")),
        (limit and as_json, Problem("--limit", "--json", "only one of them", "--json lists all.")),
        (fidelity and lineage, Problem("--fidelity", "--lineage", "only one of them")),
    )
    if fidelity:
        from sandmill.cli.show_fidelity import show_fidelity

        opened = load(release)
        opened.check_ids([task] if task else [])
        show_fidelity(opened, task, None if as_json else limit or _ROWS, as_json)
        return
    if task is None and _show_datasets(release, limit or _ROWS, as_json):
        return
    opened = load(release)
    if task is None:
        facts = _describe_release(opened, None if as_json else limit or _ROWS)
        write_json(facts) if as_json else _print_release(facts, len(opened.facts))
        return
    opened.check_ids([task])
    if not opened.has_private:
        if lineage:
            problem = Problem("--lineage", "no private half that is readable here", "private/ of the release")
            raise InputError(opened.ref, [problem], "")
        prompt = opened.prompt(task)
        write_json({"task_id": task, "prompt": prompt}) if as_json else open_console().print(prompt, soft_wrap=True)
        return
    if lineage:
        from sandmill.store.catalogue import read_lineage

        found = read_lineage(opened, task)
        write_json(found.model_dump(mode="json")) if as_json else print_lineage(found)
        return
    record = opened.record(task)
    if as_json:
        write_json(record.model_dump(mode="json"))
        return
    _print_task(record)
    _print_items(opened, record)


def _show_datasets(place: str, limit: int, as_json: bool) -> bool:
    """List the datasets in a folder. Return False, and write nothing, if the place is a dataset or holds none."""
    from dataclasses import asdict

    from sandmill.report.text_tables import TextTable
    from sandmill.store.files import Store
    from sandmill.store.versions import list_datasets, list_versions

    if "@" in place.rpartition("/")[2] or list_versions(Store(place)) or not (found := list_datasets(place)):
        return False
    if as_json:
        write_json({"root": place, "datasets": [asdict(dataset) for dataset in found]})
        return True
    console = open_console()
    console.print(f"{place}: {count(len(found), 'dataset')}", style="bold")
    rows = tuple(
        (one.name, str(one.versions), one.latest, "-" if one.tasks is None else str(one.tasks), _short(one.created))
        for one in found[:limit]
    )
    table = TextTable("", ("dataset", "versions", "latest", "tasks", "created"), rows)
    _print_table(console, table, len(found) - limit)
    console.print(f"\nSee one with: sandmill show {place.rstrip('/')}/{found[0].name}")
    return True


def _print_table(console: "PlainConsole", table: "TextTable", left: int) -> None:
    console.print_table(table)
    if left > 0:
        console.print(f"... and {left} more; see --limit, or --json for all")


def _describe_release(release: "StoredRelease", limit: int | None) -> dict[str, Any]:
    """Return the facts of a release as `--json` writes them, with at most `limit` of its tasks."""
    manifest, facts = release.manifest, release.facts
    counted = {name: Counter(facts[name].to_list() if name in facts.columns else ()) for name in ("band", "wanted")}
    return {
        "release": release.ref,
        "dataset": manifest.dataset,
        "version": manifest.version,
        "created": manifest.created,
        "content": manifest.content,
        "code_version": manifest.code_version,
        "seeds": list(manifest.seeds),
        "private": release.has_private,
        "bands": dict(counted["band"]),
        "wanted": dict(counted["wanted"]),
        "funnel": _read_funnel(release),
        "tasks": facts.head(len(facts) if limit is None else limit).to_dicts(),
    }


def _read_funnel(release: "StoredRelease") -> dict[str, int] | None:
    """Read the funnel as counts by stage; a release may have fewer stages than this version knows."""
    from pydantic import Field, TypeAdapter, ValidationError

    from sandmill.models.reports import Funnel
    from sandmill.store.limits import MAX_FUNNEL_BYTES

    content = release.report(FUNNEL_REPORT, limit=MAX_FUNNEL_BYTES)
    if not content:
        return None
    broken = IntegrityError(f"{release.ref}: reports/{FUNNEL_REPORT} does not hold counts by stage")
    try:
        funnel = TypeAdapter(dict[str, Annotated[int, Field(ge=0, lt=1 << 53)]]).validate_json(content)
    except ValidationError:
        raise broken from None
    if funnel.keys() - Funnel.model_fields.keys():
        raise broken
    return funnel


def _print_release(facts: dict[str, Any], total: int) -> None:
    from sandmill.models.base import Band
    from sandmill.report.text_tables import TextTable

    console, rows = open_console(), facts["tasks"]
    console.print(f"{facts['dataset']} {facts['version']}, published {visible(facts['created'])}", style="bold")
    made_of = f"{count(total, 'task')} from {count(len(facts['seeds']), 'seed')}"
    console.print(f"{made_of}, made by sandmill {visible(facts['code_version'])}\n")
    columns = [name for name in _COLUMNS if rows and name in rows[0]]
    numeric = frozenset(place for place, name in enumerate(columns) if isinstance(rows[0][name], float))
    cells = tuple(tuple(_short(row[name]) for name in columns) for row in rows)
    _print_table(console, TextTable("", tuple(columns), cells, numeric), total - len(rows))
    console.print()
    if facts["private"]:
        for band in Band:
            reached, wanted = facts["bands"].get(band, 0), facts["wanted"].get(band, 0)
            if reached or wanted:
                console.print(f"{band:<7} {reached:>5} ({reached / total:4.0%}), asked for {wanted}")
    else:
        console.print("The private half is not readable here; only public facts are shown.")
    if facts["funnel"]:
        steps = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in facts["funnel"].items())
        console.print(f"Funnel: {steps}")


def _print_task(record: "TaskRecord") -> None:
    from sandmill.report.digest import best_score_in_words
    from sandmill.report.text_tables import TextTable

    console, spec, measured = open_console(), record.spec, record.calibration
    console.print(f"{record.task_id} {_short(spec.story.title)}", style="bold")
    console.print("\n".join(f"  {visible(line)}" for line in spec.story.overview.split("\n")) + "\n")
    sizes = spec.sizes
    unscored = f", {spec.unscored_items} not scored" if spec.unscored_items else ""
    direction = "lower" if measured.is_lower_better else "higher"
    difficulty, thresholds, rate = measured.difficulty, measured.thresholds, measured.solve_rate
    truths, medals = record.verification.truths, measured.medal_hardness
    hardness = f"; hardness {medals.band} {medals.value:.3f} ({medals.low:.3f} to {medals.high:.3f})" if medals else ""
    broken = [name for name, holds in truths.items() if not holds]
    facts = {
        "domain": spec.domain,
        "structure": spec.structure_label,
        "metric": f"{spec.metric}, {direction} is better",
        "rows": f"{sizes.train} train, {sizes.feedback} feedback, {sizes.final} final{unscored}",
        "rule": ", ".join(spec.mechanism.motif_names),
        "difficulty": f"{difficulty.band} {difficulty.value:.3f} ({difficulty.low:.3f} to {difficulty.high:.3f}), "
        f"asked for {record.wanted}",
        "thresholds": ", ".join(f"{name} {_short(value)}" for name, value in thresholds.model_dump().items()),
        "trivial": _short(measured.trivial),
        "oracle": f"{_short(measured.oracle)} ({best_score_in_words(measured)})",
        "informed": _short(measured.informed),
        "reference": f"{measured.reference}, scored {_short(record.verification.reference_score)}",
        "order held": f"{measured.steadiness.order_held:.1%} of bootstraps; steps "
        f"{', '.join(f'{step:.3f}' for step in measured.steps)} of the gap",
        "medals": f"by {measured.rule}{hardness}",
        "reading": spec.reading_level
        + ("" if measured.reading_gain is None else f", gain {measured.reading_gain:.3f}"),
        "solve rate": f"{rate.value:.2f} ({rate.low:.2f} to {rate.high:.2f})" if rate else "not measured",
        "verified": f"NOT: {', '.join(broken)}" if broken else f"{len(truths)} of {len(truths)} truths hold",
    }
    for name, value in facts.items():
        console.print(f"{visible(name):<12} {visible(value)}")
    board = tuple((_short(one.solver), one.tier, _short(one.final), _short(one.feedback)) for one in measured.board)
    console.print()
    console.print_table(TextTable("", ("solver", "tier", "final", "feedback"), board, frozenset({2, 3})))


def _print_items(release: "StoredRelease", record: "TaskRecord") -> None:
    """Print samples of items that are no rows of a plain table."""
    if record.spec.channel is None:
        return
    from sandmill.report.item_samples import item_samples

    console = open_console()
    console.print()
    for line in item_samples(release.package(record.task_id)):
        console.print(visible(line))


def _short(value: Any) -> str:
    return f"{value:.5f}" if isinstance(value, float) else shorten(str(value), _LONGEST)


def print_lineage(found: "TaskLineage") -> None:
    """Print each section with its facts, then the files of the release and of the task with their hashes."""
    console = open_console()
    for section in _SECTIONS:
        console.print(f"\n{section}", style="bold")
        for name, value in _flat(getattr(found, section)):
            console.print(f"  {name:<18} {shorten(str(value), _LONGEST_FACT)}")
    console.print("\nshard", style="bold")
    for part in found.shard:
        console.print(f"  {part.sha256}  {part.path}")
    console.print("\nfiles", style="bold")
    for path, sha256 in found.files.items():
        console.print(f"  {sha256}  {path}")


def _flat(facts: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield nested facts with dotted names, without those that are not set."""
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        elif value not in (None, "", [], ()):
            yield f"{prefix}{name}", ", ".join(map(str, value)) if isinstance(value, list) else value
