"""Every bundled seed can be made: designed and rendered, from the easiest to the hardest, without an error."""

from functools import cache

import pytest

from sandmill.design import design_task
from sandmill.design.kept import most_outputs
from sandmill.draw import render
from sandmill.kinds.files.base import layout_of
from sandmill.models.base import Band
from sandmill.models.links import class_names
from sandmill.models.plan import Slot
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import SplitKind
from sandmill.rng import Streams
from sandmill.scoring.submission import parse_submission
from tests.designs import SECRET, bundled_seeds, with_small_test

HARDNESS = (0.0, 0.5, 1.0)


@cache
def seeds():
    return bundled_seeds().supported


@cache
def design(number, hardness):
    seed = seeds()[number]
    return design_task(Slot(number=number, seed=seed, band=Band.HARD), Streams(SECRET, f"bundled {number}"), hardness)


def check(spec):
    assert TaskSpec.model_validate_json(spec.model_dump_json()) == spec
    seed = next(seed for seed in seeds() if seed.id == spec.seed_id)
    assert (spec.target, spec.metric) == (seed.structure.target, seed.structure.metric)
    if most := most_outputs(seed.structure):
        assert len(class_names(spec.mechanism.link)) <= most
    # Kinds with a designer of their own split by item, such as a sentence with all its tokens.
    if seed.structure.split in (SplitKind.GROUPED, SplitKind.TEMPORAL) and not spec.kind.designer:
        assert spec.split is seed.structure.split


def in_turn(number):
    """One hardness for each seed. They take turns."""
    return HARDNESS[number // 3 % 3]


def test_every_tenth_supported_seed_is_designed():
    for number in range(0, len(seeds()), 10):
        check(design(number, in_turn(number)))


@pytest.mark.slow
def test_seeds_reach_every_target_and_split():
    assert len({(seed.structure.target, seed.structure.metric) for seed in seeds()}) > 20
    assert {design(number, in_turn(number)).split for number in range(len(seeds()))} == set(SplitKind)


@pytest.mark.slow
@pytest.mark.parametrize("hardness", HARDNESS)
def test_every_supported_seed_is_rendered_at_every_hardness(hardness):
    for number in range(len(seeds())):
        spec = design(number, hardness)
        check(spec)
        rendered = render(with_small_test(spec, 1500, 3000), SECRET)
        sample, answers = layout_of(spec).sample_csv(rendered.package.public), rendered.answers
        parse_submission(sample, rendered.package.facts, answers.ids, answers.lengths)
