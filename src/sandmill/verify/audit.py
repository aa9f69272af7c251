"""Verify a published version again from the store, and compare the libraries that made it with those installed here."""

import time
from collections.abc import Iterator

from sandmill.errors import IntegrityError, count
from sandmill.fingerprint import digest
from sandmill.models.base import Frozen
from sandmill.models.request import AuditRequest
from sandmill.provenance import numeric_versions
from sandmill.sandbox.agent_env import pins_hash
from sandmill.store.catalogue import read_overview
from sandmill.store.release import StoredRelease, load
from sandmill.store.verify import verify_hashes
from sandmill.verify.rerun import rerun_tasks

_WEEK_S = 7 * 86_400


class Audit(Frozen):
    """What an audit found."""

    release: str
    """Reference of exactly the version that was verified."""
    tasks: int
    rerun: int
    problems: tuple[str, ...]
    drift: tuple[str, ...]
    """Libraries that differ from those that made the version, and what this code finds otherwise on tasks that other
    code made. Drift alone is no problem of the version."""

    @property
    def message(self) -> str:
        """The outcome in words."""
        ran = f", {count(self.rerun, 'task')} ran again" if self.rerun else ""
        drift = f"; drift: {'; '.join(self.drift)}" if self.drift else ""
        held = "all holds" if not self.problems else count(len(self.problems), "problem")
        return f"{self.release}: {count(self.tasks, 'task')}{ran}: {held}{drift}."


def audit_release(request: AuditRequest) -> Audit:
    """Read every byte of the latest version, run a sample of tasks again, and report drift of libraries.

    A part that is missing or not readable is a problem of the version.

    Raises:
        ReleaseNotFound: there is no such dataset.
        SandboxUnavailable: a rerun is asked for, and this machine cannot run scripts.
    """
    release = load(request.release)
    problems = verify_hashes(release)
    sample = () if problems else _sample(release, request.rerun)
    found = rerun_tasks(release, sample)
    problems += [f"task {one.task_id}: {problem}" for one in found for problem in one.problems]
    other = [f"task {one.task_id}: {one.describe_code()}" for one in found if one.differences]
    return Audit(
        release=release.ref,
        tasks=release.manifest.tasks,
        rerun=len(sample),
        problems=tuple(problems),
        # Drift is read from the tables, which a damaged version may lack.
        drift=() if problems else (*_drift(release), *other),
    )


def require_whole(audit: Audit) -> None:
    """Raise IntegrityError with all problems of a version that does not hold."""
    if audit.problems:
        raise IntegrityError("\n".join([audit.message, *(f"  {problem}" for problem in audit.problems)]))


def _sample(release: StoredRelease, size: int) -> tuple[str, ...]:
    """Choose tasks. A week has its own sample, so that weekly audits reach all tasks in time."""
    week = int(time.time() // _WEEK_S)
    return tuple(sorted(release.task_ids, key=lambda task_id: digest(f"{week} {task_id}".encode()))[:size])


def _drift(release: StoredRelease) -> Iterator[str]:
    here = numeric_versions()
    for name, versions in read_overview(release).libraries.items():
        if others := [version for version in versions if version != here.get(name)]:
            yield f"{name}: made with {', '.join(others)}; here is {here.get(name, 'none')}"
    recorded, pins = release.manifest.agent_env, pins_hash()
    if recorded and recorded != pins:
        yield f"agent environment: verified with pins {recorded[:12]}; here are {pins[:12]}"
