"""The order of ten frozen solvers: on a real table, and on the tasks of its seed and of other seeds."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sandmill.draw import render
from sandmill.models.spec import Sizes, TaskSpec
from sandmill.models.structure import TargetKind
from sandmill.seeds.profile import Cells, areas_of, features_of

TRAIN, TEST = 150, 600
"""Rows that solvers learn from, and at most so many that they are scored on."""
_DRAWS = 6
"""Samples of a real table, of which the mean score counts."""
_RESAMPLES = 4000


def order_of_task(spec: TaskSpec, secret: bytes) -> tuple[float, ...]:
    """Score the solvers on one task: they learn from its rows, and are scored on training rows of its replicates."""
    wanted = spec.model_copy(update={"sizes": Sizes(train=TRAIN, feedback=100, final=100)})
    packages = [render(wanted, secret, replicate).package for replicate in range(1 + TEST // TRAIN)]
    facts = packages[0].facts
    rows = pl.concat([pl.read_csv(one.public["train.csv"], infer_schema=False) for one in packages], how="vertical")
    return _scores(rows.drop(facts.id_column), facts.target_columns[0], facts.target, [np.arange(len(rows))])


def order_of_table(frame: pl.DataFrame, target: str, kind: TargetKind) -> tuple[float, ...]:
    """Score the solvers on a real table, as the mean over samples of its rows."""
    rng = np.random.default_rng(0)
    draws = [rng.permutation(len(frame))[: TRAIN + TEST] for _ in range(_DRAWS)]
    return _scores(frame.select(pl.all().cast(pl.String)), target, kind, draws)


def _scores(
    frame: pl.DataFrame, target: str, kind: TargetKind, draws: Sequence[NDArray[np.int64]]
) -> tuple[float, ...]:
    """Return the mean score of each solver: area under ROC curves, or explained variance of ranks."""
    from threadpoolctl import threadpool_limits

    cells = [Cells.read(frame[name]) for name in frame.columns if name != target]
    answer = Cells.read(frame[target])
    is_class = kind in (TargetKind.BINARY, TargetKind.MULTICLASS)
    found = []
    with threadpool_limits(1):
        for rows in draws:
            features = features_of(cells, rows)[0]
            cut = min(TRAIN, len(rows) * 2 // 3)
            models = solvers(is_class=is_class)
            if is_class:
                found.append([_area(one, features, answer.codes[rows], cut) for one in models])
            else:
                ranks = _ranks(answer.numbers[rows])
                found.append([_explained(one, features, ranks, cut) for one in models])
    return tuple(round(float(one), 4) for one in np.mean(found, axis=0))


def solvers(*, is_class: bool) -> list[Any]:
    """Return ten models of scikit-learn, as they come."""
    from sklearn import ensemble, linear_model, naive_bayes, neighbors, neural_network, svm, tree

    pairs: tuple[tuple[Any, Any], ...] = (
        (linear_model.LogisticRegression(), linear_model.Ridge()),
        (naive_bayes.GaussianNB(), linear_model.Lasso(alpha=0.01)),
        (neighbors.KNeighborsClassifier(), neighbors.KNeighborsRegressor()),
        (tree.DecisionTreeClassifier(random_state=0), tree.DecisionTreeRegressor(random_state=0)),
        (ensemble.RandomForestClassifier(random_state=0), ensemble.RandomForestRegressor(random_state=0)),
        (ensemble.ExtraTreesClassifier(random_state=0), ensemble.ExtraTreesRegressor(random_state=0)),
        (ensemble.HistGradientBoostingClassifier(), ensemble.HistGradientBoostingRegressor()),
        (ensemble.AdaBoostClassifier(random_state=0), ensemble.AdaBoostRegressor(random_state=0)),
        (svm.SVC(), svm.SVR()),
        (neural_network.MLPClassifier(random_state=0), neural_network.MLPRegressor(random_state=0)),
    )
    return [pair[0 if is_class else 1] for pair in pairs]


def _ranks(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.stats import rankdata, zscore

    return np.asarray(zscore(rankdata(numbers)), dtype=np.float64)


def _area(model: Any, features: NDArray[np.float64], codes: NDArray[np.int64], cut: int) -> float:
    levels, counts = np.unique(codes[cut:], return_counts=True)
    if len(np.unique(codes[:cut])) < 2:
        return 0.0
    model.fit(features[:cut], codes[:cut])
    said = np.zeros((len(codes) - cut, len(levels)))
    known = {code: place for place, code in enumerate(model.classes_)}
    says = model.predict_proba if hasattr(model, "predict_proba") else model.decision_function
    scores = says(features[cut:])
    scores = np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores
    for place, code in enumerate(levels):
        said[:, place] = scores[:, known[code]] if code in known else scores.min()
    return areas_of(said, codes[cut:], levels, counts)


def _explained(model: Any, features: NDArray[np.float64], truth: NDArray[np.float64], cut: int) -> float:
    said = model.fit(features[:cut], truth[:cut]).predict(features[cut:])
    held = truth[cut:]
    return 1 - float(np.mean((said - held) ** 2) / np.var(held))


def agreement(
    tables: Mapping[str, Sequence[float]], tasks: Sequence[tuple[str, Sequence[float]]], kinds: Mapping[str, str]
) -> dict[str, tuple[float, float, float]]:
    """Report how much better the ranking of solvers on a real table matches its own tasks than tasks of other seeds.

    Args:
        tables: scores of the solvers on each table, by seed.
        tasks: seed and scores of each task.
        kinds: kind of the target of each seed.

    Returns:
        The mean difference of Spearman's correlation over seeds, with the ends of a bootstrap interval of 95 %, by what
        a seed is compared with: all other seeds, or those with its kind of target.
    """
    from scipy.stats import spearmanr

    rng, found = np.random.default_rng(0), {}
    for name, is_alike in (("other seeds", False), ("other seeds of its kind of target", True)):
        gains = []
        for seed, order in tables.items():
            rho = [(one, float(spearmanr(order, scores)[0])) for one, scores in tasks]
            own = [value for one, value in rho if one == seed]
            others = [value for one, value in rho if one != seed and (not is_alike or kinds[one] == kinds[seed])]
            if own and others:
                gains.append(float(np.nanmean(own) - np.nanmean(others)))
        if gains:
            means = rng.choice(gains, (_RESAMPLES, len(gains))).mean(axis=1)
            low, high = np.quantile(means, (0.025, 0.975))
            found[name] = (float(np.mean(gains)), float(low), float(high))
    return found
