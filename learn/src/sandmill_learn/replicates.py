"""Further tasks of the designs of a release, kept on disk: replicates whose final part may have fewer rows.

`sandmill.play.fresh` says how their thresholds follow.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path

from sandmill.draw import Rendered, render
from sandmill.draw.render import task_id
from sandmill.errors import InputError, IntegrityError, Problem
from sandmill.fingerprint import canonical_json, digest, files_digest
from sandmill.models.base import OnProgress
from sandmill.models.calibration import Calibration
from sandmill.models.package import TaskFile
from sandmill.models.spec import Sizes, TaskSpec
from sandmill.play.fresh import Ends, measure_ends, move_calibration
from sandmill.play.release import Release, open_task
from sandmill.play.task import EpisodeTask
from sandmill.scoring.grading.private_half import TASK_FILE
from sandmill.store.files import storage_faults
from sandmill.store.pull import pull_task
from sandmill.store.secret import SECRET_PATH, read_secret_file, release_secret

_FEWEST_ROWS = 100
_FOLDER = "replicates"


@dataclass(frozen=True)
class _ReplicateJob:
    """One replicate, and where it goes."""

    place: Path
    spec: TaskSpec
    replicate: int
    original: Calibration
    design: str

    @property
    def is_done(self) -> bool:
        return (self.place / "private" / TASK_FILE).is_file()


def make_replicates(
    release: Release,
    designs: Mapping[str, Sequence[TaskFile]],
    number: int,
    test_rows: int | None,
    cache: Path,
    secret_file: Path | None = None,
    *,
    workers: int = 1,
    on_progress: OnProgress | None = None,
) -> Iterator[tuple[EpisodeTask, str, str]]:
    """Yield replicates of each design with the key of the design and the digest of the files.

    A replicate that is in the cache is not rendered again.

    Args:
        release: with its private half.
        designs: tasks of each design. Numbers of replicates go on after theirs.
        number: replicates of each design.
        test_rows: rows of the final part; None takes those of the design.
        cache: folder that they are written below.
        secret_file: the secret; None takes that of the dataset.
        workers: processes that render. With more than one, the calling script needs a main guard.
        on_progress: called with the numbers of replicates that are rendered and that are asked for.

    Raises:
        InputError: a number is out of range, or there is no secret.
    """
    _check(number, test_rows)
    secret = _secret(release, secret_file)
    folder = cache / _FOLDER / digest(release.manifest.content.encode())[:16]
    jobs = list(_jobs(designs, number, test_rows, folder, secret))
    waiting = [job for job in jobs if not job.is_done]
    for done, _ in enumerate(_rendered(waiting, secret, workers), start=1 + len(jobs) - len(waiting)):
        if on_progress is not None:
            on_progress(done, len(jobs))
    for job in jobs:
        yield open_task(job.place, sandbox=release.sandbox), job.design, _digest_of(job.place)


def _jobs(
    designs: Mapping[str, Sequence[TaskFile]], number: int, test_rows: int | None, folder: Path, secret: bytes
) -> Iterator[_ReplicateJob]:
    for key, originals in designs.items():
        first, used = originals[0], max(original.replicate for original in originals)
        spec = first.spec if test_rows is None else with_test_rows(first.spec, test_rows)
        for replicate in range(used + 1, used + 1 + number):
            place = folder / task_id(spec.fingerprint, replicate, secret)
            yield _ReplicateJob(place, spec, replicate, first.calibration, key)


def _rendered(jobs: Sequence[_ReplicateJob], secret: bytes, workers: int) -> Iterator[Path]:
    """Render and write replicates, here or in processes of their own. Yields their places in order."""
    if workers <= 1 or len(jobs) < 2:
        yield from (_make(job, secret) for job in jobs)
        return
    with ProcessPoolExecutor(min(workers, len(jobs)), mp_context=get_context("spawn")) as pool:
        yield from pool.map(_make, jobs, repeat(secret), chunksize=4)


def _make(job: _ReplicateJob, secret: bytes) -> Path:
    rendered = render(job.spec, secret, job.replicate)
    write_replicate(job.place, rendered, job.original, measure_ends(rendered))
    return job.place


def _check(number: int, test_rows: int | None) -> None:
    problems = []
    if number < 1:
        problems.append(Problem("replicates", str(number), "a whole number, 0 or more"))
    most = Sizes.model_json_schema()["properties"]["final"]["maximum"]
    if test_rows is not None and not _FEWEST_ROWS <= test_rows <= most:
        problems.append(Problem("test_rows", str(test_rows), f"a whole number from {_FEWEST_ROWS} to {most}"))
    if problems:
        raise InputError("from_release", problems, "")


def _secret(release: Release, secret_file: Path | None) -> bytes:
    if secret_file is not None:
        return read_secret_file(secret_file)
    if not release.store.exists(SECRET_PATH):
        hint = "Pass secret_file=, or replicates=0."
        problem = Problem("replicates", "a release without its secret", release.store.where(SECRET_PATH), hint)
        raise InputError(release.ref, [problem], "")
    return release_secret(release.store)


def with_test_rows(spec: TaskSpec, rows: int) -> TaskSpec:
    """Return a design with this many rows in the final part, and half as many in the feedback part."""
    sizes = Sizes(train=spec.sizes.train, feedback=max(_FEWEST_ROWS, rows // 2), final=rows)
    return spec.model_copy(update={"sizes": sizes})


def write_replicate(
    place: Path, rendered: Rendered, original: Calibration, ends: tuple[Ends | None, Ends | None]
) -> None:
    """Write both halves of a task whose thresholds are those of another, each half whole or not at all.

    Args:
        place: folder of the task.
        rendered: the task.
        original: calibration of the other task, of a metric of the same direction.
        ends: of the final and of the feedback part, see `measure_ends`.

    Raises:
        IntegrityError: the folder holds another task.
    """
    package = rendered.package
    file = TaskFile(
        task_id=package.task_id,
        replicate=package.replicate,
        facts=package.facts,
        calibration=move_calibration(original, *ends),
        spec=package.spec,
    )
    private = {**package.private, TASK_FILE: canonical_json(file.model_dump(mode="json")).encode()}
    with storage_faults(str(place)):
        place.parent.mkdir(parents=True, exist_ok=True)
        problems = pull_task(place, {"public": package.public, "private": private})
    if problems:
        raise IntegrityError(f"the cache holds other files: {'; '.join(map(str, problems))}. Remove {place}.")


def _digest_of(place: Path) -> str:
    with storage_faults(str(place)):
        sides = [
            {
                str(path.relative_to(place / side)): path.read_bytes()
                for path in (place / side).rglob("*")
                if path.is_file()
            }
            for side in ("public", "private")
        ]
    return files_digest(*sides)
