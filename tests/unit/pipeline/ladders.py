"""A panel whose runs are made up: the oracle, spoilt more and more from the last entry to the constant one."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from scipy.special import expit, logit

from sandmill.calibrate.panel import PANEL, PanelRun
from sandmill.metrics.base import Array
from sandmill.models.base import Band
from sandmill.models.plan import Slot
from sandmill.models.spec import Sizes
from sandmill.pipeline.band_search import Attempt
from sandmill.synth import Pilot, Rendered, draw_pilot, render
from tests.designs import SECRET, TASKS, make_seed, make_spec

SIZES = Sizes(train=120, feedback=2100, final=4200)
BAND = Band.HARD
"""Of the made-up panel."""
_SPREADS = {entry.name: spread for entry, spread in zip(PANEL[:0:-1], np.linspace(1, 24, len(PANEL) - 1), strict=True)}
"""Noise that an entry adds to the oracle's log-odds."""


@cache
def pilot_of(replicate: int = 0) -> Pilot:
    """Pilot of a small binary design."""
    return draw_pilot(make_spec(*TASKS[0]).model_copy(update={"sizes": SIZES}), SECRET, replicate)


@cache
def rendered_of(sizes: Sizes = SIZES) -> Rendered:
    """The same design as a package."""
    return render(pilot_of().spec.model_copy(update={"sizes": sizes}), SECRET)


def job(band: Band = BAND, any_band: bool = False, replicate: int = 0) -> tuple[Attempt, Pilot, bytes]:
    """Arguments of the first attempt at a slot that wants a band."""
    slot = Slot(number=0, seed=make_seed(*TASKS[0]), band=band)
    attempt = Attempt(slot, 0, 1, 0, 0.4, any_band=any_band, replicate=replicate)
    return attempt, pilot_of(replicate), SECRET


def made_up(oracle: Array, names: Sequence[str], spread: float = 1.0) -> list[PanelRun]:
    """What these entries would predict: constants from the first, better from each that comes later.

    Args:
        oracle: best prediction for the rows.
        names: entries.
        spread: factor on the noise that all entries share, so that their order is the same on any rows.
    """
    sure, tiers = logit(np.clip(oracle, 1e-6, 1 - 1e-6)), {entry.name: entry.tier for entry in PANEL}
    noise = spread * np.random.default_rng(0).normal(size=len(oracle))
    scores = {
        name: expit(sure + _SPREADS[name] * noise) if name in _SPREADS else np.full(len(noise), 0.5) for name in names
    }
    return [PanelRun(name, tiers[name], [scores[name]], lambda columns: columns[0], None) for name in names]
