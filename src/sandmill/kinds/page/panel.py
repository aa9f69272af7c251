"""The panel of pages that are to be cleaned: filters, and regressions of a pixel on what is around it."""

from sandmill.kinds.page.filters import (
    adaptive_curve,
    background_curve,
    closing_curve,
    dirty_page,
    even_grey,
    half_threshold,
    inverted_page,
    mean_filter,
    median_filter,
    otsu_threshold,
    places_as_text,
    prior,
    searched_filter,
    smooth_curve,
    stretched_curve,
    stretched_page,
    swapped_places,
    training_threshold,
    unscaled_page,
    value_curve,
    white_page,
    wiener_curve,
)
from sandmill.kinds.page.pages import TaskPages, read
from sandmill.kinds.page.regressions import (
    average_of_three,
    average_of_two,
    boosted_features,
    boosted_patch,
    cleaned_lines,
    forest_features,
    linear_background,
    linear_features,
    linear_patch,
    linear_stretched,
    nearest_patches,
    principal_patches,
    second_look,
)
from sandmill.kinds.page.scripts import ladder
from sandmill.kinds.page.slips import (
    aligned_lines,
    reader_average,
    reader_boosted,
    reader_linear,
    reader_second,
    reading,
)
from sandmill.kinds.panel import Entry
from sandmill.models.calibration import Tier

_SOLVERS = {
    Tier.TRIVIAL: (prior,),
    Tier.NAIVE: (
        white_page, even_grey, dirty_page, unscaled_page, inverted_page, swapped_places, places_as_text,
        half_threshold, training_threshold, mean_filter, median_filter, stretched_page, otsu_threshold,
    ),
    Tier.COMPETENT: (
        value_curve, stretched_curve, smooth_curve, background_curve, adaptive_curve, closing_curve, wiener_curve,
        linear_patch, linear_stretched, linear_background, boosted_patch,
    ),
    Tier.STRONG: (linear_features, nearest_patches, principal_patches, forest_features, boosted_features),
    Tier.SEARCH: (searched_filter, cleaned_lines, second_look),
    Tier.ENSEMBLE: (average_of_two, average_of_three),
}  # fmt: skip
ENTRIES = tuple(Entry(solver.__name__, tier) for tier, solvers in _SOLVERS.items() for solver in solvers)
"""The ladder, weakest tier first."""
WITH_MORE_ITEMS = (boosted_features.__name__, second_look.__name__)
"""Entries that are given more pages to learn from, which bounds the best possible score from below."""

READERS = tuple(
    Entry(solver.__name__, Tier.READER) for solver in (reader_linear, reader_boosted, reader_second, reader_average)
)
"""Solvers that undo the slips of lines which the description states."""
TWINS = {
    reader_linear.__name__: linear_features.__name__,
    reader_boosted.__name__: boosted_features.__name__,
    reader_second.__name__: second_look.__name__,
    reader_average.__name__: average_of_two.__name__,
}
"""Reader to the entry that does the same without moving lines."""
ADVERSARIES = (Entry(aligned_lines.__name__, Tier.SEARCH),)
"""Blind solvers that are not on the leaderboard."""

__all__ = [
    "ADVERSARIES",
    "ENTRIES",
    "READERS",
    "TWINS",
    "WITH_MORE_ITEMS",
    "TaskPages",
    "ladder",
    "read",
    "reading",
    *(entry.name for entry in (*ENTRIES, *READERS, *ADVERSARIES)),
]
