"""Rendered tasks as pulled folders, for tests without a build: their calibration knows the ends of the gap alone."""

from pathlib import Path

import numpy as np

from sandmill.calibrate.panel import TRIVIAL, run_panel
from sandmill.draw import Rendered, render
from sandmill.fingerprint import canonical_json
from sandmill.models.base import Band, Part
from sandmill.models.calibration import BoardEntry, Calibration, Difficulty, Thresholds, Tier
from sandmill.models.package import TaskFile
from sandmill.models.spec import Sizes
from sandmill.models.structure import MetricName, SplitKind, TargetKind
from sandmill.scoring import get_metric
from tests.designs import SECRET, make_spec
from tests.factories import STEADY

SHARES = {"gold": 0.8, "silver": 0.6, "bronze": 0.4, "median": 0.2}
"""Thresholds, as shares of the gap."""


def write_task(
    folder: Path,
    target: TargetKind,
    metric: MetricName,
    slot: int = 0,
    split: SplitKind = SplitKind.RANDOM,
    sizes: Sizes | None = None,
) -> Path:
    """Write public/ and private/ of a task of few rows under `folder` and give its folder."""
    spec = make_spec(target, metric, slot, split=split)
    few = Sizes(train=spec.sizes.train, feedback=200, final=400)
    return write_rendered(folder, render(spec.model_copy(update={"sizes": sizes or few}), SECRET))


def write_rendered(folder: Path, rendered: Rendered) -> Path:
    """Write public/ and private/ of a rendered task under `folder` and give its folder."""
    package = rendered.package
    task = folder / package.task_id
    for side, files in (("public", package.public), ("private", package.private)):
        (task / side).mkdir(parents=True)
        for name, content in files.items():
            (task / side / name).write_bytes(content)
    facts = TaskFile(
        task_id=package.task_id,
        replicate=0,
        facts=package.facts,
        calibration=_calibrate(rendered, task / "public"),
        spec=package.spec,
    )
    (task / "private" / "task.json").write_text(canonical_json(facts.model_dump(mode="json")))
    return task


def _calibrate(rendered: Rendered, public: Path) -> Calibration:
    metric, answers = get_metric(rendered.package.facts.metric), rendered.answers
    (prior,) = run_panel(public, rendered.package.facts, [TRIVIAL])

    def score(prediction: np.ndarray, part: Part) -> float:
        rows = answers.part(part)
        return metric.rounded(answers.truth[rows], prediction[rows])

    trivial, oracle = score(prior.prediction, Part.FINAL), score(rendered.oracle, Part.FINAL)
    entries = [
        ("oracle", Tier.STRONG, oracle, score(rendered.oracle, Part.FEEDBACK)),
        (TRIVIAL, Tier.TRIVIAL, trivial, score(prior.prediction, Part.FEEDBACK)),
    ]
    thresholds = Thresholds(**{name: trivial + share * (oracle - trivial) for name, share in SHARES.items()})
    return Calibration(
        is_lower_better=metric.is_lower_better,
        trivial=trivial,
        oracle=oracle,
        oracle_is_exact=True,
        board=tuple(BoardEntry(solver=n, tier=tier, final=f, feedback=b) for n, tier, f, b in entries),
        thresholds=thresholds,
        difficulty=Difficulty(value=0.5, low=0.4, high=0.6, band=Band.HARD),
        reference="oracle",
        **STEADY | {"feedback_thresholds": thresholds},
    )
