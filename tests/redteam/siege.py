"""Run an attack as an agent would, grade it as `sandmill run` does, and look for anything that it gained or broke."""

import hashlib
import json
import os
import secrets
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from sandmill.kinds.files.base import Layout
from sandmill.models.kind import kind_named
from sandmill.models.layout import public_path
from sandmill.models.package import TaskFile
from sandmill.models.reports import GradeReport, Medal, Outcome
from sandmill.models.run import RunResult
from sandmill.rewards import PRESETS
from sandmill.sandbox import Sandbox
from sandmill.scoring.grading import grade_submission
from sandmill.scoring.grading.private_half import read_task_file
from sandmill.scoring.submission import Answers, read_answers
from tests.redteam.attacks import BREACH, LUCK, LUCK_OF_FEW, MANY_ROWS, Attack, script
from tests.releases import REPOSITORY
from tests.rollouts import reward_of

PATIENCE_S = 30.0
"""That everything around a run may take, its grading included, on a busy machine."""


@dataclass(frozen=True)
class Target:
    """One pulled task."""

    folder: Path
    task: TaskFile
    answers: Answers

    @property
    def public(self) -> Path:
        return self.folder / "public"

    @property
    def layout(self) -> Layout:
        layout: Layout = kind_named(self.task.facts.kind).load("layout")
        return layout

    @property
    def sample(self) -> bytes:
        """The sample submission as CSV."""
        name = self.layout.sample
        return self.layout.sample_csv({name: (self.public / name).read_bytes()})

    def grade(self, submission: bytes | None) -> GradeReport:
        return grade_submission(submission, self.answers, self.task.facts, self.task.calibration)

    def digest(self) -> str:
        """Change if any file of the task does."""
        files = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return hashlib.sha256(b"".join(str(path).encode() + path.read_bytes() for path in files)).hexdigest()


def open_target(folder: Path) -> Target:
    task = read_task_file(folder)
    return Target(folder, task, read_answers((folder / "private" / "answers.csv").read_bytes(), task.facts))


@dataclass(frozen=True)
class Trap:
    """What scripts are told of the host, and what must never come out of one."""

    canary: str
    told: dict[str, object]
    sprung: Path
    """A file that is there if a payload was executed outside."""


@contextmanager
def lay_trap(folder: Path, targets: Sequence[Target]) -> Iterator[Trap]:
    """Put a secret into every place of the host that a script might reach, so that it shows if one does."""
    canary = secrets.token_hex(16)
    places = [folder / "canary", Path("/dev/shm") / f"canary-{canary[:4]}", Path("/tmp") / f"canary-{canary[:4]}"]
    places += [target.folder / "private" / "canary" for target in targets]
    abstract = f"\0sandmill-redteam-{canary[:4]}"
    with (
        pytest.MonkeyPatch.context() as patch,
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as by_name,
        socket.socket(socket.AF_UNIX) as by_path,
    ):
        patch.setenv("AWS_SECRET_ACCESS_KEY", canary)
        by_name.bind(abstract)
        by_path.bind(str(folder / "socket"))
        for server in (by_name, by_path):
            server.listen()
        for place in places:
            place.write_text(canary)
            place.chmod(0o644)
        told = {
            "canaries": [str(place) for place in places],
            "port": tcp.getsockname()[1],
            "abstract": abstract,
            "socket": str(folder / "socket"),
            "parent": os.getpid(),
            "repository": str(REPOSITORY),
            "trap": str(folder / "sprung"),
        }
        yield Trap(canary, told, folder / "sprung")
        for place in places:
            place.unlink(missing_ok=True)


class Siege:
    """A sandbox that is attacked, and the tasks that are to be won by it."""

    def __init__(self, box: Sandbox, targets: list[Target], trap: Trap) -> None:
        self.box, self.targets, self.trap = box, targets, trap
        self._digests = {target.folder: target.digest() for target in targets}

    def survives(self, attack: Attack) -> None:
        """Run an attack on the packages, and assert that it gained and broke nothing."""
        for target in self.targets[: 1 if attack.is_dear else None]:
            self.survives_on(target, attack)
        self.assert_nothing_is_broken()

    def survives_on(self, target: Target, attack: Attack) -> None:
        """Run an attack on one package, and assert that it gained nothing."""
        results = self.run(attack, target)
        started = time.monotonic()
        grade = target.grade(results[-1].submission)
        assert time.monotonic() - started < PATIENCE_S
        outcome = grade.outcome if results[-1].outcome is Outcome.OK else results[-1].outcome
        assert outcome.value in attack.ends, (target.task.facts.kind, target.task.facts.metric, results[-1])
        _assert_unpaid(attack, target, grade)
        if attack.check:
            attack.check(results)

    def run(self, attack: Attack, target: Target) -> list[RunResult]:
        """Run the scripts of an attack on one package, and assert that no secret came out."""
        with TemporaryDirectory(prefix="redteam-") as scratch:
            results = [self._run(code, target, Path(scratch), attack.timeout) for code in attack.steps]
            self._assert_nothing_came_out(results, Path(scratch))
        return results

    def pays_the_reference(self) -> None:
        """Assert that the reference solution of every package is gold in this very sandbox."""
        for target in self.targets:
            reference = (target.folder / "private" / "solution.py").read_text()
            result = self.box.run(reference, public=target.public, timeout=60)
            assert result.outcome is Outcome.OK, result
            assert target.grade(result.submission).medal is Medal.GOLD

    def _run(self, code: str, target: Target, scratch: Path, timeout: float) -> RunResult:
        siblings = [str(other.folder) for other in self.targets if other is not target]
        told = self.trap.told | {
            "task": str(target.folder),
            "sample": public_path(target.layout.sample),
            "siblings": siblings,
            "scratch": str(scratch),
            "agent_env": str(self.box.agent_env.path),
        }
        started = time.monotonic()
        result = self.box.run(script(code, told), public=target.public, scratch=scratch, timeout=timeout)
        assert time.monotonic() - started < timeout + PATIENCE_S
        assert result.outcome is not Outcome.INFRA_ERROR, result
        return result

    def _assert_nothing_came_out(self, results: list[RunResult], scratch: Path) -> None:
        kept = b"".join(path.read_bytes() for path in scratch.rglob("*") if _is_small_file(path))
        for result in results:
            # As a trainer would log it; whatever names and streams hold, this must be text.
            said = json.dumps(result.model_dump(mode="json", exclude={"submission"}))
            assert result.detail.isprintable()
            assert BREACH not in said, result
            for place in (said.encode(), kept, result.submission or b""):
                assert self.trap.canary.encode() not in place

    def assert_nothing_is_broken(self) -> None:
        """Assert that nothing was executed outside and that no file of a package changed."""
        assert not self.trap.sprung.exists()
        assert {target.folder: target.digest() for target in self.targets} == self._digests


def _is_small_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 22


def _assert_unpaid(attack: Attack, target: Target, grade: GradeReport) -> None:
    assert grade.medal is None, grade
    sample = target.grade(target.sample)
    luck = LUCK if target.sample.count(b"\n") > MANY_ROWS else LUCK_OF_FEW
    most = {"nothing": reward_of(sample), "luck": luck, "prediction": 1.0}[attack.pays]
    assert reward_of(grade) <= most, (reward_of(grade), most, target.task.facts.kind, attack.code[-200:], grade)
    if grade.outcome is not Outcome.OK:
        assert all(reward_of(grade, preset) <= reward_of(sample, preset) for preset in PRESETS), grade
    if attack.pays == "nothing":
        assert grade.gap_closed is None or grade.gap_closed <= 0, grade
