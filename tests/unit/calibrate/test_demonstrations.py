"""Short scripts with stated facts: they run, read tables alone, answer in every form, and use what is stated."""

import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest

from sandmill.calibrate.conditions import run_source
from sandmill.calibrate.fact_arrays import fact_arrays
from sandmill.calibrate.panel import Panel
from sandmill.calibrate.readers import Stated, stated_facts
from sandmill.calibrate.rungs import GradedTest
from sandmill.calibrate.scripts import BLOCKS
from sandmill.calibrate.scripts.choose import write_ladder
from sandmill.calibrate.scripts.demonstrations import STYLES, demonstration, with_id
from sandmill.calibrate.solver_runs import SolverRuns
from sandmill.calibrate.stated_lines import insight_lines, insight_table
from sandmill.draw import Rendered, render
from sandmill.kinds.files.base import write_files
from sandmill.mechanism.rule import evaluate_motif
from sandmill.models import motifs
from sandmill.models.base import Band
from sandmill.models.columns import Categorical, Column, LogNormal, Normal
from sandmill.models.faults import Duplicates, MixedTypes
from sandmill.models.mechanism import Mechanism, Subgroup
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import MetricName, TargetKind
from sandmill.scoring import get_metric
from sandmill.scoring.base import Array
from sandmill.scoring.gap import gap_closed
from sandmill.scoring.submission import parse_submission
from tests.designs import SECRET, make_spec, with_small_test
from tests.hinted_designs import small_rendered

NUMBER = (TargetKind.REGRESSION, MetricName.RMSE)
FORMS = [
    (TargetKind.BINARY, MetricName.F1),
    (TargetKind.MULTICLASS, MetricName.MAP_AT_K),
    (TargetKind.COUNT, MetricName.POISSON_DEVIANCE),
]
RARE_FORMS = [
    (TargetKind.BINARY, MetricName.LOG_LOSS),
    (TargetKind.MULTICLASS, MetricName.BALANCED_ACCURACY),
    (TargetKind.MULTICLASS, MetricName.LOG_LOSS),
    (TargetKind.MULTILABEL, MetricName.F1_SAMPLES),
    (TargetKind.MULTILABEL, MetricName.ROC_AUC_COLUMNS),
    (TargetKind.MULTI_TARGET, MetricName.RMSE_COLUMNS),
    (TargetKind.ORDINAL, MetricName.QWK),
    (TargetKind.REGRESSION, MetricName.RMSLE),
]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Rendered, str], Array]:
    """Run a script where there are the CSV files of a task and nothing else, and read its submission."""

    def run(made: Rendered, source: str) -> Array:
        (tmp_path / "public").mkdir(exist_ok=True)
        for name, content in made.package.public.items():
            if name.endswith(".csv"):
                (tmp_path / "public" / name).write_bytes(content)
        monkeypatch.chdir(tmp_path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(source, "script", "exec"), {})
        content, answers = (tmp_path / "submission.csv").read_bytes(), made.answers
        return parse_submission(content, made.package.facts, answers.ids, answers.lengths)

    return run


def train_of(made: Rendered, folder: Path) -> pd.DataFrame:
    path = folder / "train.csv"
    path.write_bytes(made.package.public["train.csv"])
    return pd.read_csv(path)


def stated_of(made: Rendered) -> Stated:
    return stated_facts(made.package.spec, made.package.public)


@pytest.mark.parametrize(
    ("target", "metric"), [*FORMS, *(pytest.param(*form, marks=pytest.mark.slow) for form in RARE_FORMS)]
)
def test_answers_of_every_form_are_valid_and_better_than_the_sample(
    target: TargetKind, metric: MetricName, play: Callable[[Rendered, str], Array], tmp_path: Path
) -> None:
    made = render(with_small_test(make_spec(target, metric, 1), 200, 300), SECRET)
    package, sign = made.package, -1 if get_metric(metric).is_lower_better else 1

    said = play(made, demonstration(package.facts, train_of(made, tmp_path), stated_of(made), "trees"))

    sample = parse_submission(
        package.public["sample_submission.csv"], package.facts, made.answers.ids, made.answers.lengths
    )
    scores = [sign * (get_metric(metric).score(made.answers.truth, answer) or 0.0) for answer in (said, sample)]
    assert scores[0] > scores[1]


@pytest.mark.parametrize(
    "style", [pytest.param(style, marks=[] if style == "linear" else pytest.mark.slow) for style in STYLES]
)
def test_every_style_runs_and_uses_the_facts_that_it_is_given(
    style: str, play: Callable[[Rendered, str], Array], tmp_path: Path
) -> None:
    made = small_rendered(0, NUMBER)
    package, stated, train = made.package, stated_of(made), train_of(made, tmp_path)
    reading = play(made, demonstration(package.facts, train, stated, style))
    blind = play(made, demonstration(package.facts, train, stated, style, use=()))
    arrays = fact_arrays(tmp_path / "public", package.facts, package.spec, made.test_draw.observed, made.oracle)
    assert arrays

    def caught(said: Array) -> float:
        return float(np.mean([one.value for one in arrays.meter().measure(np.asarray(said, dtype=float)) if one]))

    assert caught(blind) < 0.3
    assert caught(reading) > caught(blind)


def test_a_blind_script_names_no_fact_and_one_fact_is_used_alone(tmp_path: Path) -> None:
    made = small_rendered(0, NUMBER)
    package, stated, train = made.package, stated_of(made), train_of(made, tmp_path)
    forms = [(place, fact.name) for place, fact in enumerate(stated.facts) if fact.fact == "form"]
    blind = demonstration(package.facts, train, stated, "linear", use=())
    one = demonstration(package.facts, train, stated, "linear", use=(forms[0][0],))

    assert "state" not in blind
    assert not any(f'"{name}"' in blind for _, name in forms)
    assert [name for _, name in forms if f'"{name}"' in one] == [forms[0][1]]
    assert len(blind) < 1000


def test_a_level_that_holds_the_word_id_stays_as_it_is() -> None:
    line = 'df["shelf"] = df[ID].map({"ID-055": 1.5, "ID": 2.0, "a \\"ID": 3.0})'

    assert with_id(line, "loan") == line.replace("df[ID]", 'df["loan"]')


FIRST, SECOND = "size", "warmth"
"""Normal columns of `plain_spec`."""
SKEWED, OTHER_SKEWED = "mass", "price"
"""Its lognormal columns."""
GROUP, OTHER_GROUP = "town", "shade"
"""Its categories."""
COLUMNS = (
    Column(name=FIRST, distribution=Normal(mean=50, sd=10), decimals=3),
    Column(name=SECOND, distribution=Normal(mean=20, sd=5), decimals=3),
    Column(name=SKEWED, distribution=LogNormal(median=40, sigma=0.8), decimals=3),
    Column(name=OTHER_SKEWED, distribution=LogNormal(median=9, sigma=0.6), decimals=3),
    Column(name=GROUP, distribution=Categorical(levels=("ash", "new bell", "cod"), shares=(0.4, 0.35, 0.25))),
    Column(name=OTHER_GROUP, distribution=Categorical(levels=("dark", "pale"), shares=(0.5, 0.5))),
)
"""Independent of each other."""


def plain_spec() -> TaskSpec:
    """A regression design with the independent columns above, whose texts state nothing."""
    spec = make_spec(TargetKind.REGRESSION, MetricName.RMSE, band=Band.EASY)
    meanings = {column.name: f"The {column.name}" for column in COLUMNS}
    terms = (motifs.Term(motif=motifs.Linear(column=FIRST), weights=(1.5,)),)
    changed = {"columns": COLUMNS, "terms": terms, "pathologies": (), "subgroup": None, "limits": ()}
    return spec.model_copy(
        update={
            "mechanism": Mechanism.model_validate(spec.mechanism.model_copy(update=changed).model_dump()),
            "story": spec.story.model_copy(update={"column_meanings": meanings}),
        }
    )


def with_rule(spec: TaskSpec, *parts: motifs.Motif) -> TaskSpec:
    """The design with another rule, without faults, and with few test rows."""
    outputs = len(spec.mechanism.terms[0].weights)
    terms = tuple(motifs.Term(motif=motif, weights=(1.5,) * outputs) for motif in parts)
    changed = {"terms": terms, "pathologies": (), "subgroup": None}
    mechanism = Mechanism.model_validate(spec.mechanism.model_copy(update=changed).model_dump())
    return with_small_test(spec.model_copy(update={"mechanism": mechanism}), 500, 1500)


SPEC = plain_spec()
LEVELS = {
    one.name: one.distribution.levels for one in SPEC.mechanism.columns if isinstance(one.distribution, Categorical)
}


def tables(mechanism: Mechanism) -> tuple[pd.DataFrame, dict]:
    """Training rows after the lines, and the same rows as numbers."""
    spec = SPEC.model_copy(update={"mechanism": mechanism})
    rendered = render(spec, SECRET)
    frames = {}
    for name in ("train", "test"):
        path = rendered.package.public[f"{name}.csv"]
        frames[name] = pd.read_csv(pd.io.common.BytesIO(path), keep_default_na=False, na_values=[""])
    names = {"np": np, "pd": pd, "public": ".", "ID": rendered.package.facts.id_column, **frames}
    run_source("\n".join(insight_lines(mechanism, frames["train"])), names)
    return names["train"], rendered.train_draw.observed


@pytest.mark.parametrize(
    "motif",
    [
        motifs.Curve(column=SKEWED),
        motifs.Saturation(column=SKEWED, steepness=1.5),
        motifs.Difference(left=SKEWED, right=FIRST),
        motifs.Interaction(left=SKEWED, right=FIRST),
        motifs.Bottleneck(left=SKEWED, right=FIRST),
    ],
    ids=lambda motif: motif.motif,
)
def test_a_smooth_form_is_that_of_the_rule(motif):
    spec = with_rule(SPEC, motif)
    made, cells = tables(spec.mechanism)
    (form,) = [
        name for name in made if name not in SPEC.mechanism.column_by_name and name not in ("id", SPEC.story.target)
    ]
    expected = evaluate_motif(motif, spec.mechanism.column_by_name, cells)
    assert made[form].to_numpy() == pytest.approx(expected, rel=1e-5, abs=1e-5)
    assert SKEWED not in made


def test_steps_windows_and_waves_are_those_of_the_rule():
    middle = SPEC.mechanism.column_by_name[SKEWED].distribution.median
    terms = (
        motifs.Threshold(column=SKEWED, cut=middle),
        motifs.BetweenCuts(column=SKEWED, low=middle, high=middle * 1.3),
        motifs.Periodic(column=SKEWED, period=middle, phase=0.4),
    )
    spec = with_rule(SPEC, *terms)
    made, cells = tables(spec.mechanism)
    step, window, wave = (evaluate_motif(motif, spec.mechanism.column_by_name, cells) for motif in terms)
    assert made[f"step_of_{SKEWED}"].to_numpy() == pytest.approx(step)
    assert made[f"window_of_{SKEWED}"].to_numpy() == pytest.approx(window)
    turned = np.cos(0.4) * made[f"sin_of_{SKEWED}"] + np.sin(0.4) * made[f"cos_of_{SKEWED}"]
    assert turned.to_numpy() == pytest.approx(wave, abs=1e-5)


def test_effects_of_levels_become_categories_and_slopes():
    slopes = tuple(float(place) for place in range(len(LEVELS[GROUP])))
    crossed = tuple(tuple(0.5 for _ in LEVELS[OTHER_GROUP]) for _ in LEVELS[GROUP])
    terms = (
        motifs.VaryingSlope(column=SKEWED, by=GROUP, slopes=slopes),
        motifs.CrossedLookup(left=GROUP, right=OTHER_GROUP, effects=crossed),
        motifs.Lookup(column=OTHER_GROUP, effects=tuple(0.1 for _ in LEVELS[OTHER_GROUP])),
    )
    spec = with_rule(SPEC, *terms)
    made, cells = tables(spec.mechanism)
    sloped = sum(
        slope * made[f"{SKEWED}_where_{GROUP}_{level.replace(' ', '_')}"]
        for slope, level in zip(slopes, LEVELS[GROUP], strict=True)
    )
    assert sloped.to_numpy() == pytest.approx(evaluate_motif(terms[0], spec.mechanism.column_by_name, cells), abs=1e-5)
    codes = [
        LEVELS[GROUP][int(one)] + " and " + LEVELS[OTHER_GROUP][int(other)]
        for one, other in zip(cells[GROUP], cells[OTHER_GROUP], strict=True)
    ]
    assert made[f"{GROUP}_and_{OTHER_GROUP}"].tolist() == codes
    assert OTHER_GROUP in made
    assert GROUP not in made


def test_a_rule_of_a_hidden_subgroup_has_a_slope_for_each_level_that_makes_it_likely():
    subgroup = Subgroup(by=GROUP, shares=(0.9, 0.1, 0.2))
    spec = with_rule(SPEC, motifs.LocalRule(column=SKEWED))
    made, cells = tables(spec.mechanism.model_copy(update={"subgroup": subgroup}))
    slopes = [made[f"{SKEWED}_where_{GROUP}_{level.replace(' ', '_')}"] for level in LEVELS[GROUP]]
    expected = evaluate_motif(motifs.Curve(column=SKEWED), spec.mechanism.column_by_name, cells)
    assert (sum(slopes) ** 2).to_numpy() == pytest.approx(expected, rel=1e-5, abs=1e-5)
    assert SKEWED not in made


def test_a_ratio_of_columns_with_units_behind_numbers_is_read():
    spec = with_rule(SPEC, motifs.Ratio(numerator=SKEWED, denominator=OTHER_SKEWED))
    mixed = spec.mechanism.model_copy(update={"pathologies": (MixedTypes(column=SKEWED, rate=0.3, suffix="kg"),)})
    made, cells = tables(mixed)
    expected = np.log(cells[SKEWED] / cells[OTHER_SKEWED])
    assert made[f"{SKEWED}_per_{OTHER_SKEWED}"].to_numpy() == pytest.approx(expected, rel=1e-5, abs=1e-5)


def panel_of(made: Rendered, folder: Path) -> Panel:
    """Write the files of a task into a folder, and read them."""
    write_files(folder, made.package.public)
    return Panel(folder, made.package.facts)


@pytest.mark.slow
def test_the_reference_script_knows_the_forms_and_runs_alone(tmp_path):
    """Blind scripts close little of the gap of products of two columns; the insight script most of it."""
    spec = with_rule(SPEC, motifs.Interaction(left=SKEWED, right=FIRST), motifs.Curve(column=SECOND))
    made = render(spec, SECRET)
    package, answers, panel = made.package, made.answers, panel_of(made, tmp_path)
    test = GradedTest(answers.truth, answers.is_final, get_metric(spec.metric))
    reader = insight_table(tmp_path, package.facts, spec.mechanism)
    scripts = write_ladder(panel.table, tmp_path, test, reader)
    trivial = get_metric(spec.metric).score(answers.truth, panel.run(["prior"])[0].prediction)
    oracle = get_metric(spec.metric).score(answers.truth, made.oracle)
    out = tmp_path / "out.csv"
    (tmp_path / "solution.py").write_text(scripts[0].source)
    command = [sys.executable, str(tmp_path / "solution.py"), str(tmp_path), str(out)]
    subprocess.run(command, check=True, env={"OMP_NUM_THREADS": "1"})
    said = parse_submission(Path(out).read_bytes(), package.facts, answers.ids)
    final = answers.is_final
    score = get_metric(spec.metric).rounded(answers.truth[final], said[final])
    assert score == scripts[0].score.final
    assert gap_closed(score, trivial, oracle) > 0.8
    assert "add_insight" in scripts[0].source
    assert "add_insight" not in scripts[1].source


def wave():
    """A design whose rule is one wave over a column that is spread widely."""
    return with_rule(plain_spec(), motifs.Periodic(column=FIRST, period=21, phase=0.8))


def closed(made: Rendered, panel: Panel, *names: str) -> dict[str, float]:
    """Gap closed by the informed solver and by entries."""
    package, truth = made.package, made.answers.truth
    metric, mechanism = get_metric(package.spec.metric), package.spec.mechanism
    with TemporaryDirectory() as folder:
        contest = SolverRuns(Path(folder), package.public, package.facts, Stated(()))
        informed = contest.run_informed(mechanism)
        assert contest.run_informed(mechanism) is informed
    assert informed.failure is None
    runs = {run.name: run.prediction for run in [informed, *panel.run(["prior", *names])]}
    scores = {name: metric.score(truth, prediction) for name, prediction in runs.items()}
    oracle = metric.score(truth, made.oracle)
    return {name: gap_closed(score, scores["prior"], oracle) for name, score in scores.items()}


def test_it_beats_linear_models_where_the_rule_is_a_wave(tmp_path):
    made = render(wave(), SECRET)
    gaps = closed(made, panel_of(made, tmp_path), "linear", "linear_tuned")
    assert gaps["informed"] > 0.9
    assert gaps["informed"] > max(gaps["linear"], gaps["linear_tuned"]) + 0.5
    assert gaps["informed"] < 1.01


def test_copies_that_the_panel_drops_leave_rows_and_cells_together(tmp_path):
    spec = wave()
    copied = spec.mechanism.model_copy(update={"pathologies": (Duplicates(rate=0.3),)})
    made = render(spec.model_copy(update={"mechanism": copied}), SECRET)
    panel = panel_of(made, tmp_path)
    assert len(panel.table.kept) < 0.9 * spec.sizes.train
    assert closed(made, panel)["informed"] > 0.9


def test_it_reads_cells_as_the_texts_explain_them():
    rendered = small_rendered(0, (TargetKind.REGRESSION, MetricName.RMSE))
    package, metric = rendered.package, get_metric(MetricName.RMSE)
    assert {"form", "sentinel", "units"} & {hint.fact.fact for hint in package.spec.hints}
    with TemporaryDirectory() as folder:
        contest = SolverRuns(Path(folder), package.public, package.facts, stated_facts(package.spec, package.public))
        informed = contest.run_informed(package.spec.mechanism)
        blind = contest.run(["linear_tuned"])[0]
    assert informed.failure is None
    truth = rendered.answers.truth
    assert metric.score(truth, informed.prediction) < 0.9 * metric.score(truth, blind.prediction)


@pytest.mark.parametrize("name", BLOCKS["models"])
def test_models_that_draw_numbers_have_a_seed(name):
    for source in BLOCKS["models"][name].values():
        if any(word in str(source) for word in ("ExtraTrees", "liblinear", "probability=True")):
            assert "random_state=0" in source
