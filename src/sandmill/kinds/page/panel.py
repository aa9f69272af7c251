"""The panel of pages that are to be cleaned: filters, and regressions of a pixel on what is around it."""

from sandmill.kinds.page import filters, regressions
from sandmill.kinds.page.filters import read
from sandmill.kinds.page.regressions import reading
from sandmill.kinds.page.scripts import ladder
from sandmill.kinds.panel import Entry, entries
from sandmill.models.calibration import Tier

__all__ = ["ADVERSARIES", "ENTRIES", "READERS", "TWINS", "WITH_MORE_ITEMS", "ladder", "read", "reading"]

ENTRIES = entries(
    {
        Tier.TRIVIAL: (filters.prior,),
        Tier.NAIVE: (
            *(filters.white_page, filters.even_grey, filters.dirty_page, filters.unscaled_page, filters.inverted_page),
            *(filters.swapped_places, filters.places_as_text, filters.half_threshold, filters.training_threshold),
            *(filters.mean_filter, filters.median_filter, filters.stretched_page, filters.otsu_threshold),
        ),
        Tier.COMPETENT: (
            *(filters.value_curve, filters.stretched_curve, filters.smooth_curve, filters.background_curve),
            *(filters.adaptive_curve, filters.closing_curve, filters.wiener_curve, regressions.linear_patch),
            *(regressions.linear_stretched, regressions.linear_background, regressions.boosted_patch),
        ),
        Tier.STRONG: (
            *(regressions.linear_features, regressions.nearest_patches, regressions.principal_patches),
            *(regressions.forest_features, regressions.boosted_features),
        ),
        Tier.SEARCH: (filters.searched_filter, regressions.cleaned_lines, regressions.second_look),
        Tier.ENSEMBLE: (regressions.average_of_two, regressions.average_of_three),
    }
)
"""The ladder, weakest tier first."""
WITH_MORE_ITEMS = ("boosted_features", "second_look")
"""Entries that are given more pages to learn from, which bounds the best possible score from below."""
TWINS = {
    "reader_linear": "linear_features",
    "reader_boosted": "boosted_features",
    "reader_second": "second_look",
    "reader_average": "average_of_two",
}
"""Reader to the entry that does the same without moving lines."""
READERS = tuple(
    Entry(reader, Tier.READER, solve=solver.solve)
    for reader, twin in TWINS.items()
    for solver in ENTRIES
    if solver.name == twin
)
"""Solvers that undo the slips of lines which the description states. The pages that they get are without slips."""
ADVERSARIES = entries({Tier.SEARCH: (regressions.aligned_lines,)})
"""Blind solvers that are not on the leaderboard."""
