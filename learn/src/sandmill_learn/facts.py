"""Coarse facts of a task, as words that a small policy reads in place of the task's text and tables.

The same code computes them for synthetic and for real tasks. Bins are wide, so that real tasks share nearly all values
with synthetic training tasks: a word that no training task has means nothing to a policy.
"""

import logging
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandmill.calibrate.solvers.table import DATE, MEASURE, NEARLY_ALL
from sandmill.models.hints import DATA_DICTIONARY
from sandmill.models.package import TaskFacts
from sandmill.models.structure import MetricName, TargetKind
from sandmill.sandbox.public_folder import texts_of
from sandmill.scoring.forms import FORMS


def place(number: float, edges: Sequence[float], names: Sequence[str]) -> str:
    """Return the name of the bin that a number lies in. An edge belongs to the bin above it.

    Args:
        number: to be placed; NaN lies in the first bin.
        edges: rising, between neighbouring bins.
        names: of the bins, one more than there are edges.
    """
    return names[sum(number >= edge for edge in edges)]


TRAIN = "train.csv"
_MOST_BYTES = 16 << 20
"""Largest training table that is read: a hundred times that of a micro task."""
_MOST_ROWS = 2000
"""Rows that are looked at. The first rows of a larger table are enough for coarse bins."""
_LONG_TEXT, _WORDS = 24, 4
"""Mean characters and mean words of a cell from which a column of names is free text."""
_HIGH_CARDINALITY = 12
"""Levels from which a categorical column has a high cardinality."""
_SHARED_BY = 3
"""Rows that must share a number for it to be a sentinel."""
_FAR_OUT = 3.0
"""Interquartile ranges between the other numbers and a sentinel."""
_FEWEST_NUMBERS = 6
"""Different numbers that a column with a sentinel has beside it. Codes of classes have fewer."""


@dataclass(frozen=True)
class FactTable:
    """A training table as facts need it."""

    frame: Any
    """All cells as text, missing ones as an empty string: a `pandas.DataFrame`."""
    features: tuple[str, ...]
    numeric: dict[str, Any]
    """Numbers by column, NaN where a cell is missing. Numbers with a unit and dates (as days) are among them."""
    categorical: tuple[str, ...]
    """Columns of names that repeat."""
    text: tuple[str, ...]
    dates: tuple[str, ...]
    measures: tuple[str, ...]
    """Columns of numbers with a unit."""


def read_table(public: Path, facts: TaskFacts) -> FactTable | None:
    """Read the training table; None if there is none, or none with the columns that the description states."""
    import pandas as pd

    path = public / TRAIN
    if not path.is_file() or path.stat().st_size > _MOST_BYTES:
        return None
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, nrows=_MOST_ROWS, encoding_errors="replace")
    frame.columns = pd.Index([str(name) for name in frame.columns])
    if frame.empty or not {*facts.target_columns} <= {*frame.columns}:
        return None
    features = tuple(name for name in frame.columns if name not in (facts.id_column, *facts.target_columns))
    return _sort(frame, features)


def _sort(frame: Any, features: tuple[str, ...]) -> FactTable:
    import pandas as pd

    numeric: dict[str, Any] = {}
    names: dict[str, list[str]] = {"categorical": [], "text": [], "dates": [], "measures": []}
    for name in features:
        cells = frame[name].str.strip()
        filled = cells[cells != ""]
        numbers = pd.to_numeric(filled, errors="coerce")
        if not len(filled) or numbers.notna().mean() >= NEARLY_ALL:
            numeric[name] = pd.to_numeric(cells, errors="coerce").to_numpy(float)
        elif filled.str.fullmatch(DATE).mean() >= NEARLY_ALL:
            names["dates"].append(name)
            days = pd.to_datetime(cells, format="%Y-%m-%d", errors="coerce")
            numeric[name] = (days - days.min()).dt.days.to_numpy(float)
        elif filled.str.fullmatch(MEASURE).mean() >= NEARLY_ALL:
            names["measures"].append(name)
            found = cells.str.extract(f"^{MEASURE.pattern}$", expand=False)
            numeric[name] = pd.to_numeric(found, errors="coerce").to_numpy(float)
        elif filled.str.len().mean() > _LONG_TEXT and filled.str.split().str.len().mean() > _WORDS:
            names["text"].append(name)
        elif filled.nunique() < len(filled):
            names["categorical"].append(name)
    finite = {name: np.where(np.isfinite(values), values, np.nan) for name, values in numeric.items()}
    return FactTable(frame, features, finite, **{kind: tuple(found) for kind, found in names.items()})


def column_facts(table: FactTable) -> dict[str, str]:
    """Return what a table's features are."""
    levels = [table.frame[name].nunique() for name in table.categorical]
    empty = (table.frame[list(table.features)] == "").mean() if table.features else np.zeros(1)
    found = {
        "rows": place(len(table.frame), (90, 130, 170), ("under-90", "90-129", "130-169", "170+")),
        "numeric": place(len(table.numeric) - len(table.dates), (3, 6, 10), ("0-2", "3-5", "6-9", "10+")),
        "categorical": place(len(levels), (1, 3), ("0", "1-2", "3+")),
        "cardinality": "high" if max(levels, default=0) >= _HIGH_CARDINALITY else "low",
        "missing": place(float(empty.max()), (1e-9, 0.15), ("none", "some", "much")),
    }
    switches = {
        "dates": bool(table.dates),
        "text": bool(table.text),
        "units": bool(table.measures),
        "sentinels": any(_sentinels(table)),
    }
    return found | {name: "yes" if is_on else "no" for name, is_on in switches.items()}


def _sentinels(table: FactTable) -> Iterator[str]:
    """Yield numeric columns with a number far outside of the others that several rows share."""
    for name, values in table.numeric.items():
        known = values[np.isfinite(values)]
        if len(known) < 2 * _SHARED_BY:
            continue
        for extreme in (known.min(), known.max()):
            others = known[known != extreme]
            if len(known) - len(others) < _SHARED_BY or len(others) < _SHARED_BY:
                continue
            low, high = np.quantile(others, [0.25, 0.75])
            is_far = np.abs(others - extreme).min() > _FAR_OUT * (high - low)
            if is_far and len(np.unique(others)) >= _FEWEST_NUMBERS:
                yield name


Floats = NDArray[np.float64]

_FOLDS = 3
_MOST_FITTED_ROWS = 300
"""Rows that models are fitted on."""
_MOST_LEVELS = 10
"""Levels of a categorical column that become indicator columns, the most frequent first."""
_MOST_TARGETS = 6
"""Classes, labels or numbers that are foretold; the first ones of more."""
_RIDGE = 3.0
"""Penalty of the linear model on standardised columns."""
_NEIGHBOURS = 7
_TREES = 24
_STRENGTHS, _STRENGTH_NAMES = (0.15, 0.4, 0.7), ("none", "weak", "some", "strong")
_CLEARLY = 0.06
"""Least distance of two signals that is more than chance: a third of their spread over draws of 150 rows."""


def target_facts(table: FactTable, facts: TaskFacts) -> dict[str, str]:
    """Return how even the classes are, or how skewed the numbers."""
    targets = _targets(table, facts)
    if facts.classes:
        counts = targets.sum(axis=0)
        share = float(counts.min()) / len(targets) * (2 if facts.is_binary or facts.is_wide else targets.shape[1])
        if facts.is_wide or facts.encoding in ("label_list", "pairs"):
            share = float(np.minimum(counts, len(targets) - counts).mean()) / len(targets) * 2
        return {"balance": place(share, (0.25, 0.6), ("rare", "uneven", "even")), "skew": "none"}
    spread = targets.std(axis=0)
    centred = targets - targets.mean(axis=0)
    skew = float(np.mean((centred**3).mean(axis=0) / np.maximum(spread, 1e-12) ** 3))
    return {"balance": "none", "skew": place(abs(skew), (0.5, 1.5), ("none", "low", "high"))}


def signal_facts(table: FactTable, facts: TaskFacts) -> dict[str, str]:
    """Return what a linear model, a forest, nearest neighbours and single columns find."""
    targets, features = _targets(table, facts)[:_MOST_FITTED_ROWS, :_MOST_TARGETS], _features(table)[:_MOST_FITTED_ROWS]
    if facts.is_binary:
        targets = targets[:, -1:]
    if not facts.classes:
        targets = _ranks(targets)
    if features.shape[1] == 0 or len(features) < 3 * _FOLDS:
        return {}
    signals = {name: _signal(fit, features, targets) for name, fit in _MODELS.items()}
    linear = signals["linear"]
    best = max(signals.values())
    against = {name: signals[name] - linear for name in ("trees", "neighbours")}
    return {
        "linear": place(linear, _STRENGTHS, _STRENGTH_NAMES),
        **{name: _compare(difference) for name, difference in against.items()},
        "column": place(_strongest(features, targets), _STRENGTHS, _STRENGTH_NAMES),
        "noise": place(best, (0.35, 0.7), ("high", "middle", "low")),
    }


def _compare(difference: float) -> str:
    if not np.isfinite(difference):
        return UNKNOWN
    return place(difference, (-_CLEARLY, _CLEARLY), ("worse", "equal", "better"))


def _targets(table: FactTable, facts: TaskFacts) -> Floats:
    """Return indicators of classes or labels, or numbers, shape (rows, targets)."""
    import pandas as pd

    cells = table.frame[list(facts.target_columns)]
    if facts.classes and len(facts.target_columns) == 1:
        names = cells.iloc[:, 0].str.strip()
        lists = facts.is_wide or facts.encoding in ("label_list", "pairs")
        held = names.str.split() if lists else names.map(lambda name: [name])
        return np.array([[float(name in row) for name in facts.classes] for row in held])
    numbers = cells.apply(pd.to_numeric, errors="coerce").to_numpy(float)
    known = np.isfinite(numbers)
    middle = np.where(known, numbers, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.asarray(np.where(known, numbers, middle), dtype=np.float64)


def _ranks(values: Floats) -> Floats:
    """Return ranks between 0 and 1, so that no outlier decides a signal."""
    order = np.argsort(np.argsort(values, axis=0, kind="stable"), axis=0, kind="stable")
    return np.asarray(order / max(1, len(values) - 1), dtype=np.float64)


def _features(table: FactTable) -> Floats:
    """Return standardised numbers and indicators of levels, shape (rows, columns)."""
    columns = [*_numbers(table), *_indicators(table)]
    if not columns:
        return np.empty((len(table.frame), 0))
    matrix = np.column_stack(columns)
    spread = matrix.std(axis=0)
    matrix, spread = matrix[:, spread > 1e-9], spread[spread > 1e-9]
    # A sentinel or an outlier must not hide what the other cells say.
    return np.asarray(np.clip((matrix - matrix.mean(axis=0)) / spread, -4, 4), dtype=np.float64)


def _numbers(table: FactTable) -> Iterator[Floats]:
    for values in table.numeric.values():
        known = np.isfinite(values)
        if known.any():
            yield np.where(known, values, np.median(values[known]))
        if 0 < known.mean() < 1:
            yield (~known).astype(float)


def _indicators(table: FactTable) -> Iterator[Floats]:
    for name in table.categorical:
        cells = table.frame[name]
        for level in cells.value_counts().sort_index().sort_values(ascending=False, kind="stable").index[:_MOST_LEVELS]:
            yield (cells == level).to_numpy(float)


def _signal(fit: Any, features: Floats, targets: Floats) -> float:
    """Return the mean correlation, over targets, of out-of-fold predictions with the truth; 0 without one."""
    fold = np.random.default_rng(0).permutation(len(features)) % _FOLDS
    said = np.zeros_like(targets)
    for number in range(_FOLDS):
        inside = fold != number
        said[~inside] = fit(features[inside], targets[inside], features[~inside])
    found = [_correlation(said[:, place], targets[:, place]) for place in range(targets.shape[1])]
    return float(np.mean(found))


def _linear(features: Floats, targets: Floats, asked: Floats) -> Floats:
    middle = targets.mean(axis=0)
    penalty = _RIDGE * np.eye(features.shape[1])
    weights = np.linalg.solve(features.T @ features + penalty, features.T @ (targets - middle))
    return np.asarray(asked @ weights + middle)


def _neighbours(features: Floats, targets: Floats, asked: Floats) -> Floats:
    squared = ((asked[:, None, :] - features[None, :, :]) ** 2).sum(axis=2)
    nearest = np.argsort(squared, axis=1, kind="stable")[:, :_NEIGHBOURS]
    return np.asarray(targets[nearest].mean(axis=1))


def _trees(features: Floats, targets: Floats, asked: Floats) -> Floats:
    from sklearn.ensemble import ExtraTreesRegressor

    forest = ExtraTreesRegressor(_TREES, min_samples_leaf=3, random_state=0)
    said = forest.fit(features, targets.squeeze(axis=1) if targets.shape[1] == 1 else targets).predict(asked)
    return np.asarray(said).reshape(len(asked), targets.shape[1])


_MODELS = {"linear": _linear, "trees": _trees, "neighbours": _neighbours}


def _correlation(one: Floats, other: Floats) -> float:
    one, other = one - one.mean(), other - other.mean()
    size = float(np.sqrt((one**2).sum() * (other**2).sum()))
    return float((one * other).sum()) / size if size > 1e-12 else 0.0


def _strongest(features: Floats, targets: Floats) -> float:
    """Return the largest absolute correlation of one column with one target."""
    return max(
        abs(_correlation(features[:, column], targets[:, target]))
        for column in range(features.shape[1])
        for target in range(targets.shape[1])
    )


_DESCRIPTION = "description.md"
_MOST_TEXT_BYTES = 1 << 20
_TABLES = frozenset({"train.csv", "test.csv", "sample_submission.csv"})
_NOT_OF_COLUMNS = frozenset({"files", "evaluation", "environment", "submission", "overview"})
"""Headings of sections that define no quantity over columns."""
_QUOTED = re.compile(r"`([^`\n]+)`")
_ARITHMETIC = re.compile(
    r"\b(divid\w+|multipl\w+|times|product|ratio|quotient|sum|minus|plus|subtract\w*|difference|numerator|over|per)\b"
    r"|[`)]\s*[-+*/÷×]\s*[`(]",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"\b(above|below|at most|at least|more than|less than|under|exceed\w*|if|whose|provided|once|unless|where)\b"
    r"|\bas long as\b|[<>≤≥]",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+")


def text_facts(public: Path, features: Collection[str]) -> dict[str, str]:
    """Return what lies beside the training table, and what the description states over the columns."""
    names = {path.name for path in public.iterdir()} if public.is_dir() else set()
    if not names:
        return {}
    further = {name for name in names - _TABLES if name.endswith(".csv")}
    return {
        "child": "yes" if further else "no",
        # Scripts see the data dictionary of older releases alone. Elsewhere it stands in the prompt.
        "dictionary": "yes" if DATA_DICTIONARY in names - texts_of(public) else "no",
        "states": _states(public / _DESCRIPTION, features),
    }


def _states(path: Path, features: Collection[str]) -> str:
    if not path.is_file() or path.stat().st_size > _MOST_TEXT_BYTES:
        return UNKNOWN if not features else "nothing"
    sentences = list(_sentences(path.read_text(encoding="utf-8", errors="replace")))
    quoted = [{*_QUOTED.findall(sentence)} & {*features} for sentence in sentences]
    formula = any(len(of) > 1 and _ARITHMETIC.search(text) for text, of in zip(sentences, quoted, strict=True))
    condition = any(of and _is_condition(text) for text, of in zip(sentences, quoted, strict=True))
    return "both" if formula and condition else "formula" if formula else "condition" if condition else "nothing"


def _is_condition(sentence: str) -> bool:
    """Whether a sentence compares a column with a number or a level: a limit's words, and no arithmetic."""
    return bool(_LIMIT.search(sentence)) and not _ARITHMETIC.search(sentence)


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences of the paragraphs; tables, code and the sections of every description are left out."""
    is_left_out, is_code = False, False
    for line in text.splitlines():
        if line.startswith("```"):
            is_code = not is_code
        elif line.startswith("#"):
            is_left_out = line.strip("# ").lower() in _NOT_OF_COLUMNS
        elif not (is_left_out or is_code or line.startswith("|")):
            yield from _SENTENCE_END.split(line)


FACTS_VERSION = 1
"""Version of the words. Cached facts of another version are computed again."""

UNKNOWN = "unknown"
"""Value of a fact that the files do not show, such as any fact of a table where there is none."""
_STRENGTH = ("none", "weak", "some", "strong", UNKNOWN)
_AGAINST_LINEAR = ("worse", "equal", "better", UNKNOWN)
_SWITCH = ("no", "yes", UNKNOWN)

FACT_VALUES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "target": tuple(TargetKind),
        "form": tuple(FORMS),
        "metric": tuple(MetricName),
        "classes": ("none", "2", "3-4", "5+"),
        "balance": ("none", "even", "uneven", "rare", UNKNOWN),
        "rows": ("under-90", "90-129", "130-169", "170+", UNKNOWN),
        "numeric": ("0-2", "3-5", "6-9", "10+", UNKNOWN),
        "categorical": ("0", "1-2", "3+", UNKNOWN),
        "cardinality": ("low", "high", UNKNOWN),
        "missing": ("none", "some", "much", UNKNOWN),
        "dates": _SWITCH,
        "text": _SWITCH,
        "units": _SWITCH,
        "sentinels": _SWITCH,
        "child": _SWITCH,
        "dictionary": _SWITCH,
        "states": ("nothing", "formula", "condition", "both", UNKNOWN),
        "skew": ("none", "low", "high", UNKNOWN),
        "linear": _STRENGTH,
        "trees": _AGAINST_LINEAR,
        "neighbours": _AGAINST_LINEAR,
        "column": _STRENGTH,
        "noise": ("low", "middle", "high", UNKNOWN),
    }
)
"""Values of each fact, in the order in which a task's facts are listed.

`balance`: share of the rarest class against an equal share. `sentinels`: a number far outside of the others that
several rows share. `child`: a further table with several rows an item. `states`: what sentences of the description
define over columns. `linear`, `trees` and `neighbours`: out-of-fold signal of a linear model, and that of a forest and
of nearest neighbours against it. `column`: strongest association of one column. `noise`: what the best of these models
leaves.
"""

FACT_WORDS: tuple[str, ...] = tuple(f"{name}={value}" for name, values in FACT_VALUES.items() for value in values)
"""All words that can occur."""

_LOG = logging.getLogger(__name__)


def facts_of(public: Path, facts: TaskFacts) -> tuple[str, ...]:
    """Return one word for each fact, in the order of `FACT_VALUES`. Equal files give equal words.

    Files that cannot be read as tables give the values `unknown`; no file raises an error.

    Args:
        public: folder with the public files.
        facts: what the description states.
    """
    values = dict.fromkeys(FACT_VALUES, UNKNOWN)
    values |= {"target": facts.target, "form": facts.encoding, "metric": facts.metric, "classes": _classes(facts)}
    try:
        values |= _of_files(public, facts)
    except Exception:  # noqa: BLE001
        # The tables may be a stranger's. Whatever they hold, a policy gets a prompt.
        _LOG.warning("The facts of %s are unknown", public, exc_info=True)
    return tuple(f"{name}={values[name]}" for name in FACT_VALUES)


def _classes(facts: TaskFacts) -> str:
    number = len(facts.classes)
    return "none" if not number else "2" if number <= 2 else "3-4" if number <= 4 else "5+"


def _of_files(public: Path, facts: TaskFacts) -> dict[str, str]:
    from sandmill_learn.facts import column_facts, read_table, signal_facts, target_facts, text_facts

    table = read_table(public, facts)
    found = text_facts(public, table.features if table else ())
    if table is None:
        return found
    return found | column_facts(table) | target_facts(table, facts) | signal_facts(table, facts)
