"""The declared data-generating process, as data. `sandmill.mechanism` samples it and computes its posterior."""

from pydantic import Field, model_validator

from sandmill.models import faults
from sandmill.models.base import Frozen, Private
from sandmill.models.columns import Categorical, ChildTable, Column, Date, Identity, LogNormal, Unit
from sandmill.models.knowledge import Order
from sandmill.models.links import Link, RenderedLink, output_count
from sandmill.models.motifs import CodeValue, Drift, KnownUnit, Term, UnitEffect, columns_of


class Subgroup(Frozen):
    """Hidden rows that follow a local rule. The chance of membership depends on a categorical column."""

    by: str
    shares: tuple[float, ...]
    """Chance of membership for each level of `by`."""


class Exclusion(Frozen):
    """Levels of a category that do not occur below or above a value, such as a profession below an age."""

    column: str
    below: float | None = None
    above: float | None = None
    by: str
    levels: tuple[int, ...] = Field(min_length=1)
    """Codes of the levels of `by` that do not occur there."""


Limit = Order | Exclusion


def columns_of_limit(limit: Limit) -> tuple[str, str]:
    """Return the two columns that a limit reads."""
    return (limit.lower, limit.upper) if isinstance(limit, Order) else (limit.column, limit.by)


class Mechanism(Private):
    """Columns, latent rule, link and faults. The oracle needs all of it; agents must not see it."""

    columns: tuple[Column, ...] = Field(min_length=1)
    terms: tuple[Term, ...]
    """Parts of the rule. Empty only where the link is `rendered`, which draws no target."""
    link: Link
    pathologies: tuple[faults.Pathology, ...] = ()
    subgroup: Subgroup | None = None
    limits: tuple[Limit, ...] = ()
    """What never occurs. Rows that would break a limit are drawn again."""
    child: ChildTable | None = None

    @model_validator(mode="after")
    def _parts_fit_together(self) -> "Mechanism":
        problems = [
            *self._unknown_names(),
            *self._misused_faults(),
            *self._misplaced_kinds(),
            *self._wrong_widths(),
            *self._impossible_identities(),
            *self._impossible_limits(),
        ]
        if problems:
            raise ValueError("; ".join(problems))
        return self

    def _unknown_names(self) -> list[str]:
        used = {
            *(name for term in self.terms for name in columns_of(term.motif)),
            *self._fault_free_columns(),
            *(fault.column for fault in (*self.cell_faults(), *self.mixed_types())),
            *(column.unit for column in self.columns if column.unit),
            *(part for law in self._identities().values() for part in law.of),
            *(name for limit in self.limits for name in columns_of_limit(limit)),
        }
        return [f"{name} is used but is not a column" for name in sorted(used - self.column_by_name.keys())]

    def _misused_faults(self) -> list[str]:
        """List misplaced faults. With faults in a column that others depend on, the posterior cannot be computed."""
        misplaced = sorted({fault.column for fault in self.cell_faults()} & self._fault_free_columns())
        return [f"{name} has cell faults, so no other part may depend on it" for name in misplaced]

    def _misplaced_kinds(self) -> list[str]:
        """List references to columns of the wrong kind."""
        by_name, motifs = self.column_by_name, [term.motif for term in self.terms]
        wanted: list[tuple[str, type[Frozen]]] = [
            *((column.trend.by, Date) for column in self.columns if column.trend),
            *((column.unit, Unit) for column in self.columns if column.unit),
            *((motif.column, Date) for motif in motifs if isinstance(motif, Drift)),
            *((motif.column, Unit) for motif in motifs if isinstance(motif, UnitEffect)),
            *((motif.column, Categorical) for motif in motifs if isinstance(motif, CodeValue)),
            *((name, Categorical) for motif in motifs if isinstance(motif, KnownUnit) for name in columns_of(motif)),
            *((column.conversion.by, Categorical) for column in self.columns if column.conversion),
            *((limit.by, Categorical) for limit in self.limits if isinstance(limit, Exclusion)),
        ]
        return [
            f"{name} must be a {kind.__name__.lower()} column"
            for name, kind in wanted
            if name in by_name and not isinstance(by_name[name].distribution, kind)
        ]

    def _fault_free_columns(self) -> set[str]:
        """Names of columns that must have no cell faults, since other parts of the mechanism depend on them."""
        return {
            *(gap.given for gap in self.missing()),
            *(column.shift.by for column in self.columns if column.shift),
            *(column.name for column in self.columns if isinstance(column.distribution, Date | Unit | Identity)),
            *(part for law in self._identities().values() for part in law.of),
            *(column.conversion.by for column in self.columns if column.conversion),
            *(column.name for column in self.columns if column.in_text),
            *({self.subgroup.by} if self.subgroup else ()),
        }

    def _impossible_identities(self) -> list[str]:
        known = self.column_by_name
        return [
            f"{name}: the divisor of a quotient must be lognormal, so that it is never 0"
            for name, law in self._identities().items()
            if law.how == "quotient" and law.of[-1] in known
            if not isinstance(known[law.of[-1]].distribution, LogNormal)
        ]

    def _impossible_limits(self) -> list[str]:
        known = self.column_by_name
        read = sorted({name for limit in self.limits for name in columns_of_limit(limit)} & known.keys())
        of_unit = [name for name in read if known[name].unit or isinstance(known[name].distribution, Unit)]
        return [f"{name} belongs to a unit, so no limit may read it" for name in of_unit]

    def _identities(self) -> dict[str, Identity]:
        return {one.name: one.distribution for one in self.columns if isinstance(one.distribution, Identity)}

    def _wrong_widths(self) -> list[str]:
        outputs, widths = output_count(self.link), [len(term.weights) for term in self.terms]
        if not self.terms and not isinstance(self.link, RenderedLink):
            return ["there are no terms; only targets that are rendered need none"]
        return [f"a term has {width} weights for {outputs} outputs" for width in widths if width != outputs]

    @property
    def column_by_name(self) -> dict[str, Column]:
        """Columns by name."""
        return {column.name: column for column in self.columns}

    @property
    def motif_names(self) -> tuple[str, ...]:
        """Sorted names of the motifs in the rule."""
        return tuple(sorted({term.motif.motif for term in self.terms}))

    @property
    def rule_columns(self) -> frozenset[str]:
        """Names of the columns that the rule reads, including the column of the hidden subgroup."""
        read = {name for term in self.terms for name in columns_of(term.motif)}
        return frozenset(read | ({self.subgroup.by} if self.subgroup else set()))

    @property
    def factors(self) -> int:
        """Number of latent factors of a row."""
        return max((len(column.loadings) for column in self.columns), default=0)

    def cell_faults(self) -> tuple[faults.CellFault, ...]:
        """Faults that change cells, at most one for each column."""
        return tuple(p for p in self.pathologies if isinstance(p, faults.Missing | faults.UnitMixup | faults.Outliers))

    def missing(self) -> tuple[faults.Missing, ...]:
        """Declared missing cells."""
        return tuple(p for p in self.pathologies if isinstance(p, faults.Missing))

    def label_noise(self) -> faults.LabelNoise | None:
        """Declared label noise, if any."""
        return next((p for p in self.pathologies if isinstance(p, faults.LabelNoise)), None)

    def mixed_types(self) -> tuple[faults.MixedTypes, ...]:
        """Columns whose numbers are partly written as text."""
        return tuple(p for p in self.pathologies if isinstance(p, faults.MixedTypes))

    def duplicates(self) -> faults.Duplicates | None:
        """Copies among the training rows, if any."""
        return next((p for p in self.pathologies if isinstance(p, faults.Duplicates)), None)

    def unit_column(self) -> str | None:
        """Name of the unit column, if there is one."""
        return next((column.name for column in self.columns if isinstance(column.distribution, Unit)), None)
