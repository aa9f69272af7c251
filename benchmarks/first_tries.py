"""How many first attempts become verified tasks, whatever their band, and why the others do not: for `yield`."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sandmill.calibrate.measure import band_of
from sandmill.models.base import Stage
from sandmill.models.plan import Attempt, Slot
from sandmill.models.request import BuildRequest
from sandmill.pipeline.attempt import AttemptJob, Failed, prove, run_attempt
from sandmill.pipeline.band_search import first_hardness
from sandmill.pipeline.plan import plan_build, plan_slots
from sandmill.pipeline.workers import WorkerPool
from sandmill.seeds import ingest

SECRET = bytes(32)


@dataclass(frozen=True)
class Try:
    """What became of one attempt."""

    outcome: str
    """`verified`, or stage and reason."""
    wanted: str
    reached: str = ""
    rows: int = 0
    """Of the final part."""
    detail: str = ""
    seconds: tuple[float, ...] = ()
    """Design, generate, calibrate, check and verify."""


def attempt(piece: tuple[Slot, bool]) -> Try:
    """Make one attempt at a slot, of any band, through all stages."""
    slot, proves = piece
    one = Attempt(slot, 0, 1, 0, first_hardness(slot.seed.structure, slot.band), any_band=True)
    attempted = run_attempt(AttemptJob(one, "first tries", SECRET))
    made, wanted = attempted.result, str(slot.band)
    if isinstance(made, Failed):
        error, reached = made.error, "" if made.difficulty is None else str(band_of(made.difficulty))
        return Try(f"{error.stage} {error.reason}", wanted, reached, detail=error.traceback or error.detail)
    seconds = [attempted.seconds[stage] for stage in (Stage.DESIGN, Stage.GENERATE, Stage.CALIBRATE, Stage.CHECK)]
    if proves:
        proof = prove(made, SECRET)
        if isinstance(proof.result, Failed):
            return Try(f"verify {proof.result.error.reason}", wanted, detail=proof.result.error.detail)
        seconds.append(proof.seconds[Stage.VERIFY])
    reached = str(made.calibration.difficulty.band)
    return Try("verified", wanted, reached, made.package.spec.sizes.final, "", tuple(seconds))


def measure(slots: int, seed: int, workers: int, *, proves: bool = True) -> list[Try]:
    """Make the first attempt at every slot of a build with the usual mix."""
    plan = plan_build(BuildRequest(name="bench", tasks=slots, seed=seed), ingest(()))
    return try_slots(plan_slots(plan), workers, proves=proves)


def try_slots(slots: Sequence[Slot], workers: int, *, proves: bool = True) -> list[Try]:
    """Make the first attempt at every slot, drafts and all."""
    from benchmarks.first_tries import attempt  # by its own name: worker processes cannot import __main__

    pieces = [(slot, proves) for slot in slots]
    tries: dict[int, Try] = {}
    with WorkerPool(workers) as pool:
        for index, result in pool.map(attempt, pieces, 300):
            if isinstance(result, Exception):
                tries[index] = Try(f"error {result!r}", str(pieces[index][0].band))
            else:
                tries[index] = result
    return [tries[index] for index in sorted(tries)]


def report(tries: Sequence[Try]) -> None:
    """Print yields, and where the time went."""
    verified = [one for one in tries if one.outcome == "verified"]
    in_band = sum(one.wanted == one.reached for one in verified)
    print(
        f"{len(verified)} of {len(tries)} first tries became verified tasks: **{len(verified) / len(tries):.1%}** "
        f"(SandMLE: 912 of 1,200, 76.0%); {in_band} of them in the band asked for."
    )
    print("\n| outcome | first tries | share |\n|---|---:|---:|")
    for outcome, count in Counter(one.outcome for one in tries).most_common():
        print(f"| {outcome} | {count} | {count / len(tries):.1%} |")
    for one in tries:
        if one.outcome.startswith(("verify", "check", "error")) or "internal_error" in one.outcome:
            print(f"\n{one.outcome}: {one.detail}")
    print("\n| band asked for | first tries | verified | in band |\n|---|---:|---:|---:|")
    for band in dict.fromkeys(one.wanted for one in tries):
        of_band = [one for one in tries if one.wanted == band]
        done = [one for one in of_band if one.outcome == "verified"]
        print(f"| {band} | {len(of_band)} | {len(done)} | {sum(one.reached == band for one in done)} |")
    rows = Counter(one.rows for one in verified)
    print("\nRows of the final part: " + ", ".join(f"{size} ({count})" for size, count in sorted(rows.items())) + ".")
    means = [sum(stage) / len(verified) for stage in zip(*(one.seconds for one in verified), strict=True)]
    named = zip(("design", "generate", "calibrate", "check", "verify"), means, strict=False)
    print("Seconds of a verified first try: " + ", ".join(f"{stage} {mean:.2f}" for stage, mean in named) + ".")
