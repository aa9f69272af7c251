"""The last screen of a build: what was made, what was lost on the way, what to type next."""

import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from sandmill.cli.app import INTERRUPTED, INTERRUPTED_CODE
from sandmill.cli.screen import open_console
from sandmill.errors import count
from sandmill.models.reports import Funnel, Rejection, SlotReport
from sandmill.models.seed import SeedNote, SkippedSource, UnsupportedSeed
from sandmill.report import ending_table, funnel_table, to_rich
from sandmill.store.release import Release, load

_MOST_TASKS = 40
_MOST_SEEDS = 10
_MOST_NEEDS = 10
_MOST_NOTES = 5


def show_ending(reference: str, message: str) -> None:
    """Print a release's tasks and funnel, what the build ended in, and the next commands.

    Args:
        reference: <root>/<dataset>@<version>, as the build gives it.
        message: what the build ended in: whether the version is new, and whether its mix was missed.
    """
    console, release = open_console(), load(reference)
    shown = release.tasks["task_id"].to_list()[:_MOST_TASKS]
    console.print(to_rich(ending_table((release.record(task_id) for task_id in shown), release.slot_reports())))
    if len(release.tasks) > _MOST_TASKS:
        console.print(f"and {count(len(release.tasks) - _MOST_TASKS, 'more task')}")
    console.print(to_rich(funnel_table(Funnel.model_validate_json(release.report("funnel.json") or b"{}"))))
    for line in (
        *_empty_slots(release),
        *_seeds(release),
        "",
        *message.splitlines(),
        "Next:",
        *_commands(reference, shown[0]),
    ):
        # A terminal wraps a long line by itself, and it can still be copied as one.
        console.print(line, soft_wrap=True)


def end_at_once(*_signal: object) -> None:
    """Answer Ctrl-C without waiting for shards: Ctrl-C also ends Prefect's temporary server, and shards wait for it.

    Ending hard is safe, since finished shards and published versions outlive a kill at any moment.
    """
    print(f"\n{INTERRUPTED}", file=sys.stderr, flush=True)
    os._exit(INTERRUPTED_CODE)


def sum_up_set_aside(seeds: Sequence[UnsupportedSeed]) -> list[str]:
    """Tell in two lines, however many seeds wait, who they are and what they wait for; no line if none wait."""
    if not seeds:
        return []
    counts = Counter(need for seed in seeds for need in seed.needs)
    needs = [f"{need} ({count})" for need, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    ids = [seed.id for seed in seeds]
    return [
        f"Seeds set aside: {len(ids)}, each with its needs in reports/seeds.json: {_first(ids, _MOST_SEEDS)}.",
        f"They need {_first(needs, _MOST_NEEDS)}.",
    ]


def sum_up_notes(notes: Sequence[SeedNote]) -> list[str]:
    """Show the warnings about seeds, the first few in full; no line if there are none."""
    more = len(notes) - _MOST_NOTES
    lines = [f"Warning, seed {note.seed_id}: {note.text}." for note in notes[:_MOST_NOTES]]
    return [*lines, f"and {count(more, 'more warning')} in reports/seeds.json"] if more > 0 else lines


def sum_up_skipped(skipped: Sequence[SkippedSource]) -> list[str]:
    """Name in one line what lay in folders of seeds and is no seed; no line if there is none."""
    if not skipped:
        return []
    return [f"Skipped, no seeds: {len(skipped)}: {_first([one.source for one in skipped], _MOST_SEEDS)}."]


def sum_up_empty(slots: Iterable[SlotReport], rejections: Iterable[Rejection]) -> list[str]:
    """Tell how many slots stayed empty and what each failed with at last; no line if all are filled."""
    filled = {slot.slot for slot in slots if slot.reached}
    last = {one.slot: one for one in sorted(rejections, key=lambda one: (one.round, one.attempt))}
    reasons = Counter(f"{one.stage} {one.reason}" for slot, one in last.items() if slot not in filled)
    if not reasons:
        return []
    told = [f"{reason} ({count})" for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))]
    lines = [f"Slots that stayed empty: {reasons.total()}; they failed at last with {_first(told, _MOST_NEEDS)}."]
    if any(reason.endswith(" max_usd") for reason in reasons):
        lines.append("The money of --max-usd is spent. With more of it, what was answered is not paid for again.")
    return lines


def _first(words: Sequence[str], shown: int) -> str:
    more = f" and {len(words) - shown} more" if len(words) > shown else ""
    return ", ".join(words[:shown]) + more


def _empty_slots(release: Release) -> list[str]:
    return sum_up_empty(release.slot_reports(), release.rejections())


def _seeds(release: Release) -> list[str]:
    seeds = json.loads(release.report("seeds.json") or b"{}")
    notes = [SeedNote.model_validate(note) for note in seeds.get("notes", [])]
    skipped = [SkippedSource.model_validate(source) for source in seeds.get("skipped", [])]
    set_aside = [UnsupportedSeed.model_validate(seed) for seed in seeds.get("set_aside", [])]
    return [*sum_up_set_aside(set_aside), *sum_up_notes(notes), *sum_up_skipped(skipped)]


def _commands(reference: str, task_id: str) -> list[str]:
    sandmill = _programme()
    return [
        f"  {sandmill} show {reference} {task_id}",
        f"  {sandmill} pull {reference} --to pulled",
        f"  {sandmill} grade pulled/{task_id} pulled/{task_id}/public/sample_submission.csv",
        f"  {sandmill} verify {reference} --rerun",
    ]


def _programme() -> str:
    """What to type for `sandmill`: its path in the environment that runs, unless the shell finds it by name."""
    if shutil.which("sandmill"):
        return "sandmill"
    return os.path.relpath(Path(sys.executable).parent / "sandmill")
