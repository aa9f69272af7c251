"""Fill one slot of a seed for `fidelity`, and keep what was made as a line of JSON."""

import resource
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from benchmarks.solver_orders import order_of_task
from sandmill.calibrate.acceptance import OffBand
from sandmill.calibrate.stage import Calibrated
from sandmill.check.seed_gate import check_seed_rows
from sandmill.design import design_task
from sandmill.fingerprint import fingerprint
from sandmill.models.base import Band, Frozen
from sandmill.models.fidelity import FidelityVector
from sandmill.models.motifs import columns_of
from sandmill.models.plan import Slot
from sandmill.models.request import BuildRequest
from sandmill.models.seed import SeedIntake, SeedTask
from sandmill.models.spec import TaskSpec
from sandmill.pipeline.attempt import AttemptJob, Failed, prove, rejection_of, run_attempt
from sandmill.pipeline.band_search import Miss, SlotSearch, first_hardness
from sandmill.pipeline.plan import plan_build, plan_slots
from sandmill.rng import Streams
from sandmill.verify.traits import draft, traits_of

SECRET = bytes(32)


@dataclass(frozen=True)
class Piece:
    """One slot of one seed."""

    frozen: str
    """Digest of the list, the traits and the scales that the task is measured for."""
    slot: Slot
    is_calibrated: bool
    guard: bytes | None = None
    """Salted hashes of the seed's table."""

    @cached_property
    def key(self) -> tuple[str, bool, str]:
        """What its line in the file is found by."""
        return self.frozen, self.is_calibrated, fingerprint(self.slot)[:16]

    def empty(self, *failures: str) -> "Made":
        """Return the outcome without a task."""
        slot = self.slot
        return Made(
            frozen=self.frozen,
            is_calibrated=self.is_calibrated,
            slot=self.key[-1],
            seed=slot.seed.id,
            wanted=slot.band,
            failures=failures,
        )


class Made(Frozen):
    """What became of one slot."""

    frozen: str
    is_calibrated: bool
    slot: str
    """Digest of the slot: seed, band, reading and place."""
    seed: str
    wanted: Band
    reached: Band | None = None
    """None without calibration, or if there is no task."""
    attempts: int = 1
    seconds: float = 0.0
    """Processor seconds of all attempts."""
    failures: tuple[str, ...] = ()
    """Stage and reason of each attempt that came to nothing."""
    traits: FidelityVector | None = None
    """None if there is no task."""
    domain: str = ""
    target: str = ""
    rule: tuple[str, ...] = ()
    """Motifs of the rule with their columns."""
    solvers: tuple[float, ...] = ()
    """Scores of the frozen solvers."""

    @property
    def key(self) -> tuple[str, bool, str]:
        """What it is found by."""
        return self.frozen, self.is_calibrated, self.slot


def pieces_of(
    frozen: str, seeds: Sequence[SeedTask], guards: Mapping[str, bytes], tasks: int, *, is_calibrated: bool
) -> list[Piece]:
    """Plan a build with some slots for each seed, as any build is planned."""
    plan = plan_build(BuildRequest(name="fidelity", tasks=tasks * len(seeds)), SeedIntake(supported=tuple(seeds)))
    return [Piece(frozen, slot, is_calibrated, guards.get(slot.seed.guard or "")) for slot in plan_slots(plan)]


def read_lines(path: Path) -> Iterator[Made]:
    """Yield the tasks of a file. The last line of a run that was killed may be incomplete: it is made again."""
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            yield Made.model_validate_json(line)
        except ValidationError:
            continue


def add_line(path: Path, made: Made) -> None:
    """Append a task to the file, on a line of its own whatever a killed run left."""
    has_end = not path.exists() or path.read_bytes()[-1:] in (b"", b"\n")
    with path.open("a") as file:
        file.write(f"{'' if has_end else chr(10)}{made.model_dump_json()}\n")


def make(piece: Piece) -> Made:
    """Fill one slot, as a build does, or design and render one task without calibration; then measure it."""
    started = _processor_s()
    made, spec = _fill(piece) if piece.is_calibrated else _draft(piece)
    found: dict[str, object] = {"seconds": round(_processor_s() - started, 2)}
    if spec:
        rule = (f"{term.motif.motif} {' '.join(columns_of(term.motif))}" for term in spec.mechanism.terms)
        found |= {"domain": spec.domain, "target": spec.story.target, "rule": tuple(sorted(rule))}
        found["solvers"] = order_of_task(spec, SECRET)
    return made.model_copy(update=found)


def _draft(piece: Piece) -> tuple[Made, TaskSpec]:
    slot = piece.slot
    streams = Streams(SECRET, "fidelity").child(f"{slot.seed.id} {slot.number}")
    spec = design_task(slot, streams, first_hardness(slot.structure, slot.band))
    return piece.empty().model_copy(update={"traits": traits_of(draft(spec, SECRET))}), spec


def _fill(piece: Piece) -> tuple[Made, TaskSpec | None]:
    """Try designs for a slot until one becomes a verified task, as a build does in `sandmill.pipeline.shard`."""
    search, failures = SlotSearch(piece.slot, 0), list[str]()
    while search.is_open:
        attempt = search.next_attempt()
        result = run_attempt(AttemptJob(attempt, f"fidelity {piece.slot.seed.id}", SECRET)).result
        failed = result if isinstance(result, Failed) else _failure_of(result, piece.guard)
        if failed is None and not isinstance(result, Failed):
            found = {"traits": traits_of(result.package), "reached": result.calibration.difficulty.band}
            found |= {"attempts": search.tried, "failures": tuple(failures)}
            return piece.empty().model_copy(update=found), result.package.spec
        if failed and failed.spec and isinstance(failed.error, OffBand):
            search.note_miss(Miss(attempt, failed.spec.fingerprint, failed.error.measured))
        else:
            search.start_over()
        failures += [f"{failed.error.stage} {failed.error.reason}"] if failed else []
    return piece.empty(*failures).model_copy(update={"attempts": search.tried}), None


def _failure_of(made: Calibrated, guard: bytes | None) -> Failed | None:
    """Prove a package and look for rows of its seed; None if nothing is wrong."""
    proof = prove(made, SECRET).result
    if isinstance(proof, Failed):
        return proof
    leaks = check_seed_rows(made.package, guard) if guard else []
    return Failed.after(made, rejection_of(leaks)) if leaks else None


def _processor_s() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
