"""Kinds: the shapes of task that can be made. A kind is data; it names the modules that make it, loaded when needed."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

from sandmill.models.base import Frozen, MedalRule
from sandmill.models.structure import MetricName, Modality, Structure, TargetKind

Curve = tuple[float, ...]
"""Typical difficulty of designs at hardness 0, 0.25, 0.5, 0.75 and 1."""


class Kind(Frozen):
    """One shape of task. Parts are named `module:attribute`, so that no stage has to import another."""

    name: str
    modality: Modality
    tasks: Mapping[tuple[TargetKind, MetricName], Curve] | None = None
    """What can be asked, each with its difficulty. None: everything that can be asked of a table."""
    layout: str = "sandmill.layouts.tables:TABLES"
    """A `sandmill.layouts.base.Layout`: how training and test items become public files, and back."""
    reader: str = "sandmill.calibrate.solvers.tables_reader"
    """Module for the agent's side: `read` makes tables of the public files, `source` is the same for scripts."""
    channel: str | None = None
    """Model of what stands between latent columns and items. None: the columns themselves are in the files."""
    design: str | None = None
    """Module for designs: `choose_medium` draws a `models.channels.Medium`, `choose_channel` a channel of it."""
    render: str | None = None
    """Function that renders items: (channel, latent columns, row numbers) -> cells of the channel's column."""
    gate: str | None = None
    """Function that looks for faults in rendered items: (train cells, test cells) -> findings."""
    medals: MedalRule = "ranks"
    """How thresholds follow. Milestones need readers, or a solver that knows the true form of the features."""
    hidden: float = 1.0
    """Position of the knob `skills` relative to tables. Items that show latent columns with noise need less."""
    most_feedback: int = 3000
    most_final: int = 20_000
    """Largest feedback and final parts, in items. Calibration takes as many as the thresholds need."""
    pilot: int = 2000
    """Test items of a pilot, which is never published."""

    @property
    def shows_columns(self) -> bool:
        """Whether the files hold the mechanism's columns, so that solvers may be told about them."""
        return self.channel is None

    def load(self, part: str) -> Any:
        """Import a part by the name of its field.

        Raises:
            ValueError: if the kind has no such part.
        """
        path = getattr(self, part)
        if path is None:
            raise ValueError(f"kind {self.name} has no {part}")
        module, _, name = path.partition(":")
        found = import_module(module)
        return getattr(found, name) if name else found


TABLE = Kind(name="table", modality=Modality.TABULAR, medals="milestones")
TEXT = Kind(
    name="text",
    modality=Modality.TEXT,
    tasks=MappingProxyType({(TargetKind.MULTICLASS, MetricName.LOG_LOSS): (0.72, 0.75, 0.79, 0.84, 0.96)}),
    channel="sandmill.models.channels:TextChannel",
    design="sandmill.design.text_design",
    render="sandmill.synth.text_channel:render_texts",
    hidden=0.4,
    most_final=8000,
)
IMAGE_ARCHIVE = Kind(
    name="image_archive",
    modality=Modality.IMAGE,
    tasks=MappingProxyType({(TargetKind.BINARY, MetricName.LOG_LOSS): (0.50, 0.60, 0.67, 0.78, 0.98)}),
    layout="sandmill.layouts.image_archive:IMAGE_ARCHIVE",
    reader="sandmill.calibrate.solvers.images",
    channel="sandmill.models.channels:ImageChannel",
    design="sandmill.design.image_design",
    render="sandmill.synth.image_channel:render_images",
    gate="sandmill.quality.images:image_findings",
    hidden=0.4,
    most_feedback=2000,
    most_final=6000,
    pilot=1500,
)

_KINDS: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    """Make a kind known; a kind of the same name is replaced."""
    _KINDS[kind.name] = kind


for _kind in (TABLE, TEXT, IMAGE_ARCHIVE):
    register(_kind)


def kind_named(name: str) -> Kind:
    """Return a kind by its name.

    Raises:
        ValueError: if there is none.
    """
    if name not in _KINDS:
        raise ValueError(f"unknown kind of task {name!r}; known are {', '.join(sorted(_KINDS))}")
    return _KINDS[name]


def kinds_of(modality: Modality) -> tuple[Kind, ...]:
    """Return the kinds of a modality, in the order in which they were registered."""
    return tuple(kind for kind in _KINDS.values() if kind.modality is modality)


def kind_of(structure: Structure) -> Kind | None:
    """Return the first kind that can ask what a structure asks, or None."""
    asked = (structure.target, structure.metric)
    return next((kind for kind in kinds_of(structure.modality) if kind.tasks is None or asked in kind.tasks), None)
