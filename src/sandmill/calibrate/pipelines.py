"""How often agents solve a task: pipelines drawn from a frozen distribution, and the shares that reach medals."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from math import comb
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sandmill.calibrate.conditions import solver_conditions
from sandmill.calibrate.measure import band_of
from sandmill.calibrate.panel import Panel, PanelRun, Rows
from sandmill.models.calibration import Calibration, MedalHardness, SolveRate, Tier
from sandmill.scoring import Metric
from sandmill.scoring.base import SCORE_DECIMALS, Array, Floats

PIPELINES_VERSION = 3
"""Raise when anything below changes what a generator draws or what a pipeline says."""
PIPELINES = 64
Shares: TypeAlias = Mapping[str, float]
CHOICES: Mapping[str, Shares] = MappingProxyType(
    {
        "gaps": {"median": 0.35, "mean": 0.2, "zero": 0.2, "flagged": 0.15, "neighbours": 0.1},
        "numbers": {"standard": 0.35, "raw": 0.25, "robust": 0.1, "ranked": 0.1, "straightened": 0.2},
        "dates": {"days": 0.45, "calendar": 0.35, "left out": 0.2},
        "categories": {"levels": 0.45, "codes": 0.2, "means": 0.15, "common levels": 0.08, "left out": 0.12},
        "extras": {"none": 0.7, "squares and products": 0.14, "splines": 0.08, "steps": 0.08},
        "model": {
            "linear": 0.37,
            "naive Bayes": 0.12,
            "discriminant": 0.12,
            "support vectors": 0.1,
            "kernel": 0.05,
            "nearest neighbours": 0.1,
            "tree": 0.07,
            "forest": 0.04,
            "boosting": 0.03,
        },
        "decision": {"decide": 0.6, "likeliest": 0.4},
    }
)
"""The chance of each way to fill gaps in numbers, to scale them, to use dates, to encode categories, to make further
features, to predict, and to name classes (as the metric rewards, or the likeliest)."""
SETTINGS: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "linear": (0.02, 0.5, 2.0, 7.0, 20.0, 60.0, 150.0),
        "naive Bayes": (1e-3, 0.1, 0.3, 0.9),
        "discriminant": (1, 2, 3, 5),
        "support vectors": (0.1, 0.3, 3.0),
        "kernel": (0.2, 0.5, 2.0),
        "nearest neighbours": (2, 4, 6, 9, 12, 20, 30),
        "tree": (2, 4, 5, 6, 8),
        "forest": (10, 20, 30),
        "boosting": (20, 30, 40),
    }
)
"""The one setting of each model. None repeats an entry of the panel: no penalty of 1, 1000 or of the tuning grid, not
1, 3 or 15 neighbours, no tree of depth 1, 3 or without end, no forest of 5, 60 or 100 trees."""


@dataclass(frozen=True)
class Pipeline:
    """One way to go about a task, from cells to answer."""

    gaps: str
    numbers: str
    dates: str
    categories: str
    extras: str
    model: str
    decision: str
    setting: float

    @property
    def name(self) -> str:
        """All of its parts, so that equal names are equal pipelines."""
        *prepared, model, decision, setting = astuple(self)
        return f"{model} {setting:g} on {', '.join(prepared)}; {decision}"

    def load(self) -> Callable[[Any], Any]:
        """Make the solver when it runs: scikit-learn is slow to load."""

        def solver(table: Any) -> Any:
            from sandmill.calibrate.solvers.answers import spread_classes, target_scale

            model = _estimator(self, table)
            if table.facts.classes:
                model.fit(table.train, table.target)
                return spread_classes(model.predict_proba(table.test), model.classes_, table)
            center, scale = target_scale(table)
            return center + scale * np.ravel(
                model.fit(table.train, (table.target - center) / scale).predict(table.test)
            )

        solver.__name__ = self.name
        return solver

    def load_decision(self) -> Callable[[Any, Any], Any]:
        """Import what turns scores into an answer."""
        from sandmill.calibrate.solvers.decisions import decide

        return decide if self.decision == "decide" else _likeliest


def draw_pipelines(rng: np.random.Generator, count: int = PIPELINES) -> list[Pipeline]:
    """Draw pipelines from the frozen distribution; the same one may come twice."""
    return [_draw(rng) for _ in range(count)]


def run_pipelines(
    panel: Panel, rng: np.random.Generator, rows: NDArray[np.intp] | None = None, count: int = PIPELINES
) -> list[PanelRun]:
    """Draw pipelines and run each on the task. Those that raise or answer in the wrong form are failed runs.

    They never join the board, so their tier, naive, says nothing of them.
    """
    fresh = panel.without_cache(rows)
    with solver_conditions(is_finite=False), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return [
            fresh.run_solver(pipeline.name, Tier.NAIVE, pipeline.load, pipeline.load_decision)
            for pipeline in draw_pipelines(rng, count)
        ]


def _draw(rng: np.random.Generator) -> Pipeline:
    """Draw one number of the generator for each part, whatever is picked."""
    picked = {}
    for part, shares in CHOICES.items():
        edges = np.cumsum(list(shares.values()))
        picked[part] = list(shares)[int(np.searchsorted(edges, rng.random() * edges[-1], side="right"))]
    settings = SETTINGS[picked["model"]]
    return Pipeline(**picked, setting=settings[int(rng.random() * len(settings))])


def _likeliest(scores: Any, table: Any) -> Any:
    """Name the likeliest class whatever the metric rewards; other answers as usual."""
    from sandmill.calibrate.solvers.decisions import decide

    return scores.argmax(axis=1) if table.facts.encoding == "label" else decide(scores, table)


def _estimator(pipeline: Pipeline, table: Any) -> Any:
    """Make the scikit-learn pipeline for a table.

    Raises:
        ValueError: if there is nothing to fit on.
    """
    from sklearn import compose, impute, preprocessing
    from sklearn.pipeline import FeatureUnion, make_pipeline

    kinds = table.kinds
    numbers = [name for name in kinds.numeric if name not in kinds.dates or pipeline.dates != "left out"]
    numbers += kinds.calendar if pipeline.dates == "calendar" else []
    categories = kinds.categorical if pipeline.categories != "left out" else []
    if not numbers and not categories:
        raise ValueError("a pipeline without features")
    fillings: dict[str, Callable[[], Any]] = {
        "median": partial(impute.SimpleImputer, strategy="median"),
        "mean": impute.SimpleImputer,
        "zero": partial(impute.SimpleImputer, strategy="constant", fill_value=0.0),
        "flagged": partial(impute.SimpleImputer, strategy="median", add_indicator=True),
        "neighbours": impute.KNNImputer,
    }
    scalings: dict[str, Callable[[], Any]] = {
        "standard": preprocessing.StandardScaler,
        "raw": lambda: "passthrough",
        "robust": preprocessing.RobustScaler,
        "ranked": partial(preprocessing.QuantileTransformer, n_quantiles=50),
        "straightened": preprocessing.PowerTransformer,
    }
    extras: dict[str, Callable[[], Any]] = {
        "squares and products": partial(preprocessing.PolynomialFeatures, include_bias=False),
        "splines": partial(preprocessing.SplineTransformer, n_knots=4, include_bias=False),
        "steps": partial(
            preprocessing.KBinsDiscretizer, 4, encode="onehot-dense", quantile_method="averaged_inverted_cdf"
        ),
    }
    encodings: dict[str, Callable[[], Any]] = {
        "levels": partial(preprocessing.OneHotEncoder, handle_unknown="ignore", sparse_output=False),
        "codes": partial(preprocessing.OrdinalEncoder, handle_unknown="use_encoded_value", unknown_value=-1),
        "means": partial(preprocessing.TargetEncoder, random_state=0),
        "common levels": partial(
            preprocessing.OneHotEncoder, handle_unknown="ignore", sparse_output=False, min_frequency=0.1
        ),
    }
    steps = []
    if numbers:
        made = scalings[pipeline.numbers]()
        if pipeline.extras != "none":
            further = make_pipeline(extras[pipeline.extras](), preprocessing.StandardScaler())
            made = FeatureUnion([("numbers", made), ("extras", further)])
        steps.append(
            ("numbers", make_pipeline(fillings[pipeline.gaps](), preprocessing.StandardScaler(), made), numbers)
        )
    if categories:
        filled = impute.SimpleImputer(strategy="constant", fill_value="")
        steps.append(("categories", make_pipeline(filled, encodings[pipeline.categories]()), list(categories)))
    return make_pipeline(compose.ColumnTransformer(steps), _model(pipeline.model, pipeline.setting, table))


def _model(name: str, setting: float, table: Any) -> Any:
    """Make the model of a pipeline, for classes or for numbers."""
    from sklearn import discriminant_analysis, ensemble, linear_model, naive_bayes, neighbors, svm, tree
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.cross_decomposition import PLSRegression
    from sklearn.kernel_approximation import Nystroem
    from sklearn.pipeline import make_pipeline

    has_classes, whole = bool(table.facts.classes), int(setting)
    classes = max(1, len(table.facts.classes) - 1)
    ridge = linear_model.LogisticRegression(C=7.3, max_iter=100) if has_classes else linear_model.Ridge(1.0)
    models: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "linear": (
            partial(linear_model.LogisticRegression, C=7.3 / setting, max_iter=100),
            partial(linear_model.Ridge, setting),
        ),
        "naive Bayes": (
            partial(naive_bayes.GaussianNB, var_smoothing=setting),
            partial(linear_model.BayesianRidge, max_iter=2 + int(4 * setting)),
        ),
        "discriminant": (
            partial(discriminant_analysis.LinearDiscriminantAnalysis, solver="lsqr", shrinkage=setting / 6),
            partial(PLSRegression, whole),
        ),
        "support vectors": (
            lambda: CalibratedClassifierCV(svm.LinearSVC(C=setting / 10, random_state=0), cv=3, ensemble=False),
            partial(svm.SVR, C=setting),
        ),
        "kernel": (lambda: make_pipeline(Nystroem(gamma=setting / 20, random_state=0), ridge),) * 2,
        "nearest neighbours": (
            partial(neighbors.KNeighborsClassifier, whole),
            partial(neighbors.KNeighborsRegressor, whole),
        ),
        "tree": (
            partial(tree.DecisionTreeClassifier, max_depth=whole, min_samples_leaf=2, random_state=0),
            partial(tree.DecisionTreeRegressor, max_depth=whole, min_samples_leaf=2, random_state=0),
        ),
        "forest": (
            partial(ensemble.RandomForestClassifier, whole, min_samples_leaf=2, random_state=0),
            partial(ensemble.RandomForestRegressor, whole, min_samples_leaf=2, max_features=0.5, random_state=0),
        ),
        "boosting": (
            partial(
                ensemble.GradientBoostingClassifier, n_estimators=max(5, whole // classes), max_depth=2, random_state=0
            ),
            partial(ensemble.GradientBoostingRegressor, n_estimators=whole, max_depth=2, random_state=0),
        ),
    }
    return models[name][0 if has_classes else 1]()


ATTEMPTS = 3
RESAMPLES = 1000
GROUP = 8
"""Scripts of a group for medal hardness. A single script of the distribution seldom reaches silver, so its share alone
would call every task expert."""


def solve_rate(
    runs: Sequence[PanelRun],
    truth: Array,
    feedback_rows: Rows,
    final_rows: Rows,
    bronze: float,
    metric: Metric,
    rng: np.random.Generator,
) -> SolveRate:
    """Measure the share of agents that reach bronze: three pipelines each, the best on feedback submitted.

    Exact over all triples of the pipelines that were run. The interval, 5 % to 95 %, is what other draws of as many
    pipelines would have given.

    Raises:
        ValueError: for fewer runs than an agent makes.
    """
    if len(runs) < ATTEMPTS:
        raise ValueError(f"{len(runs)} runs; an agent tries {ATTEMPTS}")
    sign = -1 if metric.is_lower_better else 1
    feedback = [sign * _score(run, truth, feedback_rows, metric) for run in runs]
    final = [sign * _score(run, truth, final_rows, metric) for run in runs]
    order = np.argsort(-np.nan_to_num(feedback, nan=-np.inf), kind="stable")
    reached = (np.nan_to_num(final, nan=-np.inf) >= sign * bronze)[order]
    chances = choice_chances(len(runs), ATTEMPTS)
    drawn = np.sort(rng.integers(len(runs), size=(RESAMPLES, len(runs))), axis=1)
    low, high = np.quantile(reached[drawn] @ chances, (0.05, 0.95))
    value = round(float(reached @ chances), 6)
    return SolveRate(
        value=value,
        low=round(min(float(low), value), 6),
        high=round(min(max(float(high), value), 1.0), 6),
        pipelines=len(runs),
        attempts=ATTEMPTS,
        version=PIPELINES_VERSION,
    )


def reaches_silver(run: PanelRun, truth: Array, rows: Rows, metric: Metric, measured: Calibration) -> bool:
    """Whether a run reaches silver on some final rows."""
    if not run.has_run:
        return False
    score, silver = round(metric.score(truth, run.on(rows)), SCORE_DECIMALS), measured.thresholds.silver
    return score <= silver if measured.is_lower_better else score >= silver


def medal_hardness(reached: Sequence[Sequence[bool]], rng: np.random.Generator) -> MedalHardness:
    """Measure the chance that no script of a group reaches silver, by which scripts reach it on each training draw."""
    reaching = np.array(reached, dtype=float).mean(axis=0)
    drawn = reaching[rng.integers(len(reaching), size=(RESAMPLES, len(reaching)))].mean(axis=1)
    share = float(reaching.mean())
    value = round((1 - share) ** GROUP, 6)
    low, high = np.quantile((1 - drawn) ** GROUP, (0.05, 0.95))
    return MedalHardness(
        value=value,
        low=round(min(float(low), value), 6),
        high=round(max(float(high), value), 6),
        band=band_of(value),
        share=round(share, 6),
        scripts=GROUP,
        draws=len(reached),
        version=PIPELINES_VERSION,
    )


def choice_chances(items: int, attempts: int) -> Floats:
    """Share of all samples of a given size in which the item of each rank is the best one."""
    sets = comb(items, attempts)
    return np.array([comb(items - 1 - rank, attempts - 1) / sets for rank in range(items)])


def _score(run: PanelRun, truth: Array, rows: Rows, metric: Metric) -> float:
    """Score at the precision at which medals are decided, by the fast way; NaN for what failed or has no score."""
    if not run.has_run:
        return float("nan")
    return round(metric.score(truth[rows], run.on(rows)), SCORE_DECIMALS)
