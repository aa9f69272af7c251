"""Parts of pipelines: cells into numbers, from careless to careful, and cheap models with one setting each."""

from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.cross_decomposition import PLSRegression
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import LinearSVC, LinearSVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sandmill.calibrate.solvers.answers import fit_scores, spread_classes, target_scale
from sandmill.calibrate.solvers.decisions import class_shares, decide
from sandmill.calibrate.solvers.designs import (
    Design,
    by_parts,
    calendar,
    fill_gaps,
    filled_from_others,
    gap_flags,
    levels,
    raw_numbers,
    squeezed,
    words,
)
from sandmill.calibrate.solvers.features import encoded_levels
from sandmill.calibrate.solvers.forests import column_forest
from sandmill.calibrate.solvers.linear import linear_scores, responses
from sandmill.calibrate.solvers.table import Table

if TYPE_CHECKING:
    from sandmill.calibrate.pipelines import Pipeline

_LEAST_SHARE = 0.01
"""What a class keeps where a straight line would give it less."""
_THIRDS = (1 / 3, 2 / 3)
_NOISE = 0.5
_FLATTEST = 7.3
"""Inverse strength of logistic regression at a penalty of 1."""
_STEPS = 40
_MOST_TREES = 60
"""Trees of boosting over all classes."""


def fitted(model: str, setting: float, design: Design, table: Table) -> Any:
    """Fit a model by name: scores of the test rows, as solvers give them.

    Raises:
        ValueError: if there is nothing to fit on.
    """
    if not design.train.shape[1]:
        raise ValueError("a pipeline without features")
    return _MODELS[model](setting, design, table)


def likeliest(scores: Any, table: Table) -> Any:
    """Name the likeliest class whatever the metric rewards; other answers as usual."""
    if table.facts.encoding == "label":
        return scores.argmax(axis=1)
    return decide(scores, table)


def _linear(penalty: float, design: Design, table: Table) -> Any:
    """Logistic regression, ridge, or Poisson regression of rates; with many classes it is stopped when time is up."""
    classes = len(table.facts.classes)
    if not classes:
        return linear_scores(design, table, penalty)
    solver = {"solver": "newton-cholesky"} if classes == 2 else {"max_iter": _STEPS}
    return fit_scores(LogisticRegression(C=_FLATTEST / penalty, **solver), design, table)


def _as_scores(guess: Any, table: Table) -> Any:
    """Turn guesses of `responses` into probabilities, or into values."""
    if not table.facts.classes:
        center, scale = target_scale(table)
        return center + scale * guess[:, 0]
    shares = class_shares(table)
    wide = np.column_stack([-guess, guess]) if len(shares) == 2 else guess
    chances = np.maximum(shares + wide, _LEAST_SHARE)
    return chances / chances.sum(axis=1, keepdims=True)


def _partial_least_squares(factors: float, design: Design, table: Table) -> Any:
    """Partial least squares on a few directions."""
    wanted = responses(table)
    most = min(int(factors), *design.train.shape)
    model = PLSRegression(most).fit(design.train, wanted)
    return _as_scores(np.asarray(model.predict(design.test)).reshape(len(design.test), -1), table)


def _kernel_ridge(width: float, design: Design, table: Table) -> Any:
    """Kernel ridge with a bell curve of one width."""
    middle = design.train.mean(axis=0)
    reach = np.sqrt(2 * width**2 * max(1.0, float(design.train.var(axis=0).sum())))
    rows, others = (((part - middle) / reach).astype(np.float32) for part in (design.train, design.test))
    own = np.exp(-_squared_distances(rows, rows))
    weights = np.linalg.solve(own + _NOISE * np.eye(len(rows)), responses(table)).astype(np.float32)
    return _as_scores(by_parts(lambda part: np.exp(-_squared_distances(part, rows)) @ weights, others), table)


def _squared_distances(rows: Any, others: Any) -> Any:
    distances = rows @ (-2 * others.T)
    distances += (rows**2).sum(axis=1)[:, None]
    distances += (others**2).sum(axis=1)
    return np.maximum(distances, 0, out=distances)


def _linear_svm(strength: float, design: Design, table: Table) -> Any:
    """A linear support vector machine; what lies far inside a class counts as certain."""
    if not table.facts.classes:
        return fit_scores(LinearSVR(C=strength, epsilon=0.1, random_state=0), design, table)
    model = LinearSVC(C=strength, random_state=0).fit(design.train, table.target)
    margin = model.decision_function(design.test)
    wide = np.column_stack([-margin, margin]) if margin.ndim == 1 else margin
    return spread_classes(softmax(wide, axis=1), model.classes_, table)


def _nearest_neighbours(count: float, design: Design, table: Table) -> Any:
    kind = KNeighborsClassifier if table.facts.classes else KNeighborsRegressor
    return fit_scores(kind(int(count), algorithm="brute"), design, table)


def _tree(depth: float, design: Design, table: Table) -> Any:
    kind = DecisionTreeClassifier if table.facts.classes else DecisionTreeRegressor
    return fit_scores(kind(max_depth=int(depth), min_samples_leaf=2, random_state=0), design, table)


def _forest(trees: float, design: Design, table: Table) -> Any:
    settings: dict[str, Any] = {} if table.facts.classes else {"max_features": 0.5}
    return column_forest("random", design, table, trees=int(trees), min_samples_leaf=2, **settings)[1]


def _boosting(rounds: float, design: Design, table: Table) -> Any:
    """Shallow boosting; many classes mean many trees a round, so it takes fewer rounds."""
    kind = GradientBoostingClassifier if table.facts.classes else GradientBoostingRegressor
    classes = len(table.facts.classes)
    count = int(rounds) if classes < 3 else max(5, min(int(rounds), _MOST_TREES // classes))
    model = kind(n_estimators=count, learning_rate=4 / count, max_depth=2, max_features=0.5, random_state=0)
    return fit_scores(model, design, table)


def _nearest_centroid(sharpness: float, design: Design, table: Table) -> Any:
    """The class whose mean row is nearest."""
    codes, means = _codes(table)
    design = design.scaled()
    middles = np.array([design.train[codes == code].mean(axis=0) for code in np.unique(codes)])
    distances = _squared_distances(design.test, middles) / design.train.shape[1]
    return _of_codes(softmax(-sharpness * distances, axis=1), codes, means, table)


def _naive_bayes(pooling: float, design: Design, table: Table) -> Any:
    """Normal curves in each class, column by column (naive Bayes), drawn towards those of all classes."""
    codes, means = _codes(table)
    design = design.scaled()
    logs = []
    for code in np.unique(codes):
        own = design.train[codes == code]
        spread = (1 - pooling) * own.var(axis=0) + pooling + 1e-2
        middle = own.mean(axis=0)
        scaled = (design.test**2) @ (0.5 / spread) - design.test @ (middle / spread)
        constant = (middle**2 / (2 * spread) + 0.5 * np.log(spread)).sum()
        logs.append(np.log(len(own)) - scaled - constant)
    return _of_codes(softmax(np.column_stack(logs), axis=1), codes, means, table)


def _codes(table: Table) -> tuple[Any, Any]:
    """Classes to tell apart; a number is cut into thirds, each with its mean."""
    if table.facts.classes:
        return table.target, None
    codes = np.searchsorted(np.quantile(table.target, _THIRDS), table.target)
    return codes, np.array([table.target[codes == code].mean() for code in np.unique(codes)])


def _of_codes(chances: Any, codes: Any, means: Any, table: Table) -> Any:
    return spread_classes(chances, np.unique(codes), table) if means is None else chances @ means


_MODELS: dict[str, Callable[[float, Design, Table], Any]] = {
    "linear": _linear,
    "nearest centroid": _nearest_centroid,
    "naive Bayes": _naive_bayes,
    "partial least squares": _partial_least_squares,
    "linear SVM": _linear_svm,
    "kernel ridge": _kernel_ridge,
    "nearest neighbours": _nearest_neighbours,
    "tree": _tree,
    "forest": _forest,
    "boosting": _boosting,
}


_TAIL = 0.02
"""Share of cells on each side that a clipped column brings to the edge."""
_MOST_PAIRS = 15
"""Products that are made: of the first columns, as a person in a hurry would."""
_QUARTERS = (0.25, 0.5, 0.75)


def prepared(pipeline: "Pipeline", table: Table) -> Design:
    """Make the design that a pipeline's model is fed: numbers, dates, categories and further features."""
    numbers = _numbers(pipeline, table)
    parts = [numbers, _calendar(pipeline, table), _categories(pipeline.categories, table)]
    if pipeline.gaps == "flagged":
        parts.append(_once("flags", gap_flags, table))
    if pipeline.extras != "none":
        parts.append(_extras(pipeline, table))
    return Design(np.hstack([part.train for part in parts]), np.hstack([part.test for part in parts]))


def _once(name: Any, make: Callable[[Table], Design], table: Table) -> Design:
    design: Design = table.cached_features(("pipeline", name), make)
    return design


def _numbers(pipeline: "Pipeline", table: Table) -> Design:
    """Numeric columns, filled and reshaped; dates as days among them, unless they are left out."""

    def make(table: Table) -> Design:
        filled = _reshaped(pipeline.numbers, _filled(pipeline.gaps, table))
        dates = [name in table.kinds.dates for name in table.kinds.numeric]
        wanted = ~np.array(dates, dtype=bool) | (pipeline.dates != "left out")
        return Design(filled.train[:, wanted], filled.test[:, wanted])

    return _once((pipeline.gaps, pipeline.numbers, pipeline.dates == "left out"), make, table)


def _filled(gaps: str, table: Table) -> Design:
    raw = raw_numbers(table)
    match gaps:
        case "from others":
            return filled_from_others(table)
        case "zero":
            return Design(np.nan_to_num(raw.train), np.nan_to_num(raw.test))
        case "mean":
            middle = np.nanmean(raw.train, axis=0)
            return Design(*(np.where(np.isnan(part), middle, part) for part in (raw.train, raw.test)))
        case _:
            return fill_gaps(raw)


def _reshaped(way: str, filled: Design) -> Design:
    if not filled.train.shape[1]:
        return filled
    match way:
        case "raw":
            return filled
        case "clipped":
            low, high = np.quantile(filled.train, (_TAIL, 1 - _TAIL), axis=0)
            return Design(*(np.clip(part, low, high) for part in (filled.train, filled.test))).scaled()
        case "ranked":
            return _ranked(filled)
        case "squeezed":
            return squeezed(filled.scaled())
        case "logged":
            is_positive = filled.train.min(axis=0) > 0
            logs = (np.where(is_positive, np.log(np.maximum(part, 1e-9)), part) for part in (filled.train, filled.test))
            return Design(*logs).scaled()
        case _:
            return filled.scaled()


def _ranked(filled: Design) -> Design:
    """Each cell as the share of training cells that lie below it, from -1 to 1."""
    made = []
    for part in (filled.train, filled.test):
        columns = [
            np.searchsorted(np.sort(known), cells, side="left") + np.searchsorted(np.sort(known), cells, side="right")
            for known, cells in zip(filled.train.T, part.T, strict=True)
        ]
        made.append(np.column_stack(columns) / len(filled.train) - 1)
    return Design(*made)


def _calendar(pipeline: "Pipeline", table: Table) -> Design:
    days = calendar(table)
    if pipeline.dates == "calendar":
        return days if pipeline.numbers == "raw" else _once("calendar", lambda table: calendar(table).scaled(), table)
    return Design(days.train[:, :0], days.test[:, :0])


def _categories(way: str, table: Table) -> Design:
    match way:
        case "levels":
            return levels(table)
        case "means":
            design: Design = table.cached("pipeline means", encoded_levels)
            return design
        case "left out":
            return Design(np.zeros((len(table.train), 0)), np.zeros((len(table.test), 0)))
        case _:
            return _once(way, lambda table: _coded(way, table), table)


def _coded(way: str, table: Table) -> Design:
    """Each category as one number: its place in the alphabet, or its share of the training rows."""
    train, test = [np.zeros((len(table.train), 0))], [np.zeros((len(table.test), 0))]
    for name in table.kinds.categorical:
        cells, new = words(table, name)
        names, counts = np.unique(cells, return_counts=True)
        numbers = np.arange(1.0, len(names) + 1) if way == "codes" else counts / len(cells)
        of_name = dict(zip(names, numbers / numbers.std() if len(names) > 1 else numbers, strict=True))
        for made, column in ((train, cells), (test, new)):
            made.append(np.array([of_name.get(cell, 0.0) for cell in column])[:, None])
    return Design(np.hstack(train), np.hstack(test))


def _extras(pipeline: "Pipeline", table: Table) -> Design:
    def make(table: Table) -> Design:
        filled = _filled(pipeline.gaps, table)
        makers = {"squares": _squares, "products": _products, "logs": _logs, "waves": _waves, "steps": _steps}
        source = filled.scaled() if pipeline.extras in ("squares", "products") else filled
        return makers[pipeline.extras](source).scaled()

    return _once((pipeline.gaps, pipeline.extras), make, table)


def _squares(numbers: Design) -> Design:
    return Design(numbers.train**2, numbers.test**2)


def _products(numbers: Design) -> Design:
    pairs: NDArray[np.intp] = np.array([*combinations(range(numbers.train.shape[1]), 2)], dtype=np.intp).reshape(-1, 2)
    left, right = pairs[:_MOST_PAIRS].T
    return Design(*(part[:, left] * part[:, right] for part in (numbers.train, numbers.test)))


def _logs(numbers: Design) -> Design:
    """Logarithms of positive columns: with weights they add up to any ratio."""
    is_positive = (numbers.train > 0).all(axis=0)
    return Design(*(np.log(np.maximum(part[:, is_positive], 1e-9)) for part in (numbers.train, numbers.test)))


def _waves(numbers: Design) -> Design:
    """One wave over the range of each column."""
    low, spread = numbers.train.min(axis=0), np.maximum(np.ptp(numbers.train, axis=0), 1e-9)
    angles = [2 * np.pi * (part - low) / spread for part in (numbers.train, numbers.test)]
    return Design(*(np.hstack([np.sin(angle), np.cos(angle)]) for angle in angles))


def _steps(numbers: Design) -> Design:
    """Whether each column lies above each of its quarters."""
    cuts = np.quantile(numbers.train, _QUARTERS, axis=0)
    return Design(*(np.hstack([part > cut for cut in cuts]).astype(float) for part in (numbers.train, numbers.test)))
