"""Which difficulties a search for a band accepts, and the rejection of a design beyond them."""

from sandmill.errors import ItemRejected
from sandmill.models.base import Band, Stage
from sandmill.models.calibration import BAND_FLOORS

ACCEPTED = (0.15, 0.92)
"""Difficulties that a search accepts. Of 240 designs, 94 % of those from 0.35 to 0.75 became tasks, but 1 of 9 below
0.15 and 4 of 14 above 0.92: there, medals are seldom 2 % of the gap apart, or a constant prediction wins one."""
OFF_BAND = "off_band"


def accepted_range(band: Band) -> tuple[float, float]:
    """Return the difficulties that a search for a band accepts: at least the first, below the second."""
    low = BAND_FLOORS[band]
    high = min((floor for floor in BAND_FLOORS.values() if floor > low), default=1.0)
    return max(low, ACCEPTED[0]), min(high, ACCEPTED[1])


class OffBand(ItemRejected):
    """The difficulty is not accepted. Nothing else was wrong as far as it was measured."""

    def __init__(self, measured: float, wanted: Band) -> None:
        self.measured = measured
        low, high = accepted_range(wanted)
        detail = f"difficulty {measured:.2f}; a search for {wanted} accepts {low:g} to {high:g}"
        super().__init__(Stage.CALIBRATE, OFF_BAND, detail)
