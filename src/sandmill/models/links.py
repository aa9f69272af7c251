"""Links: how the latent rule becomes a target."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

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

    @model_validator(mode="after")
    def _one_intercept_a_class(self) -> "MulticlassLink":
        if len(self.intercepts) != len(self.classes):
            raise ValueError(f"{len(self.intercepts)} intercepts for {len(self.classes)} classes")
        return self


class OrdinalLink(Frozen):
    """P(y <= k) = logistic(cuts_k - eta): proportional odds, classes from lowest to highest."""

    kind: Literal["ordinal"] = "ordinal"
    classes: tuple[str, ...] = Field(min_length=3)
    cuts: tuple[float, ...]
    """Rising, one fewer than classes."""

    @model_validator(mode="after")
    def _cuts_lie_between_classes(self) -> "OrdinalLink":
        if len(self.cuts) != len(self.classes) - 1 or sorted(set(self.cuts)) != list(self.cuts):
            raise ValueError(f"{len(self.cuts)} cuts for {len(self.classes)} classes; they must rise, one fewer")
        return self


class MultilabelLink(Frozen):
    """P(label k) = logistic(intercepts_k + eta_k), labels independent given the true row."""

    kind: Literal["multilabel"] = "multilabel"
    labels: tuple[str, ...] = Field(min_length=2)
    intercepts: tuple[float, ...]

    @model_validator(mode="after")
    def _one_intercept_a_label(self) -> "MultilabelLink":
        if len(self.intercepts) != len(self.labels):
            raise ValueError(f"{len(self.intercepts)} intercepts for {len(self.labels)} labels")
        return self


class GaussianLink(Frozen):
    """y = location + scale * (eta + noise * e), e standard normal."""

    kind: Literal["gaussian"] = "gaussian"
    location: float
    scale: float = Field(gt=0)
    noise: float = Field(gt=0)
    decimals: int = Field(default=2, ge=0, le=6)


class PositiveLink(Frozen):
    """log y = log(median) + sigma * (eta + noise * e), e standard normal."""

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
    """Several numbers, each with a link of its own; their noise is independent."""

    kind: Literal["numbers"] = "numbers"
    names: tuple[str, ...] = Field(min_length=2)
    links: tuple[NumberLink, ...]

    @model_validator(mode="after")
    def _one_link_a_name(self) -> "NumbersLink":
        if len(self.links) != len(self.names) or len(set(self.names)) != len(self.names):
            raise ValueError(f"{len(self.links)} links for {len(self.names)} names; names must differ")
        return self


Link = Annotated[
    BinaryLink | MulticlassLink | OrdinalLink | MultilabelLink | GaussianLink | PositiveLink | CountLink | NumbersLink,
    Field(discriminator="kind"),
]


def output_count(link: Link) -> int:
    """Number of latent scores that a link reads, which is the number of weights of a term."""
    match link:
        case MulticlassLink(classes=names) | MultilabelLink(labels=names) | NumbersLink(names=names):
            return len(names)
        case _:
            return 1


def class_names(link: Link) -> tuple[str, ...]:
    """Names of classes or labels in the order of their codes, empty for numbers. Two classes are 0 and 1."""
    match link:
        case BinaryLink():
            return ("0", "1")
        case MulticlassLink(classes=names) | OrdinalLink(classes=names) | MultilabelLink(labels=names):
            return names
        case _:
            return ()
