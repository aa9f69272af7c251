"""The panel of pictures whose regions are to be marked: thresholds, filters, and classifiers of pixels.

What filters and regressions say of a pixel is that of `calibrate.solvers.fields`, with masks for clean pages. A limit,
tuned on training pictures, makes masks of it.
"""

from sandmill.kinds.page import filters, regressions
from sandmill.kinds.page.masks import pixel_classifiers as shaders
from sandmill.kinds.page.masks.pictures import TaskPictures, by_limit, read
from sandmill.kinds.page.masks.plain import (
    between_means,
    dark_half,
    darker_than_most,
    empty_mask,
    from_zero,
    full_mask,
    inverted_mask,
    local_threshold,
    middle_of_picture,
    otsu_split,
    prior,
    row_by_row,
    usual_pixels,
    usual_share,
)
from sandmill.kinds.page.masks.scripts import ladder
from sandmill.kinds.page.masks.tidying import tidied_boosting, tidied_filter, tidied_second_look
from sandmill.kinds.panel import Entry
from sandmill.models.calibration import Tier

value_curve = by_limit(filters.value_curve)
stretched_curve = by_limit(filters.stretched_curve)
smooth_curve = by_limit(filters.smooth_curve)
adaptive_curve = by_limit(filters.adaptive_curve)
median_curve = by_limit(shaders.median_curve)
wide_curve = by_limit(shaders.wide_curve)
plane_curve = by_limit(shaders.plane_curve)
difference_curve = by_limit(shaders.difference_curve)
without_lines_curve = by_limit(shaders.without_lines_curve)
linear_patch = by_limit(regressions.linear_patch)
linear_stretched = by_limit(regressions.linear_stretched)
linear_features = by_limit(shaders.linear_features)
logistic_features = by_limit(shaders.logistic_features)
forest_features = by_limit(shaders.forest_features)
boosted_features = by_limit(shaders.boosted_features)
second_look = by_limit(shaders.second_look)
searched_filter = by_limit(shaders.searched_filter)
average_of_two = by_limit(shaders.average_of_two)

_SOLVERS = {
    Tier.TRIVIAL: (prior,),
    Tier.NAIVE: (
        empty_mask, full_mask, middle_of_picture, usual_pixels, dark_half, darker_than_most, between_means,
        usual_share, otsu_split, local_threshold, row_by_row, from_zero, inverted_mask,
    ),
    Tier.COMPETENT: (
        value_curve, stretched_curve, smooth_curve, adaptive_curve, median_curve, wide_curve, plane_curve,
        difference_curve, without_lines_curve, linear_patch, linear_stretched,
    ),
    Tier.STRONG: (linear_features, logistic_features, forest_features, boosted_features),
    Tier.SEARCH: (searched_filter, tidied_filter, second_look, tidied_boosting, tidied_second_look),
    Tier.ENSEMBLE: (average_of_two,),
}  # fmt: skip
ENTRIES = tuple(Entry(solver.__name__, tier) for tier, solvers in _SOLVERS.items() for solver in solvers)
"""The ladder, weakest tier first."""
WITH_MORE_ITEMS = (boosted_features.__name__, tidied_second_look.__name__)
"""Entries that are given more pictures to learn from, which bounds the best possible score from below."""

__all__ = ["ENTRIES", "WITH_MORE_ITEMS", "TaskPictures", "ladder", "read", *(entry.name for entry in ENTRIES)]
