"""What is measured beside the board: on which rows, and what becomes of it. The measures themselves are stubs."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from sandmill.calibrate.appraisal import appraise, informed_score
from sandmill.calibrate.panel import TRIVIAL, PanelRun
from sandmill.errors import ItemRejected
from sandmill.models.base import Part
from sandmill.models.calibration import Tier
from sandmill.models.spec import Sizes
from sandmill.rng import Streams
from sandmill.scoring import get_metric
from tests.designs import SECRET
from tests.factories import CALIBRATION
from tests.unit.pipeline.ladders import made_up, rendered_of

SMALL = Sizes(train=120, feedback=300, final=900)


def appraised(sizes, change=lambda rendered: rendered):
    rendered = change(rendered_of(sizes))
    (trivial,) = made_up(rendered.oracle, [TRIVIAL])
    return appraise(CALIBRATION, trivial, rendered, Streams(SECRET, "appraise"))


def test_measures_are_added_and_the_board_is_left_alone():
    measured = appraised(SMALL)
    assert 0 <= measured.no_data < 0.2
    untouched = {"no_data": 0.0}
    assert measured.model_copy(update=untouched) == CALIBRATION.model_copy(update=untouched)


def test_the_informed_solver_is_scored_on_the_published_final_part():
    rendered = rendered_of(SMALL)
    final = rendered.answers.part(Part.FINAL)
    metric = get_metric(rendered.package.facts.metric)
    for run, score in (
        (PanelRun("informed", Tier.SEARCH, rendered.oracle, None), rendered.oracle[final]),
        (PanelRun("informed", Tier.SEARCH, None, "ValueError: no"), None),
        (None, None),
    ):
        informed = informed_score(SimpleNamespace(run_informed=lambda _, run=run: run), rendered)
        assert informed == (None if score is None else metric.rounded(rendered.answers.truth[final], score))


def test_a_test_whose_order_tells_the_answers_is_rejected():
    def sort(rendered):
        order = np.argsort(rendered.answers.truth, kind="stable")
        answers = replace(
            rendered.answers, truth=rendered.answers.truth[order], is_final=rendered.answers.is_final[order]
        )
        return replace(rendered, answers=answers, test_draw=rendered.test_draw.take(order))

    with pytest.raises(ItemRejected, match="no_data"):
        appraised(SMALL, sort)
