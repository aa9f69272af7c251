"""Traits that items show and that latent columns decide: of recordings, series of measurements and graphs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np
from pydantic import AfterValidator

from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.base import Frozen
from sandmill.models.channel import Cue
from sandmill.models.columns import Categorical, Column


class Trait(Frozen):
    """Something that items of a kind can show, a number or one of some levels, and how a description says it."""

    text: str = ""
    low: float = 0.0
    """Value at 0 of a column."""
    high: float = 1.0
    """Value at 1 of a column."""
    levels: int | None = None
    """Number of categories; None for a number."""


def known(traits: Mapping[str, Trait]) -> AfterValidator:
    """Make a validator of the name of a trait."""

    def check(name: str) -> str:
        if name not in traits:
            raise ValueError(f"unknown trait {name}; known are {', '.join(traits)}")
        return name

    return AfterValidator(check)


class Traced(Frozen):
    """A trait of the items, and the latent column that decides it. Kinds say which traits they know."""

    trait: str
    column: str | None = None
    """None: chance decides."""
    levels: tuple[str, ...] = ()
    """Levels of the column, if it is a category."""


AnyTraced = TypeVar("AnyTraced", bound=Traced)


def follow(traced: Sequence[AnyTraced], columns: Sequence[Column]) -> tuple[AnyTraced, ...]:
    """Let each trait follow its column if the design has that column, and vary at random if not."""
    laws = {column.name: column.distribution for column in columns}
    changes = (
        {"levels": law.levels if isinstance(law, Categorical) else ()} if law else {"column": None}
        for law in (laws.get(one.column or "") for one in traced)
    )
    return tuple(one.model_copy(update=change) for one, change in zip(traced, changes, strict=True))


def trait_values(
    name: str, traced: Traced, trait: Trait, latents: Mapping[str, Floats], row_numbers: RowNumbers
) -> Floats:
    """Return the value of a trait for each row: the number of a level, or a number in the range of the trait.

    Latent columns hold shares from 0 to 1, categories codes. Where no column decides, the random numbers do that have
    the given name before that of the trait.
    """
    values = latents.get(traced.column or "")
    if values is None:
        values = row_numbers.uniforms(f"{name} {traced.trait}") * (trait.levels or 1)
    if trait.levels:
        return np.floor(values) % trait.levels
    return trait.low + (trait.high - trait.low) * np.clip(values, 0, 1)


def cue_of(traced: Traced, trait: Trait, text: str, *known: str) -> Cue:
    """Say how a column shows: names of levels, or values at 0 and at 1 and whatever else the measure has to know."""
    column, ends = str(traced.column), (trait.low, trait.high)
    if trait.levels:
        return Cue(column=column, measure=traced.trait, parameters=traced.levels, text=f"{text}.")
    return Cue(column=column, measure=traced.trait, parameters=(*ends, *known), text=f"{text}. {scaled(*ends)}")


def scaled(low: float, high: float) -> str:
    """Say how a column holds a quantity that has these values where the column is 0 and where it is 1."""
    between = f"The value that rules use runs evenly from 0 at {low:g} to 1 at {high:g}."
    return between if low else f"It goes from 0 to {high:g}, and the value that rules use is this divided by {high:g}."


def cue_lines(comment: str, cues: Sequence[Cue]) -> list[str]:
    """Return lines of a script with column, measure and parameters of each cue, as measures take them."""
    listed = [f"    {(cue.column, cue.measure, *cue.parameters)!r}," for cue in cues]
    return ["", "", f"# {comment}", "CUES = [", *listed, "]"]


def generators(name: str, row_numbers: RowNumbers) -> Iterator[np.random.Generator]:
    """Yield a generator for each row, which depends on the row alone."""
    for key in (row_numbers.uniforms(name) * 2**53).astype(np.uint64):
        yield np.random.Generator(np.random.Philox(key=int(key)))
