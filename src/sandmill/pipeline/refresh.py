"""Plan the next version of a curriculum: which tasks stay, which are retired, and what is asked for in their place."""

import json
import math
from collections.abc import Mapping

from sandmill.errors import InputError, IntegrityError, Problem, count
from sandmill.models.base import Band, Frozen
from sandmill.models.plan import BuildPlan, ShardRef
from sandmill.models.release import VerifiedTask
from sandmill.models.request import BuildRequest, RefreshRequest, RunSettings
from sandmill.models.seed import SeedIntake, SeedTask
from sandmill.pipeline.plan import plan_build
from sandmill.report.rollouts import Curriculum, Solved, make_curriculum
from sandmill.store.arrow_tables import read_record
from sandmill.store.catalogue import read_overview
from sandmill.store.files import Store
from sandmill.store.limits import MAX_REPORT_BYTES
from sandmill.store.release import StoredRelease, load
from sandmill.store.rollouts import RolloutFolder, check_release
from sandmill.store.secret import release_secret, secret_id
from sandmill.store.shards import keep_tasks

GROUP = 8
"""Rollouts of one task in a group. A band's share is the chance that the mean of such a group is the target rate,
relative to a band with exactly that rate."""
STEP = 1.0
"""Assumed difference of the log odds of neighbouring bands, for bands without rollouts."""
LEAST_SHARE = 0.05
"""A smaller share of a band is left out of the mix."""
_TASKS_PER_SHARD = 100


class Refresh(Frozen):
    """The next version of a curriculum, before any work."""

    release: str
    """Reference of the version that is refreshed."""
    version: str
    kept: tuple[str, ...]
    """Tasks that stay: of the frontier, without enough rollouts, or of splits that are not retired."""
    retired: tuple[str, ...]
    rates: dict[Band, float]
    """Solve rate by band, as measured or assumed."""
    plan: BuildPlan | None
    """What is built for the retired tasks; None if nothing is missing."""
    settings: RunSettings

    @property
    def message(self) -> str:
        """What will be done, in words."""
        if self.plan is None:
            return f"Nothing to refresh: {self.release} keeps all of its {count(len(self.kept), 'task')}."
        mix = ", ".join(f"{band} {share:g}" for band, share in self.plan.request.mix.items())
        kept, new = count(len(self.kept), "task"), count(self.plan.request.tasks, "new task")
        return f"{self.release}: {kept} kept, {len(self.retired)} retired; {new} with the mix {mix}."


def plan_refresh(request: RefreshRequest, settings: RunSettings) -> Refresh:
    """Sort the tasks of the latest version by their rollouts, and plan the build that replaces the retired ones.

    The build repeats the request and the seeds of the version, with a new seed number and a mix of bands whose solve
    rate is near the target. Its dataset is that of the release, whatever `settings.root` says.

    Raises:
        InputError: rollouts of another version, or the secret is not that of the version.
        AccessDenied: the private half cannot be read.
    """
    release, folders = load(request.release), [RolloutFolder(Store(place)) for place in request.rollouts]
    check_release(release, folders)
    if release.store.ref:
        problem = Problem("release", "a copy of this machine alone", "a dataset of a root", "sandmill copy makes one.")
        raise InputError(release.ref, [problem], "Nothing was built.")
    root, _, name = release.store.root.rpartition("/")
    settings = settings.model_copy(update={"root": root or "."})
    # With another secret, held-out domains and motifs would differ.
    found, wanted = secret_id(release_secret(release.store, settings.secret_file)), release.manifest.secret_id
    if found != wanted:
        problem = Problem("--secret-file", f"secret {found}", f"secret {wanted}, of this version")
        raise InputError(release.ref, [problem], "Nothing was built.")
    measured = make_curriculum(release.ref, [folder.facts() for folder in folders], release.places())
    retired = tuple(
        task.task_id
        for task in measured.tasks
        if task.kind is not Solved.FRONTIER and task.rollouts >= request.least_rollouts and task.split in request.splits
    )
    kept = tuple(task_id for task_id in release.task_ids if task_id not in set(retired))
    # Versions of older code may name options that are no more.
    asked = {
        field: value for field, value in read_overview(release).request.items() if field in BuildRequest.model_fields
    }
    base = BuildRequest.model_validate({**asked, "name": name})
    rates = band_rates(_solved_by_band(release, measured), request.target)
    missing = (request.tasks or len(release.task_ids)) - len(kept)
    plan = None
    if missing > 0:
        number = int(release.version.partition("-")[0])
        changes = {"tasks": missing, "mix": target_mix(rates, request.target), "seed": base.seed + number}
        plan = plan_build(
            BuildRequest.model_validate({**base.model_dump(), **changes}), SeedIntake(supported=read_seeds(release))
        )
    named = {"release": release.ref, "version": release.version, "kept": kept, "retired": retired}
    return Refresh(**named, rates=rates, plan=plan, settings=settings)


def keep_for_next(refresh: Refresh) -> tuple[ShardRef, ...]:
    """Store the tasks that stay as shards of the dataset. Shards that are there already are not made again."""
    release, shards = load(refresh.release), []
    for start in range(0, len(refresh.kept), _TASKS_PER_SHARD):
        chunk = refresh.kept[start : start + _TASKS_PER_SHARD]
        tasks = [VerifiedTask(package=release.package(task_id), record=release.record(task_id)) for task_id in chunk]
        shards.append(keep_tasks(release.store, release.version, tasks))
    return tuple(shards)


def band_rates(solved: Mapping[Band, tuple[int, int]], target: float) -> dict[Band, float]:
    """Return the solve rate of each band from its numbers of solved and of all rollouts.

    A measured rate is smoothed by one rollout with the target rate. A band without rollouts is assumed to be `STEP` log
    odds per band away from the nearest measured one. Without any rollouts, all rates are the target.
    """
    bands = list(Band)
    measured, rates = {}, {}
    for place, band in enumerate(bands):
        if band in solved and solved[band][1]:
            rate = (solved[band][0] + target) / (solved[band][1] + 1)
            measured[place] = math.log(rate / (1 - rate))
    if not measured:
        return dict.fromkeys(bands, target)
    for place, band in enumerate(bands):
        nearest = min(measured, key=lambda known: (abs(known - place), known))
        rates[band] = round(1 / (1 + math.exp(-(measured[nearest] - STEP * (place - nearest)))), 4)
    return rates


def target_mix(rates: Mapping[Band, float], target: float) -> dict[Band, float]:
    """Return shares of bands, larger the nearer their solve rate is to the target. They are multiples of 0.01."""
    weights = {}
    for band, rate in rates.items():
        kept = min(max(rate, 1e-9), 1 - 1e-9)
        # The Kullback-Leibler divergence of two coins.
        divergence = target * math.log(target / kept) + (1 - target) * math.log((1 - target) / (1 - kept))
        weights[band] = math.exp(-GROUP * divergence)
    most, total = max(weights, key=lambda band: weights[band]), sum(weights.values())
    if not total:
        return {most: 1.0}
    hundredths = {band: round(100 * weight / total) for band, weight in weights.items()}
    large = {band: share for band, share in hundredths.items() if share >= 100 * LEAST_SHARE and band is not most}
    return {band: share / 100 for band, share in {**large, most: 100 - sum(large.values())}.items()}


def read_seeds(release: StoredRelease) -> tuple[SeedTask, ...]:
    """Return the seeds of a version from its reports, with the profiles of tables from the private half.

    Raises:
        IntegrityError: the report is missing or damaged.
    """
    content = release.report("seeds.json", limit=MAX_REPORT_BYTES)
    try:
        seeds = tuple(SeedTask.model_validate(card) for card in json.loads(content or b"{}")["used"])
    except (ValueError, KeyError, TypeError) as error:
        raise IntegrityError(f"{release.ref}: reports/seeds.json does not hold the seeds of the version") from error
    if not any(seed.guard for seed in seeds):
        return seeds
    records = map(read_record, release.read_columns("private/tasks", ["task_id", "digest", "record"]))
    profiles = {record.lineage.seed_id: record.spec.structure.profile for record in records}
    return tuple(
        seed.model_copy(update={"structure": seed.structure.model_copy(update={"profile": profiles.get(seed.id)})})
        for seed in seeds
    )


def _solved_by_band(release: StoredRelease, measured: Curriculum) -> dict[Band, tuple[int, int]]:
    """Add up rollouts by band of difficulty."""
    band_of = {row["task_id"]: Band(row["band"]) for row in release.read_columns("private/tasks", ["task_id", "band"])}
    found: dict[Band, tuple[int, int]] = {}
    for task in measured.tasks:
        band = band_of[task.task_id]
        solved, rollouts = found.get(band, (0, 0))
        found[band] = solved + task.solved, rollouts + task.rollouts
    return found
