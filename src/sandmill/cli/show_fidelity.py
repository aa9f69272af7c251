"""What `sandmill show --fidelity` prints: the traits of tasks beside those of their seeds."""

import json
from collections.abc import Iterator
from statistics import mean
from typing import TYPE_CHECKING, Any

from sandmill.cli.screen import open_console, write_json
from sandmill.errors import InputError, Problem
from sandmill.models.fidelity import TRAIT_BY_NAME, Fidelity, FidelityVector, nearness, of_tier, shown_trait

if TYPE_CHECKING:
    from sandmill.store.release import StoredRelease

_TIERS = ("hard", "soft")
_NONE = "Tasks of older code have no traits, and a card that declares none has none to keep."


def show_fidelity(release: "StoredRelease", task: str | None, limit: int | None, as_json: bool) -> None:
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
    _print_release(found, limit)


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


def _print_release(found: list[dict[str, Any]], limit: int | None) -> None:
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
    if limit and len(found) > limit:
        console.print(f"... and {len(found) - limit} more; see --limit, or --json for all")
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
