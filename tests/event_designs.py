"""Designs made by hand with a child table and notes, which the rule reads."""

from functools import cache

import yaml

from sandmill.design.standardize import standardize
from sandmill.models.base import Band
from sandmill.models.columns import Categorical, ChildTable, Column, LogNormal, Normal
from sandmill.models.faults import Duplicates, Missing
from sandmill.models.hints import Form, Hint, InText, Notes
from sandmill.models.links import BinaryLink, GaussianLink
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import Aggregate, Curve, Linear, Lookup, Motif, Saturation, Term
from sandmill.models.spec import Sizes, Story, TaskSpec
from sandmill.models.structure import MetricName, Modality, Structure, TargetKind
from sandmill.rng import Streams
from tests.data import DATA

_TEXTS = yaml.safe_load((DATA / "event_designs.yaml").read_text("utf-8"))
CHILD = ChildTable.model_validate(_TEXTS["child"])
RECENT_REPAIRS = Aggregate(how="sum", kinds=(1, 3), days=75)
TREND = Aggregate(how="trend", kinds=(0, 2), days=100)
LEAST_AGE = Aggregate(how="recency")
LEVELS = ("tile_roof", "flat_roof", "slate")

NOTES = Notes.model_validate(_TEXTS["notes"])

HINTS = (
    Hint(
        fact=Form(name="bookings_sum", motif=RECENT_REPAIRS),
        text="The office looks at the sum of `amount_eur` over rows of repair or refund with `days_ago` at most 75.",
    ),
    Hint(
        fact=Form(name="bookings_recency", motif=LEAST_AGE),
        text="The least `days_ago` of a flat is printed on its card.",
        matters=False,
    ),
    *(
        Hint(
            fact=InText(
                column=value.column,
                notes=NOTES.name,
                pattern=value.pattern,
                levels=tuple(level.replace("_", " ") for level in LEVELS) if value.column == "roof" else (),
            ),
            text=f"`{NOTES.name}` holds the {value.column}.",
        )
        for value in NOTES.values
    ),
)

COLUMNS = (
    Column(name="rooms_m2", distribution=LogNormal(median=60.0, sigma=0.4), decimals=1),
    Column(name="heat_c", distribution=Normal(mean=20.0, sd=2.0), decimals=1),
    Column(name="balcony_m2", distribution=LogNormal(median=6.0, sigma=0.5), decimals=2, in_text=True),
    Column(name="roof", distribution=Categorical(levels=LEVELS, shares=(0.5, 0.3, 0.2)), in_text=True),
    Column(name="district", distribution=Categorical(levels=("north", "south", "west"), shares=(0.4, 0.4, 0.2))),
    Column(name="floor_cm", distribution=Normal(mean=250.0, sd=9.0), decimals=0),
)
_RULE: tuple[tuple[Motif, float], ...] = (
    (Saturation(column="rooms_m2", steepness=2.0), 2.0),
    (Curve(column="heat_c"), 1.8),
    (RECENT_REPAIRS, 1.2),
    (TREND, 0.8),
    (Linear(column="balcony_m2"), 0.8),
    (Lookup(column="roof", effects=(-1.0, 0.6, 1.2)), 0.8),
    (Lookup(column="district", effects=(-0.8, 0.0, 1.1)), 1.6),
)


@cache
def make_event_spec(*, is_number: bool = False, has_copies: bool = False, train: int = 160) -> TaskSpec:
    """A design whose rule reads two summaries of a child table and two values of the notes."""
    target, metric = (TargetKind.REGRESSION, MetricName.RMSE) if is_number else (TargetKind.BINARY, MetricName.ROC_AUC)
    link = GaussianLink(location=40.0, scale=3.0, noise=1.0, decimals=2) if is_number else BinaryLink(intercept=0.0)
    mechanism = Mechanism(
        columns=COLUMNS,
        terms=tuple(Term(motif=motif, weights=(weight,)) for motif, weight in _RULE),
        link=link,
        pathologies=(
            Missing(column="floor_cm", given="balcony_m2", rate=0.1, slope=0.5),
            *((Duplicates(rate=0.1),) if has_copies else ()),
        ),
        child=CHILD,
    )
    streams = Streams(b"event designs", "standardize")
    mechanism = standardize(mechanism, () if is_number else (0.6, 0.4), streams)
    return TaskSpec(
        seed_id="flats",
        structure=Structure(modality=Modality.TABULAR, target=target, metric=metric),
        domain="flats",
        story=Story(
            title="Flats",
            overview="A housing association wants to know which flats will need a new kitchen.",
            row="one flat of the association",
            target="kitchen",
            target_meaning="What the kitchen will need",
            column_meanings={column.name: f"The {column.name} of the flat" for column in COLUMNS},
        ),
        target=target,
        metric=metric,
        mechanism=mechanism,
        sizes=Sizes(train=train, feedback=2000, final=6000),
        wanted=Band.MEDIUM,
        hardness=0.4,
        hints=HINTS,
        notes=NOTES,
    )
