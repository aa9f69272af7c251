"""What each structure of MLE-bench-lite yields: first tries, bands, ceilings, bytes and time, and what one script wins.

Run from the repository root: python -m benchmarks.structures --tries 5
Tries go over all bands in turn and are accepted in any band, so the table shows which bands a structure reaches.
With --adversaries, a blind adversary that is not on the board also tries each task with pictures, sounds or texts.
"""

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import mean

from benchmarks.adversaries.judging import score_of
from benchmarks.adversaries.media import adversary_of
from benchmarks.first_tries import SECRET
from sandmill.models.base import Band
from sandmill.models.calibration import Calibration, Tier
from sandmill.models.plan import Attempt, Slot
from sandmill.models.reports import Medal
from sandmill.models.request import BuildRequest
from sandmill.pipeline.attempt import AttemptJob, Failed, prove, run_attempt
from sandmill.pipeline.band_search import first_hardness
from sandmill.pipeline.plan import plan_build, plan_slots
from sandmill.pipeline.workers import WorkerPool
from sandmill.scoring.gap import gap_closed
from sandmill.scoring.medals import medal_of
from sandmill.seeds import ingest

_BESIDE = frozenset({Tier.TRIVIAL, Tier.READER})


@dataclass(frozen=True)
class Try:
    """One first try of a structure."""

    seed_id: str
    kind: str
    outcome: str
    """`verified`, or stage and reason."""
    seconds: float
    """Wall time of all stages."""
    band: Band | None = None
    calibration: Calibration | None = None
    public_bytes: int = 0
    public_files: int = 0
    golds: frozenset[str] = field(default_factory=frozenset)
    """Blind entries of the board that are gold."""
    reader: float | None = None
    """Final score of the reader that is best on feedback."""
    adversary: float | None = None
    """Final score of the adversary of media."""
    detail: str = ""


def measure(slot: Slot, *, adversaries: bool = False) -> Try:
    """Make one attempt at a slot and prove it. The adversary's seconds do not count."""
    one = Attempt(slot, 0, 1, 0, first_hardness(slot.seed.structure, slot.band), any_band=True)
    attempted = run_attempt(AttemptJob(one, "structures", SECRET))
    made, seconds = attempted.result, sum(attempted.seconds.values())
    kind = slot.seed.structure.kind or str(slot.seed.structure.modality)
    if isinstance(made, Failed):
        error = made.error
        return Try(slot.seed.id, kind, f"{error.stage} {error.reason}", seconds, detail=error.traceback or error.detail)
    proof = prove(made, SECRET)
    seconds += sum(proof.seconds.values())
    if isinstance(proof.result, Failed):
        return Try(slot.seed.id, kind, f"verify {proof.result.error.reason}", seconds, detail=proof.result.error.detail)
    found, public = made.calibration, made.package.public
    golds = {
        entry.solver
        for entry in found.board
        if entry.tier not in _BESIDE and medal_of(entry.final, found.thresholds, found.is_lower_better) is Medal.GOLD
    }
    readers = sorted((one.feedback, one.final) for one in found.board if one.tier is Tier.READER)
    adversary = adversary_of(made.package.spec.kind.name) if adversaries else None
    return Try(
        seed_id=slot.seed.id,
        kind=kind,
        outcome="verified",
        seconds=seconds,
        band=found.difficulty.band,
        calibration=found,
        public_bytes=sum(map(len, public.values())),
        public_files=len(public),
        golds=frozenset(golds),
        reader=readers[0 if found.is_lower_better else -1][1] if readers else None,
        adversary=score_of(adversary, made.package) if adversary else None,
    )


def report(tries: Sequence[Try]) -> None:
    """Print a row for each structure, what failed, and the golds of single scripts."""
    print("| seed | kind | tries | verified | bands | difficulty | ceiling | width | MB | files | s a try |")
    print("|---|---|---:|---:|---|---|---|---:|---:|---:|---:|")
    for seed_id in sorted({one.seed_id for one in tries}):
        of_seed = [one for one in tries if one.seed_id == seed_id]
        print(_row(seed_id, of_seed))
    verified = [one for one in tries if one.outcome == "verified"]
    total = sum(one.seconds for one in tries)
    print(f"\n{len(verified)} of {len(tries)} first tries became verified tasks: {len(verified) / len(tries):.0%}.")
    print(f"{120 * len(verified) / total:.1f} verified tasks a minute on two cores.")
    failed = Counter(one.outcome for one in tries if one.outcome != "verified")
    print("\n| outcome | tries |\n|---|---:|")
    for outcome, number in failed.most_common():
        print(f"| {outcome} | {number} |")
    told = {(one.seed_id, one.outcome): one.detail for one in tries}
    for (seed_id, outcome), detail in told.items():
        if "internal_error" in outcome or outcome.startswith(("check", "verify", "error")):
            print(f"\n{seed_id}, {outcome}: {detail[-600:]}")
    _report_golds(verified)


def _row(seed_id: str, tries: Sequence[Try]) -> str:
    done = [one for one in tries if one.calibration]
    found = [one.calibration for one in done if one.calibration]
    bands = ", ".join(str(band) for band in Band if any(one.band is band for one in done)) or "-"
    spread = sorted(one.difficulty.value for one in found)
    kinds = ", ".join(sorted({one.ceiling.kind for one in found if one.ceiling})) or "-"
    widths = [_width(one) for one in found]
    sizes = mean(one.public_bytes for one in done) / 1e6 if done else 0.0
    files = max((one.public_files for one in done), default=0)
    return (
        f"| {seed_id} | {tries[0].kind} | {len(tries)} | {len(done)} | {bands} | "
        f"{f'{spread[0]:.2f} to {spread[-1]:.2f}' if spread else '-'} | {kinds} | "
        f"{mean(widths) if widths else 0:.2f} | {sizes:.1f} | {files} | {mean(one.seconds for one in tries):.1f} |"
    )


def _width(found: Calibration) -> float:
    """Return the share of the gap between both ends of the best possible score."""
    if found.ceiling is None:
        return 0.0
    ends = (gap_closed(end, found.trivial, found.oracle) for end in (found.ceiling.low, found.ceiling.high))
    low, high = ends
    return high - low


def report_adversaries(tries: Sequence[Try]) -> None:
    """Print for each structure which share of its tasks the adversary, the best blind entry and the reader win."""
    tried = [one for one in tries if one.adversary is not None]
    print("\n| seed | tasks | gold: adversary | any blind entry | reader that is best on feedback | adversary's gap |")
    print("|---|---:|---:|---:|---:|---:|")
    for seed_id in (*sorted({one.seed_id for one in tried}), "all"):
        some = [one for one in tried if seed_id in (one.seed_id, "all")]
        golds = [(_is_gold(one, one.adversary), bool(one.golds), _is_gold(one, one.reader)) for one in some]
        shares = " | ".join(f"{mean(column):.0%}" for column in zip(*golds, strict=True))
        gaps = [
            gap_closed(one.adversary, found.trivial, found.oracle)
            for one in some
            if (found := one.calibration) and one.adversary is not None
        ]
        print(f"| {seed_id} | {len(some)} | {shares} | {mean(gaps):.2f} |")


def _is_gold(one: Try, score: float | None) -> bool:
    found = one.calibration
    if found is None or score is None:
        return False
    return medal_of(score, found.thresholds, found.is_lower_better) is Medal.GOLD


def _report_golds(verified: Sequence[Try]) -> None:
    """Say how often the best single script, and the best of each kind, is gold."""
    counts = Counter(name for one in verified for name in one.golds)
    if not counts:
        return
    name, number = counts.most_common(1)[0]
    print(f"\nThe best single blind script ({name}) is gold on {number / len(verified):.0%} of {len(verified)} tasks.")
    by_kind: Mapping[str, list[Try]] = {
        kind: [one for one in verified if one.kind == kind] for kind in sorted({one.kind for one in verified})
    }
    print("\n| kind | tasks | best single blind script | gold |\n|---|---:|---|---:|")
    for kind, of_kind in by_kind.items():
        best = Counter(name for one in of_kind for name in one.golds).most_common(1)
        name, number = best[0] if best else ("none", 0)
        print(f"| {kind} | {len(of_kind)} | {name} | {number / len(of_kind):.0%} |")


def main() -> None:
    """Make first tries of all structures, or of those named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tries", type=int, default=5, help="first tries of each structure (default 5)")
    parser.add_argument("--seed", type=int, default=1905, help="number that decides every draw (default 1905)")
    parser.add_argument("--workers", type=int, default=2, help="worker processes (default 2)")
    parser.add_argument("--adversaries", action="store_true", help="measure blind adversaries of media too")
    parser.add_argument("--only", nargs="*", default=[], help="ids of seeds; all if left out")
    args = parser.parse_args()
    from benchmarks.structures import measure as piece  # by its own name: worker processes cannot import __main__

    plan = plan_build(BuildRequest(name="bench", structures="lite", tasks=22 * args.tries, seed=args.seed), ingest(()))
    bands = list(Band)
    turns: Counter[str] = Counter()
    slots = []
    for slot in plan_slots(plan):
        band = bands[turns[slot.seed.id] % len(bands)]
        turns[slot.seed.id] += 1
        if turns[slot.seed.id] <= args.tries and (not args.only or slot.seed.id in args.only):
            slots.append(slot.model_copy(update={"band": band}))
    with WorkerPool(args.workers) as pool:
        tries = [
            Try(slots[place].seed.id, "-", f"error {made!r}", 0.0) if isinstance(made, Exception) else made
            for place, made in pool.map(partial(piece, adversaries=args.adversaries), slots, 300)
        ]
    report(tries)
    if args.adversaries:
        report_adversaries(tries)


if __name__ == "__main__":
    main()
