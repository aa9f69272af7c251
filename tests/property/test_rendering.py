import csv
import io

from hypothesis import given, settings
from hypothesis import strategies as st

from sandmill.draw import render
from sandmill.draw.render import task_id
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


@settings(max_examples=3, deadline=None)
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


def test_a_task_id_says_nothing_about_its_spec():
    ids = {task_id(f"{number:064x}", 0, SECRET) for number in range(1000)}
    assert len(ids) == 1000
    assert task_id("0" * 64, 0, SECRET) != task_id("0" * 64, 0, b"other")
    assert task_id("0" * 64, 0, SECRET) != task_id("0" * 64, 1, SECRET)
