"""Kinds: the shapes of task that can be made, each as data that names the modules that make it."""

from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from pkgutil import resolve_name
from typing import Any, Literal

from sandmill.models.base import Frozen
from sandmill.models.structure import MetricName, Modality, Structure, TargetKind

DifficultyCurve = tuple[float, ...]
"""Typical difficulty of designs at hardness 0, 0.25, 0.5, 0.75 and 1."""
Part = str | Mapping[str, Any]
"""`module:attribute`; or a class named in this way as `of`, beside the arguments that make the part."""


class Kind(Frozen):
    """One shape of task. Parts are named, so that no stage has to import another."""

    name: str
    modality: Modality
    tasks: Mapping[tuple[TargetKind, MetricName], DifficultyCurve] | None = None
    """What can be asked, each with its difficulty. None: everything that can be asked of a table."""
    layout: Part = "sandmill.kinds.files.tables:TABLES"
    """A `sandmill.kinds.files.base.Layout`: how training and test items become public files, and back."""
    reader: str = "sandmill.kinds.table.read"
    """Module for the agent's side: `read` makes tables of the public files, `source` is the same for scripts."""
    form: str | None = None
    """Answer form of its tasks, see `sandmill.scoring.support`. None: the usual one of target and metric."""
    unscored: float = 0.0
    """Test items that must be answered and are not scored, as a share of those that are."""
    channel: str | None = None
    """Model of what stands between latent columns and items. None: the columns themselves are in the files."""
    design: Part | None = None
    """Module or object for designs: `choose_medium` returns the `models.channel.Medium` at a place from 0 to 1 among
    all, `choose_channel` draws a channel of it."""
    disturb: str | None = None
    """Function that scales what disturbs the items: (channel, hardness) -> channel. None: channels stay as drawn."""
    designer: str | None = None
    """Function that designs in place of the grammar of tables: (slot, streams, hardness, parent, knobs) -> `TaskSpec`.
    None: `design.grammar` designs."""
    media: str | None = None
    """Module whose function `media_of(kind)` returns the library's texts for tasks of the kind, as
    `models.world.WorldMedium` objects. The llm designer replaces these texts. Only for kinds with a `designer`."""
    render: str | None = None
    """Function that renders items: (channel, latent columns, row numbers) -> cells of the channel's column."""
    gate: str | None = None
    """Function that looks for faults in rendered items: (train cells, test cells) -> findings."""
    targets: str | None = None
    """Function for targets that are rendered with the items, such as clean pictures or words: (channel, latent
    columns, row numbers) -> `kinds.targets.RenderedTargets`. None: the link of the mechanism draws targets."""
    panel: str | None = None
    """Module of a panel of its own, for answers that no table of features gives. None: the panel of tables, on what
    the reader returns."""
    measures: str | None = None
    """Module like the reader whose tables hold an estimate of each latent column that the description explains."""
    id_column: str = "id"
    ids: Literal["token", "item", "timestamp"] = "token"
    """What identifies an item: a random token, the item itself, or a random time stamp."""
    hidden: float = 1.0
    """Position of the knob `skills` relative to tables. Items that show latent columns with noise need less."""
    log_odds: tuple[float, float] | None = None
    """Standard deviation of the rule in log-odds at hardness 0 and 1, for class targets. None: the usual one."""
    followers: float | None = None
    """Factor at hardness 0 on the variance of all plain motifs but the first. None: the usual one."""
    train: tuple[int, int] = (200, 80)
    """Training items at hardness 0 and 1."""
    classes: tuple[int, int] = (3, 7)
    """Fewest and most classes of a multiclass target."""
    labels: tuple[int, int] = (3, 5)
    """Fewest and most labels of a multilabel target."""
    grades: tuple[int, int] = (4, 7)
    """Fewest and most grades of an ordinal target."""
    largest_class: float = 0.8
    """Largest share of the larger of two classes. Imbalance in the files of a table allows a little more."""
    least_feedback: int = 2000
    most_feedback: int = 3000
    least_final: int = 3000
    most_final: int = 20_000
    """Smallest and largest feedback and final parts, in items. Calibration takes as many as the thresholds need."""
    pilot: int = 2000
    """Test items of a pilot, which is never published."""

    @property
    def shows_columns(self) -> bool:
        """Whether the files hold the mechanism's columns, so that solvers may be told about them."""
        return self.channel is None

    @cached_property
    def parts_made(self) -> dict[str, Any]:
        """Parts that were made of arguments, by the name of their field."""
        return {}

    def load(self, part: str) -> Any:
        """Import a part by the name of its field, or make it once. A kind without it is a ValueError."""
        given = getattr(self, part)
        if given is None:
            raise ValueError(f"kind {self.name} has no {part}")
        if isinstance(given, str):
            return resolve_name(given) if ":" in given else import_module(given)
        if part not in self.parts_made:
            arguments = {field: value for field, value in given.items() if field != "of"}
            self.parts_made[part] = resolve_name(given["of"])(**arguments)
        return self.parts_made[part]


_KINDS: dict[str, Kind] = {}
"""Kinds by name, in the order of their registration."""


def register(kind: Kind) -> None:
    """Make a kind known; a kind of the same name is replaced."""
    known_kinds()[kind.name] = kind


def known_kinds() -> dict[str, Kind]:
    """Return the kinds that are known, by name. The folders of `sandmill.kinds` are imported at the first call."""
    if not _KINDS:
        for folder in import_module("sandmill.kinds").FOLDERS:
            _KINDS.update({kind.name: kind for kind in import_module(f"sandmill.kinds.{folder}").KINDS})
    return _KINDS


def kind_named(name: str) -> Kind:
    """Return a kind by its name; a ValueError names the known ones."""
    known = known_kinds()
    if name not in known:
        raise ValueError(f"unknown kind of task {name!r}; known are {', '.join(sorted(known))}")
    return known[name]


def kinds_of(modality: Modality) -> tuple[Kind, ...]:
    """Return the kinds of a modality, in the order in which they were registered."""
    return tuple(kind for kind in known_kinds().values() if kind.modality is modality)


def kind_of(structure: Structure) -> Kind | None:
    """Return the kind that a structure names, else the first that can ask what it asks; None if there is none."""
    if structure.kind:
        return known_kinds().get(structure.kind)
    asked = (structure.target, structure.metric)
    return next((kind for kind in kinds_of(structure.modality) if kind.tasks is None or asked in kind.tasks), None)
