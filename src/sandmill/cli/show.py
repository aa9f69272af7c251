"""sandmill show: the tasks of a release, and all facts of one task."""

import json
from collections import Counter
from collections.abc import Iterator
from statistics import mean
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sandmill.cli.screen import JsonOption, PlainConsole, ReleaseArgument, open_console, switch, write_json
from sandmill.errors import InputError, Problem, count, shorten, visible
from sandmill.models.fidelity import TRAIT_BY_NAME, Fidelity, FidelityVector, nearness, of_tier, shown_trait

if TYPE_CHECKING:
    from sandmill.models.release import TaskRecord
    from sandmill.store.release import StoredRelease

_COLUMNS = ("task_id", "split", "domain", "structure", "metric", "band", "difficulty", "trivial", "gold", "oracle")

_ROWS = 50
_LONGEST = 200
"""Characters of one cell or line whose text comes from a release."""


def show(
    release: ReleaseArgument,
    task: Annotated[str | None, typer.Argument(metavar="TASK", help="Id of one task, to see all of it.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help=f"Rows listed at most; default {_ROWS}. --json lists all.")
    ] = None,
    fidelity: Annotated[
        bool, switch("--fidelity", "Which traits of its seed each task has, or with TASK the traits of both.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show what a release holds, or one task of it.

    With TASK the private view is shown; do not paste it where an agent reads. Its words:

    - trivial, oracle: score of the best guess without features, and of the best prediction by the true rule: the best
    possible score, or an upper bound or an estimate of it

    - informed: score of a model that knows the form of every feature and learns the weights

    - reference: the solver that is published as the solution, and its score

    - order held: share of bootstraps in which the thresholds keep their order; steps: distances between thresholds,
    as shares of the gap from trivial to oracle
    """
    from sandmill.store.release import load

    opened = load(release)
    if fidelity:
        opened.check_ids([task] if task else [])
        _show_fidelity(opened, task, None if as_json else limit or _ROWS, as_json)
        return
    if task is None:
        facts = _describe_release(opened, None if as_json else limit or _ROWS)
        write_json(facts) if as_json else _print_release(facts, len(opened.facts))
        return
    opened.check_ids([task])
    if not opened.has_private:
        prompt = opened.prompt(task)
        write_json({"task_id": task, "prompt": prompt}) if as_json else open_console().print(prompt)
        return
    record = opened.record(task)
    if as_json:
        write_json(record.model_dump(mode="json"))
        return
    _print_task(record)


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
        "tasks": facts.head(len(facts) if limit is None else limit).to_dicts(),
    }


def _print_release(facts: dict[str, Any], total: int) -> None:
    from sandmill.models.base import Band

    console, rows = open_console(), facts["tasks"]
    console.print(f"{facts['dataset']} {facts['version']}, published {visible(facts['created'])}", style="bold")
    made_of = f"{count(total, 'task')} from {count(len(facts['seeds']), 'seed')}"
    console.print(f"{made_of}, made by sandmill {visible(facts['code_version'])}\n")
    columns = [name for name in _COLUMNS if rows and name in rows[0]]
    numeric = (place for place, name in enumerate(columns) if isinstance(rows[0][name], float))
    console.print_rows(columns, (tuple(_short(row[name]) for name in columns) for row in rows), numeric)
    _print_left_out(console, total - len(rows))
    console.print()
    if facts["private"]:
        for band in Band:
            reached, wanted = facts["bands"].get(band, 0), facts["wanted"].get(band, 0)
            if reached or wanted:
                console.print(f"{band:<7} {reached:>5} ({reached / total:4.0%}), asked for {wanted}")
    else:
        console.print("The private half is not readable here; only public facts are shown.")


def _print_left_out(console: PlainConsole, number: int) -> None:
    if number:
        console.print(f"... and {number} more; see --limit, or --json for all")


def _print_task(record: "TaskRecord") -> None:
    from sandmill.report.digest import best_score_in_words, board_rows

    console, spec, measured = open_console(), record.spec, record.calibration
    console.print(f"{record.task_id} {_short(spec.story.title)}", style="bold")
    console.print("\n".join(f"  {visible(line)}" for line in spec.story.overview.split("\n")) + "\n")
    sizes = spec.sizes
    unscored = f", {spec.unscored_items} not scored" if spec.unscored_items else ""
    direction = "lower" if measured.is_lower_better else "higher"
    difficulty, thresholds = measured.difficulty, measured.thresholds
    truths = record.verification.truths
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
        "made": f"from seed {record.lineage.seed_id} by code {record.lineage.code_version}, "
        f"slot {record.lineage.slot}, attempt {record.lineage.attempt}",
        "reference": f"{measured.reference}, scored {_short(record.verification.reference_score)}",
        "order held": f"{measured.steadiness.order_held:.1%} of bootstraps; steps "
        f"{', '.join(f'{step:.3f}' for step in measured.steps)} of the gap",
        "medals": f"by {measured.rule}",
        "reading": spec.reading_level
        + ("" if measured.reading_gain is None else f", gain {measured.reading_gain:.3f}"),
        "verified": f"NOT: {', '.join(broken)}" if broken else f"{len(truths)} of {len(truths)} truths hold",
    }
    for name, value in facts.items():
        console.print(f"{visible(name):<12} {visible(value)}")
    board = (
        (_short(name), what.partition(":")[0], _short(final), _short(feedback), f"{gap:.0%}")
        for name, what, final, feedback, gap in board_rows(measured)
    )
    console.print()
    console.print_rows(("entry", "what it is", "final", "feedback", "gap"), board, (2, 3, 4))


def _short(value: Any) -> str:
    return f"{value:.5f}" if isinstance(value, float) else shorten(str(value), _LONGEST)


_TIERS = ("hard", "soft")
_NONE = "Tasks of older code have no traits, and a card that declares none has none to keep."


def _show_fidelity(release: "StoredRelease", task: str | None, limit: int | None, as_json: bool) -> None:
    """Print the traits of one task, or how many traits of its seed each task has, and means by seed.

    Raises:
        InputError: if the private half is not readable.
    """
    if not release.has_private:
        problem = Problem("--fidelity", "no private half that is readable here", "private/ of the release")
        raise InputError(release.ref, [problem], "")
    if task is not None:
        fidelity = release.record(task).lineage.fidelity
        _write_task(task, fidelity, as_json)
        return
    found = list(_read(release))
    if as_json:
        write_json({"release": release.ref, "tasks": found})
        return
    _print_kept(found, limit)


def _read(release: "StoredRelease") -> Iterator[dict[str, Any]]:
    """Yield what each task keeps of its seed, in the order of the files."""
    from sandmill.store.arrow_tables import read_record

    report = release.readable_report("seeds.json")
    seeds = json.loads(report)["used"] if report else []
    topics = {seed["id"]: f"{seed['title']} {seed['summary']}" for seed in seeds}
    for row in release.read_columns("private/tasks", ["task_id", "digest", "record"]):
        record = read_record(row)
        agreement = record.lineage.fidelity.agreement if record.lineage.fidelity else {}
        seed, spec = record.lineage.seed_id, record.spec
        story = spec.story.model_dump_json()
        near = round(nearness(topics[seed], story), 2) if seed in topics else None
        yield {"task_id": record.task_id, "seed": seed, "kept": agreement, "domain": spec.domain, "nearness": near}


def _print_kept(found: list[dict[str, Any]], limit: int | None) -> None:
    console = open_console()
    rows = []
    for one in found[:limit]:
        kept, near = one["kept"], one["nearness"]
        domain = one["domain"] if near is None else f"{one['domain']} ({near:.0%})"
        shares = (f"{sum(some)} of {len(some)}" for some in (of_tier(kept, tier) for tier in _TIERS))
        lost = ", ".join(name for name, holds in kept.items() if not holds) or "-"
        rows.append((one["task_id"], one["seed"], domain, *shares, lost))
    header = ("task_id", "seed", "domain (words of the seed's topic)", "hard", "soft", "not as in the seed")
    console.print_rows(header, rows)
    _print_left_out(console, len(found) - len(rows))
    by_seed: dict[str, list[dict[str, bool]]] = {}
    for one in found:
        by_seed.setdefault(one["seed"], []).append(one["kept"])
    console.print("\nBy seed", style="bold")
    groups = (*sorted(by_seed.items()), ("all", [one["kept"] for one in found]))
    lines = ((seed, str(len(some)), *(_mean(some, tier) for tier in _TIERS)) for seed, some in groups)
    console.print_rows(("seed", "tasks", *_TIERS), lines)
    if not any(one["kept"] for one in found):
        console.print(f"\n{_NONE}")


def _mean(some: list[dict[str, bool]], tier: str) -> str:
    every = [holds for kept in some for holds in of_tier(kept, tier)]
    return f"{mean(every):.0%}" if every else "-"


def _write_task(task: str, fidelity: Fidelity | None, as_json: bool) -> None:
    fidelity = fidelity or Fidelity(seed=FidelityVector(), task=FidelityVector())
    agreement = fidelity.agreement
    if as_json:
        write_json({"task_id": task, **fidelity.model_dump(mode="json"), "kept": agreement})
        return
    rows = (
        (
            *(trait.words, trait.tier, shown_trait(fidelity.seed, trait.name), shown_trait(fidelity.task, trait.name)),
            *(trait.nearness, {True: "yes", False: "NO", None: "-"}[agreement.get(trait.name)]),
        )
        for trait in TRAIT_BY_NAME.values()
    )
    console = open_console()
    console.print(f"{task}: traits of its seed and its own", style="bold")
    console.print_rows(("trait", "tier", "seed", "task", "tolerance", "kept"), rows)
