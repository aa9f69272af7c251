"""Readers: stated facts become columns that carry what the mechanism uses, and models that use them."""

import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from sandmill.calibrate.conditions import run_source
from sandmill.calibrate.panel import Panel
from sandmill.calibrate.readers import READERS, Stated, read_table, run_readers, stated_facts
from sandmill.calibrate.scripts.decisions import decisions_of
from sandmill.calibrate.scripts.findings import find
from sandmill.calibrate.scripts.members import members_of
from sandmill.calibrate.scripts.write import write_script
from sandmill.calibrate.stated_lines import child_block, decoding_lines, form_lines
from sandmill.mechanism.rule import evaluate_motif
from sandmill.models.calibration import Tier
from sandmill.models.columns import Categorical, ChildTable, Column, LogNormal, Normal
from sandmill.models.hints import Form, Hint, InText, Passage, SameUnits, Sentinel, Units
from sandmill.models.motifs import Aggregate, CodeValue, Condition, Conditional, Distance, Formula, NormDistance
from sandmill.models.package import TaskFacts
from tests.hinted_designs import hinted

ROWS = 400
WOODS = Categorical(levels=("ash", "oak", "fir"), shares=(0.3, 0.3, 0.4))
COLUMNS = {
    "load": Column(name="load", distribution=LogNormal(median=40, sigma=0.8)),
    "tare": Column(name="tare", distribution=LogNormal(median=12, sigma=0.3)),
    "width": Column(name="width", distribution=LogNormal(median=3, sigma=0.4)),
    "heat": Column(name="heat", distribution=Normal(mean=20, sd=4)),
    "wood": Column(name="wood", distribution=WOODS, decimals=0),
}
LEVELS = {"wood": ("ash", "oak", "fir")}
MOTIFS = [
    Formula(top=(("load", "tare"),), bottom=(("width",), ("width",))),
    Formula(top=(("load",), ("tare",), ("width",))),
    Formula(top=(("load",), ("tare",)), bottom=(("width",),), above=160.0),
    Formula(top=(("load",), ("tare",)), bottom=(("width",),), norm=160.0),
    Conditional(when=(Condition(column="heat", above=21.005), Condition(column="wood", levels=(1, 2)))),
    Conditional(column="load", when=(Condition(column="heat", at_most=19.005),)),
    NormDistance(column="load", by="wood", norms=(20.0, 40.0, 90.0)),
    NormDistance(column="heat", by="wood", norms=(15.0, 20.0, 26.0)),
    CodeValue(column="wood", attribute="density", values=(0.7, 0.75, 0.5)),
    Distance(start=("heat", "tare"), end=("width", "load")),
    Distance(start=("heat", "tare"), end=("width", "load"), above=4000.0),
    Distance(start=("heat", "tare"), end=("width", "load"), norm=3000.0),
]
CHILD = ChildTable(
    name="calls",
    row="one call",
    kind="topic",
    kind_meaning="Topic",
    kinds=("rent", "repair", "other"),
    shares=(0.4, 0.3, 0.3),
    amount="minutes",
    amount_meaning="Minutes",
    amount_median=4,
    amount_sigma=0.5,
    age="days_ago",
    age_meaning="Days",
    horizon=100,
    events=4,
)

PRICED = TaskFacts(
    id_column="id",
    target_column="price",
    target="regression",
    metric="rmse",
    encoding="value",
    submission_columns=("price",),
)


@pytest.fixture
def cells():
    rng = np.random.default_rng(5)
    return {
        "load": np.round(40 * np.exp(0.8 * rng.normal(size=ROWS)), 2),
        "tare": np.round(12 * np.exp(0.3 * rng.normal(size=ROWS)), 2),
        "width": np.round(3 * np.exp(0.4 * rng.normal(size=ROWS)), 2),
        "heat": np.round(20 + 4 * rng.normal(size=ROWS), 2),
        "wood": rng.integers(3, size=ROWS).astype(float),
    }


def frame_of(cells):
    frame = pd.DataFrame(cells)
    frame["wood"] = [LEVELS["wood"][int(code)] for code in cells["wood"]]
    return frame.assign(id=[f"r{row}" for row in range(ROWS)])


def run_lines(lines, frame, **names):
    space = {"pd": pd, "np": np, "df": frame.copy(), "train": frame, "ID": "id", **names}
    run_source("\n".join(lines), space)
    return space["df"]


@pytest.mark.parametrize("motif", MOTIFS, ids=lambda motif: motif.motif)
def test_a_stated_quantity_is_what_the_rule_uses(motif, cells):
    frame = frame_of(cells)
    lines = form_lines(Stated((Form(name="said", motif=motif),), LEVELS), frame)
    made = run_lines(lines, frame)["said"].to_numpy()
    wanted = evaluate_motif(motif, COLUMNS, cells)
    assert abs(np.corrcoef(made, wanted)[0, 1]) > 0.99


def test_codes_become_what_they_stand_for(cells):
    frame, true = frame_of(cells), cells["heat"].copy()
    fahrenheit = cells["wood"] == 1
    frame.loc[fahrenheit, "heat"] = np.round(1.8 * true[fahrenheit] + 32, 2)
    frame.loc[3, "load"] = -999
    frame["remark"] = [
        f"Came at noon. Weighed {width} tons of {wood}."
        for width, wood in zip(frame["width"], frame["wood"], strict=True)
    ]
    frame = frame.drop(columns="width")
    facts = (
        InText(column="width", notes="remark", pattern=r"Weighed ([\d.]+) tons"),
        InText(column="kind", notes="remark", pattern=r"tons of (\w+)", levels=LEVELS["wood"]),
        Sentinel(column="load", value=-999),
        Units(column="heat", by="wood", factors=(1, 1.8, 1), offsets=(0, 32, 0)),
    )
    made = run_lines(decoding_lines(Stated(facts, LEVELS), frame), frame)
    np.testing.assert_allclose(made["heat"], true, atol=0.01)
    np.testing.assert_allclose(made["width"], cells["width"])
    assert list(made["kind"]) == list(made["wood"])
    assert np.isnan(made["load"][3])
    assert made["load"].isna().sum() == 1
    assert "remark" not in made


EVENTS = pd.DataFrame(
    {
        "id": ["r0", "r0", "r0", "r1"],
        "topic": ["rent", "repair", "rent", "other"],
        "minutes": [3.0, 4.0, 5.0, 7.0],
        "days_ago": [2, 40, 60, 9],
    }
)


@pytest.mark.parametrize(
    ("motif", "expected"),
    [
        (Aggregate(how="sum"), np.log1p([12.0, 7.0, 0.0])),
        (Aggregate(how="sum", kinds=(0,), days=50), np.log1p([3.0, 0.0, 0.0])),
        (Aggregate(how="count", kinds=(0, 1)), [3.0, 0.0, 0.0]),
        (Aggregate(how="mean", kinds=(0,)), np.log1p([4.0, 0.0, 0.0])),
        (Aggregate(how="share", kinds=(0,)), [8 / 12, 0.0, 0.0]),
        (Aggregate(how="trend", days=30), np.log1p([3.0, 7.0, 0.0]) - np.log1p([9.0, 0.0, 0.0])),
        (Aggregate(how="recency", kinds=(1,)), [40.0, 100.0, 100.0]),
    ],
    ids=lambda case: getattr(case, "how", ""),
)
def test_a_summary_of_events_has_its_value(motif, expected, cells, tmp_path):
    EVENTS.to_csv(tmp_path / "calls.csv", index=False)
    stated = Stated((Form(name="said", motif=motif),), {}, CHILD)
    frame = frame_of(cells)
    made = run_lines([*child_block(stated), *form_lines(stated, frame)], frame, public=str(tmp_path))
    np.testing.assert_allclose(made["said"][:3], expected)


def error(prediction, truth):
    return np.sqrt(np.mean((prediction - truth) ** 2))


def hinted_folder(cells, folder):
    """A task of which a stated formula explains nearly all."""
    frame = frame_of(cells)
    formula = evaluate_motif(MOTIFS[0], COLUMNS, cells)
    frame["price"] = np.round(formula + 0.1 * np.random.default_rng(1).normal(size=ROWS), 4)
    frame.iloc[:120].to_csv(folder / "train.csv", index=False)
    frame.iloc[120:].drop(columns="price").to_csv(folder / "test.csv", index=False)
    return frame["price"].to_numpy()[120:]


def test_every_reader_uses_what_is_stated(cells, tmp_path):
    truth = hinted_folder(cells, tmp_path)
    panel = Panel(tmp_path, PRICED)
    stated = Stated((Form(name="pressure", motif=MOTIFS[0]),), LEVELS)
    blind = panel.run(["hist_boosting", "linear"])
    table = read_table(panel, tmp_path, stated)
    runs = run_readers(panel, table)
    assert [run.name for run in runs] == list(READERS)
    assert {run.tier for run in runs} == {Tier.READER}
    assert not [run.failure for run in runs if run.failure]

    assert max(error(run.prediction, truth) for run in runs) < 0.75 * min(error(run.prediction, truth) for run in blind)


@pytest.mark.slow
def test_a_reader_of_units_wins_by_their_levels_and_a_script_can_do_so_too(tmp_path):
    """Units are pairs of two columns. Neither column says anything by itself, and rows of a unit are few."""
    rng = np.random.default_rng(8)
    yard, car = rng.integers(5, size=ROWS), rng.integers(6, size=ROWS)
    effects = rng.normal(size=(5, 6))
    effects = effects - effects.mean(axis=0) - effects.mean(axis=1, keepdims=True) + effects.mean()
    frame = pd.DataFrame({"id": [f"r{row}" for row in range(ROWS)], "heat": rng.normal(size=ROWS)})
    frame["yard"], frame["car"] = [f"yard_{one}" for one in yard], [f"car_{one}" for one in car]
    frame["price"] = effects[yard, car] + 0.3 * frame["heat"] + 0.4 * rng.normal(size=ROWS)
    frame.iloc[:150].to_csv(tmp_path / "train.csv", index=False)
    frame.iloc[150:].drop(columns="price").to_csv(tmp_path / "test.csv", index=False)
    truth = frame["price"].to_numpy()[150:]
    panel = Panel(tmp_path, PRICED)
    table = read_table(panel, tmp_path, Stated((SameUnits(name="taxi", columns=("yard", "car")),), {}))
    (blind,) = panel.run(["linear_tuned"])
    runs = {run.name: run for run in run_readers(panel, table, ("reader_linear", "reader_ensemble"))}

    assert max(error(run.prediction, truth) for run in runs.values()) < 0.85 * error(blind.prediction, truth)
    found = find(table)
    assert found.units == ("taxi",)
    assert found.columns["units"].weight > 1
    member = next(member for member in members_of(found) if member.name == "linear_units")
    source = write_script(found, (member,), decisions_of(found.facts)[0])
    assert 'UNITS = ["taxi"]' in source
    (tmp_path / "solution.py").write_text(source)
    subprocess.run([sys.executable, "solution.py", ".", "out.csv"], cwd=tmp_path, check=True)
    answer = pd.read_csv(tmp_path / "out.csv")["price"].to_numpy()
    assert error(answer, truth) == pytest.approx(error(runs["reader_linear"].prediction, truth), rel=0.03)


def test_facts_count_only_where_their_text_stands(cells):
    fact = Form(name="pressure", motif=MOTIFS[0])
    hints = (Hint(fact=fact, text="The pressure is so and so."), Hint(fact=fact, text="Elsewhere."))
    mechanism = SimpleNamespace(columns=tuple(COLUMNS.values()), child=None)
    spec = SimpleNamespace(hints=hints, mechanism=mechanism, channel=None)
    stated = stated_facts(spec, {"description.md": b"# Title\n\nThe pressure is so and so.\n"})
    assert stated.facts == (fact,)
    assert stated.levels == LEVELS
    assert not stated_facts(spec, {"description.md": b"Nothing."})
    assert re.fullmatch(r"\w+", fact.name)


def test_a_fact_in_two_places_is_stated_where_both_stand():
    second = Passage(file="data_dictionary.md", text="Gaps hold -9.")
    hint = Hint(fact=Sentinel(column="heat", value=-9.0), text="Gaps are filled.", level="spread", further=(second,))
    spec = hinted(0).model_copy(update={"hints": (hint,)})
    both = {"description.md": b"Gaps are filled.", "data_dictionary.md": b"Gaps hold -9."}
    assert stated_facts(spec, both).facts == (hint.fact,)
    for name in both:
        assert not stated_facts(spec, {**both, name: b"Nothing."}).facts
