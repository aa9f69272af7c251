"""Choose the target of a design, and write its story: title, overview, and the meaning of every column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from sandmill.design.prose import listed
from sandmill.design.vocabulary import Vocabulary
from sandmill.models import links
from sandmill.models.channel import Channel, Medium
from sandmill.models.columns import Column
from sandmill.models.domain import Domain, NumberTarget, TargetWords
from sandmill.models.kind import Kind
from sandmill.models.spec import Story
from sandmill.models.structure import MetricName, PathologyKind, Structure, TargetKind
from sandmill.rng import Streams

Item = TypeVar("Item")

MOST_NUMBERS = 3
_RELATIVE = frozenset(
    {MetricName.RMSLE, MetricName.RMSLE_COLUMNS, MetricName.MAPE, MetricName.SMAPE, MetricName.POISSON_DEVIANCE}
)
"""Metrics of relative errors, which need positive numbers."""
_CHANCE_OF_SKEW = 0.5
"""Chance of a skewed number if the seed has outliers."""
_NOISE_EASIEST, _NOISE_HARDEST = 0.2, 1.0
"""Noise of number targets at hardness 0 and 1, in standard deviations of the rule."""

_FURTHER = ("other", "several", "undecided", "disputed")
"""Classes that any list of classes may have, for seeds with more classes than a domain has names."""

_STYLES = 2**31
_NAMED = 3
"""Most target columns that a title names in full."""


@dataclass(frozen=True)
class Target:
    """A link that is not yet fitted, with the name and meaning of the target."""

    link: links.Link
    name: str
    """Column of the target, or a phrase for several."""
    meaning: str
    column_meanings: dict[str, str] = field(default_factory=dict)
    """Meanings of the target columns where there are several."""


def choose_target(
    structure: Structure, targets: TargetWords, kind: Kind, hardness: float, rng: np.random.Generator, exact: int | None
) -> Target:
    """Draw the target. Hardness, 0 to 1, sets the number of classes or labels and the noise, not the target itself.

    `kind` has ranges for the numbers of classes, grades and labels, and `exact` is that number if it is known.

    Raises:
        ValueError: if the grammar cannot make targets of this kind.
    """
    match structure.target:
        case TargetKind.BINARY:
            two = _pick(targets.binary, rng)
            return Target(links.BinaryLink(intercept=0.0), two.name, two.meaning)
        case TargetKind.MULTICLASS:
            many = _pick(targets.multiclass, rng)
            count = exact or _count(kind.classes, structure.n_classes, hardness, rng)
            names = _some(many.classes, count, rng)
            return Target(links.MulticlassLink(classes=names, intercepts=(0.0,) * count), many.name, many.meaning)
        case TargetKind.ORDINAL:
            grade = _pick(targets.ordinal, rng)
            count = exact or _count(kind.grades, structure.n_classes, hardness, rng)
            ranks = tuple(str(rank) for rank in range(1, count + 1))
            link = links.OrdinalLink(classes=ranks, cuts=tuple(map(float, range(count - 1))))
            meaning = f"{grade.meaning}, from 1 ({grade.lowest}) to {count} ({grade.highest})"
            return Target(link, grade.name, meaning)
        case TargetKind.MULTILABEL:
            several = _pick(targets.multilabel, rng)
            # Seeds state an unknown number of labels as 1.
            known = structure.n_targets if structure.n_targets > 1 else None
            count = exact or _count(kind.labels, known, hardness, rng)
            names = _some(several.labels, count, rng)
            meanings = {label: f"1 if `{label}` is one of the labels of the row, 0 if not" for label in names}
            sets = links.MultilabelLink(labels=names, intercepts=(0.0,) * count)
            return Target(sets, several.name, several.meaning, meanings)
        case TargetKind.COUNT:
            events = _pick(targets.count, rng)
            intercept, dispersion = round(float(np.log(events.typical)), 4), round(float(rng.uniform(0.05, 0.4)), 3)
            return Target(links.CountLink(intercept=intercept, dispersion=dispersion), events.name, events.meaning)
        case TargetKind.REGRESSION:
            number = _pick(targets.regression, rng)
            return Target(_number_link(structure, number, hardness, rng), number.name, number.meaning)
        case TargetKind.MULTI_TARGET:
            count = min(exact or max(2, min(structure.n_targets, MOST_NUMBERS)), len(targets.regression))
            picked = [targets.regression[i] for i in sorted(rng.permutation(len(targets.regression))[:count])]
            parts = tuple(_number_link(structure, number, hardness, rng) for number in picked)
            names, meanings = tuple(one.name for one in picked), {one.name: one.meaning for one in picked}
            whole = links.NumbersLink(names=names, links=parts)
            return Target(whole, listed(names, "and"), f"{count} numbers", meanings)
        case _:
            raise ValueError(f"the grammar cannot make a {structure.target} target")


def _number_link(
    structure: Structure, number: NumberTarget, hardness: float, rng: np.random.Generator
) -> links.GaussianLink | links.PositiveLink:
    noise = round(_NOISE_EASIEST + (_NOISE_HARDEST - _NOISE_EASIEST) * hardness, 4)
    sigma, chance = round(float(rng.uniform(0.35, 0.8)), 3), rng.random()
    is_skewed = PathologyKind.OUTLIERS in structure.pathologies and chance < _CHANCE_OF_SKEW
    if structure.metric in _RELATIVE or is_skewed:
        return links.PositiveLink(median=number.location, sigma=sigma, noise=noise, decimals=number.decimals)
    return links.GaussianLink(location=number.location, scale=number.scale, noise=noise, decimals=number.decimals)


def _count(ends: tuple[int, int], wanted: int | None, hardness: float, rng: np.random.Generator) -> int:
    """Return the number of classes or labels: rising up to hardness 0.5, and at most the seed's own, if known."""
    least, most = ends
    top = int(rng.integers(min(least + 1, most), most + 1))
    return max(least, min(wanted or top, round(least + (top - least) * min(1.0, 2 * hardness))))


def _some(names: Sequence[str], count: int, rng: np.random.Generator) -> tuple[str, ...]:
    if count > len(names):
        return (*names, *(name for name in _FURTHER if name not in names))[:count]
    return tuple(names[i] for i in sorted(rng.permutation(len(names))[:count]))


def _pick(items: Sequence[Item], rng: np.random.Generator) -> Item:
    return items[int(rng.integers(len(items)))]


def write_story(
    vocabulary: Vocabulary, columns: Sequence[Column], target: Target, asked: Sequence[str], streams: Streams
) -> Story:
    """Write the domain's story for the chosen columns and target, with one of the domain's overviews.

    The title names the target columns of the files, `asked`.
    """
    words = (*vocabulary.words, *vocabulary.domain.knows.identities)
    meanings = {word.name: word.meaning for word in words}
    units = vocabulary.unit.plural if vocabulary.unit else None
    held = {column.name: meanings[column.name] for column in columns}
    return _story(vocabulary.domain, held, target, asked, streams, units)


def write_media_story(
    medium: Medium, channel: Channel, target: Target, asked: Sequence[str], streams: Streams
) -> Story:
    """Write the story of a task whose items show latent columns. Only columns that the files hold are named."""
    domain, held = medium.domain, {*channel.shown, *channel.only_in_training}
    words = (*domain.numeric, *domain.categorical, *domain.high_cardinality, *domain.dates, *domain.units)
    meanings = {word.name: word.meaning for word in words if word.name in held}
    units = next((unit.plural for unit in domain.units if unit.name in held), None)
    return _story(domain, {medium.column: medium.meaning, **meanings}, target, asked, streams, units)


def _story(
    domain: Domain,
    meanings: Mapping[str, str],
    target: Target,
    asked: Sequence[str],
    streams: Streams,
    units: str | None = None,
) -> Story:
    draws = streams.generator("story")
    overviews = (domain.overview, *domain.knows.overviews)
    overview = overviews[int(draws.integers(len(overviews)))]
    is_context = bool(domain.knows.targets)
    length = int(streams.generator("overview").integers(1, len(overview))) if is_context else len(overview)
    shown = asked if len(asked) <= _NAMED else (*asked[:2], f"{len(asked) - 2} other labels")
    return Story(
        title=f"{domain.title}: predict {listed(shown, 'and')}",
        overview=" ".join(overview[:length]),
        row=domain.row,
        target=target.name,
        target_meaning=target.meaning,
        column_meanings={**meanings, **target.column_meanings},
        units=units,
        style=int(draws.integers(1, _STYLES)),
    )
