import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandmill.draw import render
from sandmill.draw.render import task_id
from sandmill.models.motifs import TOLD_MOTIFS
from sandmill.models.structure import PathologyKind, SplitKind
from tests.designs import SECRET, TASKS, make_spec

OTHER = b"another secret of 32 bytes......"
ALL_FAULTS = (PathologyKind.DUPLICATES, PathologyKind.MIXED_TYPES, PathologyKind.TIMESTAMPS)
tasks = st.sampled_from(TASKS)
slots = st.integers(0, 40)
splits = st.sampled_from(SplitKind)


def design(task, slot, split, pathologies=()):
    """A design with a small test: what is to be shown has nothing to do with its size."""
    spec = make_spec(*task, slot, split=split, pathologies=pathologies)
    return spec.model_copy(update={"sizes": spec.sizes.model_copy(update={"feedback": 1000, "final": 2000})})


def column(content, name):
    return [row[name] for row in csv.DictReader(io.StringIO(content.decode()))]


@settings(max_examples=4, deadline=None)
@given(tasks, slots, splits)
def test_equal_design_and_secret_give_equal_bytes(task, slot, split):
    spec = design(task, slot, split, ALL_FAULTS)
    reread = type(spec).model_validate_json(spec.model_dump_json())
    one, other = render(spec, SECRET), render(reread, SECRET)
    assert one.package == other.package
    np.testing.assert_array_equal(one.oracle, other.oracle)


@settings(max_examples=5, deadline=None)
@given(tasks, slots, splits)
def test_replicates_and_secrets_share_the_rule_and_nothing_else(task, slot, split):
    spec = design(task, slot, split, ALL_FAULTS)
    first = render(spec, SECRET).package
    unit = spec.mechanism.unit_column()
    for other in (render(spec, SECRET, 1).package, render(spec, OTHER).package):
        assert other.task_id != first.task_id
        assert other.public["description.md"].splitlines()[:5] == first.public["description.md"].splitlines()[:5]
        for name in ("train.csv", "test.csv"):
            assert other.public[name] != first.public[name]
            for key in ("id", *([unit] if unit else ())):
                assert not set(column(other.public[name], key)) & set(column(first.public[name], key))


@settings(max_examples=6, deadline=None)
@given(tasks, slots, splits)
def test_units_and_ids_of_train_and_test_are_apart(task, slot, split):
    spec = design(task, slot, split)
    package, unit = render(spec, SECRET).package, spec.mechanism.unit_column()
    assert (unit is not None) == (split is SplitKind.GROUPED)
    for key in ("id", *([unit] if unit else ())):
        train, test = (column(package.public[name], key) for name in ("train.csv", "test.csv"))
        assert not set(train) & set(test)
        if key == unit:
            parts = column(package.private["answers.csv"], "part")
            names = [{name for name, part in zip(test, parts, strict=True) if part == of} for of in set(parts)]
            assert not names[0] & names[1]


def test_a_task_id_says_nothing_about_its_spec():
    ids = {task_id(f"{number:064x}", 0, SECRET) for number in range(1000)}
    assert len(ids) == 1000
    assert task_id("0" * 64, 0, SECRET) != task_id("0" * 64, 0, b"other")
    assert task_id("0" * 64, 0, SECRET) != task_id("0" * 64, 1, SECRET)


@pytest.mark.parametrize("place", range(len(TASKS)))
def test_hardness_adds_motifs_and_takes_rows_and_leaves_the_story_alone(place):
    for split in list(SplitKind)[place % 2 :: 2]:
        easy, hard = (make_spec(*TASKS[place], 3, hardness, split=split) for hardness in (0.1, 0.9))
        assert easy.story.overview == hard.story.overview
        assert easy.domain == hard.domain
        for is_told in (False, True):
            easy_rule, hard_rule = (
                [term.motif for term in spec.mechanism.terms if isinstance(term.motif, TOLD_MOTIFS) == is_told]
                for spec in (easy, hard)
            )
            assert easy_rule == hard_rule[: len(easy_rule)]
            assert len(easy_rule) < len(hard_rule) or is_told
        assert easy.sizes.train > hard.sizes.train
        assert len(easy.mechanism.columns) <= len(hard.mechanism.columns)
