import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandmill.mechanism import draw_rows
from sandmill.rng import Streams
from sandmill.synth import render
from sandmill.synth.render import task_id
from tests.designs import SECRET, TASKS, make_spec

tasks = st.sampled_from(TASKS)
slots = st.integers(0, 40)


@settings(max_examples=25, deadline=None)
@given(tasks, slots, st.integers(0, 90))
def test_no_row_depends_on_the_one_before(task, slot, start):
    mechanism = make_spec(*task, slot).mechanism
    streams = Streams(SECRET, "rows")
    whole = draw_rows(mechanism, streams, range(100), is_train=True)
    tail = draw_rows(mechanism, streams, range(start, 100), is_train=True)
    assert whole.target[start:].tolist() == tail.target.tolist()
    for name, cells in tail.observed.items():
        np.testing.assert_array_equal(cells, whole.observed[name][start:])


@settings(max_examples=15, deadline=None)
@given(tasks, slots)
def test_equal_design_and_secret_give_equal_bytes(task, slot):
    spec = make_spec(*task, slot)
    reread = type(spec).model_validate_json(spec.model_dump_json())
    assert render(spec, SECRET).package == render(reread, SECRET).package


@settings(max_examples=15, deadline=None)
@given(tasks, slots)
def test_replicates_and_secrets_share_the_rule_and_nothing_else(task, slot):
    spec = make_spec(*task, slot)
    first = render(spec, SECRET).package
    for other in (render(spec, SECRET, 1).package, render(spec, b"another secret of 32 bytes......").package):
        assert other.task_id != first.task_id
        assert other.public["train.csv"] != first.public["train.csv"]
        assert not set(other.public["test.csv"].split()) & set(first.public["test.csv"].split()) - {
            first.public["test.csv"].split()[0]
        }
        assert other.public["description.md"].splitlines()[:5] == first.public["description.md"].splitlines()[:5]


def test_a_task_id_says_nothing_about_its_spec():
    ids = {task_id(f"{number:064x}", 0, SECRET) for number in range(1000)}
    assert len(ids) == 1000
    assert task_id("0" * 64, 0, SECRET) != task_id("0" * 64, 0, b"other")
    assert task_id("0" * 64, 0, SECRET) != task_id("0" * 64, 1, SECRET)


@pytest.mark.parametrize("task", TASKS)
def test_hardness_adds_motifs_and_takes_rows_and_leaves_the_story_alone(task):
    easy, hard = (make_spec(*task, 3, hardness) for hardness in (0.1, 0.9))
    assert easy.story.overview == hard.story.overview
    assert easy.domain == hard.domain
    easy_rule, hard_rule = ([term.motif.motif for term in spec.mechanism.terms] for spec in (easy, hard))
    assert easy_rule == hard_rule[: len(easy_rule)]
    assert easy.sizes.train > hard.sizes.train
    assert len(easy.mechanism.columns) <= len(hard.mechanism.columns)
