"""Sample of a draft for its developer: a few rows and the scores of a few solvers."""

from pathlib import Path
from tempfile import TemporaryDirectory

from sandmill.calibrate.panel import PANEL, TRIVIAL, run_panel
from sandmill.design import design_task
from sandmill.fingerprint import fingerprint
from sandmill.layouts.base import layout_of
from sandmill.layouts.folder import write_files
from sandmill.metrics import get_metric
from sandmill.models.calibration import Tier
from sandmill.models.plan import Slot
from sandmill.models.spec import Sizes
from sandmill.pipeline.band_search import first_hardness
from sandmill.rng import Streams
from sandmill.synth import render

_ENTRIES = [TRIVIAL, *[entry.name for entry in PANEL if entry.tier is Tier.COMPETENT][:3]]
ROWS_SHOWN = 5
_TEST_ROWS = 500
_SAMPLE_SECRET = b"a look at a design is no secret: it is shown to whoever designs"
"""Used in place of the release secret, because the model provider sees the sample."""


def preview_sample(slot: Slot) -> str:
    """Render a slot's draft with draws that no task uses, and return rows and scores as text."""
    streams = Streams(_SAMPLE_SECRET, fingerprint(slot.draft) if slot.draft else "")
    spec = design_task(slot, streams, first_hardness(slot.structure, slot.band))
    sizes = Sizes(train=spec.sizes.train, feedback=_TEST_ROWS, final=_TEST_ROWS)
    rendered = render(spec.model_copy(update={"sizes": sizes}), _SAMPLE_SECRET)
    rows = "\n".join(rendered.package.public[layout_of(spec).train].decode().splitlines()[: ROWS_SHOWN + 1])
    metric, final = get_metric(spec.metric), rendered.answers.is_final
    truth = rendered.answers.truth[final]
    with TemporaryDirectory(prefix="sandmill-look-") as name:
        write_files(Path(name), rendered.package.public)
        runs = run_panel(Path(name), rendered.package.facts, _ENTRIES)
    scores = {run.name: metric.rounded(truth, run.prediction[final]) for run in runs if run.has_run}
    scores["the best that is possible"] = metric.rounded(truth, rendered.oracle[final])
    lines = "\n".join(f"- {solver.replace('_', ' ')}: {score:.2f}" for solver, score in scores.items())
    better = "lower" if metric.is_lower_better else "higher"
    return f"First rows of {spec.sizes.train}:\n{rows}\n\nScores ({spec.metric}, {better} is better):\n{lines}"
