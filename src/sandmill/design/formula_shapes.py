"""How the rule uses a stated quantity: as it is, above a limit, or by its distance from a norm."""

from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np

from sandmill.mechanism.columns import Floats
from sandmill.mechanism.rule import evaluate_motif
from sandmill.models.columns import Column
from sandmill.models.english import capitalized, with_article
from sandmill.models.motifs import Distance, Formula

Measured = TypeVar("Measured", Formula, Distance)

_SHAPES = (0.1, 0.45, 0.45)
"""Chances of the three uses. A plain quotient is a sum of logarithms, which a blind linear model finds as well."""
_CUT_RANGE, _NORM_RANGE = (0.45, 0.7), (0.4, 0.6)
"""Shares of rows below a limit and below a norm."""
_DIGITS = 3
"""Significant digits of limits and norms."""
_ABOVE = (
    "Where the {name} is above {number}, things take another course.",
    "Cases with {a_name} above {number} are kept apart from the rest.",
    "{A_name} above {number} sets off a second look.",
    "Above {number} the {name} is called critical.",
    "Old hands divide the cases in two, those with {a_name} above {number} and all others.",
    "What matters in the end is whether the {name} comes out above {number}.",
    "{A_name} above {number} is always looked into.",
    "Whoever sees {a_name} above {number} knows what is coming.",
)
_NORM = (
    "Ideal is {a_name} of {number}; twice as much is as far off as half as much.",
    "The {name} should come out at {number}, and what is watched is how many times too large or too small it is.",
    "Trouble grows with the distance of the {name} from {number}, upwards and downwards alike, in proportion.",
    "{A_name} of {number} is normal, and any factor away from it, up or down, tells a story.",
    "Nobody worries about {a_name} near {number}; the further off by factors, on either side, the stranger the case.",
    "With the {name} the rule of thumb is {number}, and it is the factor to it that counts, in whichever direction.",
    "Experience says {number} for the {name}; too high and too low by the same factor are equally telling.",
)


def draw_shape(
    name: str, formula: Formula, columns: Mapping[str, Column], cells: Mapping[str, Floats], rng: np.random.Generator
) -> tuple[Formula, str]:
    """Draw how the rule uses a quantity.

    Args:
        name: of the quantity.
        formula: its plain form.
        columns: columns of the design by name.
        cells: a draw of the formula's columns.
        rng: for the draws.

    Returns:
        The formula with a limit or a norm, and the sentence that states it, empty for the plain form.
    """
    return draw_use(name, formula, lambda: np.exp(evaluate_motif(formula, columns, cells)), rng)


def draw_use(
    name: str, plain: Measured, values_of: Callable[[], Floats], rng: np.random.Generator, unit: str = ""
) -> tuple[Measured, str]:
    """Draw how the rule uses a quantity, which is positive.

    Args:
        name: of the quantity.
        plain: the form without a limit or a norm.
        values_of: returns a draw of the quantity.
        rng: for the draws.
        unit: that stands behind the number.

    Returns:
        The form with a limit or a norm, and the sentence that states it, empty for the plain form.
    """
    shape = int(rng.choice(len(_SHAPES), p=_SHAPES))
    if shape == 0:
        return plain, ""
    low, high = _CUT_RANGE if shape == 1 else _NORM_RANGE
    number = float(f"{np.quantile(values_of(), rng.uniform(low, high)):.{_DIGITS}g}")
    texts = _ABOVE if shape == 1 else _NORM
    spoken = name.replace("_", " ")
    words = {"name": spoken, "a_name": with_article(spoken), "A_name": capitalized(with_article(spoken))}
    said = texts[int(rng.integers(len(texts)))].format(**words, number=f"{_written(number)}{unit}")
    return plain.model_copy(update={"above" if shape == 1 else "norm": number}), said


def _written(number: float) -> str:
    """Write all digits without an exponent."""
    return np.format_float_positional(number, trim="-")
