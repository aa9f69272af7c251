"""The blind ensemble: frozen, blind to names, fit for every kind of target, and stronger than what is on the board."""

from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sandmill.calibrate.adversary import FROZEN, run_adversary, take_weights
from sandmill.calibrate.adversary.ensemble import WEIGHTS_KEYS
from sandmill.calibrate.panel import Panel
from sandmill.scoring import get_metric
from sandmill.scoring.gap import gap_closed
from tests.unit.calibrate.tables import ALL_PAIRS, Written, of_all_skills, standard, write_table
from tests.unit.calibrate.test_solvers import HARD, spoil

DIGEST = "7fa8eac35a73c50c"
"""Of what `blind_v1` predicts for `small_table`, at 6 significant digits. A changed ensemble needs a new name."""


def small_table(folder: Path, target: str = "binary", metric: str = "roc_auc", **changes) -> Written:
    return write_table(
        folder, target, metric, **({"rule": of_all_skills, "train": 60, "test": 80, "classes": 3} | changes)
    )


def panel_of(written: Written) -> Panel:
    return Panel(written.folder, written.facts)


def share(written: Written, prediction, panel: Panel) -> float:
    """Gap closed."""
    metric = get_metric(written.facts.metric)
    (prior,) = panel.run(["prior"])
    ends = [metric.score(written.truth, guess) for guess in (prior.prediction, written.oracle)]
    return gap_closed(metric.score(written.truth, prediction), *ends)


def test_the_frozen_adversary_predicts_what_it_always_has(tmp_path: Path):
    run = run_adversary(panel_of(small_table(tmp_path)))
    shown = " ".join(f"{value:.6g}" for value in run.prediction)
    assert run.name == FROZEN == "blind_v1"
    assert sha256(shown.encode()).hexdigest()[:16] == DIGEST


@pytest.mark.parametrize(
    ("target", "metric"), [("multiclass", "accuracy"), ("ordinal", "qwk"), ("multilabel", "roc_auc_columns")]
)
def test_it_solves_targets_of_several_forms(tmp_path: Path, target: str, metric: str):
    assert run_adversary(panel_of(small_table(tmp_path, target, metric))).failure is None


@pytest.mark.slow
@pytest.mark.parametrize(("target", "metric"), ALL_PAIRS)
def test_it_solves_every_metric(tmp_path: Path, target: str, metric: str):
    written = small_table(tmp_path, target, metric, train=100, test=600)
    panel = panel_of(written)
    run = run_adversary(panel)
    assert run.failure is None
    score = get_metric(metric)
    (prior,) = panel.run(["prior"])
    known, mine = (score.score(written.truth, one.prediction) for one in (prior, run))
    assert mine < known if score.is_lower_better else mine > known
    # The oracle of a list of classes is a table of probabilities, which is no answer.
    if written.facts.encoding not in ("ranked_list", "label_list"):
        assert share(written, run.prediction, panel) > 0.2


def test_names_of_columns_tell_it_nothing(tmp_path: Path):
    written = small_table(tmp_path)
    before = run_adversary(panel_of(written)).prediction
    for name in ("train.csv", "test.csv"):
        frame = pd.read_csv(tmp_path / name, dtype={"row_id": str})
        kept = ("row_id", "outcome")
        renamed = {column: f"x{place}" for place, column in enumerate(frame) if column not in kept}
        frame.rename(columns=renamed).to_csv(tmp_path / name, index=False)
    assert run_adversary(panel_of(written)).prediction.tobytes() == before.tobytes()


@pytest.mark.parametrize(("target", "metric"), [("binary", "roc_auc"), ("multi_target", "mae_columns")])
def test_it_leaves_no_trace_but_its_fits(tmp_path: Path, target: str, metric: str):
    panel = panel_of(small_table(tmp_path, target, metric))
    first, again = run_adversary(panel), run_adversary(panel)
    assert first.prediction.tobytes() == again.prediction.tobytes()
    assert panel.table.made == panel.table.seen == {}
    assert panel.table.learned


@pytest.mark.slow
def test_it_joins_child_tables(tmp_path: Path):
    written = write_table(tmp_path, "regression", "rmse", lambda table: standard(table["visits"]), add=with_visits)
    frames = [pd.read_csv(tmp_path / name, dtype={"row_id": str}) for name in ("train.csv", "test.csv")]
    visits = pd.concat(frames)[["row_id", "visits"]]
    for name, frame in zip(("train.csv", "test.csv"), frames, strict=True):
        frame.drop(columns="visits").to_csv(tmp_path / name, index=False)
    child = pl.DataFrame({"row_id": np.repeat(visits["row_id"].to_numpy(dtype=str), visits["visits"])})
    panel = panel_of(written)
    without, joined = (run_adversary(panel, tables) for tables in ({}, {"visits.csv": child}))
    assert share(written, without.prediction, panel) < 0.1
    assert share(written, joined.prediction, panel) > 0.9


def with_visits(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    return table.assign(visits=rng.poisson(6, len(table)))


def test_a_label_that_never_occurs_breaks_nothing(tmp_path: Path):
    written = small_table(tmp_path, "multilabel", "roc_auc_pairs")
    train = pd.read_csv(tmp_path / "train.csv", dtype={"row_id": str})
    train.assign(tag_b=0).to_csv(tmp_path / "train.csv", index=False)
    run = run_adversary(panel_of(written))
    assert run.failure is None
    assert (run.prediction[:, 1] == 0).all()


@pytest.mark.parametrize("fault", [*HARD][::3])
def test_it_copes_with(tmp_path: Path, fault: str):
    written = small_table(tmp_path, "regression", "rmse")
    spoil(written, HARD[fault])
    assert run_adversary(panel_of(written)).failure is None


def test_another_draw_takes_the_weights_and_predicts_on_the_scale_of_its_own_rows(tmp_path: Path):
    own, other = (
        panel_of(small_table(tmp_path / str(seed), "regression", "rmse", train=100, seed=seed)) for seed in (1, 2)
    )
    run_adversary(own)
    alone = run_adversary(panel_of(small_table(tmp_path / "2", "regression", "rmse", train=100, seed=2)))
    take_weights(other.table, own.table)
    weighed = run_adversary(other)
    assert weighed.failure is None
    assert other.table.learned[WEIGHTS_KEYS[0]] is own.table.learned[WEIGHTS_KEYS[0]]
    assert np.corrcoef(weighed.prediction, alone.prediction)[0, 1] > 0.95
    assert weighed.prediction.mean() == pytest.approx(alone.prediction.mean(), abs=0.2 * alone.prediction.std())
