"""Run the ladder of reference solvers on the public files of a task."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandmill.calibrate.solvers.told import Told
from sandmill.models.calibration import Tier
from sandmill.models.package import LIST_LENGTH, Brief

TRIVIAL = "prior"
"""The entry that is 0 on the gap scale."""


@dataclass(frozen=True)
class Entry:
    """A solver's place on the ladder."""

    name: str
    """Also the name of its function."""
    tier: Tier
    module: str
    """Module of `calibrate.solvers` that holds it; imported when it runs, for scikit-learn is slow to load."""

    def load(self) -> Callable[[Any], Any]:
        """Import the solver: a function of a `solvers.table.Table` that returns a prediction."""
        from importlib import import_module

        function: Callable[[Any], Any] = getattr(import_module(self.module), self.name)
        return function


def _tier(tier: Tier, *names: str) -> tuple[Entry, ...]:
    return tuple(Entry(name, tier, f"sandmill.calibrate.solvers.{tier}") for name in names)


PANEL: tuple[Entry, ...] = (
    *_tier(Tier.TRIVIAL, TRIVIAL),
    *_tier(Tier.NAIVE, "stump", "one_column", "nearest_neighbour"),
    *_tier(
        Tier.COMPETENT,
        "linear",
        "random_forest",
        "extra_trees",
        "hist_boosting",
        "neighbours",
        "support_vectors",
        "bayes",
    ),
    *_tier(Tier.STRONG, "linear_tuned", "forest_tuned", "small_boosting", "gaussian_process", "soft_vote", "stack"),
    *_tier(
        Tier.SEARCH,
        "ratio_search",
        "product_search",
        "period_search",
        "step_search",
        "encoding_search",
        "repair_search",
        "auto_search",
        "auto_forest",
        "auto_blend",
        "sparse_search",
        "sparse_process",
        "sparse_blend",
        "cutoff_search",
        "recency_search",
    ),
)
"""The ladder, weakest tier first. One entry set for all tasks: an entry never knows how a task was made."""


@dataclass(frozen=True)
class PanelRun:
    """What one solver did on one task."""

    name: str
    tier: Tier
    prediction: NDArray[Any] | None
    """In the order of test.csv, as the encoding asks; None if the solver failed."""
    failure: str | None
    seconds: float
    """Wall time. What entries share is paid by the first that needs it."""


def told_of(brief: Brief) -> Told:
    """Write a brief as the plain data that agent-side code can hold."""
    return Told(
        id_column=brief.id_column,
        target_column=brief.target_column,
        target=str(brief.target),
        metric=str(brief.metric),
        encoding=brief.encoding,
        classes=brief.classes,
        submission_columns=brief.submission_columns,
        target_columns=brief.target_columns,
        list_length=_list_length(brief),
    )


def _list_length(brief: Brief) -> int | None:
    """Places of a ranked list, as the reader of submissions counts them."""
    return brief.list_length or LIST_LENGTH if brief.encoding == "ranked_list" else brief.list_length


def run_panel(folder: Path, told: Told, names: Sequence[str] | None = None) -> list[PanelRun]:
    """Solve a task with every entry, or with those named, in the panel's order.

    One thread of linear algebra, whatever the machine: the standalone scripts do the same, so both give the same bytes.
    A solver that raises or answers in the wrong shape is a failed run, not an error of this function.

    Args:
        folder: holds train.csv and test.csv.
        told: what the description says.
        names: entries to run; all if None.

    Raises:
        KeyError: if a name is not in the panel.
        OSError: if the folder cannot be read.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    from sandmill.calibrate.solvers.table import Table

    known = {entry.name: entry for entry in PANEL}
    wanted = PANEL if names is None else [known[name] for name in names]
    with threadpool_limits(1):
        table = Table.read(folder, told)
        return [_run(entry, table) for entry in wanted]


def _run(entry: Entry, table: Any) -> PanelRun:
    """Time one solver; whatever it raises is recorded, since solvers are code like an agent's."""
    started = time.perf_counter()
    prediction, failure = None, None
    try:
        prediction = np.asarray(_solve(entry.load(), table))
        failure = _fault(prediction, table)
    except Exception as error:  # noqa: BLE001
        failure = f"{type(error).__name__}: {error}"
    return PanelRun(entry.name, entry.tier, None if failure else prediction, failure, time.perf_counter() - started)


def _solve(solver: Callable[[Any], Any], table: Any) -> Any:
    """Answer a task as a whole, or column by column where the target has several."""
    from sandmill.calibrate.solvers.columns import solve_columns

    return solve_columns(solver, table) if table.told.is_wide else solver(table)


def _fault(prediction: NDArray[Any], table: Any) -> str | None:
    """Say what is wrong with a prediction, if anything."""
    shape, low, high = _form(table.told, len(table.ids))
    if prediction.shape != shape:
        return f"prediction of shape {prediction.shape}; expected {shape}"
    bad = int((~np.isfinite(prediction)).sum())
    if bad:
        return f"{bad} predicted values are not finite"
    off = int(((prediction < low) | (prediction > high)).sum())
    return f"{off} predicted values are not from {low:g} to {high:g}" if off else None


def _form(told: Told, rows: int) -> tuple[tuple[int, ...], float, float]:
    """Shape of a prediction, and the least and largest value that it may hold."""
    classes = len(told.classes)
    match told.encoding:
        case "probability":
            return (rows,), 0, 1
        case "label":
            return (rows,), 0, classes - 1
        case "class_probabilities" | "label_probabilities" | "label_list":
            return (rows, classes), 0, 1
        case "ranked_list":
            return (rows, told.list_length or LIST_LENGTH), -1, classes - 1
        case "values":
            return (rows, len(told.submission_columns)), -np.inf, np.inf
        case _:
            return (rows,), -np.inf, np.inf
