"""A panel whose runs are made up: the oracle, spoilt more and more from the last entry to the constant one."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from scipy.special import expit, logit

from sandmill.calibrate.measure import difficulty, draw_counts
from sandmill.calibrate.panel import PANEL, TRIVIAL, PanelRun
from sandmill.draw import Pilot, Rendered, draw_pilot, render
from sandmill.models.base import Band
from sandmill.models.calibration import Tier
from sandmill.models.plan import Attempt, Slot
from sandmill.models.spec import Sizes
from sandmill.scoring import get_metric
from sandmill.scoring.base import Array
from tests.designs import SECRET, TASKS, make_seed, make_spec

SIZES = Sizes(train=120, feedback=2100, final=4200)
_BEST_FIRST = [entry.name for entry in PANEL[:0:-1]]
_SPREADS = dict(zip(_BEST_FIRST, np.geomspace(0.5, 60, len(_BEST_FIRST)), strict=True))
"""Noise that an entry adds to the oracle's log-odds."""


@cache
def pilot_of(replicate: int = 0) -> Pilot:
    """Pilot of a small binary design."""
    spec = make_spec(*TASKS[0]).model_copy(update={"sizes": SIZES, "hints": ()})
    return draw_pilot(spec, SECRET, replicate)


@cache
def rendered_of(sizes: Sizes = SIZES) -> Rendered:
    """The same design as a package."""
    return render(pilot_of().spec.model_copy(update={"sizes": sizes}), SECRET)


def made_up(oracle: Array, names: Sequence[str]) -> list[PanelRun]:
    """What these entries would predict: constants from the first, better from each that comes later.

    Args:
        oracle: best prediction for the rows.
        names: entries.
    """
    sure, tiers = logit(np.clip(oracle, 1e-6, 1 - 1e-6)), {entry.name: entry.tier for entry in PANEL}
    noise = np.random.default_rng(0).normal(size=len(oracle))
    scores = {
        name: expit(sure + _SPREADS[name] * noise) if name in _SPREADS else np.full(len(noise), 0.5) for name in names
    }
    return [PanelRun(name, tiers[name], scores[name], None) for name in names]


def _band() -> Band:
    """Band of the made-up panel on the pilot."""
    pilot = pilot_of()
    names = [TRIVIAL, *(entry.name for entry in PANEL if entry.tier is Tier.COMPETENT)]
    trivial, *usual = (run.prediction for run in made_up(pilot.oracle, names))
    counts, metric = draw_counts(len(pilot.truth), np.random.default_rng(0), 2), get_metric(pilot.facts.metric)
    return difficulty(pilot.truth, usual, trivial, pilot.oracle, metric, counts).band


BAND = _band()
"""Of the made-up panel."""


def job(band: Band = BAND, any_band: bool = False, replicate: int = 0) -> tuple[Attempt, Pilot, bytes]:
    """Arguments of the first attempt at a slot that wants a band."""
    slot = Slot(number=0, seed=make_seed(*TASKS[0]), band=band)
    attempt = Attempt(slot, 0, 1, 0, 0.4, any_band=any_band, replicate=replicate)
    return attempt, pilot_of(replicate), SECRET
