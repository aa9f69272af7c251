"""Texts that a description must not contain: terms of the mechanism, and its parameters."""

import math
import re
from collections.abc import Iterator
from datetime import timedelta
from importlib.resources import files

from pydantic import BaseModel

from sandmill.models.columns import Cycle, Date, Uniform
from sandmill.models.spec import TaskSpec

GIVEAWAYS = tuple((files("sandmill.check") / "giveaways.txt").read_text(encoding="utf-8").splitlines())
"""Terms of the mechanism, lower case. Words of ordinary prose (ratio, cycle, noise) are left out."""

MOTIF_NUMBERS = ("cut", "period", "phase", "effects", "weights", "center", "scale", "intercept", "intercepts")
OTHER_NUMBERS = (
    *("noise", "rate", "slope", "slopes", "shares", "per_year", "amounts", "sigma", "steepness", "factor", "spread"),
    *("cuts", "starts", "levels", "dispersion", "low", "high"),
)
"""Fields whose numbers are secret. No column may be named after a field of `MOTIF_NUMBERS`."""

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
DISTINCT_DIGITS = 3
"""Significant digits that a number needs to count; fewer may be a coincidence."""


def secret_numbers(spec: TaskSpec) -> frozenset[str]:
    """Return the mechanism's parameters as text: in full and rounded to 1 to 4 decimals.

    Only numbers of three or more significant digits count, and none that are public anyway.
    """
    values = [abs(value) for value in _walk(spec.mechanism)]
    written = {f"{value:.{decimals}f}" for value in values for decimals in (1, 2, 3, 4)} | {f"{v:.15g}" for v in values}
    return frozenset(text for text in written if _digits(text) >= DISTINCT_DIGITS) - public_numbers(spec)


def public_numbers(spec: TaskSpec) -> frozenset[str]:
    """Return numbers that may be published: rows, ends of a cycle, years, days, and what hints and cues state."""
    sizes, child = spec.sizes, spec.mechanism.child
    public = {sizes.train, sizes.feedback, sizes.final, sizes.feedback + sizes.final, spec.test_items}
    public |= {child.horizon} if child else set()
    for column in spec.mechanism.columns:
        match column.distribution:
            case Cycle(first=first, period=period):
                public |= {period, first + period - 1}
            case Date(first=first_day, days=days, train_days=train_days):
                cuts = (0, days - 1) if train_days is None else (0, train_days - 1, train_days, days - 1)
                public |= {days, *cuts} | {(first_day + timedelta(days=day)).year for day in cuts}
            case _:
                pass
    texts = [one.text for hint in spec.hints for one in hint.passages]
    texts += [cue.text for cue in (spec.channel.cues if spec.channel else ())]
    stated = {number for text in texts for number in _NUMBER.findall(text)}
    return frozenset(map(str, public)) | stated


def _walk(value: object, field: str = "") -> Iterator[float]:
    if isinstance(value, Uniform):
        return  # Its ends can be seen in the files.
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _walk(getattr(value, name), name)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _walk(item, field)
    elif isinstance(value, int | float) and math.isfinite(value) and field in (*MOTIF_NUMBERS, *OTHER_NUMBERS):
        yield float(value)


def _digits(text: str) -> int:
    return len(text.replace(".", "").strip("0"))
