"""Draws: rows that stand for themselves, copies that are copies, units that stay together, names that say nothing."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandmill.draw import render
from sandmill.draw.render import task_id
from sandmill.mechanism import Draw, draw_rows, posterior
from sandmill.models.faults import Duplicates
from sandmill.models.mechanism import Mechanism
from sandmill.models.predictive import ClassPredictive, LabelPredictive, NumbersPredictive, Predictive
from sandmill.models.structure import PathologyKind, SplitKind
from sandmill.rng import Streams
from tests.designs import SECRET, TASKS, make_spec, with_small_test
from tests.mechanisms import LINKS, doubtful, gapped, noise_of

ALL_FAULTS = (
    PathologyKind.DUPLICATES,
    PathologyKind.MIXED_TYPES,
    PathologyKind.LABEL_NOISE,
    PathologyKind.OUTLIERS,
    PathologyKind.DRIFT,
    PathologyKind.HIGH_CARDINALITY,
)
tasks = st.sampled_from(TASKS)
slots = st.integers(0, 12)
splits = st.sampled_from(SplitKind)
makers = st.sampled_from([gapped, doubtful])
links = st.sampled_from(list(LINKS.values()))


def with_copies(mechanism: Mechanism, rate: float = 0.3) -> Mechanism:
    return mechanism.model_copy(update={"pathologies": (*mechanism.pathologies, Duplicates(rate=rate))})


def whole_rows(draw: Draw) -> np.ndarray:
    """Every number of a row, the hidden ones and the target as well; gaps as a number that no column holds."""
    return np.nan_to_num(np.column_stack([*draw.complete.values(), *draw.observed.values(), draw.target]), nan=-9e9)


@settings(max_examples=4, deadline=None)
@given(tasks, slots, splits, st.booleans(), st.integers(0, 299), st.integers(1, 60))
def test_a_row_is_the_same_whatever_range_is_asked(task, slot, split, is_train, start, length):
    mechanism = make_spec(*task, slot, split=split, pathologies=ALL_FAULTS).mechanism
    streams = Streams(SECRET, "rows")
    whole = draw_rows(mechanism, streams, range(360), is_train=is_train)
    part = draw_rows(mechanism, streams, range(start, start + length), is_train=is_train)
    np.testing.assert_array_equal(whole_rows(part), whole_rows(whole)[start : start + length])


@settings(max_examples=6, deadline=None)
@given(makers, links, st.integers(0, 99))
def test_copies_are_exact_and_of_earlier_rows_and_occur_at_the_declared_rate(maker, link, number):
    mechanism, streams = with_copies(maker(link, noise_of(link)), 0.2), Streams(SECRET, f"copies {number}")
    rows = whole_rows(draw_rows(mechanism, streams, range(1000), is_train=True))
    different = len(np.unique(rows, axis=0))
    assert abs(1000 - different - 200) < 4.5 * np.sqrt(1000 * 0.2 * 0.8)
    fresh = whole_rows(draw_rows(mechanism, streams, range(1000), is_train=False))
    assert len(np.unique(fresh, axis=0)) == 1000


@settings(max_examples=6, deadline=None)
@given(makers, links)
def test_what_is_no_copy_is_what_it_would_be_without_copies(maker, link):
    plain, streams = maker(link, noise_of(link)), Streams(SECRET, "sources")
    without = whole_rows(draw_rows(plain, streams, range(500), is_train=True))
    copied = whole_rows(draw_rows(with_copies(plain, 0.4), streams, range(500), is_train=True))
    place_of = {row.tobytes(): place for place, row in enumerate(without)}
    sources = [place_of[row.tobytes()] for row in copied]
    assert all(source <= place for place, source in enumerate(sources))
    assert all(sources[source] == source for source in sources), "a copy of a row that is not in the files"


@settings(max_examples=4, deadline=None)
@given(makers, links, st.integers(0, 10**6))
def test_names_change_no_number(maker, link, seed):
    mechanism = maker(link, noise_of(link))
    names = [column.name for column in mechanism.columns]
    fresh = [f"c{number}" for number in np.random.default_rng(seed).permutation(10**4)[: len(names)]]
    renamed = rename(mechanism, dict(zip(names, fresh, strict=True)))
    assert renamed != mechanism
    streams = Streams(SECRET, "names")
    one, other = (draw_rows(of, streams, range(120), is_train=True) for of in (mechanism, renamed))
    np.testing.assert_array_equal(one.target, other.target)
    for name, new in zip(names, fresh, strict=True):
        np.testing.assert_array_equal(one.observed[name], other.observed[new])
        np.testing.assert_array_equal(one.complete[name], other.complete[new])
    for left, right in zip(
        arrays(posterior(mechanism, one.observed)), arrays(posterior(renamed, other.observed)), strict=True
    ):
        np.testing.assert_array_equal(left, right)


def rename(mechanism: Mechanism, names: dict[str, str]) -> Mechanism:
    """Give other names to columns, targets, classes and labels wherever they stand."""

    def walk(value):
        if isinstance(value, dict):
            return {key: walk(item) for key, item in value.items()}
        if isinstance(value, list):
            return [walk(item) for item in value]
        return names.get(value, value) if isinstance(value, str) else value

    data = mechanism.model_dump(mode="json")
    kinds = {key: data["link"].pop(key) for key in ("classes", "labels", "names") if key in data["link"]}
    levels = [column["distribution"].pop("levels", None) for column in data["columns"]]
    data = walk(data)
    for key, old in kinds.items():
        data["link"][key] = [f"t{place}" for place, _ in enumerate(old)]
    for column, old in zip(data["columns"], levels, strict=True):
        if old is not None:
            column["distribution"]["levels"] = [f"l{place}" for place, _ in enumerate(old)]
    return Mechanism.model_validate(data)


def arrays(predictive: Predictive) -> list[np.ndarray]:
    """Every number of a prediction."""
    match predictive:
        case ClassPredictive(probabilities=p) | LabelPredictive(probabilities=p):
            return [p]
        case NumbersPredictive(columns=columns):
            return [array for column in columns for array in arrays(column)]
        case number:
            return [number.mean, *number.grid]


@settings(max_examples=3, deadline=None)
@given(tasks, slots, st.integers(0, 99))
def test_rows_of_a_unit_share_what_is_the_units_and_units_are_about_as_large_as_declared(task, slot, number):
    mechanism = make_spec(*task, slot, split=SplitKind.GROUPED).mechanism
    unit = mechanism.unit_column()
    size = mechanism.column_by_name[unit].distribution.size
    draw = draw_rows(mechanism, Streams(SECRET, f"units {number}"), range(3200), is_train=False)
    of_row = draw.complete[unit].astype(int)
    counts = np.bincount(of_row)
    counts = counts[counts > 0]
    assert abs(counts.mean() - size) < 0.25 * size
    assert counts.max() < size + 8 * np.sqrt(size)
    assert counts.std() > 0.5 * np.sqrt(size)
    shared = [*(column.name for column in mechanism.columns if column.unit), "<unit effect>"]
    for name in shared:
        least, most = np.full(of_row.max() + 1, np.inf), np.full(of_row.max() + 1, -np.inf)
        np.minimum.at(least, of_row, draw.complete[name])
        np.maximum.at(most, of_row, draw.complete[name])
        assert (least == most)[np.unique(of_row)].all()
        assert len(np.unique(draw.complete[name])) > 1


@pytest.mark.parametrize("name", ["binary", "multiclass", "ordinal", "multilabel"])
def test_training_noise_stays_out_of_the_test_part(name):
    link = LINKS[name]
    noise, streams = noise_of(link, "train"), Streams(SECRET, "noise")
    for is_train, wanted in ((True, 0.12), (False, 0.0)):
        clean, noisy = (
            draw_rows(gapped(link, of), streams, range(4000), is_train=is_train).target for of in (None, noise)
        )
        assert abs((clean != noisy).mean() - wanted) < 0.02
        assert set(np.unique(noisy)) <= set(np.unique(clean))


OTHER = b"another secret of 32 bytes......"
EVERY_FAULT = (PathologyKind.DUPLICATES, PathologyKind.MIXED_TYPES, PathologyKind.TIMESTAMPS)
rendered_slots = st.integers(0, 40)


def design(task, slot, split, pathologies=()):
    """A design with a small test: what is to be shown has nothing to do with its size."""
    return with_small_test(make_spec(*task, slot, split=split, pathologies=pathologies), 1000, 2000)


def column(content, name):
    return [row[name] for row in csv.DictReader(io.StringIO(content.decode()))]


@settings(max_examples=3, deadline=None)
@given(tasks, rendered_slots, splits)
def test_replicates_and_secrets_share_the_rule_and_nothing_else(task, slot, split):
    spec = design(task, slot, split, EVERY_FAULT)
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


secrets = st.binary(min_size=1, max_size=40)
names = st.text(max_size=20)


@given(secrets, secrets, names)
def test_streams_of_other_secrets_and_names_differ(one, other, name):
    if one.rstrip(b"\0") != other.rstrip(b"\0"):
        assert Streams(one, "f").key(name) != Streams(other, "f").key(name)
    assert Streams(one, "f").key(name) != Streams(one, "f").key(name + "x")
    assert Streams(one, "f").key(name) != Streams(one, "g").key(name)


@given(names)
def test_uniforms_stay_inside_the_open_interval(name):
    draws = Streams(b"s", "f").uniforms(name, range(1000))
    assert draws.min() > 0
    assert draws.max() < 1
