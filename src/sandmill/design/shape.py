"""What a seed asks of the columns of a design: how many of each kind, and what each resembles."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from sandmill.errors import ItemRejected
from sandmill.models.base import Stage
from sandmill.models.columns import Categorical, Column, Date, Unit
from sandmill.models.design_draft import DesignDraft, MotifChoice
from sandmill.models.domain import Domain
from sandmill.models.kind import Kind
from sandmill.models.links import Link, NumbersLink, class_names
from sandmill.models.profile import MOST_PROFILED, ColumnProfile, ColumnRole, TableProfile
from sandmill.models.structure import SplitKind, Structure, TargetKind

MOST_CLASSES = 12
"""Most classes, grades or labels of a table: with more, 80 training rows hold too few of each."""
MOST_NUMBERS = 5
"""Most numbers that a task asks for."""
LEAST_CLASS_ROWS = 8
"""Training rows of the rarest class, on average."""

Like = ColumnProfile | None
"""Column of the seed's table that a column resembles; None if only its kind is known."""


@dataclass(frozen=True)
class Shape:
    """Columns that a seed asks for, without its target."""

    numbers: tuple[Like, ...]
    flags: tuple[Like, ...]
    """Columns of two values."""
    categories: tuple[Like, ...]
    has_date: bool
    has_text: bool
    profile: TableProfile | None = None
    has_units: bool = False
    """Whether one more category names the unit of a row."""

    def with_room(self, domain: Domain, names: Collection[str]) -> "Shape":
        """Return the shape with columns enough for some words of a domain."""
        numbers = sum(word.name in names for word in domain.numeric)
        categories = sum(word.name in names for word in (*domain.categorical, *domain.high_cardinality))
        return replace(
            self,
            numbers=(*self.numbers, *[None] * (numbers - len(self.numbers))),
            categories=(*self.categories, *[None] * (categories - len(self.categories))),
        )

    @property
    def count(self) -> int:
        """Number of all columns."""
        others = self.has_date + self.has_text + self.has_units
        return len(self.numbers) + len(self.flags) + len(self.categories) + others


def shape_of(structure: Structure, kind: Kind, split: SplitKind | None = None) -> Shape | None:
    """Return what a seed asks of the columns; None if it declares nothing, or items are no rows of a table.

    Args:
        structure: of the seed.
        kind: of the task.
        split: of the design. By groups, one of the categories names the group.
    """
    if not kind.shows_columns or kind.designer:
        return None
    profile, mix = structure.profile, structure.columns
    is_grouped = split is SplitKind.GROUPED
    if profile and any(column.role not in (ColumnRole.DATE, ColumnRole.TEXT) for column in profile.columns):
        of = {role: [column for column in profile.columns if column.role is role] for role in ColumnRole}
        categories = sorted(of[ColumnRole.CATEGORY], key=lambda column: column.levels)
        return Shape(
            numbers=(*of[ColumnRole.REAL], *of[ColumnRole.WHOLE]),
            flags=tuple(of[ColumnRole.BINARY]),
            categories=tuple(categories[:-1] if is_grouped else categories),
            has_date=bool(of[ColumnRole.DATE]),
            has_text=bool(of[ColumnRole.TEXT]),
            profile=profile,
            has_units=is_grouped,
        )
    if not mix.numeric and not mix.categorical:
        return None
    numbers, categories_wanted = mix.numeric, max(mix.categorical - is_grouped, 0)
    wide = numbers + categories_wanted
    if wide > MOST_PROFILED:
        numbers = round(numbers * MOST_PROFILED / wide)
        categories_wanted = MOST_PROFILED - numbers
    return Shape(
        numbers=(None,) * numbers,
        flags=(),
        categories=(None,) * categories_wanted,
        has_date=bool(mix.date),
        has_text=bool(mix.text),
        has_units=is_grouped,
    )


def class_count(structure: Structure) -> int | None:
    """Return the number of classes, grades, labels or target columns of a design, if the seed states it."""
    match structure.target:
        case TargetKind.MULTICLASS | TargetKind.ORDINAL:
            return structure.n_classes and min(structure.n_classes, MOST_CLASSES)
        case TargetKind.MULTILABEL:
            # Seeds state an unknown number of labels as 1.
            return min(structure.n_targets, MOST_CLASSES) if structure.n_targets > 1 else None
        case TargetKind.MULTI_TARGET:
            return max(2, min(structure.n_targets, MOST_NUMBERS))
        case _:
            return None


def trait_problems(structure: Structure, shape: Shape, domain: Domain, motifs: Sequence[MotifChoice]) -> list[str]:
    """List the traits of a seed that a draft cannot keep, in words for the language model.

    A rule may read more columns than a card declares, but not more than a table has.
    """
    problems = []
    wanted = class_count(structure)
    offered = {
        TargetKind.MULTICLASS: [len(target.classes) for target in domain.targets.multiclass],
        TargetKind.MULTILABEL: [len(target.labels) for target in domain.targets.multilabel],
        TargetKind.MULTI_TARGET: [len(domain.targets.regression)],
    }
    found = offered.get(structure.target)
    if wanted and found is not None and max(found, default=0) < wanted:
        problems.append(
            f"targets: number of {_OUTPUTS[structure.target]} is {max(found, default=0)}; {wanted} are needed"
        )
    used = {column for motif in motifs for column in motif.columns} if shape.profile else set()
    for trait, words, room in (
        ("numeric", domain.numeric, len(shape.numbers)),
        ("categorical", (*domain.categorical, *domain.high_cardinality), len(shape.categories)),
    ):
        read = sorted(word.name for word in words if word.name in used)
        if len(read) > room:
            problems.append(
                f"motifs: they use {len(read)} {trait} columns ({', '.join(read)}); the structure has {room}"
            )
    return problems


def check_draft(structure: Structure, shape: Shape | None, draft: DesignDraft | None) -> None:
    """Reject a draft that cannot keep a hard trait of its seed.

    Raises:
        ItemRejected: `trait_lost`, with the traits.
    """
    if shape and draft and (problems := trait_problems(structure, shape, draft.domain, draft.motifs)):
        raise ItemRejected(Stage.DESIGN, "trait_lost", "; ".join(problems))


def check_shape(structure: Structure, shape: Shape | None, link: Link, columns: Sequence[Column]) -> None:
    """Reject a design that breaks a hard trait of its seed.

    Raises:
        ItemRejected: `trait_lost`, with the traits.
    """
    if shape is None:
        return
    found, wanted = len(link.names) if isinstance(link, NumbersLink) else len(class_names(link)), class_count(structure)
    lost = []
    if wanted and found != wanted:
        lost.append(f"number of {_OUTPUTS[structure.target]}: the design has {found}, the seed has {wanted}")
    kinds = {_kind_of(column) for column in columns if not column.in_text}
    asked = {"date": shape.has_date, "category": shape.categories, "number": shape.numbers}
    lost += [f"the design has no columns of kind {kind}" for kind in asked if asked[kind] and kind not in kinds]
    if lost:
        raise ItemRejected(Stage.DESIGN, "trait_lost", "; ".join(lost))


_OUTPUTS = {
    TargetKind.MULTICLASS: "classes",
    TargetKind.ORDINAL: "grades",
    TargetKind.MULTILABEL: "labels",
    TargetKind.MULTI_TARGET: "numbers to predict",
}


def _kind_of(column: Column) -> str:
    match column.distribution:
        case Categorical() | Unit():
            return "category"
        case Date():
            return "date"
        case _:
            return "number"
