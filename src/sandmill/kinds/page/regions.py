"""What marks regions of pictures: features of pixels, a limit, and the size of regions, here and in scripts."""

from typing import Any

import numpy as np

from sandmill.kinds.page.filters import local_contrast, local_mean, local_median, smooth, stretch


def without_plane(stack: Any) -> Any:
    """Subtract from each picture the plane that fits it best, and its median."""
    down, across = np.meshgrid(*(np.linspace(-1, 1, side) for side in stack.shape[1:]), indexing="ij")
    for slope in (down, across):
        stack = stack - (stack * slope).sum(axis=(1, 2), keepdims=True) / (slope**2).sum() * slope
    return stack - np.median(stack, axis=(1, 2), keepdims=True)


def without_lines(stack: Any) -> Any:
    """Subtract from pictures the medians of their rows and columns, but for the median of the picture."""
    for axis in (1, 2):
        lines = np.median(stack, axis=axis, keepdims=True)
        stack = stack - lines + np.median(lines, axis=3 - axis, keepdims=True)
    return stack


def region_features(stack: Any) -> Any:
    """What is around each pixel: the picture filtered in several ways and widths, shape (pixels, features)."""
    even, bare = without_plane(stack), without_lines(stack)
    mean = local_mean(even, 5)
    views = [
        *(stack, stretch(stack), local_contrast(stack), even, bare, mean),
        np.sqrt(np.maximum(local_mean(even**2, 5) - mean**2, 0)),
        *(smooth(even, width) for width in (0.8, 1.6, 3.0, 6.0)),
        *(smooth(bare, 1.2), local_median(even, 3), local_median(even, 5)),
        # Lines that run over the whole picture show in the means of its rows and columns
        *(even.mean(axis=axis, keepdims=True) for axis in (1, 2)),
        *(stack.std(axis=(1, 2), keepdims=True), np.percentile(even, 5, axis=(1, 2), keepdims=True)),
    ]
    far = np.pad(smooth(even, 1.0), ((0, 0), (4, 4), (4, 4)), mode="edge")
    views += [far[:, :-8, 4:-4], far[:, 8:, 4:-4], far[:, 4:-4, :-8], far[:, 4:-4, 8:]]
    flat = np.stack([np.broadcast_to(view, stack.shape) for view in views], axis=-1)
    return flat.reshape(stack.size, -1).astype(np.float32)


def best_limit(cleaned: Any, marked: Any, score: Any) -> Any:
    """Return the limit below which a pixel is marked, by the score of the task."""
    return max(np.linspace(0.04, 0.96, 47), key=lambda limit: score(cleaned < limit, marked))


def without_small(marked: Any, least: int) -> Any:
    """Drop regions of fewer pixels. Pixels that touch at a side are of one region."""
    from scipy.ndimage import generate_binary_structure, label

    beside = np.zeros((3, 3, 3), dtype=bool)
    beside[1] = generate_binary_structure(2, 1)
    regions, _ = label(marked, structure=beside)
    sizes = np.bincount(regions.ravel())
    sizes[0] = 0
    return sizes[regions] >= max(least, 1)


def tidied(cleaned: Any, marked: Any, test: Any, score: Any) -> Any:
    """Mark test pictures: smoothing, limit and least size of a region are tuned on pictures whose masks are known."""
    tried = []
    for width in (0.01, 0.7, 1.2):
        smoothed = smooth(cleaned, width)
        limit = best_limit(smoothed, marked, score)
        for least in (0, 4, 8, 14, 22):
            tried.append((score(without_small(smoothed < limit, least), marked), width, limit, least))
    _, width, limit, least = max(tried)
    return without_small(smooth(test, width) < limit, least)
