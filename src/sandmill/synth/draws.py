"""Draws behind a task's files, and fresh ones like them, for measures that look at cells as numbers."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sandmill.mechanism import draw_rows
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.sampling import Draw
from sandmill.models.base import Part
from sandmill.models.mechanism import Duplicates, LabelNoise, Mechanism
from sandmill.models.spec import TaskSpec
from sandmill.rng import Streams
from sandmill.synth.render import shuffled
from sandmill.synth.rows import PartRows, draw_test, draw_train


def drawn_rows(spec: TaskSpec, secret: bytes, replicate: int = 0) -> tuple[Draw, Draw]:
    """Draw again what `render` wrote: training and test rows in the order of train.csv and test.csv.

    Args:
        spec: the design.
        secret: release secret.
        replicate: which rendering of the design.
    """
    streams = Streams(secret, spec.fingerprint).child(f"replicate {replicate}")
    sizes = spec.sizes
    train = draw_train(spec.mechanism, spec.split, streams.child("train"), sizes.train).draw
    feedback, final = (
        draw_test(spec.mechanism, streams.child(str(part)), rows).draw
        for part, rows in ((Part.FEEDBACK, sizes.feedback), (Part.FINAL, sizes.final))
    )
    order = shuffled(streams, "test", sizes.feedback + sizes.final)
    return _at(train, shuffled(streams, "train", sizes.train)), _at(_after(feedback, final), order)


def fresh_training(spec: TaskSpec, streams: Streams, count: int) -> list[tuple[Draw, Floats]]:
    """Draw further training sets of a task, each with the labels that it would have without label noise.

    Args:
        spec: the design.
        streams: of the task; draw k comes from its child `lift k`.
        count: training sets.
    """
    parts = [
        draw_train(spec.mechanism, spec.split, streams.child(f"lift {number}"), spec.sizes.train)
        for number in range(count)
    ]
    return [(part.draw, _clean_target(spec.mechanism, part)) for part in parts]


def _clean_target(mechanism: Mechanism, part: PartRows) -> Floats:
    """Targets of the same rows before labels were replaced."""
    if mechanism.label_noise() is None:
        return part.draw.target
    others = tuple(fault for fault in mechanism.pathologies if not isinstance(fault, LabelNoise | Duplicates))
    honest = mechanism.model_copy(update={"pathologies": others})
    rows = range(int(part.draw.numbers.max()) + 1)
    return draw_rows(honest, part.streams, rows, is_train=True).target[part.draw.numbers]


def _after(first: Draw, second: Draw) -> Draw:
    """One draw after another."""
    return Draw(
        {name: np.concatenate([cells, second.complete[name]]) for name, cells in first.complete.items()},
        {name: np.concatenate([cells, second.observed[name]]) for name, cells in first.observed.items()},
        np.concatenate([first.target, second.target]),
        np.concatenate([first.numbers, second.numbers]),
    )


def _at(draw: Draw, rows: NDArray[np.intp]) -> Draw:
    return replace(
        draw,
        complete={name: cells[rows] for name, cells in draw.complete.items()},
        observed={name: cells[rows] for name, cells in draw.observed.items()},
        target=draw.target[rows],
        numbers=draw.numbers[rows],
    )
