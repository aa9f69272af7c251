"""Bands to slots: the mix stays as it was asked for, and each structure is asked for what its designs can be."""

from collections.abc import Sequence

from sandmill.design import beyond_reach
from sandmill.models.base import Band
from sandmill.models.structure import Structure

_LEAST_GAIN = 1e-9

_Kind = tuple[str, str]
"""Target and metric, which decide how hard designs can be."""


def pair_bands(structures: Sequence[Structure], bands: Sequence[Band]) -> list[Band]:
    """Swap the band of a slot that cannot reach it with the one by which both together come nearest.

    Counts with an absolute error are never easy on 200 rows, ranks of numbers seldom expert. Slots whose band is within
    reach stay as they were drawn, unless another slot needs their band.

    Args:
        structures: of the slots.
        bands: of the slots, as drawn; as many.

    Returns:
        The same bands, in another order.
    """
    kinds: list[_Kind] = [(str(structure.target), str(structure.metric)) for structure in structures]
    by_kind = dict(zip(kinds, structures, strict=True))
    reach = {(kind, band): beyond_reach(structure, band) for kind, structure in by_kind.items() for band in Band}
    paired = list(bands)
    held: dict[tuple[_Kind, Band], list[int]] = {}
    for slot in reversed(range(len(kinds))):
        held.setdefault((kinds[slot], paired[slot]), []).append(slot)
    for slot, kind in enumerate(kinds):
        own = paired[slot]
        if not reach[kind, own]:
            continue
        gains = {
            (other, band): reach[kind, own] + reach[other, band] - reach[kind, band] - reach[other, own]
            for (other, band), slots in held.items()
            if slots
        }
        (other, band), gain = max(gains.items(), key=lambda item: item[1])
        if gain < _LEAST_GAIN:
            continue
        partner = held[other, band].pop()
        held[kind, own].remove(slot)
        paired[slot], paired[partner] = band, own
        held.setdefault((kind, band), []).append(slot)
        held.setdefault((other, own), []).append(partner)
    return paired
