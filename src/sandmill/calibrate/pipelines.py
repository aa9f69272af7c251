"""Pipelines drawn from a frozen distribution: a stand-in for the many ways in which agents go about a task."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sandmill.calibrate.conditions import solver_conditions
from sandmill.calibrate.panel import Panel, PanelRun
from sandmill.models.calibration import Tier

PIPELINES_VERSION = 2
"""Raise when anything below changes what a generator draws or what a pipeline says."""

PIPELINES = 64

Shares: TypeAlias = Mapping[str, float]

GAPS: Shares = MappingProxyType({"median": 0.35, "mean": 0.2, "zero": 0.2, "flagged": 0.15, "from others": 0.1})
"""How gaps in numbers are filled, with the chance of each way."""

NUMBERS: Shares = MappingProxyType(
    {"standard": 0.35, "raw": 0.25, "clipped": 0.1, "ranked": 0.1, "squeezed": 0.08, "logged": 0.12}
)
"""How numbers are scaled or squashed."""

DATES: Shares = MappingProxyType({"days": 0.45, "calendar": 0.35, "left out": 0.2})
"""What becomes of dates."""

CATEGORIES: Shares = MappingProxyType(
    {"levels": 0.45, "codes": 0.2, "means": 0.15, "frequencies": 0.08, "left out": 0.12}
)
"""How categories are encoded."""

EXTRAS: Shares = MappingProxyType(
    {"none": 0.66, "squares": 0.07, "products": 0.09, "logs": 0.06, "waves": 0.06, "steps": 0.06}
)
"""Which further features are made of the numbers."""

DECISIONS: Shares = MappingProxyType({"decide": 0.6, "likeliest": 0.4})
"""How classes are named: as the metric rewards, or the likeliest one."""

MODELS: Shares = MappingProxyType(
    {
        "linear": 0.34,
        "nearest centroid": 0.06,
        "naive Bayes": 0.1,
        "partial least squares": 0.09,
        "linear SVM": 0.09,
        "kernel ridge": 0.05,
        "nearest neighbours": 0.1,
        "tree": 0.1,
        "forest": 0.04,
        "boosting": 0.03,
    }
)
"""Which model; for numbers, nearest centroid and naive Bayes work on a target cut into thirds."""

SETTINGS: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "linear": (0.02, 0.5, 2.0, 7.0, 20.0, 60.0, 150.0),
        "nearest centroid": (0.5, 1.0, 2.0),
        "naive Bayes": (0.0, 0.3, 0.6, 0.9),
        "partial least squares": (1, 2, 3, 5),
        "linear SVM": (0.01, 0.1, 1.0),
        "kernel ridge": (0.4, 0.8, 1.6),
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
    setting: float
    decision: str

    @property
    def name(self) -> str:
        """All of its parts, so that equal names are equal pipelines."""
        prepared = f"{self.gaps}, {self.numbers}, {self.dates}, {self.categories}, {self.extras}"
        return f"{self.model} {self.setting:g} on {prepared}; {self.decision}"

    def load(self) -> Callable[[Any], Any]:
        """Make the solver when it runs: scikit-learn is slow to load."""
        from sandmill.calibrate.pipeline_models import fitted, prepared

        def solver(table: Any) -> Any:
            return fitted(self.model, self.setting, prepared(self, table), table)

        solver.__name__ = self.name
        return solver

    def load_decision(self) -> Callable[[Any, Any], Any]:
        """Import what turns scores into an answer."""
        from sandmill.calibrate.pipeline_models import likeliest
        from sandmill.calibrate.solvers.decisions import decide

        return decide if self.decision == "decide" else likeliest


def draw_pipelines(rng: np.random.Generator, count: int = PIPELINES) -> list[Pipeline]:
    """Draw pipelines from the frozen distribution; the same one may come twice."""
    return [_draw(rng) for _ in range(count)]


def run_pipelines(
    panel: Panel, rng: np.random.Generator, rows: NDArray[np.intp] | None = None, count: int = PIPELINES
) -> list[PanelRun]:
    """Draw pipelines and run each on the task. Those that raise or answer in the wrong form are failed runs.

    They never join the board, so their tier, naive, says nothing of them.

    Args:
        panel: holds the files.
        rng: draws the pipelines, and nothing else.
        rows: test rows that they answer, in this order; all if None.
        count: pipelines.
    """
    fresh = panel.without_cache(rows)
    with solver_conditions(), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return [
            fresh.run_solver(pipeline.name, Tier.NAIVE, pipeline.load, pipeline.load_decision)
            for pipeline in draw_pipelines(rng, count)
        ]


def _draw(rng: np.random.Generator) -> Pipeline:
    pick = partial(_pick, rng)
    gaps, numbers, dates = pick(GAPS), pick(NUMBERS), pick(DATES)
    categories, extras, model, decision = pick(CATEGORIES), pick(EXTRAS), pick(MODELS), pick(DECISIONS)
    setting = SETTINGS[model][int(rng.random() * len(SETTINGS[model]))]
    return Pipeline(gaps, numbers, dates, categories, extras, model, setting, decision)


def _pick(rng: np.random.Generator, shares: Shares) -> str:
    """One name, by its share; one number of the generator each, whatever is picked."""
    edges = np.cumsum(list(shares.values()))
    return list(shares)[int(np.searchsorted(edges, rng.random() * edges[-1], side="right"))]
