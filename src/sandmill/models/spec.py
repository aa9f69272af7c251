"""The design of one new task."""

from functools import cached_property

from pydantic import Field

from sandmill.fingerprint import fingerprint
from sandmill.models.base import Band, Frozen
from sandmill.models.channels import TextChannel
from sandmill.models.mechanism import Mechanism, class_names, output_count
from sandmill.models.structure import MetricName, SplitKind, Structure, TargetKind


class Story(Frozen):
    """What a person is told: the domain in words. Columns keep their true meaning; the rule is not given away."""

    title: str
    overview: str
    row: str
    """What one row is, such as `one parcel handed to a courier`."""
    target: str
    """Name of the target column, or a phrase for several."""
    target_meaning: str
    column_meanings: dict[str, str]
    """Of all features, and of the target columns where there are several."""
    units: str | None = None
    """What a sentence calls the units that rows belong to, such as `wards`."""


class Sizes(Frozen):
    """Rows of each part. Training rows are the scarce ones; test rows are cheap and buy stable scores."""

    train: int = Field(ge=50, le=200)
    feedback: int = Field(ge=100, le=20_000)
    final: int = Field(ge=100, le=20_000)


class Knobs(Frozen):
    """What steering turns, each from 0, the easiest position, to 1, the hardest. What each does alone is measured."""

    rows: float = Field(default=0.5, ge=0, le=1)
    """Fewer training rows."""
    signal: float = Field(default=0.5, ge=0, le=1)
    """A weaker rule, or more noise, and more classes or labels."""
    skills: float = Field(default=0.5, ge=0, le=1)
    """More of the rule in motifs that take a skill to find, and more of them."""
    distractors: float = Field(default=0.5, ge=0, le=1)
    """More columns that have no part in the rule."""
    faults: float = Field(default=0.5, ge=0, le=1)
    """More cells and labels that are wrong, in columns that count for more."""

    @classmethod
    def all_at(cls, position: float) -> "Knobs":
        """Turn all of them together, which is how a search moves."""
        return cls(**dict.fromkeys(cls.model_fields, position))


class TaskSpec(Frozen):
    """Structure, domain, story, mechanism, sizes and wanted difficulty: everything that is rendered follows from it."""

    seed_id: str
    structure: Structure
    domain: str
    story: Story
    target: TargetKind
    metric: MetricName
    split: SplitKind = SplitKind.RANDOM
    """How train and test are told apart."""
    mechanism: Mechanism
    sizes: Sizes
    wanted: Band
    hardness: float = Field(ge=0, le=1)
    """Where the search stood: 0 is the easiest design the designer makes, 1 the hardest."""
    knobs: Knobs = Knobs()
    """What it was made with."""
    parent: str | None = None
    """Fingerprint of the design that this one was steered from."""
    channel: TextChannel | None = None
    """What turns the mechanism's columns into what an agent sees; None: the columns themselves are in the files."""

    @property
    def feature_columns(self) -> tuple[str, ...]:
        """Names of the columns beside id and target that the files hold."""
        return (self.channel.column,) if self.channel else tuple(column.name for column in self.mechanism.columns)

    @property
    def structure_label(self) -> str:
        """Modality, target and split in a word, such as `tabular/multiclass-5/random`."""
        columns = len(class_names(self.mechanism.link)) or output_count(self.mechanism.link)
        target = f"{self.target}-{columns}" if columns > 1 and self.target is not TargetKind.BINARY else self.target
        return f"{self.structure.modality}/{target}/{self.split}"

    @cached_property
    def rows_key(self) -> str:
        """What streams of rows are named by: the design without the size of its test.

        A larger test of a design so begins with the rows of a smaller one, and training rows stay as they are.
        """
        return fingerprint(self.model_copy(update={"sizes": Sizes(train=self.sizes.train, feedback=100, final=100)}))

    @cached_property
    def fingerprint(self) -> str:
        """Identity of the design: 64 hexadecimal digits."""
        return fingerprint(self)
