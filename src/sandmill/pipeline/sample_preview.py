"""Sample of a draft or a world: a few rows or items, and the scores of a few solvers."""

from pathlib import Path
from tempfile import TemporaryDirectory

from sandmill.calibrate.panel import TRIVIAL, open_panel
from sandmill.design import design_task
from sandmill.draw import render
from sandmill.fingerprint import fingerprint
from sandmill.kinds.files.base import layout_of, write_files
from sandmill.kinds.table import TABLE
from sandmill.models.calibration import Tier
from sandmill.models.kind import kind_of
from sandmill.models.package import TaskPackage
from sandmill.models.plan import Slot
from sandmill.models.spec import Sizes
from sandmill.pipeline.band_search import first_hardness
from sandmill.report.item_samples import item_samples
from sandmill.rng import Streams
from sandmill.scoring import get_metric

_COMPETENT = 3
"""Competent solvers of which scores are shown, beside the trivial one."""
ROWS_SHOWN = 5
_TEST_ROWS = 500
_SAMPLE_SECRET = b"a look at a design is no secret: it is shown to whoever designs"
"""Used in place of the release secret, because the model provider sees the sample."""


def preview_sample(slot: Slot) -> str:
    """Render what a model wrote for a slot with draws that no task uses, and return rows and scores as text."""
    written = slot.draft or slot.world
    streams = Streams(_SAMPLE_SECRET, fingerprint(written) if written else "")
    spec = design_task(slot, streams, first_hardness(slot.structure, slot.band))
    tested = min(_TEST_ROWS, (kind_of(slot.structure) or TABLE).pilot)
    sizes = Sizes(train=spec.sizes.train, feedback=tested, final=tested)
    rendered = render(spec.model_copy(update={"sizes": sizes}), _SAMPLE_SECRET)
    metric, final = get_metric(spec.metric), rendered.answers.is_final
    truth = rendered.answers.truth[final]
    with TemporaryDirectory(prefix="sandmill-look-") as name:
        write_files(Path(name), rendered.package.public)
        panel = open_panel(Path(name), rendered.package.facts)
        usual = [entry.name for entry in panel.entries if entry.tier is Tier.COMPETENT][:_COMPETENT]
        runs = panel.run([TRIVIAL, *usual])
    scores = {run.name: metric.rounded(truth, run.prediction[final]) for run in runs if run.has_run}
    scores["the best that is possible"] = metric.rounded(truth, rendered.oracle[final])
    lines = "\n".join(f"- {solver.replace('_', ' ')}: {score:.2f}" for solver, score in scores.items())
    better = "lower" if metric.is_lower_better else "higher"
    shown = _first_items(rendered.package)
    return f"{shown}\n\nScores ({spec.metric}, {better} is better):\n{lines}"


def _first_items(package: TaskPackage) -> str:
    """Return the first rows of the training table, or facts about the first items where these are no rows."""
    train = package.spec.sizes.train
    if package.spec.channel:
        return "\n".join([f"First items, of {train} to train on:", *item_samples(package)])
    rows = package.public[layout_of(package.spec).train].decode().splitlines()[: ROWS_SHOWN + 1]
    return "\n".join([f"First rows, of {train} to train on:", *rows])
