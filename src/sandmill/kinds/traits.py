"""Traits that items show and that latent columns decide: of recordings, series of measurements and graphs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.base import Frozen
from sandmill.models.columns import Categorical, Column


class Traced(Frozen):
    """A property of an item that can be counted or measured, and the latent column that decides it."""

    trait: str
    column: str | None = None
    """None: chance decides."""
    levels: tuple[str, ...] = ()
    """Levels of the column, if it is a category."""


AnyTraced = TypeVar("AnyTraced", bound=Traced)


def follow(traced: Sequence[AnyTraced], columns: Sequence[Column]) -> tuple[AnyTraced, ...]:
    """Let each trait follow its column if the design has that column, and vary at random if not."""
    levels = {
        column.name: column.distribution.levels if isinstance(column.distribution, Categorical) else ()
        for column in columns
    }
    return tuple(
        one.model_copy(update={"levels": levels[one.column]} if one.column in levels else {"column": None})
        for one in traced
    )


def shown(
    name: str, column: str | None, levels: int | None, latents: Mapping[str, Floats], row_numbers: RowNumbers
) -> Floats:
    """Return a share from 0 to 1 for each row, or the number of one of some levels.

    Args:
        name: of the random numbers, which decide if no column does.
        column: latent column that decides.
        levels: of the category; None for a share.
        latents: values of the latent columns: shares from 0 to 1; categories as codes.
        row_numbers: where the random numbers come from.
    """
    values = latents.get(column or "")
    if values is None:
        values = row_numbers.uniforms(name) * (levels or 1)
    return np.floor(values) % levels if levels else np.clip(values, 0, 1)


def generators(name: str, row_numbers: RowNumbers) -> Iterator[np.random.Generator]:
    """Yield a generator for each row, which depends on the row alone."""
    for key in (row_numbers.uniforms(name) * 2**53).astype(np.uint64):
        yield np.random.Generator(np.random.Philox(key=int(key)))
