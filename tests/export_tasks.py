"""Tasks for tests of exports: any target and metric, a leaderboard of 20 rows, and a description as builds write it."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import numpy as np

from sandmill.calibrate.board import leaderboard, thresholds
from sandmill.draw.describe import describe
from sandmill.export.base import ExportTask
from sandmill.fingerprint import files_digest
from sandmill.models.calibration import BoardEntry, Calibration, Tier
from sandmill.models.package import TaskFacts
from sandmill.models.release import Manifest, Split
from sandmill.models.reports import GradeReport
from sandmill.models.structure import MetricName, TargetKind
from sandmill.scoring.forms import form_of
from sandmill.scoring.grading import grade_submission
from sandmill.scoring.submission import Answers
from tests.factories import make_spec, make_task
from tests.metric_samples import Pair
from tests.submission_mutants import make_graded

HIGHER: Pair = (TargetKind.BINARY, MetricName.ROC_AUC)
LOWER: Pair = (TargetKind.REGRESSION, MetricName.RMSE)
ENTRIES = 20

MANIFEST = Manifest(
    dataset="micro",
    version="0001-0123abcd",
    content="c" * 64,
    created=datetime(2026, 1, 1, tzinfo=UTC).isoformat(),
    tasks=1,
    plan_fingerprint="f" * 64,
    secret_id="0123456789ab",
    code_version="0.1.0",
    seeds=("parcels",),
    parts=(),
)


@dataclass(frozen=True)
class Exported:
    """A task to export, with what tests compare an export with."""

    task: ExportTask
    answers: Answers
    honest: bytes
    """A valid submission."""

    @property
    def facts(self) -> TaskFacts:
        return self.task.record.facts

    @property
    def calibration(self) -> Calibration:
        return self.task.record.calibration

    @property
    def sample(self) -> bytes:
        return self.task.public["sample_submission.csv"]

    def grade(self, submission: bytes) -> GradeReport:
        """Grade with our own grader."""
        return grade_submission(submission, self.answers, self.facts, self.calibration)

    def invalid(self) -> dict[str, bytes]:
        """Return broken submissions by what is wrong with them."""
        lines = self.honest.decode().splitlines()
        columns = lines[0].count(",")
        return {
            "a missing row": "\n".join(lines[:-1]).encode(),
            "an id twice": "\n".join([*lines, lines[1]]).encode(),
            "an unknown id": "\n".join([*lines[:-1], "x" + lines[-1]]).encode(),
            "a word": "\n".join([*lines[:-1], lines[-1].split(",")[0] + ",hello" * columns]).encode(),
            "an extra column": "\n".join([lines[0] + ",extra", *(line + ",1" for line in lines[1:])]).encode(),
            "no header": "\n".join(lines[1:]).encode(),
            "nothing": b"",
        }


def make_exported(pair: Pair = HIGHER, seed: int = 0, split: Split = "train") -> Exported:
    """Make a task whose sample submission scores as the worst row of its leaderboard."""
    graded = make_graded(pair, seed)
    facts, answers = graded.facts, graded.answers
    sample = _csv(facts, answers.ids, [form_of(facts).sample(facts, answers.truth)] * len(answers.ids))
    base = graded.grade(sample).score
    trivial = graded.calibration.trivial if base in (None, graded.calibration.oracle) else base
    scores = graded.calibration.oracle + (trivial - graded.calibration.oracle) * np.linspace(0.05, 1, ENTRIES)
    lower = graded.calibration.is_lower_better
    board = leaderboard([_entry(place, score) for place, score in enumerate(scores)], lower)
    calibration = graded.calibration.model_copy(
        update={"trivial": trivial, "board": board, "thresholds": thresholds([one.final for one in board], lower)}
    )
    truth = form_of(facts).write_truth(answers.truth, facts)
    parts = ["final" if final else "feedback" for final in answers.is_final]
    spec = make_spec(seed)
    public = {
        "description.md": describe(spec, facts, sample).encode(),
        "train.csv": b"id,weight_kg\na0,5.1\n",
        "test.csv": "".join(["id,weight_kg\n", *(f"{name},6.2\n" for name in answers.ids)]).encode(),
        "sample_submission.csv": sample,
    }
    private = {
        "answers.csv": _table([facts.id_column, *truth, "part"], zip(answers.ids, *truth.values(), parts, strict=True)),
        "task.json": b'{"thresholds":"of the private half"}',
        "leaderboard.csv": b"rank,score,solver,tier\n",
        "solution.py": b"raise SystemExit('the reference')\n",
    }
    record = make_task(seed).record.model_copy(
        update={
            "task_id": f"sm{sha256(f'{pair} {seed}'.encode()).hexdigest()[:12]}",
            "split": split,
            "facts": facts,
            "calibration": calibration,
            "digest": files_digest(public, private),
        }
    )
    return Exported(ExportTask(record, public, private), answers, graded.honest)


def write_export(files: Iterable[tuple[str, bytes]], folder: Path) -> list[str]:
    """Write an export, and return its paths. No path may be written twice, or outside of the folder."""
    paths = []
    for path, content in files:
        assert not path.startswith("/")
        assert ".." not in path.split("/")
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            file.write(content)
        paths.append(path)
    return paths


def secret_texts(exported: Exported) -> list[bytes]:
    """Return texts of the private half that no agent may read: rows of answers, thresholds, scripts."""
    rows = exported.task.private["answers.csv"].splitlines()[1:]
    bars = [repr(bar).encode() for bar in exported.calibration.thresholds.model_dump().values()]
    return [*rows, *(bar for bar in bars if len(bar) > 4), b"the reference", b"of the private half"]


def _entry(place: int, score: float) -> BoardEntry:
    rounded = round(float(score), 5)
    return BoardEntry(solver=f"solver_{place:02}", tier=Tier.COMPETENT, final=rounded, feedback=rounded)


def _csv(facts: TaskFacts, ids: Iterable[str], rows: Iterable[Iterable[object]]) -> bytes:
    return _table([facts.id_column, *facts.submission_columns], ([i, *row] for i, row in zip(ids, rows, strict=True)))


def _table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> bytes:
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return sink.getvalue().encode()
