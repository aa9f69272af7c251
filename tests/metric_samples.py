"""Made-up truth, predictions and posteriors for any pair of target and metric that can be graded."""

from dataclasses import dataclass

import numpy as np

from sandmill.models.package import TaskFacts
from sandmill.models.predictive import ClassPredictive, LabelPredictive, NumberPredictive, NumbersPredictive, Predictive
from sandmill.models.structure import MetricName, TargetKind
from sandmill.scoring.base import Array, Floats
from sandmill.scoring.support import ANSWER_FORMS

Pair = tuple[TargetKind, MetricName]

CLASSES = ("ash", "beech", "cedar", "damson")
WIDTH = 3
_NODES = 200


@dataclass(frozen=True)
class World:
    """What someone with the true posterior knows about rows, and what came of them."""

    predictive: Predictive
    truth: Array


def classes_of(pair: Pair) -> tuple[str, ...]:
    """Class or label names of a made-up task."""
    if pair[0] is TargetKind.BINARY:
        return ("0", "1")
    if pair[0] is TargetKind.ORDINAL:
        return ("1", "2", "3", "4")
    return () if pair[0] in (TargetKind.REGRESSION, TargetKind.COUNT, TargetKind.MULTI_TARGET) else CLASSES


def brief_for(pair: Pair) -> TaskFacts:
    """The facts of a made-up task."""
    encoding, classes = ANSWER_FORMS[pair], classes_of(pair)
    columns = {
        "class_probabilities": classes,
        "label_probabilities": classes,
        "values": ("left", "middle", "right"),
    }.get(encoding, ("y",))
    return TaskFacts(
        id_column="id",
        target_column="y",
        target=pair[0],
        metric=pair[1],
        encoding=encoding,
        classes=classes,
        submission_columns=columns,
    )


def make_world(pair: Pair, rng: np.random.Generator, rows: int) -> World:
    """Draw a posterior for every row, and the truth from it."""
    target, classes = pair[0], classes_of(pair)
    if target is TargetKind.MULTILABEL:
        chances = rng.beta(0.6, 1.8, (rows, len(classes)))
        return World(LabelPredictive(chances), (rng.random(chances.shape) < chances).astype(np.int64))
    if classes:
        chances = rng.dirichlet(np.linspace(1.2, 0.25, len(classes)), rows)
        codes = (rng.random((rows, 1)) > np.cumsum(chances, axis=1)).sum(axis=1).clip(0, len(classes) - 1)
        return World(ClassPredictive(chances), codes)
    if target is TargetKind.MULTI_TARGET:
        columns = [_number(target, rng, rows) for _ in range(WIDTH)]
        return World(NumbersPredictive(tuple(known for known, _ in columns)), np.column_stack([t for _, t in columns]))
    return World(*_number(target, rng, rows))


def guess(pair: Pair, rng: np.random.Generator, rows: int) -> Array:
    """A valid prediction that knows nothing, with ties."""
    classes, encoding = classes_of(pair), ANSWER_FORMS[pair]
    match encoding:
        case "probability":
            return rng.choice([0.1, 0.3, 0.5, 0.9], rows)
        case "label":
            return rng.integers(0, len(classes), rows)
        case "class_probabilities":
            return rng.dirichlet(np.ones(len(classes)), rows)
        case "label_probabilities":
            return rng.choice([0.1, 0.3, 0.5, 0.9], (rows, len(classes)))
        case "label_list":
            return rng.integers(0, 2, (rows, len(classes)))
        case "ranked_list":
            return rng.integers(-1, len(classes), (rows, 3))
        case "values":
            return rng.choice([0.5, 1.0, 2.0, 4.0], (rows, WIDTH))
        case _:
            return rng.choice([0.5, 1.0, 2.0, 4.0], rows)


def perfect(pair: Pair, truth: Array) -> Array:
    """The prediction that says the truth."""
    match ANSWER_FORMS[pair]:
        case "class_probabilities":
            return np.equal.outer(truth, np.arange(len(classes_of(pair)))).astype(float)
        case "ranked_list":
            return truth[:, None]
        case "label" | "label_list":
            return truth
        case _:
            return truth.astype(float)


def _number(target: TargetKind, rng: np.random.Generator, rows: int) -> tuple[NumberPredictive, Floats]:
    """A skewed, positive number, or a count."""
    middle, spread = rng.normal(0.7, 0.8, (rows, 1)), rng.uniform(0.3, 0.9, (rows, 1))
    if target is TargetKind.COUNT:
        from scipy.stats import poisson

        values = np.tile(np.arange(80.0), (rows, 1))
        rate = np.exp(middle) + 0.2
        weights: Floats = np.asarray(poisson.pmf(values, rate))
        truth: Floats = rng.poisson(rate[:, 0]).astype(float)
    else:
        from scipy.stats import norm

        values = np.exp(middle + spread * norm.ppf((np.arange(_NODES) + 0.5) / _NODES))
        weights = np.full(_NODES, 1 / _NODES)
        truth = np.exp(middle + spread * rng.normal(size=(rows, 1)))[:, 0]
    return on_grid(values, weights), truth


def on_grid(values: Floats, weights: Floats) -> NumberPredictive:
    """A posterior from its possible values, with the mean that follows."""
    weights = np.broadcast_to(weights, values.shape)
    return NumberPredictive((values * weights).sum(axis=1), make=lambda: (values, weights))
