"""Draw further training sets of a task, over which skill lifts and milestones are averaged."""

from dataclasses import replace

from sandmill.draw.pilot import Pilot
from sandmill.draw.render import render_train
from sandmill.draw.rows import PartRows, draw_train
from sandmill.mechanism import draw_rows
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.sampling import Draw
from sandmill.models.faults import Duplicates, LabelNoise
from sandmill.models.mechanism import Mechanism
from sandmill.models.spec import TaskSpec
from sandmill.rng import Streams


def fresh_training(spec: TaskSpec, streams: Streams, count: int) -> list[tuple[Draw, Floats]]:
    """Draw further training sets of a task, each with its targets before label noise.

    Args:
        spec: the design.
        streams: streams of the task. Draw k uses their child `lift k`.
        count: number of training sets.
    """
    parts = [
        draw_train(spec.mechanism, spec.split, streams.child(f"lift {number}"), spec.sizes.train)
        for number in range(count)
    ]
    return [(part.draw, _clean_target(spec.mechanism, part)) for part in parts]


def with_fresh_training(pilot: Pilot, streams: Streams, number: int) -> Pilot:
    """Return a pilot with other training rows of the same mechanism. Its test rows and its oracle stay the same.

    Args:
        pilot: of the design.
        streams: streams of the task. Draw k uses their child `draw k`.
        number: of the draw.
    """
    train = render_train(pilot.spec, pilot.facts, streams.child(f"draw {number}"))
    return replace(pilot, drawn=replace(pilot.drawn, train=train))


def _clean_target(mechanism: Mechanism, part: PartRows) -> Floats:
    """Return the targets of the same rows before label noise."""
    if mechanism.label_noise() is None:
        return part.draw.target
    others = tuple(fault for fault in mechanism.pathologies if not isinstance(fault, LabelNoise | Duplicates))
    clean = mechanism.model_copy(update={"pathologies": others})
    rows = range(int(part.draw.numbers.max()) + 1)
    return draw_rows(clean, part.streams, rows, is_train=True).target[part.draw.numbers]
