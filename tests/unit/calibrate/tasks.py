"""Rendered tasks with the draws behind them, for measures that are told the mechanism."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from sandmill.calibrate.panel import Panel
from sandmill.draw import Rendered, render
from sandmill.draw.render import shuffled, streams_of
from sandmill.draw.rows import draw_test, draw_train
from sandmill.mechanism.sampling import Draw
from sandmill.models.base import Band, Part
from sandmill.models.columns import Categorical, Column, LogNormal, Normal
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import Linear, Motif, Term
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import MetricName, TargetKind
from tests.designs import SECRET, make_spec

FIRST, SECOND = "size", "warmth"
"""Normal columns of `plain_spec`."""
SKEWED, OTHER_SKEWED = "mass", "price"
"""Its lognormal columns."""
GROUP, OTHER_GROUP = "town", "shade"
"""Its categories."""
COLUMNS = (
    Column(name=FIRST, distribution=Normal(mean=50, sd=10), decimals=3),
    Column(name=SECOND, distribution=Normal(mean=20, sd=5), decimals=3),
    Column(name=SKEWED, distribution=LogNormal(median=40, sigma=0.8), decimals=3),
    Column(name=OTHER_SKEWED, distribution=LogNormal(median=9, sigma=0.6), decimals=3),
    Column(name=GROUP, distribution=Categorical(levels=("ash", "new bell", "cod"), shares=(0.4, 0.35, 0.25))),
    Column(name=OTHER_GROUP, distribution=Categorical(levels=("dark", "pale"), shares=(0.5, 0.5))),
)
"""Independent of each other."""


@dataclass(frozen=True)
class Made:
    """A task, what the panel knows of it, and what only its maker knows."""

    spec: TaskSpec
    rendered: Rendered
    panel: Panel
    train: Draw
    test: Draw


def drawn_rows(spec: TaskSpec) -> tuple[Draw, Draw]:
    """Training and test rows in the order of train.csv and test.csv."""
    streams, sizes = streams_of(spec, SECRET, 0), spec.sizes
    train = draw_train(spec.mechanism, spec.split, streams.child("train"), sizes.train).draw
    feedback, final = (
        draw_test(spec.mechanism, streams.child(str(part)), rows).draw
        for part, rows in ((Part.FEEDBACK, sizes.feedback), (Part.FINAL, sizes.final))
    )
    order = shuffled(streams, "test", sizes.feedback + sizes.final)
    return train.take(shuffled(streams, "train", sizes.train)), feedback.followed_by(final).take(order)


RENDERING = import_module("sandmill.draw.render")
TUNING_ROWS = 4000
"""Rows on which oracles are tuned here. They need not be exact to be the end of a scale."""


@contextmanager
def made_task(spec: TaskSpec) -> Iterator[Made]:
    """Render a design and read its files."""
    rendered = render(spec, SECRET)
    with TemporaryDirectory() as folder, patch.object(RENDERING, "TUNING_ROWS", TUNING_ROWS):
        for path, content in rendered.package.public.items():
            (Path(folder) / path).write_bytes(content)
        panel = Panel(Path(folder), rendered.package.facts)
        yield Made(spec, rendered, panel, *drawn_rows(spec))


def plain_spec() -> TaskSpec:
    """A regression design with the independent columns above, whose texts state nothing."""
    spec = make_spec(TargetKind.REGRESSION, MetricName.RMSE, band=Band.EASY)
    meanings = {column.name: f"The {column.name}" for column in COLUMNS}
    terms = (Term(motif=Linear(column=FIRST), weights=(1.5,)),)
    changed = {"columns": COLUMNS, "terms": terms, "pathologies": (), "subgroup": None, "limits": ()}
    return spec.model_copy(
        update={
            "mechanism": Mechanism.model_validate(spec.mechanism.model_copy(update=changed).model_dump()),
            "story": spec.story.model_copy(update={"column_meanings": meanings}),
        }
    )


def with_rule(spec: TaskSpec, *motifs: Motif, weight: float = 1.5, final: int = 1500) -> TaskSpec:
    """The design with another rule, without faults, and with few test rows."""
    outputs = len(spec.mechanism.terms[0].weights)
    terms = tuple(Term(motif=motif, weights=(weight,) * outputs) for motif in motifs)
    changed = {"terms": terms, "pathologies": (), "subgroup": None}
    mechanism = Mechanism.model_validate(spec.mechanism.model_copy(update=changed).model_dump())
    sizes = spec.sizes.model_copy(update={"feedback": 500, "final": final})
    return spec.model_copy(update={"mechanism": mechanism, "sizes": sizes})
