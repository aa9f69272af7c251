"""The declared data-generating process: data, not code. `sandmill.mechanism` samples it and inverts it."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from sandmill.models.base import Frozen
from sandmill.models.columns import (
    Categorical,
    Column,
    Cycle,
    Distribution,
    LogNormal,
    Normal,
    Shift,
    Uniform,
)
from sandmill.models.faults import CellFault, Distractors, LabelNoise, Missing, Outliers, Pathology, UnitMixup
from sandmill.models.motifs import (
    Band,
    Bottleneck,
    CrossedLookup,
    Curve,
    Difference,
    Interaction,
    Linear,
    LocalRule,
    Lookup,
    Motif,
    Periodic,
    Ratio,
    Saturation,
    Term,
    Threshold,
    VaryingSlope,
    columns_of,
)

__all__ = [
    "Band",
    "BinaryLink",
    "Bottleneck",
    "Categorical",
    "CellFault",
    "Column",
    "CrossedLookup",
    "Curve",
    "Cycle",
    "Difference",
    "Distractors",
    "Distribution",
    "GaussianLink",
    "Interaction",
    "LabelNoise",
    "Linear",
    "Link",
    "LocalRule",
    "LogNormal",
    "Lookup",
    "Mechanism",
    "Missing",
    "Motif",
    "MulticlassLink",
    "Normal",
    "Outliers",
    "Pathology",
    "Periodic",
    "Ratio",
    "Saturation",
    "Shift",
    "Subgroup",
    "Term",
    "Threshold",
    "Uniform",
    "UnitMixup",
    "VaryingSlope",
]


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


class Subgroup(Frozen):
    """Rows that follow a local rule. Nobody sees which they are; a categorical column makes it more or less likely."""

    by: str
    shares: tuple[float, ...]
    """Chance of belonging, one for each level of `by`."""


class Mechanism(Frozen):
    """Columns, latent rule, link and faults. Everything the oracle needs to know and an agent must not."""

    columns: tuple[Column, ...] = Field(min_length=1)
    terms: tuple[Term, ...] = Field(min_length=1)
    link: Link
    pathologies: tuple[Pathology, ...] = ()
    subgroup: Subgroup | None = None

    @model_validator(mode="after")
    def _parts_fit_together(self) -> "Mechanism":
        problems = [*self._unknown_names(), *self._misused_faults(), *self._wrong_widths()]
        if problems:
            raise ValueError("; ".join(problems))
        return self

    def _unknown_names(self) -> list[str]:
        names = [column.name for column in self.columns]
        doubled = [f"column {name} is declared twice" for name in sorted(set(names)) if names.count(name) > 1]
        used = {
            *(name for term in self.terms for name in columns_of(term.motif)),
            *self._always_there(),
            *(fault.column for fault in self.cell_faults()),
        }
        return doubled + [f"{name} is used but is not a column" for name in sorted(used - set(names))]

    def _misused_faults(self) -> list[str]:
        """What anything depends on must always be seen as it is, else the posterior would not be computable."""
        faulty = [fault.column for fault in self.cell_faults()]
        problems = [
            f"{name} has cell faults, so nothing may depend on it" for name in sorted({*faulty} & self._always_there())
        ]
        problems += [f"{name} has two cell faults" for name in sorted(set(faulty)) if faulty.count(name) > 1]
        has_local = any(isinstance(term.motif, LocalRule) for term in self.terms)
        if has_local != (self.subgroup is not None):
            problems.append("a local rule and a subgroup need each other")
        if self.label_noise() and isinstance(self.link, GaussianLink):
            problems.append("label noise applies to classes, not to numbers")
        return problems

    def _always_there(self) -> set[str]:
        return {
            *(gap.given for gap in self.missing()),
            *(column.shift.by for column in self.columns if column.shift),
            *({self.subgroup.by} if self.subgroup else ()),
        }

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

    def cell_faults(self) -> tuple[CellFault, ...]:
        """Faults that part the cell in the files from the true one, at most one a column."""
        return tuple(p for p in self.pathologies if isinstance(p, Missing | UnitMixup | Outliers))

    def missing(self) -> tuple[Missing, ...]:
        """Gaps declared by the mechanism."""
        return tuple(p for p in self.pathologies if isinstance(p, Missing))

    def label_noise(self) -> LabelNoise | None:
        """Label noise declared by the mechanism, if any."""
        return next((p for p in self.pathologies if isinstance(p, LabelNoise)), None)
