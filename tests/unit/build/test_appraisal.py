"""What is measured beside the board: on which rows, and what becomes of it. The measures themselves are stubs."""

import numpy as np
import pytest

from sandmill.build import appraisal
from sandmill.build.appraisal import MOST_FEEDBACK, MOST_FINAL, appraise
from sandmill.calibrate.lifts import DRAWS
from sandmill.calibrate.panel import TRIVIAL, Panel, PanelRun, told_of
from sandmill.errors import ItemRejected
from sandmill.models.base import Part
from sandmill.models.calibration import Tier
from sandmill.models.spec import Sizes
from sandmill.rng import Streams
from sandmill.synth import render
from tests.designs import SECRET
from tests.factories import CALIBRATION, make_package
from tests.unit.build.ladders import made_up, noise_of, pool_of

SMALL, LARGE = Sizes(train=120, feedback=300, final=900), Sizes(train=120, feedback=1700, final=3400)


@pytest.fixture
def calls(monkeypatch) -> dict[str, tuple]:
    """Replace the measures by stubs; give what each was asked."""
    asked: dict[str, tuple] = {}

    def stub(name, result):
        monkeypatch.setattr(appraisal, name, lambda *given: asked.update({name: given}) or result)

    stub("informed_run", PanelRun("informed", Tier.SEARCH, [pool_of().oracle], lambda columns: columns[0], None, 0.0))
    stub("run_pipelines", [])
    stub("solve_rate", CALIBRATION.solve_rate)
    stub("measure_lifts", CALIBRATION.lifts)
    return asked


def appraised(sizes, tmp_path, page=None):
    pool = pool_of()
    rendered = render(pool.spec.model_copy(update={"sizes": sizes}), SECRET)
    if page is not None:
        public = rendered.package.public | {"description.md": page.encode()}
        rendered = type(rendered)(
            rendered.package.model_copy(update={"public": public}),
            rendered.answers,
            rendered.observed,
            rendered.streams,
        )
    (tmp_path / "train.csv").write_bytes(pool.train)
    (tmp_path / "test.csv").write_bytes(pool.test)
    panel = Panel(tmp_path, told_of(pool.brief))
    (trivial,) = made_up(pool, noise_of(pool), [TRIVIAL])
    return appraise(CALIBRATION, pool, panel, trivial, rendered, Streams(SECRET, "appraise"))


def test_measures_are_added_and_the_board_is_left_alone(calls, tmp_path):
    measured = appraised(SMALL, tmp_path)
    assert measured.solve_rate == CALIBRATION.solve_rate
    assert measured.lifts == CALIBRATION.lifts
    assert 0 <= measured.no_data < 0.2
    untouched = {"informed": None, "no_data": 0.0}
    assert measured.model_copy(update=untouched) == CALIBRATION.model_copy(update=untouched)


def test_the_informed_solver_is_scored_on_the_published_final_part(calls, tmp_path):
    from sandmill.metrics import get_metric

    pool = pool_of()
    final = pool.first(Part.FINAL, SMALL.final)
    expected = get_metric(pool.brief.metric).rounded(pool.truth[final], pool.oracle[final])
    assert appraised(SMALL, tmp_path).informed == expected
    assert calls["informed_run"][2:] == (pool.train_draw.observed, pool.test_draw.observed)


def test_an_informed_solver_that_fails_leaves_its_score_out(calls, tmp_path, monkeypatch):
    failed = PanelRun("informed", Tier.SEARCH, None, None, "no", 0.0)
    monkeypatch.setattr(appraisal, "informed_run", lambda *_: failed)
    assert appraised(SMALL, tmp_path).informed is None


@pytest.mark.parametrize(
    ("sizes", "feedback", "final"),
    [(SMALL, SMALL.feedback, SMALL.final), (LARGE, MOST_FEEDBACK, MOST_FINAL)],
    ids=["small", "large"],
)
def test_pipelines_answer_the_first_rows_of_each_part(calls, tmp_path, sizes, feedback, final):
    appraised(sizes, tmp_path)
    pool = pool_of()
    rows = np.r_[pool.first(Part.FEEDBACK, feedback), pool.first(Part.FINAL, final)]
    np.testing.assert_array_equal(calls["run_pipelines"][2], rows)
    _, truth, on_feedback, on_final, bronze, *_ = calls["solve_rate"]
    np.testing.assert_array_equal(truth, pool.truth[rows])
    assert (on_feedback, on_final) == (slice(0, feedback), slice(feedback, feedback + final))
    assert bronze == CALIBRATION.thresholds.bronze


def test_lifts_are_measured_on_fresh_training_rows_and_the_published_final_part(calls, tmp_path):
    appraised(SMALL, tmp_path)
    pool = pool_of()
    spec, _, draws, graded = calls["measure_lifts"]
    assert spec.sizes == SMALL
    assert len(draws) == DRAWS
    assert all(len(draw.target) == SMALL.train for draw, _ in draws)
    assert not any(np.array_equal(draw.target, pool.train_draw.target) for draw, _ in draws)
    np.testing.assert_array_equal(graded.truth, pool.truth[pool.first(Part.FINAL, SMALL.final)])


def test_a_test_whose_order_tells_the_answers_is_rejected(calls, tmp_path, monkeypatch):
    pool = pool_of()
    order, is_final = pool.published(SMALL)
    telling = order[np.lexsort((pool.truth[order], is_final))]
    monkeypatch.setattr(type(pool), "published", lambda self, sizes: (telling, np.sort(is_final)))
    with pytest.raises(ItemRejected, match="no_data"):
        appraised(SMALL, tmp_path)


def test_the_page_that_is_searched_for_numbers_is_the_published_one(calls, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(appraisal, "best_without_data", lambda page, *_: asked.append(page) or 0.01)
    page = make_package().public["description.md"].decode()
    assert appraised(SMALL, tmp_path, page).no_data == 0.01
    assert asked == [page]
