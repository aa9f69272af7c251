"""Links: the distribution of the target given the latent scores."""

from typing import Annotated, Literal

from pydantic import Field

from sandmill.models.base import Frozen


class BinaryLink(Frozen):
    """P(y = 1) = logistic(intercept + eta)."""

    kind: Literal["binary"] = "binary"
    intercept: float


class MulticlassLink(Frozen):
    """P(y = k) = softmax(intercepts + eta)_k."""

    kind: Literal["multiclass"] = "multiclass"
    classes: tuple[str, ...] = Field(min_length=3)
    intercepts: tuple[float, ...]


class OrdinalLink(Frozen):
    """P(y <= k) = logistic(cuts_k - eta): proportional odds, classes from lowest to highest."""

    kind: Literal["ordinal"] = "ordinal"
    classes: tuple[str, ...] = Field(min_length=3)
    cuts: tuple[float, ...]
    """Cuts between neighbouring classes, in ascending order."""


class MultilabelLink(Frozen):
    """P(label k) = logistic(intercepts_k + eta_k). Labels are independent given the true cells."""

    kind: Literal["multilabel"] = "multilabel"
    labels: tuple[str, ...] = Field(min_length=2)
    intercepts: tuple[float, ...]


class GaussianLink(Frozen):
    """y = location + scale * (eta + noise * e) with standard normal e."""

    kind: Literal["gaussian"] = "gaussian"
    location: float
    scale: float = Field(gt=0)
    noise: float = Field(gt=0)
    decimals: int = Field(default=2, ge=0, le=6)


class PositiveLink(Frozen):
    """log y = log(median) + sigma * (eta + noise * e) with standard normal e."""

    kind: Literal["positive"] = "positive"
    median: float = Field(gt=0)
    sigma: float = Field(gt=0)
    noise: float = Field(gt=0)
    decimals: int = Field(default=2, ge=0, le=6)


class CountLink(Frozen):
    """y is negative binomial with mean m = exp(intercept + eta) and variance m + dispersion * m^2."""

    kind: Literal["count"] = "count"
    intercept: float
    dispersion: float = Field(gt=0)


NumberLink = Annotated[GaussianLink | PositiveLink, Field(discriminator="kind")]


class NumbersLink(Frozen):
    """Several numbers, each with its own link and independent noise."""

    kind: Literal["numbers"] = "numbers"
    names: tuple[str, ...] = Field(min_length=2)
    links: tuple[NumberLink, ...]


class RenderedLink(Frozen):
    """No target is drawn: the kind renders targets together with the items."""

    kind: Literal["rendered"] = "rendered"


ClassLink = BinaryLink | MulticlassLink | OrdinalLink | MultilabelLink
Link = Annotated[
    ClassLink | GaussianLink | PositiveLink | CountLink | NumbersLink | RenderedLink, Field(discriminator="kind")
]


def output_count(link: Link) -> int:
    """Return the number of latent scores of a link, which is the number of weights of a term."""
    match link:
        case MulticlassLink(classes=names) | MultilabelLink(labels=names) | NumbersLink(names=names):
            return len(names)
        case _:
            return 1


def class_names(link: Link) -> tuple[str, ...]:
    """Return class or label names in the order of their codes; none for numbers. Binary classes are 0 and 1."""
    match link:
        case BinaryLink():
            return ("0", "1")
        case MulticlassLink(classes=names) | OrdinalLink(classes=names) | MultilabelLink(labels=names):
            return names
        case _:
            return ()
