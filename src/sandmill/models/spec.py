"""The design of one new task."""

from functools import cached_property
from typing import Literal, get_args

from pydantic import Field, model_validator

from sandmill.fingerprint import fingerprint
from sandmill.models.base import Band, Frozen, Private
from sandmill.models.channel import AnyChannel
from sandmill.models.hints import Hint, Notes, ReadingLevel
from sandmill.models.kind import Kind, kind_named
from sandmill.models.links import class_names, output_count
from sandmill.models.mechanism import Mechanism
from sandmill.models.structure import MetricName, SplitKind, Structure, TargetKind


class Story(Frozen):
    """Texts about the domain for people and agents. Columns have their true meaning; the rule is not mentioned."""

    title: str
    overview: str
    row: str
    """Meaning of one row, such as `one parcel handed to a courier`."""
    target: str
    """Name of the target column, or a list of names for several."""
    target_meaning: str
    column_meanings: dict[str, str]
    """Meanings of all features, and of the target columns if there are several."""
    units: str | None = None
    """Plural noun for the units that rows belong to, such as `wards`."""
    asides: tuple[str, ...] = ()
    """Sentences of the description that are true and of no use. Hints stand among them."""
    style: int = Field(default=0, ge=0)
    """Number that wordings, headings and order of the description follow from."""


class Sizes(Frozen):
    """Rows of each part. Training rows are few by design; more test rows make scores more stable."""

    train: int = Field(ge=50, le=200)
    feedback: int = Field(ge=100, le=20_000)
    final: int = Field(ge=100, le=20_000)


class Knobs(Frozen):
    """Positions of the knobs that steer difficulty, each from 0 (easiest) to 1 (hardest)."""

    rows: float = Field(default=0.5, ge=0, le=1)
    """Fewer training rows."""
    signal: float = Field(default=0.5, ge=0, le=1)
    """A weaker rule, or more noise, and more classes or labels."""
    skills: float = Field(default=0.5, ge=0, le=1)
    """More hidden motifs, with more of the rule's variance."""
    distractors: float = Field(default=0.5, ge=0, le=1)
    """More columns that are not part of the rule."""
    faults: float = Field(default=0.5, ge=0, le=1)
    """More wrong cells and labels, in columns with more weight."""

    @classmethod
    def all_at(cls, position: float) -> "Knobs":
        """Set all knobs to one position, as a search for a band does."""
        return cls(**dict.fromkeys(cls.model_fields, position))


class TaskSpec(Private):
    """The design of a task. Together with secret and replicate it determines all files of the task."""

    seed_id: str
    structure: Structure
    domain: str
    story: Story
    target: TargetKind
    metric: MetricName
    split: SplitKind = SplitKind.RANDOM
    mechanism: Mechanism
    sizes: Sizes
    wanted: Band
    hardness: float = Field(ge=0, le=1)
    """Hardness of the design: 0 is the easiest that the designer makes, 1 the hardest."""
    knobs: Knobs = Knobs()
    parent: str | None = None
    hints: tuple[Hint, ...] = ()
    """Facts that the texts of the task state and its data hardly show."""
    notes: Notes | None = None
    """Column of free text that holds the columns with `in_text`."""
    channel: AnyChannel | None = None
    """What turns the mechanism's columns into what an agent sees; None: the columns themselves are in the files."""

    @model_validator(mode="after")
    def _texts_hold_what_the_table_lacks(self) -> "TaskSpec":
        lacking = {column.name for column in self.mechanism.columns if column.in_text}
        written = {value.column for value in self.notes.values} if self.notes else set()
        if lacking != written:
            raise ValueError(f"columns in the text are {sorted(lacking)}; the notes hold {sorted(written)}")
        return self

    @property
    def kind(self) -> Kind:
        """What shape of task this is."""
        return kind_named(self.channel.kind if self.channel else self.structure.kind or "table")

    @property
    def reading_level(self) -> ReadingLevel | Literal["none"]:
        """Hardest level at which texts state a fact that the rule uses. What items show is explained plainly."""
        used = {hint.level for hint in self.hints if hint.matters}
        used |= {"plain"} if self.channel and self.channel.cues else set()
        return max(used, key=get_args(ReadingLevel).index, default="none")

    @property
    def unscored_items(self) -> int:
        """Test items that must be answered and are not scored."""
        return round(self.kind.unscored * (self.sizes.feedback + self.sizes.final))

    @property
    def test_items(self) -> int:
        """Items of the test file: of both parts, and those that are not scored."""
        return self.sizes.feedback + self.sizes.final + self.unscored_items

    @property
    def file_sizes(self) -> Sizes:
        """Items of the files: sizes whose final part counts the items that are not scored."""
        return self.sizes.model_copy(update={"final": self.sizes.final + self.unscored_items})

    @property
    def feature_columns(self) -> tuple[str, ...]:
        """Names of the columns beside id and target that the files hold."""
        if self.channel:
            item = () if self.kind.ids == "item" else (self.channel.column,)
            return (*self.channel.shown, *item)
        notes = (self.notes.name,) if self.notes else ()
        return (*(column.name for column in self.mechanism.columns if not column.in_text), *notes)

    @property
    def only_in_training(self) -> tuple[str, ...]:
        """Names of the columns that the files hold for training items alone."""
        return self.channel.only_in_training if self.channel else ()

    @property
    def structure_label(self) -> str:
        """Modality, target and split as one label, such as `tabular/multiclass-5/random`."""
        columns = len(class_names(self.mechanism.link)) or output_count(self.mechanism.link)
        target = f"{self.target}-{columns}" if columns > 1 and self.target is not TargetKind.BINARY else self.target
        return f"{self.structure.modality}/{target}/{self.split}"

    @cached_property
    def rows_key(self) -> str:
        """Fingerprint of the design without the size of its test, which keys the streams of rows.

        Training rows are therefore independent of the test size, and a larger test begins with the rows of a smaller.
        """
        return fingerprint(self.model_copy(update={"sizes": Sizes(train=self.sizes.train, feedback=100, final=100)}))

    @cached_property
    def fingerprint(self) -> str:
        """Identity of the design: 64 hexadecimal digits."""
        return fingerprint(self)
