"""What a domain knows beside its columns: dependences, priors, and facts that hosts tell."""

from typing import Literal

from pydantic import Field, model_validator

from sandmill.models.base import Frozen

Texts = tuple[str, ...]
"""Several wordings of the same fact. A design uses one of them."""


class FactorWord(Frozen):
    """Latent factor of a domain, such as the size of a parcel or the wealth of a customer."""

    name: str
    loads: dict[str, float]
    """Correlation of columns with the factor, -0.95 to 0.95. Categories follow it in the order of `level_orders`."""


class IdentityWord(Frozen):
    """A column that others determine exactly, such as a total of its parts."""

    name: str
    meaning: str
    decimals: int = Field(ge=0, le=6)
    how: Literal["sum", "difference", "product", "quotient"]
    of: tuple[str, ...] = Field(min_length=2, max_length=4)


class Order(Frozen):
    """Two numbers of which one is never above the other, such as calls answered and calls received."""

    lower: str
    upper: str


class ExclusionWord(Frozen):
    """Levels of a category that do not occur below or above a value of a number."""

    column: str
    below: float | None = None
    above: float | None = None
    by: str
    levels: tuple[str, ...] = Field(min_length=1)


PriorForm = Literal[
    "linear", "curve", "threshold", "saturation", "periodic", "lookup", "ratio", "interaction", "difference"
]


class Prior(Frozen):
    """How columns plausibly act on a target."""

    columns: tuple[str, ...] = Field(min_length=1, max_length=2)
    """One column, or numerator and denominator of a ratio, or two columns that act together."""
    form: PriorForm
    rises: bool | None = None
    """Whether the target rises with it. None: it depends, as for waves and categories."""


class FormulaWord(Frozen):
    """A quantity that hosts of the domain compute from several positive columns."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """As a name for a column, such as `load_per_axle`."""
    top: tuple[tuple[str, ...], ...] = Field(min_length=1)
    """Factors of the numerator; a factor is the sum of its columns. A square names its column twice."""
    bottom: tuple[tuple[str, ...], ...] = ()
    texts: Texts = ()
    """Sentences that define it in words, with every column in backticks."""


class When(Frozen):
    """A condition whose numbers and levels a design draws."""

    column: str
    side: Literal["above", "at_most", "levels"]


class ConditionWord(Frozen):
    """A circumstance in which a column counts, or something holds, such as a night tariff."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    when: tuple[When, ...] = Field(min_length=1, max_length=2)
    column: str | None = None
    """Numeric column that counts in these rows alone; None: the circumstance itself counts."""
    texts: Texts = ()
    """Sentences with `{first}` (and `{second}`) where the drawn cut or levels of each condition stand; `{a_first}` or
    `{A_first}` for levels that have an article each."""


class NormWord(Frozen):
    """Norms of a numeric column for each level of a category: what lies off its norm is unusual."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    column: str
    by: str
    texts: Texts = ()
    """Sentences with `{norms}`, which becomes a list such as `12.5 for oak, 9 for beech`."""


class CodeTableWord(Frozen):
    """A number that the data dictionary gives for each level of a category."""

    column: str
    """Categorical column, of few or of many levels."""
    attribute: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    meaning: str
    low: float
    high: float
    decimals: int = Field(ge=0, le=4)


class UnitPartWord(Frozen):
    """A categorical column that only designs with a `SameUnitsWord` have."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    meaning: str
    levels: tuple[str, ...] = Field(min_length=4, max_length=8)


class SameUnitsWord(Frozen):
    """Units that are numbered anew in every place, so that two columns together name one of them."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """As a name for a column, such as `till`."""
    place: UnitPartWord
    number: UnitPartWord
    texts: Texts = Field(min_length=2)
    """Sentences that name both columns in backticks and say that the units are the same in both files."""


class PlaceWord(Frozen):
    """A place on the map, in two columns that only designs with a `DistanceWord` have."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """Beginning of the columns' names, which end in `_lat` and `_lon`."""
    of: str
    """Whose latitude and longitude the columns hold, such as `the shop`."""
    latitude: float = Field(ge=1, le=75)
    longitude: float = Field(ge=1, le=175)
    spread_km: float = Field(gt=0.1, le=500)
    """Standard deviation to the north and to the east."""


class DistanceWord(Frozen):
    """A distance as the crow flies between two places of a row."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """As a name for a column, such as `flight_line_km`."""
    start: PlaceWord
    end: PlaceWord
    texts: Texts = Field(min_length=2)
    """Sentences that define it in words, with all four columns in backticks."""


class UnitWordChoice(Frozen):
    """A unit of a quantity: written = factor * value in the column's own unit + offset."""

    unit: str
    factor: float = Field(gt=0)
    offset: float = 0.0


class ConversionWord(Frozen):
    """A numeric column that some sites record in another unit."""

    column: str
    by: str
    """Categorical column of the sites."""
    units: tuple[UnitWordChoice, ...] = Field(min_length=2, max_length=3)
    """The first is the column's own unit: factor 1, offset 0."""


class ChildWord(Frozen):
    """Events of an item in a file of their own."""

    name: str
    row: str
    kind: str
    kind_meaning: str
    kinds: tuple[str, ...] = Field(min_length=3, max_length=6)
    amount: str
    amount_meaning: str
    amount_median: float = Field(gt=0)
    amount_sigma: float = Field(gt=0)
    decimals: int = Field(ge=0, le=4)
    age: str
    age_meaning: str
    horizon: int = Field(ge=20, le=1000)
    events: float = Field(gt=1, le=20)
    texts: Texts = Field(min_length=2)
    """Sentences with `{summary}`, which becomes the words for a sum, a count, a share or a trend."""


class NoteWord(Frozen):
    """A value that notes can hold: a column that is in the text instead of the table."""

    column: str
    phrases: tuple[str, ...] = Field(min_length=2)
    """Sentences with `{value}`; the words of `anchor` stand before or after it."""
    pattern: str
    """Regular expression that finds the value in each phrase; its first group is the value."""


class NotesWord(Frozen):
    """A column of free text."""

    name: str
    meaning: str
    values: tuple[NoteWord, ...] = Field(min_length=2)
    fillers: tuple[str, ...] = Field(min_length=10)
    """Sentences without digits that mean nothing for any target."""


class QuantityTexts(Frozen):
    """How people say a quantity, its limit and its norm, in their own words."""

    means: Texts = Field(min_length=2)
    """What it is and how it is computed; its name stands in each."""
    limits: Texts = Field(min_length=2)
    """Sentences that give a limit as `{n}`, and say that only being above the limit matters."""
    norms: Texts = Field(min_length=2)
    """Sentences that give a norm as `{n}`, and say that the factor to it matters, up or down."""


class Words(Frozen):
    """How people of a domain speak of its columns and facts: paraphrases that share few words with the meanings."""

    columns: dict[str, Texts] = {}
    """Noun phrases in the singular, by column."""
    formulas: dict[str, QuantityTexts] = {}
    conditions: dict[str, Texts] = {}
    """Sentences with `{first}` (and `{second}`), which become the number or the levels of each part."""
    norms: dict[str, Texts] = {}
    """Sentences with `{norms}`."""


class TargetPrior(Frozen):
    """What is plausible of one target."""

    share: float | None = Field(default=None, gt=0, lt=1)
    """Usual share of the positive class, for two classes."""
    ceiling: tuple[float, float] | None = None
    """Plausible range of the best possible AUC (two classes) or R squared (numbers); None: wide."""
    acts: tuple[Prior, ...] = Field(min_length=4)
    """The prior graph: columns that plausibly act on the target."""


class Knowledge(Frozen):
    """Everything that a domain knows beside its columns. Designs draw from it."""

    overviews: tuple[tuple[str, ...], ...] = ()
    """Further overviews beside the domain's own; sentences each."""
    asides: tuple[str, ...] = ()
    """True sentences that mean nothing for any target: history, staff, habits."""
    factors: tuple[FactorWord, ...] = Field(default=(), max_length=3)
    level_orders: dict[str, tuple[str, ...]] = {}
    """Levels of categories from low to high scores, for categories in `factors`."""
    identities: tuple[IdentityWord, ...] = ()
    orders: tuple[Order, ...] = ()
    exclusions: tuple[ExclusionWord, ...] = ()
    targets: dict[str, TargetPrior] = {}
    """By the target's name."""
    formulas: tuple[FormulaWord, ...] = ()
    conditions: tuple[ConditionWord, ...] = ()
    norms: tuple[NormWord, ...] = ()
    code_tables: tuple[CodeTableWord, ...] = ()
    conversions: tuple[ConversionWord, ...] = ()
    same_units: tuple[SameUnitsWord, ...] = ()
    distances: tuple[DistanceWord, ...] = ()
    child: ChildWord | None = None
    notes: NotesWord | None = None

    @model_validator(mode="after")
    def _loads_leave_room(self) -> "Knowledge":
        squares: dict[str, float] = {}
        for factor in self.factors:
            for column, load in factor.loads.items():
                squares[column] = squares.get(column, 0.0) + load**2
        if full := sorted(column for column, square in squares.items() if square > 0.92):
            raise ValueError(f"squared loads sum to more than 0.92 for {', '.join(full)}")
        return self
