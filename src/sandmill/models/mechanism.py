"""The declared data-generating process: data, not code. `sandmill.mechanism` samples it and inverts it."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from sandmill.models.base import Frozen


class Normal(Frozen):
    """Bell-shaped quantity."""

    kind: Literal["normal"] = "normal"
    mean: float
    sd: float = Field(gt=0)


class LogNormal(Frozen):
    """Positive, right-skewed quantity: its logarithm is normal."""

    kind: Literal["lognormal"] = "lognormal"
    median: float = Field(gt=0)
    sigma: float = Field(gt=0)
    """Standard deviation of the natural logarithm."""


class Uniform(Frozen):
    """Quantity spread evenly between two bounds."""

    kind: Literal["uniform"] = "uniform"
    low: float
    high: float


class Cycle(Frozen):
    """Whole number on a cycle, such as an hour of the day, all values equally likely."""

    kind: Literal["cycle"] = "cycle"
    first: int
    period: int = Field(ge=2)
    """Number of values: `first` to `first + period - 1`."""


class Categorical(Frozen):
    """One of several named levels."""

    kind: Literal["categorical"] = "categorical"
    levels: tuple[str, ...] = Field(min_length=2)
    shares: tuple[float, ...]
    """Probability of each level; they sum to 1."""

    @model_validator(mode="after")
    def _one_share_a_level(self) -> "Categorical":
        if len(self.shares) != len(self.levels) or abs(sum(self.shares) - 1) > 1e-6 or min(self.shares) <= 0:
            raise ValueError("shares must be positive, one for each level, and sum to 1")
        if len(set(self.levels)) != len(self.levels):
            raise ValueError("levels must differ")
        return self


Distribution = Annotated[Normal | LogNormal | Uniform | Cycle | Categorical, Field(discriminator="kind")]


class Shift(Frozen):
    """A continuous column's dependence on a categorical one: each level moves it by so many standard deviations."""

    by: str
    amounts: tuple[float, ...]


class Column(Frozen):
    """One column that an agent sees."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    distribution: Distribution
    decimals: int = Field(default=2, ge=0, le=6)
    """Digits after the point in the files. The rule acts on the rounded value, which is what an agent can see."""
    shift: Shift | None = None


class Linear(Frozen):
    """The standardised value itself."""

    motif: Literal["linear"] = "linear"
    column: str


class Ratio(Frozen):
    """Logarithm of one positive column over another."""

    motif: Literal["ratio"] = "ratio"
    numerator: str
    denominator: str


class Interaction(Frozen):
    """Product of two standardised columns: neither says anything alone."""

    motif: Literal["interaction"] = "interaction"
    left: str
    right: str


class Threshold(Frozen):
    """A step: what matters is whether the column lies above a cut."""

    motif: Literal["threshold"] = "threshold"
    column: str
    cut: float


class Periodic(Frozen):
    """A wave over the column."""

    motif: Literal["periodic"] = "periodic"
    column: str
    period: float = Field(gt=0)
    phase: float
    """Radians."""


class Lookup(Frozen):
    """An effect for each level of a categorical column."""

    motif: Literal["lookup"] = "lookup"
    column: str
    effects: tuple[float, ...]


_COLUMN_FIELDS = frozenset({"column", "numerator", "denominator", "left", "right"})
"""Fields of motifs that name a column."""

Motif = Annotated[Linear | Ratio | Interaction | Threshold | Periodic | Lookup, Field(discriminator="motif")]


class Term(Frozen):
    """One motif in the latent rule, standardised, with a weight for each output."""

    motif: Motif
    center: float = 0.0
    scale: float = Field(default=1.0, gt=0)
    """The motif's mean and standard deviation under the mechanism, so that weights compare."""
    weights: tuple[float, ...] = Field(min_length=1)


class BinaryLink(Frozen):
    """P(y = 1) = logistic(intercept + eta)."""

    kind: Literal["binary"] = "binary"
    intercept: float


class MulticlassLink(Frozen):
    """P(y = k) = softmax(intercepts + eta)_k."""

    kind: Literal["multiclass"] = "multiclass"
    classes: tuple[str, ...] = Field(min_length=3)
    intercepts: tuple[float, ...]


class GaussianLink(Frozen):
    """y = location + scale * (eta + noise * e), e standard normal."""

    kind: Literal["gaussian"] = "gaussian"
    location: float
    scale: float = Field(gt=0)
    noise: float = Field(gt=0)
    decimals: int = Field(default=2, ge=0, le=6)


Link = Annotated[BinaryLink | MulticlassLink | GaussianLink, Field(discriminator="kind")]


class Missing(Frozen):
    """Cells missing at random: the chance of a gap depends only on a column that is always there."""

    kind: Literal["missing"] = "missing"
    column: str
    given: str
    rate: float = Field(gt=0, lt=0.6)
    slope: float = 0.0
    """Change of the log-odds of a gap with one standard deviation of `given`."""


class LabelNoise(Frozen):
    """Labels replaced by a uniformly drawn other class."""

    kind: Literal["label_noise"] = "label_noise"
    rate: float = Field(gt=0, lt=0.5)
    where: Literal["train", "both"] = "train"


class Distractors(Frozen):
    """Columns that look useful and are not part of the rule."""

    kind: Literal["distractors"] = "distractors"
    columns: tuple[str, ...] = Field(min_length=1)


Pathology = Annotated[Missing | LabelNoise | Distractors, Field(discriminator="kind")]


class Mechanism(Frozen):
    """Columns, latent rule, link and faults. Everything the oracle needs to know and an agent must not."""

    columns: tuple[Column, ...] = Field(min_length=1)
    terms: tuple[Term, ...] = Field(min_length=1)
    link: Link
    pathologies: tuple[Pathology, ...] = ()

    @model_validator(mode="after")
    def _parts_fit_together(self) -> "Mechanism":
        problems = [*self._unknown_names(), *self._misused_gaps(), *self._wrong_widths()]
        if problems:
            raise ValueError("; ".join(problems))
        return self

    def _unknown_names(self) -> list[str]:
        names = [column.name for column in self.columns]
        doubled = [f"column {name} is declared twice" for name in sorted(set(names)) if names.count(name) > 1]
        used = {
            *(value for term in self.terms for key, value in term.motif if key in _COLUMN_FIELDS),
            *(column.shift.by for column in self.columns if column.shift),
            *(name for gap in self.missing() for name in (gap.column, gap.given)),
        }
        return doubled + [f"{name} is used but is not a column" for name in sorted(used - set(names))]

    def _misused_gaps(self) -> list[str]:
        """What a gap or a shift depends on must always be there, else the posterior would not be computable."""
        gaps = {gap.column for gap in self.missing()}
        needed = {*(gap.given for gap in self.missing()), *(c.shift.by for c in self.columns if c.shift)}
        return [f"{name} has gaps, so nothing may depend on it" for name in sorted(gaps & needed)]

    def _wrong_widths(self) -> list[str]:
        outputs = len(self.link.classes) if isinstance(self.link, MulticlassLink) else 1
        problems = [
            f"a term has {len(t.weights)} weights for {outputs} outputs"
            for t in self.terms
            if len(t.weights) != outputs
        ]
        if isinstance(self.link, MulticlassLink) and len(self.link.intercepts) != outputs:
            problems.append(f"{len(self.link.intercepts)} intercepts for {outputs} classes")
        return problems

    @property
    def column_by_name(self) -> dict[str, Column]:
        """Columns by the name that terms and pathologies use."""
        return {column.name: column for column in self.columns}

    @property
    def motif_names(self) -> tuple[str, ...]:
        """Sorted names of the motifs in the rule."""
        return tuple(sorted({term.motif.motif for term in self.terms}))

    def missing(self) -> tuple[Missing, ...]:
        """Gaps declared by the mechanism."""
        return tuple(p for p in self.pathologies if isinstance(p, Missing))

    def label_noise(self) -> LabelNoise | None:
        """Label noise declared by the mechanism, if any."""
        return next((p for p in self.pathologies if isinstance(p, LabelNoise)), None)
