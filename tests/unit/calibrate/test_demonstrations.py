"""Short scripts with stated facts: they run, read tables alone, answer in every form, and use what is stated."""

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sandmill.calibrate.fact_arrays import fact_arrays
from sandmill.calibrate.readers import Stated, stated_facts
from sandmill.calibrate.scripts.demonstrations import STYLES, demonstration, with_id
from sandmill.draw import Rendered, render
from sandmill.models.structure import MetricName, TargetKind
from sandmill.scoring import get_metric
from sandmill.scoring.base import Array
from sandmill.scoring.submission import parse_submission
from tests.designs import SECRET, make_spec
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
    spec = make_spec(target, metric, 1)
    made = render(
        spec.model_copy(update={"sizes": spec.sizes.model_copy(update={"feedback": 200, "final": 300})}), SECRET
    )
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
