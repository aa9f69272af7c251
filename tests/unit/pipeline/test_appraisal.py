"""What is measured beside the board: on which rows, and what becomes of it. The measures themselves are stubs."""

from dataclasses import replace

import numpy as np
import pytest

from sandmill.calibrate import appraisal
from sandmill.calibrate.appraisal import appraise, informed_score
from sandmill.calibrate.panel import TRIVIAL, Panel, PanelRun
from sandmill.errors import ItemRejected
from sandmill.models.base import Part
from sandmill.models.calibration import Tier
from sandmill.models.spec import Sizes
from sandmill.rng import Streams
from sandmill.scoring import get_metric
from tests.designs import SECRET
from tests.factories import CALIBRATION
from tests.unit.pipeline.ladders import made_up, rendered_of

SMALL, LARGE = Sizes(train=120, feedback=300, final=900), Sizes(train=120, feedback=1700, final=3400)


@pytest.fixture
def calls(monkeypatch) -> dict[str, tuple]:
    """Replace the measures by stubs; give what each was asked."""
    asked: dict[str, tuple] = {}

    def stub(name, answer):
        monkeypatch.setattr(appraisal, name, lambda *given: asked.update({name: given}) or answer(*given))

    def informed(panel, *_):
        oracle = next(
            rendered.oracle
            for rendered in map(rendered_of, (SMALL, LARGE))
            if len(rendered.oracle) == len(panel.table.ids)
        )
        return PanelRun("informed", Tier.SEARCH, oracle, None)

    stub("informed_run", informed)
    return asked


def panel_on(tmp_path, rendered):
    for name in ("train.csv", "test.csv"):
        (tmp_path / name).write_bytes(rendered.package.public[name])
    return Panel(tmp_path, rendered.package.facts)


def appraised(sizes, tmp_path, change=lambda rendered: rendered):
    rendered = change(rendered_of(sizes))
    panel = panel_on(tmp_path, rendered)
    (trivial,) = made_up(rendered.oracle, [TRIVIAL])
    return appraise(CALIBRATION, panel, trivial, rendered, Streams(SECRET, "appraise"))


def test_measures_are_added_and_the_board_is_left_alone(calls, tmp_path):
    measured = appraised(SMALL, tmp_path)
    assert 0 <= measured.no_data < 0.2
    untouched = {"no_data": 0.0}
    assert measured.model_copy(update=untouched) == CALIBRATION.model_copy(update=untouched)


def test_the_informed_solver_is_scored_on_the_published_final_part(calls, tmp_path):
    rendered = rendered_of(SMALL)
    final = rendered.answers.part(Part.FINAL)
    metric = get_metric(rendered.package.facts.metric)
    informed = informed_score(panel_on(tmp_path, rendered), rendered)
    assert informed == metric.rounded(rendered.answers.truth[final], rendered.oracle[final])
    assert calls["informed_run"][2:] == (rendered.train_draw.observed, rendered.test_draw.observed)


def test_a_test_whose_order_tells_the_answers_is_rejected(calls, tmp_path):
    def sort(rendered):
        order = np.argsort(rendered.answers.truth, kind="stable")
        answers = replace(
            rendered.answers, truth=rendered.answers.truth[order], is_final=rendered.answers.is_final[order]
        )
        return replace(rendered, answers=answers, test_draw=rendered.test_draw.take(order))

    with pytest.raises(ItemRejected, match="no_data"):
        appraised(SMALL, tmp_path, sort)
