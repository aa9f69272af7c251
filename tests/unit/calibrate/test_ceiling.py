"""The lower end of a ceiling is the best score that was reached, by readers with ten times the items among others.

Which items count for it, and how wide it may be.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from sandmill.calibrate import appraisal
from sandmill.calibrate.panel import PanelRun
from sandmill.calibrate.readers import stated_facts
from sandmill.calibrate.rungs import GradedTest
from sandmill.design import design_task
from sandmill.draw import draw_pilot, render
from sandmill.models.base import Band
from sandmill.models.calibration import LOOSE, Ceiling, Tier
from sandmill.models.plan import Slot
from sandmill.models.spec import Sizes
from sandmill.rng import Streams
from sandmill.scoring import get_metric
from tests.designs import SECRET, bundled_seeds


def _drawn(kind):
    """Return a small pilot of a kind, and the package with the same training rows."""
    seed = next(seed for seed in bundled_seeds().supported if seed.structure.kind == kind)
    spec = design_task(Slot(number=1, seed=seed, band=Band.MEDIUM), Streams(SECRET, "plan").child("slot 1"), 0.3)
    spec = spec.model_copy(update={"sizes": Sizes(train=60, feedback=100, final=100)})
    pilot = draw_pilot(spec, SECRET, rows=150)
    return spec, pilot, render(spec, SECRET, drawn=pilot.drawn)


def _measured(monkeypatch, kind, script):
    """Measure a ceiling with readers that answer as the oracle: it, the files that they read, the task."""
    spec, pilot, rendered = _drawn(kind)
    written = {}

    def run_readers(panel, table, names):
        return [PanelRun(name, Tier.READER, rendered.oracle, None) for name in names]

    monkeypatch.setattr(appraisal, "write_files", lambda folder, files: written.update(files))
    monkeypatch.setattr(appraisal, "read_table", lambda *_: None)
    monkeypatch.setattr(appraisal, "run_readers", run_readers)
    measured = SimpleNamespace(board=[SimpleNamespace(final=0.6)], scripts=[SimpleNamespace(final=script)], oracle=1.0)
    contest = SimpleNamespace(stated=stated_facts(spec, rendered.package.public), panel=None)
    found = appraisal.measure_ceiling(measured, pilot, rendered, contest, Streams(SECRET, "further"))
    return found, written, rendered.package


def test_test_items_of_a_ceiling_are_written_as_in_the_files_of_the_task(monkeypatch):
    _, written, package = _measured(monkeypatch, "json_rows", 0.6)
    assert written["test.json"] == package.public["test.json"]


@pytest.mark.parametrize("script", [0.7, 1.0], ids=["readers are best", "a script is best"])
def test_readers_get_ten_times_the_items_and_the_best_score_of_all_is_the_lower_end(monkeypatch, script):
    found, written, package = _measured(monkeypatch, "text_labels", script)
    items = [line.split(b",")[0] for line in written["train.csv"].splitlines()[1:] if b"," in line]
    known = {identity for identity in items if len(identity) == len(items[0])}
    assert len(known) >= 10 * package.spec.sizes.train
    assert found.loose_above == LOOSE
    assert (found.low == 1.0) == (script == 1.0)
    assert script <= found.low


def test_an_item_that_is_not_scored_is_of_neither_part():
    is_final, is_scored, metric = np.array([True, False, False]), np.array([True, True, False]), get_metric("rmse")
    assert GradedTest(is_final, is_final, metric).is_feedback.tolist() == [False, True, True]
    assert GradedTest(is_final, is_final, metric, is_scored).is_feedback.tolist() == [False, True, False]


def test_a_ceiling_is_loose_if_its_ends_are_a_share_of_the_gap_apart_which_was_a_fifth_before():
    assert not Ceiling(low=0.83, high=1.0, kind="bracket").is_loose(trivial=0.0)
    assert Ceiling(low=0.83, high=1.0, kind="bracket", loose_above=LOOSE).is_loose(trivial=0.0)
    assert not Ceiling(low=0.86, high=1.0, kind="bracket", loose_above=LOOSE).is_loose(trivial=0.0)
    assert Ceiling(low=0.75, high=1.0, kind="bracket").is_loose(trivial=0.0)
    assert Ceiling(low=0.5, high=0.2, kind="bracket").is_loose(trivial=1.0)
